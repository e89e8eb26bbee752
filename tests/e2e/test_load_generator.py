"""The public load generator's own sequence of calls, against the real daemon and a rehearsal model.

Each client is the generator's: headers, bodies, the order of the calls, what it accepts, and when
it thinks that a turn is over (see load_generator.py).
"""

import json

import pytest
import trio

from tests.e2e.daemons import a_daemon
from tests.e2e.load_generator import MODEL, PROMPT, Barrier, LoadGenerator
from tests.e2e.providers import a_provider

TOKEN = "ten-letter-a-token-that-the-client-never-looks-into"
CHATS, TURNS = 8, 4

pytestmark = pytest.mark.slow


@pytest.fixture
def provider():
    # Streams of the load generator's own model tell no usage: nothing of its small window is used.
    with a_provider("--deltas", "3", "--input-tokens", "100") as provider:
        yield provider


@pytest.fixture
def daemon(home, database):
    with a_daemon(home, DATABASE_URL=database, PROMPTCORNER_ADMIN_TOKEN=TOKEN) as daemon:
        daemon.wait_ready()
        yield daemon


def a_run(daemon, provider, path="/v1"):
    return LoadGenerator(f"http://{daemon.wait_ready()['listen']}", TOKEN, provider.url + path)


async def all_chats(run, model, *, turns=TURNS):
    async with trio.open_nursery() as nursery:
        for _ in range(CHATS):
            nursery.start_soon(lambda: run.converse(model, turns=turns))


async def test_a_whole_run_passes_and_cleans_up(daemon, provider):
    run = a_run(daemon, provider)

    model = await run.prepare()
    await all_chats(run, model)
    await run.clean_up()

    assert "created" == run.provider_was
    assert [TURNS] * CHATS == [going.completed for going in run.conversations]
    answers = [one for one in provider.requests() if one["path"] == "/v1/chat/completions"]
    asked = {one["body"]["model"] for one in answers}
    assert {MODEL} == asked
    assert all("authorization" in one["headers"] for one in answers)


async def test_every_turn_is_shown_whole(daemon, provider):
    run = a_run(daemon, provider)

    going = await run.converse(await run.prepare(), turns=3)

    events = [event for frame in going.frames for event in json.loads(frame)]
    statuses = [event["status"]["status"] for event in events if event["type"] == "status"]
    rows = {event["message"]["id"]: event["message"] for event in events if "message" in event}
    assert ["waiting", "running", "waiting", "running", "waiting"] == statuses[-5:]
    assert ["running"] * (len(statuses) - 5) == statuses[:-5], "unless it was answered sooner"
    assert ["user", "assistant"] * 3 == [rows[id]["role"] for id in sorted(rows)]
    assert PROMPT == rows[min(rows)]["content"][0]["text"]


async def test_a_second_run_finds_everything_as_it_left_it(daemon, provider):
    first = a_run(daemon, provider)
    model = await first.prepare()

    again = a_run(daemon, provider)

    assert model == await again.prepare()
    assert "reused" == again.provider_was


async def test_a_model_that_moved_is_found_at_its_new_place(daemon, provider):
    first = a_run(daemon, provider, path="/elsewhere")
    await first.prepare()

    run = a_run(daemon, provider)
    model = await run.prepare()
    await run.converse(model, turns=2)

    assert "updated" == run.provider_was
    assert 2 == run.conversations[0].completed


async def test_chats_that_wait_for_each_other_after_their_first_turns_go_on(daemon, provider):
    run = a_run(daemon, provider)
    model = await run.prepare()
    barrier = Barrier(CHATS)

    async with trio.open_nursery() as nursery:
        for _ in range(CHATS):
            nursery.start_soon(lambda: run.converse(model, turns=2, barrier=barrier))
    await run.clean_up()

    assert [2] * CHATS == [going.completed for going in run.conversations]
