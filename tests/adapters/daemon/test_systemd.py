"""What systemd hears, on a real socket; time is virtual."""

import os
import socket

import pytest
import trio
import trio.testing

from adapters.daemon.systemd import (
    BEAT_SECONDS,
    START_SECONDS_MAX,
    STATUS_MAX,
    STOP_SECONDS,
    Systemd,
)
from runtime.log import LOGGER_NAME
from tests.folders import a_folder

MINUTE = "60000000"


class Init:
    """The other side: a socket in a directory, or an abstract one."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address.replace("@", "\0", 1))
        self._socket.setblocking(False)

    def heard(self):
        said = []
        while True:
            try:
                said.append(self._socket.recv(4096).decode().split("\n"))
            except BlockingIOError:
                return said

    async def hear(self, seconds):
        """All that is said meanwhile: a socket keeps ten words, so they are taken in between."""
        said = []
        for _ in range(int(seconds)):
            await trio.sleep(1)
            said += self.heard()
        return said

    def close(self):
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def address(request):
    with a_folder() as top:
        path = top / "notify"
        yield str(path) if request.param == "path" else f"@{path}"


@pytest.fixture
def init(address):
    init = Init(address)
    yield init
    init.close()


async def test_it_hears_that_we_are_ready_and_what_we_do(address, init, autojump_clock):
    systemd = Systemd({"NOTIFY_SOCKET": address})

    systemd.ready("serves at\nhttp://127.0.0.1:7390")
    systemd.status("x" * 1000)

    ready, status = init.heard()
    assert ["READY=1", "STATUS=serves at http://127.0.0.1:7390"] == ready
    assert ["STATUS=" + "x" * STATUS_MAX] == status


async def test_the_watchdog_is_fed_twice_in_its_time(address, init, nursery, autojump_clock):
    systemd = Systemd({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": MINUTE})
    systemd.ready("")
    init.heard()

    nursery.start_soon(systemd.run)

    assert [["WATCHDOG=1"]] * 10 == await init.hear(300 - 1)


async def test_a_loop_that_stands_still_feeds_nobody(address, init, nursery, mock_clock):
    systemd = Systemd({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": MINUTE})
    systemd.ready("")
    nursery.start_soon(systemd.run)
    await trio.testing.wait_all_tasks_blocked()
    init.heard()

    mock_clock.jump(3600)  # and nothing ran meanwhile

    assert [] == init.heard()


@pytest.mark.parametrize("watchdog", [{}, {"WATCHDOG_USEC": MINUTE, "WATCHDOG_PID": "1"}])
async def test_without_a_watchdog_of_ours_nothing_is_fed(
    address, init, nursery, autojump_clock, watchdog
):
    systemd = Systemd({"NOTIFY_SOCKET": address, **watchdog})
    systemd.ready("")
    init.heard()

    nursery.start_soon(systemd.run)
    await trio.sleep(600)

    assert [] == init.heard()


async def test_the_watchdog_may_name_us(address, init, nursery, autojump_clock):
    mine = {"WATCHDOG_USEC": MINUTE, "WATCHDOG_PID": str(os.getpid())}
    systemd = Systemd({"NOTIFY_SOCKET": address, **mine})
    systemd.ready("")
    init.heard()

    nursery.start_soon(systemd.run)
    await trio.testing.wait_all_tasks_blocked()

    assert [["WATCHDOG=1"]] == init.heard()


async def test_a_long_start_is_given_time_but_not_for_ever(address, init, nursery, autojump_clock):
    systemd = Systemd({"NOTIFY_SOCKET": address})

    nursery.start_soon(systemd.run)

    heard = await init.hear(START_SECONDS_MAX + 600)
    assert ["EXTEND_TIMEOUT_USEC=15000000"] == heard[0]
    assert START_SECONDS_MAX / BEAT_SECONDS == len(heard)


async def test_a_stop_is_given_the_time_of_the_drain_and_some(
    address, init, nursery, autojump_clock
):
    systemd = Systemd({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": MINUTE})
    systemd.ready("")
    nursery.start_soon(systemd.run)
    await trio.sleep(1)
    init.heard()

    systemd.stopping(600)

    stopping, *beats = await init.hear(1200)
    more = "EXTEND_TIMEOUT_USEC=90000000"
    assert ["STOPPING=1", "STATUS=hands its chats on, within 600 s", more] == stopping
    given = [beat for beat in beats if beat == ["WATCHDOG=1", more]]
    assert (600 + STOP_SECONDS) / 30 == len(given)
    assert [["WATCHDOG=1"]] * (len(beats) - len(given)) == beats[len(given) :]


async def test_its_variables_are_for_nobody_whom_we_start(address, autojump_clock):
    environ = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1", "HOME": "/"}

    Systemd(environ)

    assert {"HOME": "/"} == environ


@pytest.mark.parametrize("socket_", ["", "vsock:2:1", "relative"])
async def test_where_nobody_listens_it_is_silent_and_ends(socket_, autojump_clock):
    systemd = Systemd({"NOTIFY_SOCKET": socket_, "WATCHDOG_USEC": MINUTE})

    systemd.ready("")
    systemd.stopping(1)
    with trio.fail_after(1):
        await systemd.run()


async def test_who_has_gone_is_spoken_to_without_harm_and_complained_of_once(
    address, init, autojump_clock, caplog
):
    init.close()
    if not address.startswith("@"):
        os.unlink(address)
    systemd = Systemd({"NOTIFY_SOCKET": address})

    with caplog.at_level("WARNING", LOGGER_NAME):
        systemd.ready("")
        systemd.stopping(1)

    assert ["systemd.unreached"] == [record.message for record in caplog.records]


async def test_who_does_not_listen_holds_nobody_up(address, init, autojump_clock):
    systemd = Systemd({"NOTIFY_SOCKET": address})

    for _ in range(5000):  # more than any queue of datagrams
        systemd.status("x")

    assert init.heard()
