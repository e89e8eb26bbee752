"""What the probes answer in each phase of the daemon."""

import json

from adapters.http.endpoints import Call
from adapters.http.health import Probes


async def ask(probes, path, query=()):
    """(status, document)"""
    [row] = [row for row in probes.endpoints() if row.path == path]
    answer = await row.handle(Call(None, {}, query, {}, b""))
    return answer.status, json.loads(answer.body)


async def fine():
    return None


async def away():
    return "connection refused"


async def test_a_daemon_lives_before_it_is_ready():
    probes = Probes()

    assert (200, {"status": "alive"}) == await ask(probes, "/livez")
    expected = {"status": "not ready", "failing": {"daemon": "starting"}}
    assert (503, expected) == await ask(probes, "/readyz")


async def test_a_daemon_is_ready_when_every_check_passes():
    probes = Probes()
    probes.ready({"database": fine})

    assert (200, {"status": "ready"}) == await ask(probes, "/readyz")


async def test_a_failing_check_is_named_with_its_reason():
    probes = Probes()
    probes.ready({"database": away, "schema": fine})

    status, document = await ask(probes, "/readyz")

    assert (503, {"database": "connection refused"}) == (status, document["failing"])
    assert 200 == (await ask(probes, "/livez"))[0]


async def test_verbose_lists_every_check():
    probes = Probes()
    probes.ready({"database": away, "schema": fine})

    _, document = await ask(probes, "/readyz", [("verbose", "")])

    assert {"database": "connection refused", "schema": "ok", "daemon": "ok"} == document["checks"]


async def test_a_stopping_daemon_is_not_ready_and_asks_nobody():
    probes = Probes()
    probes.ready({"database": away})

    probes.stopping()

    status, document = await ask(probes, "/readyz")
    assert (503, {"daemon": "stopping"}) == (status, document["failing"])


async def test_health_is_a_word():
    [row] = [row for row in Probes().endpoints() if row.path == "/healthz"]

    answer = await row.handle(Call(None, {}, (), {}, b""))

    assert (200, b"OK") == (answer.status, answer.body)
