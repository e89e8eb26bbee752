"""Commands of a chat in other processes on one machine: listed, waited for, signalled."""

import os
import socket
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
import trio

from actors.law.ids import ChatId
from actors.tools.workspaces import Command, Signal
from adapters.workspaces.commands import peer_sockets, peers
from adapters.workspaces.commands.peers import ASKED_BYTES_MAX, LISTED_MAX, Peers
from adapters.workspaces.commands.processes import ProcessSpec, ProcessTable, open_processes
from tests.patience import PATIENCE_SECONDS

CHAT, OTHER = ChatId(UUID(int=1)), ChatId(UUID(int=2))


@dataclass
class Process:
    table: ProcessTable
    peers: Peers
    socket: Path

    def start(self, text, chat=CHAT):
        return self.table.start(
            ProcessSpec(
                chat=chat,
                workspace=UUID(int=3),
                command=Command(text),
                workdir="/",
                arguments=["sh", "-c", text],
                environment=dict(os.environ),
                seconds_max=PATIENCE_SECONDS,
            )
        )


@asynccontextmanager
async def a_process(directory):
    async with open_processes() as table, trio.open_nursery() as nursery:
        peers = Peers(directory, table)
        nursery.start_soon(peers.run)
        path = peers._sockets.path
        await until(path.is_socket)
        yield Process(table, peers, path)
        nursery.cancel_scope.cancel()


@pytest.fixture
async def two(short_path, monkeypatch):
    monkeypatch.setattr(peers, "ANSWER_SECONDS", PATIENCE_SECONDS)
    directory = short_path / "peers"
    async with a_process(directory) as one, a_process(directory) as other:
        yield one, other


async def test_all_that_a_chat_runs_elsewhere_is_listed_and_nothing_of_others(two):
    one, other = two
    id = other.start("echo much; sleep 1000")
    other.start("sleep 1000", chat=OTHER)
    one.start("sleep 1000")

    [listed] = await one.peers.all(CHAT)

    assert (id, "echo much; sleep 1000", True) == (listed.id, listed.command, listed.is_running)
    assert "" == listed.output.text


async def test_one_that_runs_elsewhere_is_waited_for(two):
    one, other = two
    id = other.start("echo begun; sleep 0.1; echo over; exit 3")

    done = await one.peers.wait(CHAT, id, PATIENCE_SECONDS)

    assert ("begun\nover\n", 3) == (done.output.text, done.exit_code)
    assert other.table.all(CHAT) == [done]


async def test_nobody_waits_longer_than_he_said(two):
    one, other = two
    id = other.start("sleep 1000")

    with trio.fail_after(PATIENCE_SECONDS):
        now = await one.peers.wait(CHAT, id, 0.01)

    assert now.is_running


async def test_one_that_runs_elsewhere_is_signalled(two):
    one, other = two
    id = other.start("sleep 1000")

    told = await one.peers.signal(CHAT, id, Signal.KILL)
    done = await one.peers.wait(CHAT, id, PATIENCE_SECONDS)
    again = await one.peers.signal(CHAT, id, Signal.KILL)

    assert ("", 137) == (told.refused, done.exit_code)
    assert f"process {id} is not running any more (exit code 137)" == again.refused


async def test_what_nobody_knows_or_is_of_another_chat_is_not_there(two):
    one, other = two
    id = other.start("sleep 1000", chat=OTHER)

    for wanted in (id, "none"):
        assert await one.peers.wait(CHAT, wanted, PATIENCE_SECONDS) is None
        assert await one.peers.signal(CHAT, wanted, Signal.KILL) is None
    assert [] == await one.peers.all(CHAT)
    assert other.table.all(OTHER)[0].is_running


async def test_whom_the_disk_does_not_let_be_found_says_so_and_is_found_later(
    short_path, monkeypatch, caplog
):
    monkeypatch.setattr(peer_sockets, "FOUND_AGAIN_SECONDS", 0.02)
    directory = short_path / "peers"
    directory.write_text("something else")
    async with open_processes() as table, trio.open_nursery() as nursery:
        found = Peers(directory, table)
        nursery.start_soon(found.run)
        with trio.fail_after(PATIENCE_SECONDS):
            while not caplog.records:
                await trio.sleep(0.005)
            directory.unlink()

            while not found._sockets.path.is_socket():
                await trio.sleep(0.005)

        nursery.cancel_scope.cancel()
    told = caplog.records[0]
    assert "commands.unseen" == told.getMessage()
    assert f"{directory}: file exists" == told.fields["why"]


async def test_a_process_that_is_gone_is_left_out_and_its_socket_taken_away(two):
    one, other = two
    id = other.start("sleep 1000")
    gone = other.socket.with_name("gone")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(gone))

    [listed] = await one.peers.all(CHAT)

    assert id == listed.id
    assert not gone.exists()


@contextmanager
def a_mute_one(beside):
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(beside.with_name("mute")))
        mute.listen()
        yield


async def test_a_process_that_does_not_answer_is_left_out(two, monkeypatch):
    monkeypatch.setattr(peers, "ANSWER_SECONDS", 0.3)
    one, _ = two
    began = trio.current_time()
    with a_mute_one(one.socket), trio.fail_after(PATIENCE_SECONDS):
        assert [] == await one.peers.all(CHAT)

    assert trio.current_time() - began >= 0.3


async def test_nobody_waits_for_it_if_another_knows(two, monkeypatch):
    monkeypatch.setattr(peers, "ANSWER_SECONDS", 1_000.0)
    one, other = two
    id = other.start("sleep 1000")
    with a_mute_one(one.socket), trio.fail_after(PATIENCE_SECONDS):
        found = await one.peers.wait(CHAT, id, 0)

    assert id == found.id


@pytest.mark.parametrize(
    "said", [b"", b"{}\n", b"nonsense\n", b"x" * (ASKED_BYTES_MAX + 1), b'{"do":"end","chat":1}\n']
)
async def test_what_is_no_question_gets_no_answer_and_harms_nobody(two, said):
    one, other = two
    id = other.start("sleep 1000")

    async with await trio.open_unix_socket(str(other.socket)) as stream:
        await stream.send_all(said)
        await stream.send_eof()
        with trio.fail_after(PATIENCE_SECONDS):
            answer = await stream.receive_some()

    assert b"" == answer
    assert id == (await one.peers.all(CHAT))[0].id


async def test_a_question_that_does_not_end_is_none(two, monkeypatch):
    monkeypatch.setattr(peers, "ANSWER_SECONDS", 1_000.0)
    _, other = two

    async with await trio.open_unix_socket(str(other.socket)) as stream:
        await stream.send_all(b"x" * (ASKED_BYTES_MAX + 1))
        with trio.fail_after(PATIENCE_SECONDS):
            answer = await stream.receive_some()

    assert b"" == answer


async def test_who_has_gone_before_his_answer_harms_nobody(two):
    one, other = two
    id = other.start("echo " + "x" * 100_000 + "; sleep 1000")
    question = b'{"do":"wait","chat":"%s","id":"%s","seconds":0}\n' % (
        str(CHAT).encode(),
        id.encode(),
    )

    for _ in range(20):
        stream = await trio.open_unix_socket(str(other.socket))
        await stream.send_all(question)
        await stream.aclose()
    await until(lambda: other.peers.statistics().answering == 0)

    assert id == (await one.peers.all(CHAT))[0].id


async def test_who_does_not_wait_any_more_is_not_waited_for(two):
    one, other = two
    id = other.start("sleep 1000")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(one.peers.wait, CHAT, id, PATIENCE_SECONDS)
        await until(lambda: other.peers.statistics().answering == 1)
        nursery.cancel_scope.cancel()

    await until(lambda: other.peers.statistics().answering == 0)


async def until(holds):
    with trio.fail_after(PATIENCE_SECONDS):
        while not holds():
            await trio.sleep(0.002)


async def test_only_its_user_gets_there(two):
    one, _ = two

    assert 0o700 == one.socket.parent.stat().st_mode & 0o777


@pytest.mark.slow
async def test_a_long_list_is_cut(short_path):
    directory = short_path / "peers"
    async with a_process(directory) as one, a_process(directory) as other:
        for _ in range(LISTED_MAX + 1):
            await other.table.wait(CHAT, other.start("true"), PATIENCE_SECONDS)

        assert LISTED_MAX == len(await one.peers.all(CHAT))


async def test_its_socket_goes_with_it(short_path):
    async with a_process(short_path / "peers") as one:
        pass

    assert not one.socket.exists()
    assert [] == await one.peers.all(CHAT)
