"""A daemon is ready once it can hold chats: when its first lease has begun, and not before."""

import http.client
import json
import socket

import pytest

from tests.e2e.daemons import a_daemon, run
from tests.e2e.pausing import a_pause
from tests.e2e.processes import eventually, free_ports

pytestmark = pytest.mark.slow

A_BEAT_IS_WRITTEN = ("workers", "INSERT", "true")
NO_LEASE = {"lease": "there is none: this process runs no chats"}


@pytest.fixture
def address():
    """An address that is free, known before the daemon says it."""
    return f"127.0.0.1:{free_ports()}"


@pytest.fixture
def settings(database, address):
    code, _, _ = run("migrate", DATABASE_URL=database)
    assert 0 == code
    return {"listen": address, "DATABASE_URL": database}


def readiness(address):
    """(status, what is failing) of a daemon that may not listen yet."""
    host, port = address.split(":")
    asking = http.client.HTTPConnection(host, int(port), 30)
    try:
        asking.request("GET", "/readyz")
        answer = asking.getresponse()
        return answer.status, json.loads(answer.read()).get("failing")
    except OSError:
        return 0, None
    finally:
        asking.close()


async def test_it_is_not_ready_before_its_first_lease(home, database, address, settings):
    async with a_pause(database, A_BEAT_IS_WRITTEN) as pause:
        with a_daemon(home, **settings) as daemon:
            await pause.reached()
            eventually(lambda: readiness(address) == (503, NO_LEASE), "only the lease is missing")
            said = [entry["event"] for entry in daemon.entries]

            pause.release()
            daemon.wait_ready()

            assert "daemon.ready" not in said
            assert (200, None) == readiness(address)
            events = [entry["event"] for entry in daemon.entries]
            assert events.index("lease.begun") < events.index("daemon.ready")
            assert 0 == daemon.stop()


async def test_an_init_system_hears_that_it_is_ready_after_its_first_lease(
    home, database, address, settings, tmp_path
):
    heard = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(heard)
        listening.setblocking(False)
        async with a_pause(database, A_BEAT_IS_WRITTEN) as pause:
            with a_daemon(home, **settings, NOTIFY_SOCKET=heard) as daemon:
                await pause.reached()
                eventually(lambda: readiness(address) == (503, NO_LEASE), "the rest is there")
                before = words(listening)

                pause.release()
                daemon.wait_ready()
                after = eventually(lambda: words(listening), "it has said something")

                assert 0 == daemon.stop()
    assert "READY=1" not in before
    assert "READY=1" in after


def words(listening):
    """All that has been said to an init system since it was asked last."""
    said = ""
    while True:
        try:
            said += listening.recv(4096).decode()
        except BlockingIOError:
            return said


async def test_it_can_be_stopped_while_it_waits_for_its_lease(home, database, address, settings):
    async with a_pause(database, A_BEAT_IS_WRITTEN) as pause:
        with a_daemon(home, **settings) as daemon:
            await pause.reached()
            eventually(lambda: readiness(address) == (503, NO_LEASE), "the rest is there")

            assert 0 == daemon.stop()

            assert None is daemon.entry("daemon.ready")
            assert "SIGTERM" == daemon.entry("daemon.stopped")["cause"]


async def test_several_processes_are_ready_when_each_has_its_lease(
    home, database, address, settings
):
    async with a_pause(database, A_BEAT_IS_WRITTEN) as pause:
        with a_daemon(home, **settings, PROMPTCORNER_PROCESSES="2") as family:
            await pause.reached()
            eventually(lambda: readiness(address) == (503, NO_LEASE), "the first waits")
            said = [entry["event"] for entry in family.entries]

            pause.release()
            eventually(lambda: family.entry("processes.ready"), "all are ready")

            assert "processes.ready" not in said
            events = [entry["event"] for entry in family.entries]
            assert 2 == events[: events.index("processes.ready")].count("lease.begun")
            assert 0 == family.stop()


async def test_a_process_that_has_lost_its_lease_is_not_ready_until_it_has_another(
    home, database, address, settings
):
    with a_daemon(home, **settings, PROMPTCORNER_LEASE_SECONDS="1") as daemon:
        daemon.wait_ready()
        async with a_pause(database, A_BEAT_IS_WRITTEN):
            eventually(lambda: readiness(address) == (503, NO_LEASE), "it has lost its lease")

        eventually(lambda: readiness(address) == (200, None), "it has another")
        assert 0 == daemon.stop()
