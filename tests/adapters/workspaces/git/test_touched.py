"""What calls have touched is read from what is said in chats, whatever models made of arguments."""

import json

import pytest

from adapters.workspaces.git import touched as module
from adapters.workspaces.git.roots import TouchedPath
from adapters.workspaces.git.touched import TouchedPaths
from tests.adapters.chats.streams.test_working_trees import Work
from tests.adapters.requests_of import CHATS

pytestmark = pytest.mark.slow

MOVED = """
WITH moved AS (
    UPDATE chats SET snapshot_version = snapshot_version + 1, history_version = snapshot_version + 1
     WHERE id = %(chat)s RETURNING id, history_version
)
INSERT INTO messages (chat_id, role, content, visibility, revision)
SELECT id, %(role)s, %(content)s::json, 'both', history_version FROM moved
"""


@pytest.fixture
async def chat(edge):
    part = {"type": "text", "text": "hello"}
    new = {"organization_id": edge.organization, "content": [part]}
    id = (await edge.member.post(CHATS, new)).document["id"]
    await Work(edge, id, None).at_rest(f"{CHATS}/{id}")
    return id


async def say(edge, chat, name, args=None, *, is_result=False):
    kind = "tool-result" if is_result else "tool-call"
    part = {"type": kind, "tool_call_id": "c", "tool_name": name}
    part |= {"result": {}} if is_result else {"args": args}
    row = {"chat": chat, "role": "tool" if is_result else "assistant"}
    await edge.execute(MOVED, {**row, "content": json.dumps([part])})


async def test_paths_are_read_once_and_the_last_come_first(edge, chat):
    touched = TouchedPaths(edge.pool)
    await say(edge, chat, "write_file", {"path": " /w/a ", "content": "x"})
    files = [{"path": "/w/b"}, {"path": 7}, "no", {"path": "/w/a"}]
    await say(edge, chat, "edit_files", {"files": files})
    await say(edge, chat, "execute", {"command": "ls", "workdir": "sub"})
    await say(edge, chat, "execute", {"command": "ls"})
    await touched.read_families([chat])
    [id] = touched._chats
    read = await touched.read_calls()
    assert (read.wrote, read.began) == (False, True)
    assert touched.of(id) == [
        TouchedPath("", is_workdir=True),
        TouchedPath("sub", is_workdir=True),
        TouchedPath("/w/a"),
        TouchedPath("/w/b"),
    ]
    read = await touched.read_calls([id])
    assert (read.wrote, read.began) == (False, False)  # nothing is new
    await say(edge, chat, "execute", is_result=True)
    assert (await touched.read_calls([id])).wrote
    await say(edge, chat, "read_file", is_result=True)
    assert not (await touched.read_calls([id])).wrote
    await say(edge, chat, "server__tool", is_result=True)
    assert (await touched.read_calls([id])).wrote


async def test_arguments_that_make_no_sense_touch_nothing(edge, chat):
    touched = TouchedPaths(edge.pool)
    for args in (None, 7, "text", [], {}, {"path": None}, {"files": {"path": "x"}}, {"path": ""}):
        await say(edge, chat, "write_file", args)
        await say(edge, chat, "edit_files", args)
    await touched.read_families([chat])
    await touched.read_calls()
    [id] = touched._chats
    assert touched.of(id) == []


async def test_paths_of_a_chat_have_a_bound(edge, chat, monkeypatch):
    monkeypatch.setattr(module, "PATHS_MAX", 2)
    touched = TouchedPaths(edge.pool)
    for number in range(3):
        await say(edge, chat, "write_file", {"path": f"/w/{number}"})
    await touched.read_families([chat])
    await touched.read_calls()
    [id] = touched._chats
    assert touched.of(id) == [TouchedPath("/w/2"), TouchedPath("/w/1")]
