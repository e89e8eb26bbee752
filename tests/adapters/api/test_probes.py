"""What the probes answer in each phase of the daemon."""

import pytest

from adapters.api.probes import Probes
from adapters.api.server import Request


def get(path, query=""):
    return Request("GET", path, query)


async def fine():
    return None


async def away():
    return "connection refused"


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_a_probe_only_reads(path, method):
    answer = await Probes().answer(Request(method, path, ""))

    assert (405, (("allow", "GET, HEAD"),)) == (answer.status, answer.headers)


async def test_there_is_nothing_else():
    answer = await Probes().answer(get("/"))

    assert (404, {"message": "there is nothing at /"}) == (answer.status, answer.document)


async def test_a_daemon_lives_before_it_is_ready():
    probes = Probes()

    assert 200 == (await probes.answer(get("/livez"))).status
    answer = await probes.answer(get("/readyz"))
    assert 503 == answer.status
    assert {"status": "not ready", "failing": {"daemon": "starting"}} == answer.document


async def test_a_daemon_is_ready_when_every_check_passes():
    probes = Probes()
    probes.ready({"database": fine})

    answer = await probes.answer(get("/readyz"))

    assert (200, {"status": "ready"}) == (answer.status, answer.document)


async def test_a_failing_check_is_named_with_its_reason():
    probes = Probes()
    probes.ready({"database": away, "schema": fine})

    answer = await probes.answer(get("/readyz"))

    assert 503 == answer.status
    assert {"database": "connection refused"} == answer.document["failing"]
    assert 200 == (await probes.answer(get("/livez"))).status


async def test_verbose_lists_every_check():
    probes = Probes()
    probes.ready({"database": away, "schema": fine})

    answer = await probes.answer(get("/readyz", "verbose"))

    expected = {"database": "connection refused", "schema": "ok", "daemon": "ok"}
    assert expected == answer.document["checks"]


async def test_a_stopping_daemon_is_not_ready_and_asks_nobody():
    probes = Probes()
    probes.ready({"database": away})

    probes.stopping()

    answer = await probes.answer(get("/readyz"))
    assert (503, {"daemon": "stopping"}) == (answer.status, answer.document["failing"])
