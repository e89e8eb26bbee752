"""Files, as a model reads, writes and edits them."""

import json
import os
from uuid import uuid4

import pytest

from actors.law.parts.message import FilePart
from actors.tools.plans import plan_path
from adapters.tools.built_in.workspace_schemas import TOOLS


@pytest.fixture
async def home(daemon, chat):
    return await daemon.home(chat)


async def test_a_file_is_written_and_read_with_the_numbers_of_its_lines(daemon, chat, home):
    path = f"{home}/src/a.txt"

    assert {"ok": True} == await daemon.call(
        chat, "write_file", path=f" {path} ", content="one\ntwo\n"
    )

    assert {
        "content": "1\tone\n2\ttwo\n3\t",
        "file_size": 8,
        "total_lines": 3,
        "lines_read": 3,
    } == await daemon.call(chat, "read_file", path=path)
    some = await daemon.call(chat, "read_file", path=path, offset=2, limit=1)
    assert ("2\ttwo", 1) == (some["content"], some["lines_read"])


async def test_a_binary_file_is_read_as_what_text_it_has(daemon, chat, home):
    (home / "b").write_bytes(b"\x7fELF\xff\n")

    assert (
        "1\t\x7fELF\ufffd\n2\t"
        == (await daemon.call(chat, "read_file", path=f"{home}/b"))["content"]
    )


async def test_what_is_wrong_with_reading_is_said(daemon, chat, home):
    (home / "huge").write_bytes(b"x" * (1024 * 1024 + 1))

    assert "path is empty" in await daemon.fault(chat, "read_file", path=" ")
    assert "a.txt: not an absolute path" == await daemon.fault(chat, "read_file", path="a.txt")
    assert "outside the workspace" in await daemon.fault(chat, "read_file", path="/etc/passwd")
    assert "with grep, sed or awk" in await daemon.fault(chat, "read_file", path=f"{home}/huge")
    assert "missing the required argument `path`" in await daemon.fault(chat, "read_file")


KINDS = {
    "missing": "not found",
    "folder": "a directory, not a file",
    "pipe": "a pipe, not a file",
    "out": "outside the workspace",
    "loop": "symbolic links on the way",
    "file/below": "is not a directory",
}
READERS = {
    "read_file": {},
    "attach_file": {},
    "edit_files": {"edits": [{"old_text": "a", "new_text": "b"}]},
}


@pytest.fixture
def strange(home):
    """Of everything that is no file, one."""
    (home / "folder").mkdir()
    (home / "file").write_text("a")
    (home / "out").symlink_to("/etc/hostname")
    (home / "loop").symlink_to("loop")
    os.mkfifo(home / "pipe")
    return home


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READERS)
async def test_what_is_no_file_is_not_read(daemon, chat, strange, name, kind):
    path = f"{strange}/{kind}"
    asked = {"path": path, **READERS[name]}
    arguments = {"files": [asked]} if name == "edit_files" else asked

    fault = await daemon.fault(chat, name, **arguments)

    assert fault.startswith(f"{path}: ")
    assert KINDS[kind] in fault


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "missing"])
async def test_what_is_no_file_is_not_written_to(daemon, chat, strange, kind):
    before = {each.name: each.lstat().st_mode for each in strange.iterdir()}

    fault = await daemon.fault(chat, "write_file", path=f"{strange}/{kind}", content="mine")

    assert KINDS[kind] in fault
    assert before == {each.name: each.lstat().st_mode for each in strange.iterdir()}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"one\r\n2\r\n3\r\n"),
        (b"\xef\xbb\xbfone\ntwo\n", b"\xef\xbb\xbfone\n2\n3\n"),
        (b"caf\xe9\ntwo\n\xff\x00", b"caf\xe9\n2\n3\n\xff\x00"),
        (b"\tone\n\ttwo  \n", b"\tone\n\t2  \n\t3\n"),
        (b"one\ntwo", b"one\n2\n3"),
    ],
)
async def test_an_edit_leaves_bytes_alone_that_it_does_not_name(daemon, chat, home, before, after):
    (home / "a").write_bytes(before)
    edit = {"old_text": "two\n", "new_text": "2\n3\n"}

    await daemon.call(chat, "edit_files", files=[{"path": f"{home}/a", "edits": [edit]}])

    assert after == (home / "a").read_bytes()


async def test_an_edit_that_is_advertised_says_what_it_needs():
    [schema] = [json.loads(t.tool.schema) for t in TOOLS if t.tool.name == "edit_files"]

    edit = schema["properties"]["files"]["items"]["properties"]["edits"]["items"]
    assert ["old_text", "new_text"] == edit["required"]
    assert {"old_text", "new_text", "replace_all"} == set(edit["properties"])


async def test_edits_of_one_file_come_one_after_the_other(daemon, chat, home):
    (home / "a").write_text("one\n")
    path = f"{home}/a"

    edited = await daemon.call(
        chat,
        "edit_files",
        files=[
            {"path": path, "edits": [{"old_text": "one", "new_text": "two"}]},
            {"path": f"{home}/./a", "edits": [{"search": "two", "replace": "three"}]},
        ],
    )

    assert "three\n" == (home / "a").read_text()
    [file] = edited["files"]
    assert (True, path) == (edited["ok"], file["path"])
    assert file["diff"].endswith("-one\n+three\n")


async def test_what_is_wrong_with_edits_is_said_and_nothing_is_done(daemon, chat, home):
    (home / "a").write_text("one\n")
    good = {"path": f"{home}/a", "edits": [{"old_text": "one", "new_text": "1"}]}

    async def fault(*files):
        return await daemon.fault(chat, "edit_files", files=files)

    assert "files is empty" in await fault()
    assert "files[1].path is empty; no edit was applied" == await fault(good, {"edits": [{}]})
    assert "files[1].edits is empty; no edit was applied" == await fault(good, {"path": "/a"})
    assert "old_text is empty" in await fault({"path": f"{home}/a", "edits": [{}]})
    assert "nothing was changed" in await fault(good, {**good, "path": f"{home}/none"})
    assert "one\n" == (home / "a").read_text()


async def test_a_chat_that_plans_writes_its_plan_and_nothing_else(daemon):
    chat = await daemon.chat(plan_mode="plan")
    home = await daemon.home(chat)
    plan = plan_path(str(home), chat.id)

    assert {"ok": True} == await daemon.call(chat, "write_file", path=plan, content="# Plan")
    for path in (f"{home}/a", f"{home}/../{home.name}/.promptcorner/plans/x.md"):
        fault = await daemon.fault(chat, "write_file", path=path, content="")
        assert f"while planning only the plan may be written, and that is {plan}" in fault


async def test_a_plan_is_not_written_through_a_link(daemon):
    chat = await daemon.chat(plan_mode="plan")
    home = await daemon.home(chat)
    (home / "elsewhere").mkdir()
    (home / ".promptcorner").mkdir()
    (home / ".promptcorner/plans").symlink_to("../elsewhere")

    fault = await daemon.fault(
        chat, "write_file", path=plan_path(str(home), chat.id), content="# Plan"
    )

    assert "a symbolic link leads elsewhere" in fault
    assert [] == list((home / "elsewhere").iterdir())


async def test_plans_do_not_stand_where_chats_of_a_family_would_share_them(daemon, chat, home):
    fault = await daemon.fault(chat, "write_file", path=f"{home}/PLAN.md", content="")

    assert f"the plan of this chat is {plan_path(str(home), chat.id)}" in fault
    assert {"ok": True} == await daemon.call(
        chat, "write_file", path=f"{home}/docs/plan.md", content=""
    )


async def test_a_file_is_given_to_the_user(daemon, chat, home):
    (home / "pic").write_bytes(b"\x89PNG\r\n\x1a\n123")

    done = await daemon.run(chat, "attach_file", path=f"{home}/pic", name="a/b.png")

    [shown] = done.shown
    assert isinstance(shown, FilePart)
    assert ("image/png", "b.png") == (shown.media_type, shown.name)
    assert f'"file_id": "{shown.file_id}"' in done.result
    kept = await daemon.store.execute(
        "SELECT name, size_bytes, chat_id FROM files f JOIN chat_files ON file_id = f.id"
    )
    assert [("b.png", 11, chat.id)] == kept


async def test_a_call_that_is_made_again_attaches_once(daemon, chat, home):
    (home / "a").write_text("a")

    first, again = [
        await daemon.call(chat, "attach_file", "the-call", path=f"{home}/a") for _ in range(2)
    ]

    assert first == again


async def test_any_type_is_given_to_the_user_but_not_nothing_and_not_too_much(daemon, chat, home):
    (home / "page.html").write_text("<html></html>")
    (home / "empty").write_text("")
    with (home / "huge").open("wb") as file:
        file.truncate(10 * 1024 * 1024 + 1)

    given = await daemon.call(chat, "attach_file", path=f"{home}/page.html")

    assert ("text/html", "page.html", 13) == (given["media_type"], given["name"], given["size"])
    assert "nothing to attach" in await daemon.fault(chat, "attach_file", path=f"{home}/empty")
    assert "too many" in await daemon.fault(chat, "attach_file", path=f"{home}/huge")


async def test_a_chat_has_so_many_files_and_no_more(daemon, chat, home):
    (home / "a").write_text("a")
    for _ in range(50):
        await daemon.store.execute(
            "WITH f AS (INSERT INTO files (id, owner_id, name, media_type, size_bytes) VALUES"
            " (%(id)s, %(owner)s, 'x', 'text/plain', 1) RETURNING id)"
            " INSERT INTO chat_files (chat_id, file_id) SELECT %(chat)s, id FROM f",
            id=uuid4(),
            owner=chat.owner_id,
            chat=chat.id,
        )

    fault = await daemon.fault(chat, "attach_file", path=f"{home}/a")

    assert "the chat has 50 files, which is all it may have" in fault
