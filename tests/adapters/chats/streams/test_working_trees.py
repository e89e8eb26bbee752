"""The stream of the changes in a workspace, as clients of a whole daemon see it: real git, real
calls of tools, real sockets."""

import json
import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest
import trio
from trio_websocket import ConnectionClosed

from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from adapters.workspaces.git import schedule, watching
from adapters.workspaces.git import trees as tree_module
from tests.adapters.edges import an_edge, eventually
from tests.adapters.requests_of import CHATS
from tests.adapters.workspaces.git.ground import git, put, repository
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

HEARTBEAT = {"type", "scanned_at"}


def until(name):
    """Return a command that waits for a file beside the repository."""
    return f"until [ -e ../{name} ]; do sleep 0.02; done"


@dataclass
class GitWatcher:
    """A client that follows the stream as the reference's do, and what it knows by now."""

    socket: object
    heard: list = field(default_factory=list)
    repositories: dict = field(default_factory=dict)

    async def next(self):
        with trio.fail_after(PATIENCE_SECONDS):
            message = json.loads(await self.socket.get_message())
        self.heard.append(message)
        for told in message.get("repositories", ()):
            self.repositories[told["repo_root"]] = told
        return message

    async def until(self, condition):
        with trio.fail_after(PATIENCE_SECONDS):
            while not condition(self):
                await self.next()

    async def refresh(self):
        await self.socket.send_message('{"type": "refresh"}')
        return await self.next()

    async def refresh_until(self, condition):
        """Wish looks until one has found it: the first that is told may have begun before."""
        with trio.fail_after(PATIENCE_SECONDS):
            while not condition(self):
                await self.refresh()

    def diff(self, root):
        return self.repositories.get(str(root), {}).get("unified_diff", "")


@dataclass
class Work:
    """A chat with a workspace, and its model, which calls what the test says."""

    edge: object
    chat: str
    home: Path

    @property
    def path(self):
        return f"{CHATS}/{self.chat}"

    async def call(self, name, *, chat=None, **arguments):
        """Let the model call a tool, and wait until the turn is over."""
        call = ScriptedCall(name, json.dumps(arguments))
        self.edge.rehearsal.behave(Behaviour(text="done", tool_calls=(call,)))
        part = {"type": "text", "text": f"please {name}"}
        path = f"{CHATS}/{chat or self.chat}"
        sent = await self.edge.member.post(f"{path}/messages", {"content": [part]})
        assert sent.status == 200, sent.document
        await self.at_rest(path)

    async def at_rest(self, path):
        async def rests():
            return (await self.edge.member.get(path)).document["status"] == "waiting"

        await eventually(rests)

    @asynccontextmanager
    async def watch(self, chat=None):
        async with self.edge.member.socket(f"{CHATS}/{chat or self.chat}/stream/git") as socket:
            yield GitWatcher(socket)

    async def figures(self):
        """Return the figures of what is watched, as an admin sees them."""
        told = (await self.edge.admin.get("/debug/actors")).document["working_trees"]
        return {**told, "looks": told["git"]["looks_count"]}


async def begin(edge):
    """Make a chat whose model has made a workspace."""
    call = ScriptedCall("create_workspace", json.dumps({"template_id": "empty"}))
    edge.rehearsal.behave(Behaviour(text="done", tool_calls=(call,)))
    part = {"type": "text", "text": "begin"}
    new = {"organization_id": edge.organization, "content": [part]}
    chat = (await edge.member.post(CHATS, new)).document["id"]

    async def workspace():
        found = (await edge.member.get(f"{CHATS}/{chat}")).document
        return found["status"] == "waiting" and found["workspace_id"]

    id = await eventually(workspace)
    return Work(edge, chat, Path(edge.chats.lifecycle.workspaces.home(UUID(id))))


@pytest.fixture
async def work(fresh, tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(schedule, "POLL_SECONDS", 0.3)
    async with an_edge(fresh, data_dir=tmp_path.resolve(), sandbox="none") as edge:
        yield await begin(edge)


async def test_a_call_that_writes_is_told_with_what_was_there_before(work):
    root = repository(work.home / "r", **{"a.txt": "one\n"})
    git(root, "remote", "add", "origin", "https://secret@forge.test/ann/tools.git")
    async with work.watch() as watcher:
        assert set(await watcher.next()) == HEARTBEAT  # nothing was touched yet

        await work.call("write_file", path=str(root / "a.txt"), content="two\n")
        await watcher.until(lambda it: it.repositories)

        [told] = watcher.repositories.values()
        assert set(told) == {"repo_root", "branch", "remote_origin", "unified_diff"}
        assert (told["repo_root"], told["branch"]) == (str(root), "main")
        assert told["remote_origin"] == "https://forge.test/ann/tools.git"
        assert "-one\n+two\n" in told["unified_diff"]

        await work.call("write_file", path=str(root / "b.txt"), content="new\n")
        await watcher.until(lambda it: "+new" in it.diff(root))
        await work.call(
            "execute",
            command="git add . && git -c user.name=a -c user.email=a@b commit -qm all",
            workdir="r",
        )
        await watcher.until(lambda it: not it.diff(root))
        assert "unified_diff" not in watcher.repositories[str(root)]


async def test_what_was_touched_before_anyone_watched_is_told_at_once(work):
    root = repository(work.home / "r", **{"a.txt": "one\n"})
    await work.call(
        "edit_files",
        files=[{"path": str(root / "a.txt"), "edits": [{"old_text": "one", "new_text": "zwei"}]}],
    )
    assert (await work.figures())["looks"] == 0  # nobody watches
    async with work.watch() as watcher:
        await watcher.next()
        assert "+zwei" in watcher.diff(root)


async def test_nothing_runs_while_nothing_changes_and_nobody_watches(work):
    root = repository(work.home / "r", **{"a.txt": "one\n"})
    await work.call("write_file", path=str(root / "a.txt"), content="two\n")
    async with work.watch() as watcher:
        await watcher.next()
        looks = (await work.figures())["looks"]
        await work.call("read_file", path=str(root / "a.txt"))
        await watcher.refresh()
        figures = await work.figures()
        assert (looks, figures["looks"]) == (1, 2)  # the refresh alone
        assert (figures["workspaces"], figures["watchers"]) == (1, 1)

    async def unwatched():
        return not (await work.figures())["watchers"]

    await eventually(unwatched)
    await work.call("write_file", path=str(root / "a.txt"), content="three\n")
    figures = await work.figures()
    assert (figures["workspaces"], figures["looks"], figures["scans_count"]) == (0, 2, 2)


async def test_a_refresh_is_answered_even_if_nothing_is_new(work):
    root = repository(work.home / "r", **{"a.txt": "one\n"})
    await work.call("write_file", path=str(root / "a.txt"), content="two\n")
    async with work.watch() as watcher, work.watch() as other:
        await watcher.next()
        await other.next()
        before = watcher.heard[-1]["scanned_at"]
        message = await watcher.refresh()
        while set(message) != HEARTBEAT:  # the second watcher had a look made
            message = await watcher.next()
        assert message["scanned_at"] > before
        put(root, **{"a.txt": "by hand\n"})
        await watcher.socket.send_message('{"type": "refresh"}')
        await watcher.until(lambda it: "+by hand" in it.diff(root))
        await other.until(lambda it: "+by hand" in it.diff(root))  # one look for both
        assert (await work.figures())["workspaces"] == 1


async def test_a_command_that_goes_on_is_looked_at_and_once_more_at_its_end(work):
    root = repository(work.home / "r", **{"a.txt": "one\n"})
    async with work.watch() as watcher:
        await work.call(
            "execute",
            command=f"{until('go')}; echo two > a.txt; {until('end')}; echo 3 > a.txt",
            workdir=str(root),
            run_in_background=True,
        )
        await watcher.until(lambda it: it.repositories)
        (work.home / "go").touch()
        await watcher.until(lambda it: "+two" in it.diff(root))
        (work.home / "end").touch()
        await watcher.until(lambda it: "+3" in it.diff(root))


async def test_a_repository_that_vanishes_is_told_once(work):
    root = repository(work.home / "r", **{"a.txt": "one\n"})
    await work.call("write_file", path=str(root / "a.txt"), content="two\n")
    async with work.watch() as watcher:
        await watcher.next()
        shutil.rmtree(root)
        await watcher.refresh_until(lambda it: "removed" in it.repositories[str(root)])
        assert watcher.repositories[str(root)] == {
            "repo_root": str(root),
            "branch": "",
            "removed": True,
        }
        assert set(await watcher.refresh()) == HEARTBEAT
        repository(work.home / "r", **{"a.txt": "again\n"})
        await watcher.refresh_until(lambda it: it.repositories[str(root)]["branch"] == "main")
    async with work.watch() as late:
        shutil.rmtree(root)
        await late.next()
        assert not any(one.get("removed") for one in late.repositories.values())


async def test_what_agents_touch_is_seen_of_their_parent_but_not_the_reverse(work):
    mine = repository(work.home / "mine", **{"a.txt": "one\n"})
    theirs = repository(work.home / "theirs", **{"a.txt": "one\n"})
    child = await spawned(work)
    await work.call("write_file", path=str(mine / "a.txt"), content="parent\n")
    async with work.watch() as watcher, work.watch(child) as of_child:
        await watcher.until(lambda it: "+parent" in it.diff(mine))
        await work.call("write_file", chat=child, path=str(theirs / "a.txt"), content="agent\n")
        await watcher.until(lambda it: "+agent" in it.diff(theirs))
        await of_child.until(lambda it: "+agent" in it.diff(theirs))
        assert str(mine) not in of_child.repositories
        assert (await work.figures())["workspaces"] == 1


async def spawned(work):
    """Let the model spawn an agent, which says something and rests."""
    await work.call("spawn_agent", type="general", prompt="wait for orders")
    [child] = (await work.edge.member.get(work.path)).document["children"]
    await work.at_rest(f"{CHATS}/{child['id']}")
    return child["id"]


async def test_trouble_is_told_once_and_gone_with_its_reason(work):
    root = repository(work.home / "r", **{"a.txt": "one\n"})
    await work.call("write_file", path=str(root / "a.txt"), content="two\n")
    index = (root / ".git/index").read_bytes()
    (root / ".git/index").write_bytes(b"broken")
    async with work.watch() as watcher:
        await watcher.until(lambda it: it.heard and it.heard[-1]["type"] == "error")
        assert watcher.heard[-1]["message"].startswith(f"{root}: ")
        await watcher.refresh()
        await watcher.refresh()
        assert [one["type"] for one in watcher.heard].count("error") == 1
        (root / ".git/index").write_bytes(index)
        await watcher.refresh_until(lambda it: "+two" in it.diff(root))


async def test_a_workspace_that_is_stopped_ends_the_stream_and_is_refused_then(work):
    async with work.watch() as watcher:
        await watcher.next()
        document = (await work.edge.member.get(work.path)).document
        await work.edge.member.post(f"/api/v2/workspaces/{document['workspace_id']}/stop")
        with pytest.raises(ConnectionClosed) as closed:
            await watcher.until(lambda it: False)
        assert closed.value.reason.code == 1001
        assert watcher.heard[-1]["type"] == "error"
    answer = await work.edge.member.get(f"{work.path}/stream/git")
    assert answer.status == 400
    assert answer.document["message"].startswith("Agent state is stopped")


async def test_refusals_are_the_words_that_clients_know(work):
    edge = work.edge
    edge.rehearsal.behave(Behaviour(text="hello"))
    part = {"type": "text", "text": "hello"}
    new = {"organization_id": edge.organization, "content": [part]}
    chat = (await edge.member.post(CHATS, new)).document["id"]
    without = await edge.member.get(f"{CHATS}/{chat}/stream/git")
    message = "Chat has no workspace to watch."
    assert (without.status, without.document["message"]) == (400, message)
    plain = await edge.member.get(f"{work.path}/stream/git")
    assert (plain.status, plain.headers["upgrade"]) == (426, "websocket")
    assert (await edge.stranger.get(f"{work.path}/stream/git")).status == 404
    assert (await edge.admin.get(f"{work.path}/stream/git")).status == 403
    shutil.rmtree(work.home)
    gone = await edge.member.get(f"{work.path}/stream/git")
    assert (gone.status, gone.document["message"]) == (400, "Chat workspace not found.")


async def test_other_words_of_a_client(work):
    async with work.watch() as watcher:
        await watcher.next()
        await watcher.socket.send_message('{"type": "something of the future", "x": 1}')
        assert set(await watcher.refresh()) == HEARTBEAT
        await watcher.socket.send_message("no JSON")
        with pytest.raises(ConnectionClosed) as closed:
            await watcher.next()
        assert closed.value.reason.code == 1008


async def test_more_watchers_than_may_are_told_so(work, monkeypatch):
    monkeypatch.setattr(watching, "WATCHERS_MAX", 1)
    async with work.watch() as first:
        await first.next()
        async with work.watch() as second:
            with pytest.raises(ConnectionClosed) as closed:
                await second.next()
            assert closed.value.reason.code == 1013
        assert set(await first.refresh()) == HEARTBEAT


async def test_a_watch_that_crashes_says_so_and_the_next_one_is_whole(work, monkeypatch):
    async def crash(*_):
        raise RuntimeError("planted")

    async with work.watch() as watcher:
        await watcher.next()
        with monkeypatch.context() as planted:
            planted.setattr(tree_module.WatchedTree, "_look", crash)
            with pytest.raises(ConnectionClosed):
                await watcher.refresh_until(lambda it: False)
        assert watcher.heard[-1]["type"] == "error"
    async with work.watch() as again:
        assert set(await again.next()) == HEARTBEAT
    assert (await work.figures())["crashed_count"] == 1


async def test_all_diffs_of_a_workspace_have_a_bound(work, monkeypatch):
    monkeypatch.setattr(tree_module, "DIFFS_CHARACTERS_MAX", 300)
    for name in ("one", "two"):
        root = repository(work.home / name, **{"a.txt": "x\n"})
        await work.call("write_file", path=str(root / "a.txt"), content="y" * 100 + "\n")
    async with work.watch() as watcher:
        await watcher.next()
        assert "+yyy" in watcher.diff(work.home / "one")
        assert watcher.diff(work.home / "two").startswith("The diff is not shown")
