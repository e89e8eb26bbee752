"""One address, a listening socket for each process."""

import pytest
import trio

from adapters.daemon.parent.addresses import DEALT_OUT, bind_sockets
from adapters.settings.refusals import CannotStart
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
def closing():
    sockets = []
    yield sockets
    for each in sockets:
        each.close()


async def test_connections_are_dealt_out_to_those_who_listen(closing):
    assert DEALT_OUT, "this is what Linux does; elsewhere there is one socket for all"
    groups, address = bind_sockets("127.0.0.1", 0, 3)
    closing += [each for group in groups for each in group]
    port = int(address.rpartition(":")[2])
    first, second, deaf = [group[0] for group in groups]
    for each in (first, second):
        each.listen(256)
        each.setblocking(False)

    streams = [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(64)]

    dealt = [0, 0]
    with trio.fail_after(PATIENCE_SECONDS):  # nothing is dealt to a process that does not listen
        while sum(dealt) < 64:
            dealt = [
                count + _accepted(each) for count, each in zip(dealt, (first, second), strict=True)
            ]
            await trio.sleep(0.002)
    assert all(dealt)
    assert deaf.getsockname() == first.getsockname()
    for stream in streams:
        await stream.aclose()


def _accepted(listening):
    count = 0
    while True:
        try:
            accepted, _ = listening.accept()
        except BlockingIOError:
            return count
        accepted.close()
        count += 1


def test_an_address_belongs_to_one_parent(closing):
    groups, address = bind_sockets("127.0.0.1", 0, 2)
    closing += [each for group in groups for each in group]
    groups[0][0].listen(1)
    port = int(address.rpartition(":")[2])

    with pytest.raises(CannotStart) as refused:
        bind_sockets("127.0.0.1", port, 2)

    advice = "choose another address with --listen HOST:PORT"
    fact = f"listen 127.0.0.1:{port}: another program listens there already"
    assert f"{fact}; {advice}" == str(refused.value)
