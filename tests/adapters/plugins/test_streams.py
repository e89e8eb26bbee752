"""The output of a generator, however the two threads take turns."""

import threading
from collections import deque

import trio
import trio.testing

from adapters.plugins import streams
from adapters.plugins.plugins import open_plugins
from adapters.plugins.streams import open_stream
from tests.patience import PATIENCE_SECONDS

CODE = """
class Idle(ext.ModelProvider):
    name, models = "idle", [ext.PluginModel("all")]

    async def stream(self, prompt):
        yield ext.AnswerFinished(ext.FinishReason.STOP)
"""


async def test_a_generator_goes_on_that_finds_no_room_while_its_output_is_taken(
    install, monkeypatch
):
    """Its next item comes when it is known how many are taken, and the first is not taken yet."""
    is_counted, is_full = threading.Event(), threading.Event()

    class Watched(deque):
        def __len__(self):
            count = super().__len__()
            if threading.current_thread() is threading.main_thread():
                if count == 1 and not is_counted.is_set():
                    is_counted.set()
                    is_full.wait(PATIENCE_SECONDS)
            elif count == 2:
                is_full.set()
            return count

    async def three():
        yield 1
        is_counted.wait(PATIENCE_SECONDS)
        yield 2
        yield 3

    monkeypatch.setattr(streams, "WAITING_MAX", 2)
    monkeypatch.setattr(streams, "deque", Watched)
    install("idle", CODE, providers="Idle")
    said = []
    async with open_plugins(["idle"]) as plugins:
        [plugin] = plugins
        with trio.move_on_after(PATIENCE_SECONDS):
            async with open_stream(plugin.loop, three, lambda item: False) as batches:
                async for batch in batches:
                    said.extend(batch)

    assert is_full.is_set()
    assert [1, 2, 3] == said


async def test_a_generator_that_never_waits_lets_other_calls_run(install, monkeypatch):
    is_asked, made = threading.Event(), []

    async def hasty():
        left = 100_000
        while left:
            made.append(1)
            left -= is_asked.is_set()
            yield 1

    async def count():
        return len(made)

    async def ask():
        counts.append(await plugin.loop.call(count))

    monkeypatch.setattr(streams, "WAITING_MAX", float("inf"))
    install("idle", CODE, providers="Idle")
    counts = []
    async with open_plugins(["idle"]) as plugins:
        [plugin] = plugins
        with trio.fail_after(PATIENCE_SECONDS):
            async with open_stream(plugin.loop, hasty, lambda item: False) as batches:
                await anext(batches)
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(ask)
                    await trio.testing.wait_all_tasks_blocked()
                    is_asked.set()
                async for _ in batches:
                    pass

    assert counts[0] < len(made)
