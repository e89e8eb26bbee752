"""Many streams read in one task, over real sockets: order, ends, errors, cancellation, turns."""

import os
import socket
import ssl
import struct
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from adapters.models.providers import shared_reads
from adapters.models.providers.dial import Origin, direct_dial, new_tls_context, tls_context
from adapters.models.providers.shared_reads import open_shared_reads
from runtime.lag import LoopLag

CERTIFICATE = Path(__file__).parents[3] / "fakes" / "localhost.pem"

pytestmark = pytest.mark.skipif(not hasattr(shared_reads.select, "epoll"), reason="needs epoll")


@pytest.fixture
async def reads():
    async with open_shared_reads(LoopLag()) as opened:
        yield opened


@asynccontextmanager
async def a_stream(scheme="http"):
    """Both ends of a connection: (ours, the server's)."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    context = new_tls_context()
    context.load_verify_locations(CERTIFICATE)
    origin = Origin(scheme, "localhost", listeners[0].socket.getsockname()[1])
    ends = {}

    async def accept():
        stream = await listeners[0].accept()
        if scheme == "https":
            offered = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            offered.load_cert_chain(CERTIFICATE)
            stream = trio.SSLStream(stream, offered, server_side=True, https_compatible=True)
            await stream.do_handshake()
        ends["theirs"] = stream

    async with trio.open_nursery() as nursery:
        nursery.start_soon(accept)
        ours = await direct_dial(context if scheme == "https" else tls_context())(origin)
    await listeners[0].aclose()
    async with ours, ends["theirs"]:
        yield ours, ends["theirs"]


class Heard:
    """Notes what it takes, up to `last`."""

    def __init__(self, last=b""):
        self.pieces = []
        self.last = last
        self.more = trio.Event()

    def __call__(self, data):
        self.pieces.append(data)
        self.more.set()
        return not self.last or self.last not in data

    async def until(self, text):
        with trio.fail_after(60):
            while text not in b"".join(self.pieces):
                await self.more.wait()
                self.more = trio.Event()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_what_comes_is_taken_in_order_up_to_the_piece_that_ends_it(reads, nursery, scheme):
    async with a_stream(scheme) as (ours, theirs):
        heard, over = Heard(last=b"3"), trio.Event()

        async def follow():
            await reads.each(ours, heard)
            over.set()

        nursery.start_soon(follow)
        for number in (b"1", b"2", b"3"):
            await theirs.send_all(number)
            await heard.until(number)
        await over.wait()

        assert [b"1", b"2", b"3"] == heard.pieces
        assert reads.statistics().streams == 0


async def test_all_records_that_have_come_are_one_piece(reads, nursery):
    async with a_stream("https") as (ours, theirs):
        heard = Heard(last=b"c")

        for number in (b"a", b"b", b"c"):  # a record each
            await theirs.send_all(number)
        await reads.each(ours, heard)

        assert b"abc" == b"".join(heard.pieces)


async def test_a_farewell_behind_the_last_record_ends_a_stream_though_the_socket_stays_open(
    reads, nursery
):
    async with a_stream("https") as (ours, theirs):
        heard = Heard()
        await theirs.send_all(b"last")
        nursery.start_soon(farewell, theirs)
        await wait_all_tasks_blocked()  # both have come, and are one read

        with trio.fail_after(60):
            await reads.each(ours, heard)

        assert [b"last"] == heard.pieces
        assert b"" == await ours.receive_some(100)


async def farewell(stream):
    """End TLS, and wait for the other side to do so too, as some servers do."""
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        await stream.unwrap()


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_the_task_reads_on_by_itself_where_the_shared_reads_have_ended(
    reads, nursery, scheme
):
    async with a_stream(scheme) as (ours, theirs):
        await theirs.send_all(b"first")
        await reads.each(ours, Heard(last=b"first"))

        await theirs.send_all(b"second")

        assert b"second" == await ours.receive_some(100)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_the_end_of_a_stream_wakes_its_task(reads, nursery, scheme):
    async with a_stream(scheme) as (ours, theirs):
        heard = Heard()

        await theirs.send_all(b"bye")
        await theirs.aclose()
        await reads.each(ours, heard)

        assert b"bye" == b"".join(heard.pieces)
        assert b"" == await ours.receive_some(100)


async def test_a_stream_that_breaks_is_told_to_its_task_alone(reads, nursery):
    async with a_stream() as (ours, theirs), a_stream() as (other, its_peer):
        heard = Heard()
        nursery.start_soon(reads.each, other, heard)
        await wait_all_tasks_blocked()

        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await theirs.aclose()
        with pytest.raises(trio.BrokenResourceError):
            await reads.each(ours, Heard())
        await its_peer.send_all(b"hello")
        await heard.until(b"hello")

        assert [b"hello"] == heard.pieces
        nursery.cancel_scope.cancel()


async def test_what_a_taker_raises_is_raised_in_its_task_alone(reads, nursery):
    async with a_stream() as (ours, theirs), a_stream() as (other, its_peer):
        heard = Heard()
        nursery.start_soon(reads.each, other, heard)

        def broken(data):
            raise AssertionError("what was heard makes no sense")

        await theirs.send_all(b"x")
        with pytest.raises(AssertionError, match=r"^what was heard makes no sense$"):
            await reads.each(ours, broken)
        await its_peer.send_all(b"hello")
        await heard.until(b"hello")

        assert reads.statistics().streams == 1
        nursery.cancel_scope.cancel()


async def test_a_task_that_is_cancelled_has_taken_nothing_more(reads):
    async with a_stream() as (ours, theirs):
        heard = Heard()

        async with trio.open_nursery() as following:
            following.start_soon(reads.each, ours, heard)
            await wait_all_tasks_blocked()
            os.write(theirs.socket.fileno(), b"late")  # at the same moment, as far as trio can see
            following.cancel_scope.cancel()

        assert [] == heard.pieces
        assert b"late" == await ours.receive_some(100)
        assert reads.statistics().streams == 0


async def test_one_stream_may_end_another_in_the_same_round(reads):
    """The descriptor of the second one is then no reader's, and may already be another's."""
    async with a_stream() as (first, one), a_stream() as (second, two):
        scopes = {first: trio.CancelScope(), second: trio.CancelScope()}
        taken = []

        async def follow(stream, other):
            def take(data):
                taken.append(data)
                scopes[other].cancel()
                return True

            with scopes[stream]:
                await reads.each(stream, take)

        await one.send_all(b"x")
        await two.send_all(b"x")
        with trio.move_on_after(60) as patience:
            async with trio.open_nursery() as following:
                following.start_soon(follow, first, second)
                following.start_soon(follow, second, first)
                while not taken:
                    await trio.lowlevel.checkpoint()
                following.cancel_scope.cancel()

        assert not patience.cancelled_caught
        assert reads.statistics().streams == 0


async def test_others_run_between_two_slices_of_a_round(reads, nursery, monkeypatch):
    monkeypatch.setattr(shared_reads, "slice_length", lambda *_: 1)
    turns, order = 0, []

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    def take(data):
        order.append(turns)
        return False

    async with AsyncExitStack() as opened:
        streams = [await opened.enter_async_context(a_stream()) for _ in range(3)]
        for _, theirs in streams:
            await theirs.send_all(b"x")
        for ours, _ in streams:  # all have come, and are one round
            await trio.lowlevel.wait_readable(ours.descriptor)
        nursery.start_soon(others)
        async with trio.open_nursery() as following:
            for ours, _ in streams:
                following.start_soon(reads.each, ours, take)

        # Tasks of one turn of the loop run in any order: a whole turn is between these two.
        first, _, third = order
        assert third > first
        assert 1 == reads.statistics().rounds_count
        nursery.cancel_scope.cancel()
