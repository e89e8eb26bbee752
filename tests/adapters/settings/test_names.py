"""Names of hosts are looked up, whatever else hangs."""

import socket
from functools import partial

import pytest
import trio

from adapters.models.providers.dial import (
    Origin,
    direct_dial,
    hang_up,
    open_connection,
    tls_context,
)
from adapters.models.providers.faults import ProviderUnreachable
from adapters.postgres.driver.libpq import LibpqConnection
from adapters.settings import names
from adapters.settings.names import LOOK_UPS, Resolver
from adapters.tools.mcp.oauth.guard import resolved
from runtime.threads import ThreadLimits, read, statistics
from tests.fakes.hanging import HangingDisk, all_ended, leave, use_up_trios_threads


@pytest.fixture
async def silent(tmp_path, monkeypatch):
    """Name servers that do not answer for `silent.example`; others do."""
    ours = socket.getaddrinfo
    disk = HangingDisk(tmp_path / "silent")

    def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
        if host == b"silent.example" and not flags & socket.AI_NUMERICHOST:
            disk.touch()
        return ours(host, port, family, type, proto, flags)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    trio.socket.set_custom_hostname_resolver(Resolver())
    yield disk
    disk.mend()
    await all_ended()
    disk.close()


@pytest.fixture
async def listening():
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    yield listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()


async def test_disks_that_hang_do_not_cut_us_off(silent, listening, server, tmp_path):
    use_up_trios_threads()
    disk = HangingDisk(tmp_path / "disk")
    hanging = ThreadLimits("hanging_disks", 50)
    for _ in range(50):
        await leave(disk, partial(read, hanging, disk.touch))

    with trio.fail_after(20):
        await hang_up(
            await open_connection(
                direct_dial(tls_context()), Origin("http", "localhost", listening)
            )
        )
        link = await LibpqConnection.open(server)
        link.close()
        assert "127.0.0.1" in await resolved("localhost", 80)

    disk.mend()
    await all_ended()
    disk.close()


async def test_a_host_whose_name_servers_are_silent_holds_up_no_other(silent, listening):
    dial = direct_dial(tls_context())
    for _ in range(LOOK_UPS.per_key_max):
        await leave(silent, partial(open_connection, dial, Origin("http", "silent.example", 80)))
    assert LOOK_UPS.per_key_max == statistics()[LOOK_UPS.name].left

    with trio.fail_after(20):
        await hang_up(await open_connection(dial, Origin("http", "localhost", listening)))


async def test_who_finds_no_thread_is_told_so(silent, monkeypatch):
    monkeypatch.setattr(names, "LOOK_UPS", ThreadLimits("few_names", 1, wait_seconds=0.05))
    dial, origin = direct_dial(tls_context()), Origin("http", "silent.example", 80)
    await leave(silent, partial(open_connection, dial, origin))

    with pytest.raises(
        ProviderUnreachable, match=r"^silent\.example:80: .*name servers do not answer"
    ):
        await open_connection(dial, origin)


def test_every_program_looks_names_up_in_threads_of_its_own():
    async def main(name):
        use_up_trios_threads()
        with trio.fail_after(20):
            return await trio.socket.getaddrinfo(name, 80)

    assert names.run(main, "localhost")
    assert names.run(partial(main, "localhost"))


async def test_a_name_that_is_none_is_an_error_as_ever():
    with pytest.raises(OSError, match=r"[Nn]ame"):
        await Resolver().getaddrinfo(b"nobody.invalid", 80)
