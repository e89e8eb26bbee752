"""Terminals over the API: typed into, watched, left and come back to, and ended."""

import os
import re
import signal
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import httpx2
import pytest
import trio
from trio_websocket import ConnectionClosed

from adapters.http.endpoints import SocketClosed
from adapters.workspaces.store import OwnedWorkspaces, OwnerScope
from adapters.workspaces.terminals import sharing, wire
from adapters.workspaces.terminals import terminal as one
from adapters.workspaces.terminals import terminals as table
from adapters.workspaces.terminals.sharing import (
    MessageLine,
    TypedMessages,
    open_terminals,
    pass_on,
)
from tests.adapters.edges import HEADER, an_edge
from tests.adapters.workspaces.test_routes import W, a_workspace
from tests.fakes.forge import TOKEN, a_forge
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow
ROOMY = "UPDATE workspaces SET memory_mb = 4096, file_mb = 4096, processes = 64, seconds = 600"


class Screen:
    """A page that shows a terminal: what it has seen, by positions."""

    def __init__(self, socket):
        self.socket = socket
        self.seen = b""
        self.position = 0
        self.sizes = []
        self.end = None

    async def hear(self):
        with trio.fail_after(PATIENCE_SECONDS):
            said = wire.message_of_terminal(await self.socket.get_message())
        if isinstance(said, wire.TerminalSize):
            self.sizes.append((said.rows, said.columns))
        elif isinstance(said, wire.TerminalEnd):
            self.end = said
        else:
            begins, data = said
            assert begins >= self.position, "nothing comes twice"
            self.seen += data
            self.position = begins + len(data)

    async def until(self, words):
        while words.encode() not in self.seen:
            await self.hear()
        return self.seen.decode(errors="replace")

    async def until_ended(self):
        await self.until_closed()
        return self.end

    async def until_closed(self):
        with suppress(ConnectionClosed):
            while True:
                await self.hear()

    async def type(self, text):
        await self.socket.send_message(wire.input_message(text.encode()))

    async def resize(self, rows, columns):
        await self.socket.send_message(wire.resize_message(wire.TerminalSize(rows, columns)))


class Place:
    def __init__(self, edge, workspace, home):
        self.edge, self.id, self.home = edge, workspace, home
        self.path = f"{W}/{workspace}/terminals"

    async def start(self, **size):
        answer = await self.edge.member.post(self.path, size or None)
        assert 201 == answer.status, answer.body
        return answer.document["id"]

    @asynccontextmanager
    async def screen(self, id, after=0):
        async with self.edge.member.socket(f"{self.path}/{id}/stream?after={after}") as socket:
            yield Screen(socket)

    async def listed(self):
        return (await self.edge.member.get(self.path)).document["terminals"]


@asynccontextmanager
async def a_place(conninfo, top, sandbox, **settings):
    async with an_edge(conninfo, data_dir=str(top), sandbox=sandbox, **settings) as edge:
        id = await a_workspace(edge)
        await edge.execute(ROOMY)
        home = top / f"workspaces/{id}/home"
        home.mkdir(parents=True)
        (home.parent / "tmp").mkdir()
        yield Place(edge, id, home)


@pytest.fixture(params=["bubblewrap", "none"])
async def anywhere(request, fresh, tmp_path):
    async with a_place(fresh, tmp_path, request.param) as place:
        yield place


@pytest.fixture
async def place(fresh, short_path):
    async with a_place(fresh, short_path, "none") as place:
        yield place


async def gone(pid):
    with trio.fail_after(PATIENCE_SECONDS):
        while alive(pid):
            await trio.sleep(0.005)


def alive(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def running_below(top):
    """Processes of this machine that name this directory, or stand in it."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes()
            at = os.readlink(f"/proc/{name}/cwd")
        except OSError:
            continue
        if int(name) != os.getpid() and (str(top).encode() in words or at.startswith(str(top))):
            found.append(int(name))
    return [pid for pid in found if alive(pid)]


async def until_nothing_runs_below(top):
    """Wait until killed processes are gone."""
    with trio.fail_after(PATIENCE_SECONDS):
        while running_below(top):
            await trio.sleep(0.005)


async def test_a_shell_is_a_proper_terminal(anywhere):
    id = await anywhere.start(rows=31, columns=101)
    async with anywhere.screen(id) as screen:
        await screen.type("stty size; echo $TERM-$((40 + 2)); pwd; echo ${EDITOR:-none}\r")
        seen = await screen.until("none\r")
        assert "31 101" in seen
        assert "xterm-256color-42" in seen
        assert str(anywhere.home) in seen

        await screen.type("sh -c \"echo sle''eping; exec sleep 1000\"\r")
        await screen.until("sleeping\r\n")
        await screen.type("\x03")
        await screen.type("echo code=$?\r")
        await screen.until("code=130")

        await screen.type("sleep 1001 &\r")
        await screen.type("jobs; kill %1; wait; echo all=do''ne\r")
        assert "Running" in await screen.until("all=done")

        await screen.resize(40, 132)
        await screen.type("stty size\r")
        await screen.until("40 132")
        assert [(31, 101), (40, 132)] == screen.sizes

        await screen.type("exit 3\r")
        assert wire.TerminalEnd(3) == await screen.until_ended()
    assert [] == await anywhere.listed()


async def test_the_sandbox_is_that_of_commands(fresh, tmp_path):
    (tmp_path / "secret.key").write_text("SECRET")
    async with (
        a_place(fresh, tmp_path, "bubblewrap") as place,
        place.screen(await place.start()) as screen,
    ):
        await screen.type(f"ls {tmp_path}; cat {tmp_path}/secret.key\r")
        await screen.type("echo $(ls -d /proc/[0-9]* | wc -l) processes; echo se''en\r")
        seen = await screen.until("seen\r")

    assert "No such file" in seen
    assert "SECRET" not in seen
    [count] = re.findall(r"(\d+) processes\r\n", seen)
    assert int(count) <= 5


async def test_several_watch_one_terminal_and_each_may_type(place):
    id = await place.start()
    async with place.screen(id) as one_page, place.screen(id) as other:
        await one_page.type("echo from-$((1 + 1))\r")
        await other.until("from-2\r")
        await other.type("echo from-$((1 + 2))\r")
        await one_page.until("from-3\r")
        await other.until("from-3\r")
        await other.resize(50, 90)
        while (50, 90) not in one_page.sizes:
            await one_page.hear()

        assert one_page.seen[: other.position] == other.seen[: one_page.position]
        [listed] = await place.listed()
        assert (id, 50, 90, 2) == tuple(listed[k] for k in ("id", "rows", "columns", "watchers"))


async def test_one_who_comes_back_gets_what_is_missing_once(place):
    id = await place.start()
    async with place.screen(id) as screen:
        await screen.type("echo one-$((1))\r")
        await screen.until("one-1\r\n")
    async with place.screen(id) as meanwhile:
        await meanwhile.type("for i in $(seq 2000); do echo line-$i; done; echo th''en\r")
        await meanwhile.until("then\r\n")
    async with place.screen(id, after=screen.position) as back:
        back.position = screen.position
        back.seen = screen.seen
        await back.until("then\r\n")

    assert meanwhile.seen.startswith(back.seen[:100])
    length = min(len(meanwhile.seen), len(back.seen))
    assert meanwhile.seen[:length] == back.seen[:length]


async def test_one_who_was_away_for_long_gets_the_end(place):
    id = await place.start()
    async with place.screen(id) as screen:
        await screen.type("stty -echo; yes 0123456789abcdef | head -c 2000000; echo; echo la''st\r")
        await screen.until("last\r\n")
    async with place.screen(id) as late:
        await late.until("last\r\n")

    assert wire.KEPT_BYTES_MAX // 2 < len(late.seen) <= wire.KEPT_BYTES_MAX * 5 // 4
    assert late.seen.startswith(b"0123456789abcdef"), "it begins with a whole line"
    figures = place.edge.chats.lifecycle.statistics().terminals
    assert figures.output_bytes_count > 2_000_000


async def test_a_watcher_who_does_not_read_holds_up_nobody(place):
    id = await place.start()
    async with place.screen(id), place.screen(id) as screen:
        await screen.type("stty -echo; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo la''st\r")
        await screen.until("last\r\n")


async def test_input_that_no_program_reads_is_bounded(place, monkeypatch):
    monkeypatch.setattr(one, "INPUT_BYTES_MAX", 100_000)
    id = await place.start()
    async with place.screen(id) as screen:
        await screen.type("stty -icanon -echo; echo rea''dy; kill -STOP $$\r")
        await screen.until("ready")
        with suppress(ConnectionClosed):
            for _ in range(4):
                await screen.type("x" * 50_000)
            await screen.until_closed()
    assert [id] == [each["id"] for each in await place.listed()]


async def test_messages_that_make_no_sense_end_the_socket_and_not_the_terminal(place):
    id = await place.start()
    for message in (b"", b"?", b"r{}}", b"r" + b" " * 70_000, "text"):
        async with place.screen(id) as screen:
            await screen.socket.send_message(message)
            await screen.until_closed()
    async with place.screen(id) as screen:
        await screen.type("echo $((6 * 7))\r")
        await screen.until("42")


async def test_it_ends_with_its_workspace_and_all_that_it_has_started(anywhere):
    top = anywhere.home.parent
    async with anywhere.screen(await anywhere.start()) as screen:
        await screen.type("sleep 1000 & (sleep 1001 &) ; echo be''gun\r")
        await screen.until("begun\r")
        assert running_below(top)

        await anywhere.edge.member.post(f"{W}/{anywhere.id}/stop")

        assert "stopped" in (await screen.until_ended()).why
    await until_nothing_runs_below(top)
    answer = await anywhere.edge.member.post(anywhere.path)
    assert (409, "The workspace is stopped.") == (answer.status, answer.document["message"])


async def test_it_is_ended_by_its_owner(place):
    id = await place.start()
    async with place.screen(id) as screen:
        await screen.type("trap '' HUP TERM; sleep 1000 & echo be''gun\r")
        await screen.until("begun\r")
        answer = await place.edge.member.delete(f"{place.path}/{id}")
        assert 204 == answer.status
        end = await screen.until_ended()
    assert (128 + signal.SIGKILL, "ended by its owner") == (end.exit_code, end.why)
    await until_nothing_runs_below(place.home.parent)
    async with place.screen(id) as late:
        assert end == await late.until_ended(), "one who comes a moment later is told"
    assert 404 == (await place.edge.member.delete(f"{place.path}/{'0' * 12}")).status


async def test_one_that_nobody_watches_ends(place, monkeypatch):
    monkeypatch.setattr(one, "LOOK_SECONDS", 0.05)
    id = await place.start()
    async with place.screen(id) as screen:
        monkeypatch.setattr(one, "UNWATCHED_SECONDS", 0.0)
        await trio.sleep(0.2)  # it is looked at meanwhile
        await screen.type("echo $((6 * 7))\r")
        await screen.until("42")
    with trio.fail_after(PATIENCE_SECONDS):
        while await place.listed():
            await trio.sleep(0.01)


async def test_one_ends_at_its_limit(place):
    await place.edge.execute("UPDATE workspaces SET seconds = 1")
    async with place.screen(await place.start()) as screen:
        assert "after 1 s" in (await screen.until_ended()).why


async def test_there_are_only_so_many(place, monkeypatch):
    monkeypatch.setattr(table, "PER_WORKSPACE_MAX", 2)
    for _ in range(2):
        await place.start()

    refused = await place.edge.member.post(place.path)

    assert (409, "Too many terminals.") == (refused.status, refused.document["message"])
    assert "2 run in this workspace" in refused.document["detail"]
    monkeypatch.setattr(table, "PER_WORKSPACE_MAX", 9)
    monkeypatch.setattr(table, "PER_USER_MAX", 2)
    assert "of yours" in (await place.edge.member.post(place.path)).document["detail"]
    monkeypatch.setattr("adapters.workspaces.terminals.routes.WATCHERS_MAX", 0)
    [first, _] = await place.listed()
    ours = {HEADER: place.edge.member.token}
    assert 409 == await refusal(f"{place.edge.url}{place.path}/{first['id']}/stream", ours)


async def test_one_that_has_ended_takes_no_place_of_those_that_run(place, monkeypatch):
    monkeypatch.setattr(table, "TERMINALS_MAX", 1)
    first = await place.start()
    refused = await place.edge.member.post(place.path)
    async with place.screen(first) as screen:
        await screen.type("exit\r")
        await screen.until_ended()

    second = await place.start()

    assert "of all users" in refused.document["detail"]
    assert [second] == [each["id"] for each in await place.listed()]


async def test_of_those_that_have_ended_only_so_many_are_known(place, monkeypatch):
    monkeypatch.setattr(table, "KNOWN_MAX", 1)
    ours = place.edge.chats.lifecycle.terminals.own
    ids = []
    for _ in range(3):
        ids.append(await place.start())
        async with place.screen(ids[-1]) as screen:
            await screen.type("exit\r")
            await screen.until_ended()

    known = [id for id in ids if ours.find(UUID(place.id), id)]

    assert ids[-1:] == known


async def test_no_more_watch_at_once_than_may_although_all_were_let_in(place, monkeypatch):
    monkeypatch.setattr(one, "WATCHERS_MAX", 1)  # the route lets in more
    id = await place.start()
    async with place.screen(id) as first:
        await first.type("echo $((6 * 7))\r")
        await first.until("42")
        async with place.screen(id) as second:
            with trio.fail_after(PATIENCE_SECONDS), pytest.raises(ConnectionClosed) as closed:
                await second.socket.get_message()

    assert (1013, "16 watch it, which is the most") == (
        closed.value.reason.code,
        closed.value.reason.reason,
    )


async def test_git_reaches_a_forge_from_a_terminal_and_the_token_is_not_there(fresh, tmp_path):
    async with a_forge(tmp_path / "forge") as forge:
        forge.add("ann/tools")
        settings = {"forges": f"github={forge.url}", "private_networks": "127.0.0.0/8"}
        async with a_place(fresh, tmp_path / "data", "bubblewrap", **settings) as place:
            put = f"/api/v2/users/me/forge-tokens/{forge.host}"
            assert 200 == (await place.edge.member.put(put, {"token": TOKEN})).status
            async with place.screen(await place.start(columns=200)) as screen:
                await screen.type(f"git ls-remote https://{forge.host}/ann/tools.git\r")
                await screen.until("refs/heads/main")
                await screen.type("env; cat /run/promptcorner/*; echo over-$((6 * 7))\r")
                assert TOKEN not in await screen.until("over-42")


async def test_a_size_that_no_screen_has_is_refused(place):
    for size in ({"rows": 0}, {"columns": 1_001}, {"rows": "ten"}):
        assert 400 == (await place.edge.member.post(place.path, size)).status, size


async def test_switched_off_there_is_none(fresh, tmp_path):
    async with a_place(fresh, tmp_path, "none", terminals="off") as place:
        for answer in (
            await place.edge.member.get(place.path),
            await place.edge.member.post(place.path),
        ):
            assert (403, True) == (answer.status, "terminals = false" in answer.document["detail"])


async def test_a_token_that_may_only_read_has_none_and_no_page_of_others(place):
    id = await place.start()
    new = {"scopes": ["chats"], "token_name": "reader"}
    made = await place.edge.member.post("/api/v2/users/me/keys/tokens", new)
    token = made.document["key"]
    url = f"{place.edge.url}{place.path}/{id}/stream"
    ours = f"coder_session_token={place.edge.member.token}"
    assert 403 == await refusal(url, {HEADER: token})
    assert 403 == await refusal(url, {"Cookie": ours, "Origin": "https://evil.example"})
    assert 401 == await refusal(url, {})
    assert 404 == await refusal(url, {HEADER: place.edge.admin.token})


async def refusal(url, headers):
    """The status with which a socket is refused."""
    asked = {
        **headers,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
        return (await client.get(url, headers=asked)).status_code


async def test_a_token_that_is_taken_back_ends_the_watching(place):
    member = place.edge.member
    new = {"token_name": "short"}
    made = (await member.post("/api/v2/users/me/keys/tokens", new)).document["key"]
    id = await place.start()
    async with replace(member, token=made).socket(f"{place.path}/{id}/stream") as socket:
        screen = Screen(socket)
        await screen.hear()
        key = made.split("-")[0]
        assert 204 == (await member.delete(f"/api/v2/users/me/keys/{key}")).status
        await screen.until_closed()
    assert await place.listed(), "the terminal itself goes on"


# other processes of this machine


async def test_a_page_that_goes_while_a_terminal_elsewhere_writes_is_no_fault():
    here, there = trio.socket.socketpair()
    async with trio.SocketStream(here) as ours, trio.SocketStream(there) as theirs:
        await MessageLine(theirs).send(b"output")

        async def send(message):
            raise SocketClosed

        with trio.fail_after(PATIENCE_SECONDS):
            await pass_on(MessageLine(ours), send, TypedMessages(10))


async def test_a_terminal_of_another_process_is_listed_watched_typed_into_and_ended(
    place, monkeypatch
):
    monkeypatch.setattr(sharing, "ANSWER_SECONDS", PATIENCE_SECONDS)
    here = place.edge.chats.lifecycle.terminals
    async with open_terminals(place.edge.chats.lifecycle.workspaces) as there:
        with trio.fail_after(PATIENCE_SECONDS):
            while not await here._sockets.others():
                await trio.sleep(0.01)
        owned = await _owned(place)
        id = (await there.own.start(owned, wire.TerminalSize())).id
        assert [id] == [each["id"] for each in await place.listed()]

        async with place.screen(id) as screen:
            await screen.type("echo far-$((6 * 7))\r")
            await screen.until("far-42\r\n")
            await screen.resize(11, 22)
            await screen.type("stty size\r")
            await screen.until("11 22")
        async with place.screen(id, after=screen.position) as back:
            back.position = screen.position
            await back.type("echo back-$((6 * 7))\r")
            await back.until("back-42")
            assert b"far-42" not in back.seen
            assert 204 == (await place.edge.member.delete(f"{place.path}/{id}")).status
            assert "owner" in (await back.until_ended()).why


async def _owned(place):
    rows = OwnedWorkspaces(place.edge.pool, tell=lambda *hints: None)
    return await rows.one(place.id, OwnerScope(place.edge.member.id))
