"""Each fault of a plugin ends the call that met it, is said, and harms nothing else."""

import threading

import pytest
import trio

from adapters.plugins import loop as loops
from adapters.plugins.calls import PluginFault
from adapters.plugins.plugins import open_plugins
from adapters.plugins.streams import WAITING_MAX, open_stream
from promptcorner.ext.testing import CONTEXT
from tests.patience import PATIENCE_SECONDS

CODE = """
began, turns, stop = [], [], []

@ext.tool
async def echo(text: str) -> str:
    "Say it again."
    await trio.lowlevel.checkpoint()
    return text

@ext.tool
async def crash(how: str) -> None:
    "Fail."
    raise {"exit": SystemExit, "key": KeyError, "stop": KeyboardInterrupt}[how]("why")

@ext.tool
async def hang() -> None:
    "Wait for ever."
    began.append(1)
    await trio.sleep_forever()

@ext.tool
async def swallow() -> None:
    "Ignore what it is told."
    began.append(1)
    while not stop:
        turns.append(1)
        try:
            await trio.sleep(0.01)
        except BaseException:
            pass

@ext.tool
async def block() -> str:
    "Block its loop."
    while not stop:
        time.sleep(0.01)
    return "done"

@ext.tool
async def strew(count: int) -> None:
    "Leave tasks behind."
    for _ in range(count):
        trio.lowlevel.spawn_system_task(trio.sleep_forever)

@ext.tool
async def spin() -> None:
    "Compute for ever."
    began.append(1)
    while not stop:
        pass

@ext.tool
async def hold(size: int) -> None:
    "Hold the whole interpreter."
    import re
    re.match(r"(a+)+$", "a" * size + "b")

async def many(count, size=1):
    for number in range(count):
        yield "x" * size

async def endless():
    while True:
        yield "x"

async def stubborn():
    while True:
        try:
            yield "x"
            await trio.sleep(0.01)
        except trio.Cancelled:
            pass

async def broken():
    yield "x"
    raise KeyError("why")

class Numbers(ext.ModelProvider):
    name, models = "numbers", [ext.PluginModel("all")]
    def stream(self, prompt):
        return {"many": many, "endless": endless, "stubborn": stubborn, "broken": broken}[prompt]()

every = [echo, crash, hang, swallow, block, strew, spin, hold]
"""


@pytest.fixture
async def plugin(install, entries):
    install("faulty", CODE, tools="every", providers="Numbers")
    async with open_plugins(["faulty"]) as plugins:
        [plugin] = plugins
        yield plugin
        let_go(plugin)


def let_go(plugin):
    """End what its calls do for ever."""
    shared(plugin, "stop").append(1)


def shared(plugin, name):
    return plugin.parts.tools[0].function.__globals__[name]


async def called(plugin, name, arguments="{}"):
    [tool] = [tool for tool in plugin.parts.tools if tool.name == name]
    return (await plugin.loop.call(lambda: tool.call(CONTEXT, arguments))).json


async def cut_short(plugin, name):
    """Call it, and leave when the plugin is at it: not before, on a busy machine."""
    began = shared(plugin, "began")
    before = len(began)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(called, plugin, name)
        await until(lambda: len(began) > before)
        nursery.cancel_scope.cancel()


async def until(condition):
    with trio.fail_after(PATIENCE_SECONDS):
        while not condition():
            await trio.sleep(0.01)


async def test_calls_run_in_the_thread_of_their_plugin_and_many_at_once(plugin):
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as together:
            said = []

            async def ask(number):
                said.append(await called(plugin, "echo", f'{{"text": "{number}"}}'))

            for number in range(100):
                together.start_soon(ask, number)

    assert 100 == len(set(said))
    assert 100 == plugin.loop.statistics().calls_count
    assert 0 == plugin.loop.statistics().calls
    assert "plugin faulty" in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize(
    ("how", "error"), [("key", KeyError), ("exit", PluginFault), ("stop", PluginFault)]
)
async def test_what_a_call_raises_ends_that_call_alone(plugin, how, error):
    with pytest.raises(error):
        await called(plugin, "crash", f'{{"how": "{how}"}}')

    assert '{"output":"a"}' == await called(plugin, "echo", '{"text": "a"}')


async def test_a_call_that_hangs_is_cancelled_with_its_caller(plugin, bounds):
    bounds(CANCEL_GRACE_SECONDS=PATIENCE_SECONDS)
    await cut_short(plugin, "hang")

    assert 0 == plugin.loop.statistics().calls


async def test_a_call_that_ignores_its_end_is_left_and_ends_later(plugin, bounds, entries):
    bounds(CANCEL_GRACE_SECONDS=0.1)

    await cut_short(plugin, "swallow")
    lingering = plugin.loop.statistics()
    await until(lambda: plugin.loop.statistics().tasks)
    echo = await called(plugin, "echo", '{"text": "a"}')
    let_go(plugin)
    await until(lambda: not plugin.loop.statistics().calls)

    assert (1, 1) == (lingering.lingering, lingering.lingered_count)
    assert '{"output":"a"}' == echo
    [fields] = entries.of("plugin.lingers")
    assert "faulty" == fields["plugin"]
    assert [] == entries.of("plugin.leaks")
    assert 0 == plugin.loop.statistics().lingering


async def test_one_that_ignores_its_end_does_not_compute_without_a_pause(plugin, bounds):
    bounds(CANCEL_GRACE_SECONDS=0.1)
    await cut_short(plugin, "swallow")

    turns, began = shared(plugin, "turns"), trio.current_time()
    before = len(turns)
    await trio.sleep(0.4)
    rounds = len(turns) - before
    seconds = trio.current_time() - began

    assert rounds < 1.5 * seconds / 0.01, "it sleeps for 0.01 s in each round"


async def test_one_that_blocks_its_loop_is_named_with_its_place(plugin, bounds, entries):
    bounds(BLOCKED_SECONDS=0.3)
    said = []
    async with trio.open_nursery() as together:

        async def block():
            said.append(await called(plugin, "block"))

        together.start_soon(block)
        # The daemon's own loop goes on, or this would see nothing before the call is let go.
        await until(lambda: entries.of("plugin.blocked"))
        let_go(plugin)
        await until(lambda: said and entries.of("plugin.unblocked"))

    assert ['{"output":"done"}'] == said
    [fields] = entries.of("plugin.blocked")
    assert "faulty" == fields["plugin"]
    assert fields["at"].startswith("in block (")
    assert 1 == plugin.loop.statistics().blocked_count
    assert not plugin.loop.statistics().blocked


async def test_calls_of_one_that_blocks_for_long_end_and_it_is_used_again(plugin, bounds, entries):
    bounds(BLOCKED_SECONDS=0.2, BLOCKED_SECONDS_MAX=0.5)

    words = r"it has blocked its event loop for .* s, in block \("
    with pytest.raises(PluginFault, match=words):
        await called(plugin, "block")
    blocked = plugin.loop.statistics()
    with pytest.raises(PluginFault, match=words):
        await called(plugin, "echo", '{"text": "a"}')
    let_go(plugin)
    await until(lambda: plugin.loop.statistics().running)
    bounds(BLOCKED_SECONDS_MAX=PATIENCE_SECONDS)

    assert ("blocked", False, 1) == (blocked.state, blocked.running, blocked.lingering)
    assert '{"output":"a"}' == await called(plugin, "echo", '{"text": "a"}')
    assert 0 == plugin.loop.statistics().calls


async def test_a_thread_that_computes_for_ever_is_left_behind(install, bounds, entries):
    bounds(LEAVE_SECONDS=0.1, CANCEL_GRACE_SECONDS=0.1)
    install("faulty", CODE, tools="every")

    async with open_plugins(["faulty"]) as plugins:
        [plugin] = plugins
        await cut_short(plugin, "spin")
        assert [] == entries.of("plugin.left")

    [left] = entries.of("plugin.left")
    assert left["at"].startswith("in spin (")
    let_go(plugin)  # not while other tests run
    await until(lambda: "plugin faulty" not in {t.name for t in threading.enumerate()})


async def test_one_that_holds_the_interpreter_is_named_afterwards(plugin, bounds, entries):
    bounds(BLOCKED_SECONDS=0.4)
    for size in range(23, 28):  # each takes twice as long as the one before
        await called(plugin, "hold", f'{{"size": {size}}}')
        await trio.sleep(0.6)
        if entries.of("plugin.blocked"):
            break

    assert entries.of("plugin.blocked")[0]["plugin"] == "faulty"


async def test_another_plugin_is_not_blamed_for_it(install, bounds, entries):
    bounds(BLOCKED_SECONDS=0.3)
    install("faulty", CODE, tools="every")
    install("idle", "@ext.tool\nasync def rest() -> None:\n    'Rest.'", tools="rest")
    async with open_plugins(["faulty", "idle"]) as plugins:
        for size in range(23, 28):
            await called(next(iter(plugins)), "hold", f'{{"size": {size}}}')
            await trio.sleep(0.6)
            if entries.of("plugin.blocked"):
                break

    assert {"faulty"} == {entry["plugin"] for entry in entries.of("plugin.blocked")}


@pytest.mark.parametrize("late", [0.0, 0.95, 1.5])
async def test_a_plugin_has_its_time_to_answer_only_while_the_daemons_loop_turns(
    autojump_clock, late
):
    """While another one holds the interpreter it cannot answer, nor in the moment after that."""
    idle, counts = loops.PluginLoop("idle", "1"), []
    idle.begin_serving("a tool")
    idle.check(0.0, process_seconds=0.0)

    for seconds, lost in ((0.25, late), (0.7, 0.0), (0.25, 0.0)):
        await trio.sleep(seconds + lost)
        idle.check(lost, process_seconds=lost)
        counts.append(idle.statistics().blocked_count)

    assert [0, 0, 1] == counts


async def test_too_many_calls_are_refused_with_a_sentence(plugin, bounds):
    bounds(CALLS_MAX=2)
    async with trio.open_nursery() as together:
        for _ in range(2):
            together.start_soon(called, plugin, "hang")
        await until(lambda: plugin.loop.statistics().calls == 2)
        with pytest.raises(PluginFault, match="it is busy: 2 of its calls run already"):
            await called(plugin, "echo", '{"text": "a"}')
        together.cancel_scope.cancel()

    assert 1 == plugin.loop.statistics().refused_count


async def test_tasks_that_are_left_behind_are_said_and_bounded(plugin, bounds, entries):
    bounds(TASKS_MAX=20)
    await called(plugin, "strew", '{"count": 30}')
    await until(lambda: plugin.loop.statistics().tasks == 30)

    with pytest.raises(PluginFault, match=r"it is busy: \d+ tasks run in its event loop"):
        await called(plugin, "echo", '{"text": "a"}')
    assert 30 == entries.of("plugin.leaks")[-1]["tasks"]


async def test_of_many_failures_the_first_are_logged_and_all_are_counted(plugin, entries):
    for _ in range(25):
        plugin.loop.note_failure(KeyError("why"), tool="crash")

    assert 10 == len(entries.of("plugin.call_failed"))
    assert 25 == plugin.loop.statistics().failed_count


# streams


def generator(plugin, name):
    [provider] = plugin.parts.providers
    return lambda: provider.stream(name)


def never(item):
    return False


async def test_a_stream_arrives_whole_and_in_order(plugin, monkeypatch):
    count = 0
    async with open_stream(plugin.loop, generator(plugin, "endless"), never) as batches:
        async for batch in batches:
            assert batch
            count += len(batch)
            if count > 5_000:
                break

    await until(lambda: not plugin.loop.statistics().calls)


async def test_a_generator_is_closed_after_its_last_item(plugin):
    said = []
    async with open_stream(plugin.loop, generator(plugin, "endless"), lambda item: True) as batches:
        async for batch in batches:
            said.extend(batch)

    assert ["x"] == said
    assert 0 == plugin.loop.statistics().calls


async def test_a_generator_waits_while_nothing_is_taken(plugin):
    async with open_stream(plugin.loop, generator(plugin, "endless"), never) as batches:
        await until(lambda: len(batches._stream._waiting) >= WAITING_MAX)
        await trio.sleep(0.1)  # for what it must not say
        async for batch in batches:
            assert WAITING_MAX == len(batch)
            break
        assert '{"output":"a"}' == await called(plugin, "echo", '{"text": "a"}')


async def test_what_a_generator_raises_comes_out_after_what_it_said(plugin):
    said = []

    async def take():
        async with open_stream(plugin.loop, generator(plugin, "broken"), never) as batches:
            async for batch in batches:
                said.extend(batch)

    with pytest.raises(KeyError, match="why"):
        await take()

    assert ["x"] == said


async def test_a_generator_that_is_given_up_is_closed_or_left(plugin, bounds):
    bounds(CANCEL_GRACE_SECONDS=0.1)

    with trio.move_on_after(0.1):
        async with open_stream(plugin.loop, generator(plugin, "stubborn"), never) as batches:
            async for _ in batches:
                pass

    assert loops.CANCEL_GRACE_SECONDS == 0.1
    assert plugin.loop.statistics().lingered_count <= 1
