"""Files: brought, fetched, linked to, put into messages."""

from base64 import b64encode
from datetime import timedelta
from hashlib import sha256
from uuid import UUID

import pytest

from actors.law.chat import FILES_PER_CHAT_MAX
from actors.law.ids import FileId
from actors.law.parts.message import FilePart
from adapters.chats.files.routes import FILE_BYTES_MAX, FILES_PER_MINUTE
from adapters.chats.files.store import ENCODED_APART_BYTES, PromptFiles
from runtime.threads import statistics
from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.routes.ground import ADA, ORGANIZATION, text
from tests.contracts.given import a_chat

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
HERE = f"organization={ORGANIZATION}"


def named(name="a.png", media_type="image/png"):
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return headers | ({} if media_type is None else {"content-type": media_type})


async def brought(ground, who=ANN, content=PNG, **how):
    answer = await ground.ask(who, "POST", "files", query=HERE, body=content, headers=named(**how))
    assert 201 == answer.status, answer.said
    return FileId(UUID(answer.said["id"]))


async def share(ground, chat, with_whom):
    await ground.store.execute(
        "INSERT INTO chat_readers (chat_id, subject_id, is_group)"
        " VALUES (%(chat)s, %(who)s, false)",
        chat=chat,
        who=with_whom,
    )


def said(*files):
    return {"content": [text("see"), *({"type": "file", "file_id": str(id)} for id in files)]}


async def test_what_was_brought_comes_back_as_it_was(ground):
    file = await brought(ground)

    answer = await ground.ask(ANN, "GET", f"files/{file}")

    assert (200, PNG, "image/png") == (answer.status, answer.body, answer.media_type)
    assert {
        "Content-Disposition": 'inline; filename="a.png"',
        "Cache-Control": "private, max-age=31536000, immutable",
    } == answer.headers


async def test_a_pdf_is_not_opened_in_place(ground):
    file = await brought(
        ground, content=b"%PDF-1.7", name="Gr\xc3\xbc\xc3\x9fe.pdf", media_type=None
    )

    answer = await ground.ask(ANN, "GET", f"files/{file}")

    assert "application/pdf" == answer.media_type
    assert (
        "attachment; filename=\"Gr__e.pdf\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.pdf"
        == (answer.headers["Content-Disposition"])
    )


async def test_what_a_browser_would_run_is_not_opened_in_place(ground):
    file = await brought(ground)
    await ground.store.execute("UPDATE files SET media_type = 'text/html'")

    answer = await ground.ask(ANN, "GET", f"files/{file}")

    assert "text/html" == answer.media_type
    assert answer.headers["Content-Disposition"].startswith("attachment")


async def test_an_empty_file_is_a_file(ground):
    file = await brought(ground, content=b"", name="empty.txt", media_type="text/plain")

    answer = await ground.ask(ANN, "GET", f"files/{file}")

    assert (200, b"", "text/plain") == (answer.status, answer.body, answer.media_type)


@pytest.mark.parametrize(
    ("query", "headers", "content", "status"),
    [
        ("", named(), PNG, 400),
        ("organization=here", named(), PNG, 400),
        (f"{HERE}&{HERE}", named(), PNG, 400),
        (f"organization={UUID(int=9)}", named(), PNG, 403),
        (HERE, {"content-type": "image/png"}, PNG, 400),
        (HERE, named(name=" "), PNG, 400),
        (HERE, named(media_type="video/mp4"), PNG, 400),
        (HERE, named(media_type="image/gif"), PNG, 400),
        (HERE, named(media_type=None, name="a.svg"), b"<svg></svg>", 400),
        (HERE, named(media_type=None), b"\0\1\2", 400),
    ],
)
async def test_what_cannot_be_taken_is_refused(ground, query, headers, content, status):
    answer = await ground.ask(ANN, "POST", "files", query=query, body=content, headers=headers)

    assert status == answer.status
    assert [] == await ground.store.execute("SELECT id FROM files")


async def test_who_sees_a_file(ground):
    file = await brought(ground)

    async def statuses():
        return [(await ground.ask(who, "GET", f"files/{file}")).status for who in (ANN, ADA, BOB)]

    assert [200, 200, 404] == await statuses()
    chat = await a_chat(ground.store, files=[file])
    assert [200, 200, 404] == await statuses()
    await share(ground, chat, BOB)
    assert [200, 200, 200] == await statuses()
    assert 404 == (await ground.ask(ANN, "GET", f"files/{UUID(int=9)}")).status
    assert 400 == (await ground.ask(ANN, "GET", "files/no-uuid")).status


async def test_a_message_holds_files_that_its_sender_sees(ground):
    chat = await a_chat(ground.store, done=True)
    mine, theirs = await brought(ground, name="mine.png"), await brought(ground, BOB)

    refused = await ground.ask(ANN, "POST", f"{chat}/messages", said(mine, theirs))
    sent = await ground.ask(ANN, "POST", f"{chat}/messages", said(mine))

    assert (400, "content[2].file_id") == (
        refused.status,
        refused.said["validations"][0]["field"],
    )
    [_, part] = sent.said["message"]["content"]
    assert ("file", str(mine), "image/png", "mine.png") == (
        part["type"],
        part["file_id"],
        part["media_type"],
        part["name"],
    )
    kept = await ground.store.rows(chat)
    assert frozenset({mine}) == kept.files
    assert FilePart("image/png", "mine.png", mine) == kept.messages[-1].body.parts[1]


async def test_a_chat_holds_fifty_files_and_no_more(ground):
    files = [FileId(UUID(int=5_000 + number)) for number in range(FILES_PER_CHAT_MAX)]
    await ground.store.add_files(*files)
    chat = await a_chat(ground.store, files=files)
    before = await ground.store.rows(chat)

    answer = await ground.ask(ANN, "POST", f"{chat}/messages", said(await brought(ground)))

    assert 400 == answer.status
    assert str(FILES_PER_CHAT_MAX) in answer.said["detail"]
    assert before == await ground.store.rows(chat)


async def test_a_file_of_a_type_that_is_not_taken_any_more_is_refused_in_a_message(ground):
    chat, file = await a_chat(ground.store), await brought(ground)
    await ground.store.execute("UPDATE files SET media_type = 'video/mp4'")

    assert 400 == (await ground.ask(ANN, "POST", f"{chat}/messages", said(file))).status


# links


async def a_link(ground, file, who=ANN):
    answer = await ground.ask(who, "POST", f"files/{file}/download-url")
    assert 200 == answer.status
    return answer.said


async def follow(ground, link, who=None):
    path, _, query = link["url"].partition("/chats/")[2].partition("?")
    return await ground.ask(who, "GET", path, query=query)


async def test_no_link_to_a_file_leads_where_only_the_request_says(ground):
    file = await brought(ground)

    answer = await ground.ask(
        ANN, "POST", f"files/{file}/download-url", headers={"host": "evil.example"}
    )

    assert 409 == answer.status
    assert "access_url" in answer.said["detail"]


async def test_a_link_opens_a_file_for_whoever_has_it(ground):
    file = await brought(ground)

    link = await a_link(ground, file)
    answer = await follow(ground, link)

    assert link["url"].startswith(f"http://corner.test/api/v2/chats/files/{file}/download?token=")
    assert {
        "expires_at": "2030-05-17T12:05:00Z",
        "sha256": sha256(PNG).hexdigest(),
        "size_bytes": len(PNG),
        "name": "a.png",
        "mime_type": "image/png",
    } == {key: link[key] for key in link.keys() - {"url"}}
    assert (200, PNG, "no-store") == (answer.status, answer.body, answer.headers["Cache-Control"])


async def test_a_link_is_good_for_five_minutes(ground):
    ground.clock.now += timedelta(microseconds=1)
    link = await a_link(ground, await brought(ground))

    ground.clock.now += timedelta(seconds=299)
    good = await follow(ground, link)
    ground.clock.now += timedelta(seconds=1)
    over = await follow(ground, link)

    assert "2030-05-17T12:05:00Z" == link["expires_at"]
    assert (200, 404) == (good.status, over.status)


async def test_whatever_is_wrong_with_a_link_the_answer_is_the_same(ground):
    file, other = await brought(ground), await brought(ground)
    link = await a_link(ground, file)
    url = link["url"]
    wrong = [
        url.replace(str(file), str(other)),
        url.replace(str(file), str(UUID(int=9))),
        url[:-1] + ("A" if url[-1] != "A" else "B"),
        url + "A",
        url.partition("token=")[0] + "token=",
        url.partition("?")[0],
    ]

    answers = [await follow(ground, {"url": each}) for each in wrong]
    unknown = await ground.ask(ANN, "GET", f"files/{UUID(int=9)}")

    assert {(404, unknown.body)} == {(answer.status, answer.body) for answer in answers}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE users SET status = 'suspended' WHERE id = %(bob)s",
        "UPDATE users SET deleted_at = now() WHERE id = %(bob)s",
        "DELETE FROM chat_readers WHERE subject_id = %(bob)s",
    ],
)
async def test_a_link_is_worth_no_more_than_the_rights_of_its_user(ground, change):
    file = await brought(ground)
    chat = await a_chat(ground.store, files=[file])
    await share(ground, chat, BOB)
    link = await a_link(ground, file, BOB)
    assert 200 == (await follow(ground, link)).status

    await ground.store.execute(change, bob=BOB)

    assert 404 == (await follow(ground, link)).status


async def test_nobody_gets_a_link_to_what_he_does_not_see(ground):
    file = await brought(ground)

    assert [404, 404, 400] == [
        (await ground.ask(BOB, "POST", f"files/{file}/download-url")).status,
        (await ground.ask(ANN, "POST", f"files/{UUID(int=9)}/download-url")).status,
        (await ground.ask(ANN, "POST", "files/no-uuid/download-url")).status,
    ]


async def test_links_are_for_twelve_requests_a_minute_and_contents_for_as_many_as_others(ground):
    file = await brought(ground)
    link = f"files/{file}/download-url"

    statuses = [(await ground.ask(ANN, "POST", link)).status for _ in range(FILES_PER_MINUTE + 1)]
    looked = [
        (await ground.ask(ANN, "GET", f"files/{file}")).status for _ in range(FILES_PER_MINUTE + 1)
    ]

    assert [200] * FILES_PER_MINUTE + [429] == statuses
    assert [200] * (FILES_PER_MINUTE + 1) == looked
    assert 200 == (await ground.ask(ADA, "POST", link)).status


def test_ten_mebibytes_are_the_most():
    assert 10 * 2**20 == FILE_BYTES_MAX


# for models


async def test_models_read_what_users_brought_and_once(ground):
    files = [await brought(ground, content=PNG + bytes([each])) for each in range(3)]
    reader = PromptFiles(ground.store.pool)
    unknown = FileId(UUID(int=9))

    read = await reader.read({*files, unknown})
    await ground.store.empty("file_contents")
    again = await reader.read({files[0], files[2], unknown})

    assert {(id, PNG + bytes([each])) for each, id in enumerate(files)} == {
        (id, file.data) for id, file in read.items()
    }
    assert {files[0], files[2]} == again.keys()
    assert ("image/png", "a.png") == (again[files[0]].media_type, again[files[0]].name)


async def test_what_is_kept_for_models_has_a_bound(ground):
    small = [await brought(ground, content=PNG + bytes([each])) for each in range(3)]
    large = await brought(ground, content=PNG * 5)
    reader = PromptFiles(ground.store.pool, kept_bytes_max=2 * len(PNG) + 2)
    for file in (small[0], small[1], small[0], large, small[2]):
        await reader.read({file})

    await ground.store.empty("file_contents")

    assert {small[0], small[2]} == (await reader.read({*small, large})).keys()
    now = reader.statistics()
    assert (2, 2 * len(PNG) + 2, 3) == (now.kept, now.kept_bytes, now.hits)


async def test_a_large_file_is_encoded_once_and_where_it_holds_up_nobody(ground):
    content = PNG + bytes(ENCODED_APART_BYTES)
    large, small = await brought(ground, content=content), await brought(ground)
    reader = PromptFiles(ground.store.pool)

    first, again = [await reader.read({large, small}) for _ in range(2)]

    assert b64encode(content).decode() == first[large].encoded
    assert first[large] is again[large]
    assert "" == first[small].encoded
    assert 1 == statistics()["files_encoded"].begun_count
