"""What a user brings reaches the model, whoever's wire it speaks."""

from base64 import b64encode
from uuid import UUID

import msgspec
import pytest

from actors.law.ids import FileId
from adapters.rehearsal.behaviour import Behaviour
from tests.adapters.chats.routes.daemon import a_daemon
from tests.adapters.chats.routes.ground import ORGANIZATION, text

pytestmark = pytest.mark.slow

PNG = b"\x89PNG\r\n\x1a\n" + b"the picture"
PDF = b"%PDF-1.7\nthe paper"
NOTES = b"the notes: one, two"
WIRES = {  # provider -> the end of the path that it is asked at
    "anthropic": "/v1/messages",
    "openai": "/v1/responses",
    "google": ":streamGenerateContent",
    "openai-compat": "/v1/chat/completions",
}


async def brought(daemon, name, content):
    answer = await daemon.ask(
        "POST",
        "files",
        body=content,
        query=f"organization={ORGANIZATION}",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
    assert 201 == answer.status, answer.said
    return FileId(UUID(answer.said["id"]))


async def test_pictures_papers_and_notes_are_seen_by_every_kind_of_model(fresh):
    async with a_daemon(fresh, Behaviour(text="seen")) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)
        files = [
            await brought(daemon, name, content)
            for name, content in (("a.png", PNG), ("b.pdf", PDF), ("c.txt", NOTES))
        ]
        said = [text("look"), *({"type": "file", "file_id": str(id)} for id in files)]

        for model in daemon.models:
            sent = await daemon.ask(
                "POST", f"{chat}/messages", {"content": said, "model_config_id": str(model.id)}
            )
            assert 200 == sent.status, sent.said
            await daemon.at_rest(chat)

            heard = daemon.rehearsal.records[-1]
            assert WIRES[model.provider.type] in heard.head.path
            asked = heard.body.decode()
            assert b64encode(PNG).decode() in asked
            assert b64encode(PDF).decode() in asked
            assert NOTES.decode() in asked or b64encode(NOTES).decode() in asked
            assert msgspec.json.decode(heard.body)
    assert {*WIRES} == {model.provider.type for model in daemon.models}


async def test_a_file_that_is_gone_is_told_of_as_missing(fresh):
    async with a_daemon(fresh, Behaviour(text="seen")) as daemon:
        file = await brought(daemon, "a.png", PNG)
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)
        async with daemon.chats.store.pool.connection() as connection:
            await connection.execute("DELETE FROM file_contents")

        await daemon.ask(
            "POST",
            f"{chat}/messages",
            {"content": [text("look"), {"type": "file", "file_id": str(file)}]},
        )

        await daemon.at_rest(chat)
        assert "no longer available" in daemon.rehearsal.records[-1].body.decode()
