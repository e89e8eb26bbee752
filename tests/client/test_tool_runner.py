"""A program answers the calls of its own tools: once, in time, and while they are wanted."""

import httpx2
import pytest
import trio
import trio.testing

from promptcorner_client import errors, tool_runner
from promptcorner_client.errors import RequestRefused
from promptcorner_client.tool_runner import CALLS_AT_ONCE_MAX
from promptcorner_client.tools import NO_OBJECT, SECONDS_MAX, ToolError, tool
from tests.client.waiting_chats import CHAT, WaitingDaemon, a_call, a_message

pytestmark = [
    # The HTTP library leaves generators of its own to the garbage collector.
    pytest.mark.filterwarnings("ignore:Async generator 'httpx2:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SECONDS_OF_THE_DAEMON = 300


@pytest.fixture
def daemon():
    return WaitingDaemon()


@tool
async def weather(city: str, days: int = 1) -> dict:
    """The weather."""
    return {"city": city, "days": days}


@tool
async def for_ever():
    await trio.sleep_forever()


def outputs(daemon, number=-1):
    return [(r["output"], r["is_error"]) for r in daemon.posts[number][1]]


async def waited(daemon, *tools, after=None):
    """The chat is waited for until it rests; `after` is called once somebody has answered."""

    async def go_on():
        await daemon.heard.wait()
        await trio.testing.wait_all_tasks_blocked()
        (after or daemon.finishes)()

    async with daemon.client() as client, trio.open_nursery() as nursery:
        nursery.start_soon(go_on)
        return await client.wait(CHAT, tools=tools)


async def test_calls_that_wait_already_are_answered_and_the_chat_goes_on(autojump_clock, daemon):
    daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))

    seen = await waited(daemon, weather)

    assert [({"city": "Rome", "days": 1}, False)] == outputs(daemon)
    assert ("waiting", "done", 1) == (seen.status, seen.answer, len(daemon.posts))


async def test_several_calls_run_at_once_and_are_answered_together_in_their_order(
    autojump_clock, daemon
):
    begun = 0
    all_there = trio.Event()

    @tool
    async def meet(name: str):
        nonlocal begun
        begun += 1
        if begun == 3:
            all_there.set()
        await all_there.wait()
        return name

    daemon.awaits(*(a_call(id, "meet", f'{{"name": "{id}"}}') for id in "abc"))

    await waited(daemon, meet)

    assert [("a", False), ("b", False), ("c", False)] == outputs(daemon)
    assert ["a", "b", "c"] == [result["tool_call_id"] for result in daemon.posts[0][1]]


async def test_no_more_run_at_once_than_the_bound(autojump_clock, daemon):
    running = most = 0

    @tool
    async def count():
        nonlocal running, most
        running += 1
        most = max(most, running)
        await trio.sleep(1)
        running -= 1

    daemon.awaits(*(a_call(str(id), "count") for id in range(3 * CALLS_AT_ONCE_MAX)))

    await waited(daemon, count)

    assert CALLS_AT_ONCE_MAX == most
    assert [(None, False)] * (3 * CALLS_AT_ONCE_MAX) == outputs(daemon)


async def test_a_call_that_takes_too_long_is_answered_as_late_while_there_is_time(
    autojump_clock, daemon
):
    daemon.awaits(a_call("1", "for_ever"), a_call("2", "weather", '{"city": "Rome"}'))

    began = trio.current_time()
    await waited(daemon, for_ever, weather)

    [(late, is_error), (fine, _)] = outputs(daemon)
    assert ("the tool did not finish in time", True) == (late["error"], is_error)
    assert {"city": "Rome", "days": 1} == fine
    assert trio.current_time() - began == pytest.approx(for_ever.seconds, abs=1)


async def test_calls_that_wait_for_room_are_answered_in_time_too(autojump_clock, daemon):
    daemon.awaits(*(a_call(str(id), "for_ever") for id in range(5 * CALLS_AT_ONCE_MAX)))

    began = trio.current_time()
    await waited(daemon, for_ever)

    assert 5 * CALLS_AT_ONCE_MAX == len(daemon.posts[0][1])
    assert trio.current_time() - began == pytest.approx(SECONDS_MAX, abs=1)
    assert SECONDS_MAX < SECONDS_OF_THE_DAEMON


@tool
async def explode():
    raise RuntimeError("/home/ann/secret.txt")


@tool
async def decline():
    raise ToolError("the city is closed on Mondays")


@tool
async def return_a_lock():
    return trio.Lock()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (a_call("1", "explode"), "the tool failed unexpectedly"),
        (a_call("1", "return_a_lock"), "the tool failed unexpectedly"),
        (a_call("1", "decline"), "the city is closed on Mondays"),
        (a_call("1", "weather", ""), NO_OBJECT),
        (a_call("1", "weather", "{}"), "missing the required argument `city`"),
        (a_call("1", "weather", "[1]"), "expected `object`, got `array`"),
        (a_call("1", "weather", '{"city": 3}'), "city: expected `str`, got `int`"),
        (a_call("1", "weather", "{"), "input data was truncated"),
        (a_call("1", "weather", '{"x":' + "[" * 1_000_000), NO_OBJECT),
        (a_call("1", "unheard_of"), "no program here runs a tool unheard_of"),
    ],
)
async def test_what_goes_wrong_is_told_to_the_model_without_what_is_none_of_its_business(
    autojump_clock, daemon, call, said
):
    daemon.awaits(call)

    await waited(daemon, weather, explode, decline, return_a_lock)

    assert [({"error": said}, True)] == outputs(daemon)


async def test_who_is_slower_is_told_so_and_goes_on(autojump_clock, daemon):
    began = trio.Event()

    @tool
    async def slow():
        began.set()
        await trio.sleep(1)

    daemon.awaits(a_call("1", "slow"))
    daemon.faults.append(409)

    async with daemon.client() as client, trio.open_nursery() as nursery:

        async def others():
            await began.wait()
            await trio.sleep(2)
            daemon.goes_on()
            daemon.finishes("answered by others")

        nursery.start_soon(others)
        seen = await client.wait(CHAT, tools=[slow])

    assert "answered by others" == seen.answer
    assert [409] == [status for status, _ in daemon.posts]


async def test_results_that_fit_nothing_any_more_are_nobodys_fault(autojump_clock, daemon):
    daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))
    daemon.faults.append(400)

    async with daemon.client() as client, trio.open_nursery() as nursery:

        async def go_on():
            await trio.sleep(5)
            daemon.goes_on()
            daemon.finishes()

        nursery.start_soon(go_on)
        seen = await client.wait(CHAT, tools=[weather])

    assert ("done", [400]) == (seen.answer, [status for status, _ in daemon.posts])


@pytest.mark.parametrize(
    ("id", "role", "answers", "expected"),
    [
        (10, "assistant", None, False),
        (11, "assistant", None, True),
        (11, "user", None, True),
        (11, "tool", "1", True),
        (11, "tool", "3", False),
        (9, "tool", "1", False),
    ],
)
def test_what_is_said_later_ends_the_wait_unless_it_answers_something_else(
    id, role, answers, expected
):
    awaited = tool_runner.PendingCalls((a_call("1", "weather"), a_call("2", "weather")), 10, None)

    assert expected is awaited.is_over_by(a_message(id, role, answers))


async def test_a_chat_that_no_longer_waits_has_cancelled_its_calls(autojump_clock, daemon):
    ended = trio.Event()

    @tool
    async def watch():
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    daemon.awaits(a_call("1", "watch"))

    async with daemon.client() as client, trio.open_nursery() as nursery:
        nursery.start_soon(client.attend, CHAT, [watch])
        await trio.testing.wait_all_tasks_blocked()
        daemon.stops()
        await ended.wait()
        nursery.cancel_scope.cancel()


async def test_calls_that_nobody_waits_for_any_more_are_cancelled(autojump_clock, daemon):
    ended = []

    @tool
    async def watch():
        try:
            await trio.sleep_forever()
        finally:
            ended.append(trio.current_time())

    daemon.awaits(a_call("1", "watch"))

    async with daemon.client() as client, trio.open_nursery() as nursery:

        async def interrupt():
            await trio.sleep(5)
            daemon.goes_on()
            await trio.testing.wait_all_tasks_blocked()
            assert 1 == len(ended)
            daemon.finishes()

        nursery.start_soon(interrupt)
        await client.wait(CHAT, tools=[watch])

    assert [] == daemon.posts


async def test_a_call_goes_on_while_others_are_answered_that_are_not_the_clients(
    autojump_clock, daemon
):
    """A person is asked about a local call of the same step, and denies it."""
    runs = 0

    @tool
    async def long():
        nonlocal runs
        runs += 1
        await trio.sleep(30)

    daemon.awaits(a_call("1", "long"))

    async def person():
        await trio.sleep(10)
        daemon.answers_another("2")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(person)
        daemon.faults.append(503)  # and that it is awaited still is seen when it is asked, too
        daemon.heard = trio.Event()
        await waited(daemon, long)

    assert (1, [503, 204]) == (runs, [status for status, _ in daemon.posts])


async def test_an_answer_whose_fate_is_unknown_is_sent_again_while_it_is_awaited(
    autojump_clock, daemon
):
    daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))
    daemon.faults += [503, 502]

    await waited(daemon, weather)

    assert [503, 502, 204] == [status for status, _ in daemon.posts]


async def test_an_answer_that_was_taken_is_not_sent_again_to_calls_of_the_same_name(
    autojump_clock, daemon
):
    """The connection breaks with the answer, the stream too; meanwhile the model calls anew, under
    the same id, as models that count their calls do."""
    asked = []

    @tool
    async def look(at: str):
        asked.append(at)
        return at

    class Taken(httpx2.ReadError):
        pass

    daemon.awaits(a_call("call_0", "look", '{"at": "first"}'))
    daemon.faults.append(Taken("cut"))

    async def model():
        await daemon.heard.wait()
        daemon.cut()
        daemon.awaits(a_call("call_0", "look", '{"at": "second"}'))

    async with daemon.client() as client, trio.open_nursery() as nursery:
        nursery.start_soon(model)
        with trio.move_on_after(100):
            await client.wait(CHAT, tools=[look])

    said = [result["output"] for status, results in daemon.posts for result in results]
    assert ["first", "second"] == said == asked


async def test_the_same_call_twice_in_a_row_is_answered_twice(autojump_clock, daemon):
    rounds = 0

    @tool
    async def next_page():
        nonlocal rounds
        rounds += 1
        return rounds

    daemon.awaits(a_call("call_0", "next_page"))

    async def model():
        await daemon.heard.wait()
        daemon.awaits(a_call("call_0", "next_page"))
        daemon.heard = trio.Event()
        await daemon.heard.wait()
        daemon.finishes()

    async with daemon.client() as client, trio.open_nursery() as nursery:
        nursery.start_soon(model)
        await client.wait(CHAT, tools=[next_page])

    assert [1, 2] == [results[0]["output"] for _, results in daemon.posts]


async def test_two_calls_under_one_id_are_one(autojump_clock, daemon):
    daemon.awaits(
        a_call("1", "weather", '{"city": "Rome"}'), a_call("1", "weather", '{"city": "Oslo"}')
    )

    await waited(daemon, weather)

    assert [({"city": "Rome", "days": 1}, False)] == outputs(daemon)


async def test_a_stream_that_breaks_leaves_the_calls_running_and_they_run_once(
    autojump_clock, daemon
):
    runs = 0

    @tool
    async def long():
        nonlocal runs
        runs += 1
        await trio.sleep(30)
        return runs

    daemon.awaits(a_call("1", "long"))

    async def network():
        await trio.sleep(10)
        daemon.cut()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(network)
        await waited(daemon, long)

    assert [(1, False)] == outputs(daemon)


async def test_results_that_do_not_fit_go_out_as_words(autojump_clock, daemon):
    daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))
    daemon.faults.append(413)  # somebody in between takes less than a daemon

    await waited(daemon, weather)

    assert [413, 204] == [status for status, _ in daemon.posts]
    [(output, is_error)] = outputs(daemon)
    assert is_error
    assert "too large" in output["error"]


async def test_who_may_not_answer_is_told_so(autojump_clock, daemon):
    daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))
    daemon.faults.append(403)

    async with daemon.client() as client:
        with pytest.raises(RequestRefused) as raised:
            await client.wait(CHAT, tools=[weather])

    assert 403 == raised.value.status


async def test_who_leaves_cancels_what_runs_and_answers_nothing(autojump_clock, daemon):
    daemon.awaits(a_call("1", "for_ever"))

    async with daemon.client() as client:
        with trio.move_on_after(3) as limit:
            await client.attend(CHAT, [for_ever])

    assert limit.cancelled_caught
    assert [] == daemon.posts


async def test_a_daemon_that_stays_away_is_unreachable_in_the_end(
    autojump_clock, daemon, monkeypatch
):
    monkeypatch.setattr(tool_runner, "CONNECTIONS_MAX", 3)
    daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))
    daemon.faults += [503] * 3

    async with daemon.client() as client:
        with pytest.raises(errors.RequestRefused, match="503"):
            await client.wait(CHAT, tools=[weather])


async def test_a_chat_that_needs_consent_rests_when_its_tools_are_answered(autojump_clock, daemon):
    """Of its own calls, or of its agents': the list of them may have been there before."""
    daemon.asks_consent("x")

    async def model():
        await trio.testing.wait_all_tasks_blocked()
        daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(model)
        seen = await waited(daemon, weather, after=daemon.waits_for_consent)

    assert [({"city": "Rome", "days": 1}, False)] == outputs(daemon)
    assert ("requires_action", ()) == (seen.status, seen.pending)
    assert ["x"] == [approval.tool_call_id for approval in seen.approvals]


async def test_without_tools_a_chat_that_waits_for_them_rests(autojump_clock, daemon):
    daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))

    async with daemon.client() as client:
        seen = await client.wait(CHAT)

    assert "requires_action" == seen.status
    assert ["1"] == [call.tool_call_id for call in seen.pending]


async def test_a_daemon_that_is_away_for_a_minute_gets_the_answer_when_it_is_back(
    autojump_clock, daemon, monkeypatch
):
    daemon.awaits(a_call("1", "weather", '{"city": "Rome"}'))
    daemon.faults += [503]
    handle = WaitingDaemon._handle

    async def away(self, request):
        if trio.current_time() < back_at and self.posts and request.url.path.endswith("messages"):
            raise httpx2.ConnectError("refused")
        return await handle(self, request)

    monkeypatch.setattr(WaitingDaemon, "_handle", away)
    back_at = trio.current_time() + 60

    await waited(daemon, weather)

    assert [503, 204] == [status for status, _ in daemon.posts]
    assert trio.current_time() > back_at
