"""Between one process and the store: slow, failing before or after the write, cut, or stuck."""

from functools import partial

import trio

from tests.simulation.store import Call, checked_in

QUICK_SECONDS = 0.02
SLOW_SECONDS = 6.0  # longer than a beat may take, shorter than a lease


class Away(Exception):
    """The store does not answer; whether it has done what was asked, nobody knows."""


class Line:
    """Speaks the ports of `target`: each call has a fate of its own."""

    def __init__(self, process, target):
        self._process = process
        self._target = target

    def __getattr__(self, name):
        method = getattr(self._target, name)
        return lambda *args, **kwargs: self._call(name, method, args, kwargs)

    async def _call(self, name, method, args, kwargs):
        process, world = self._process, self._process.world
        await trio.lowlevel.checkpoint_if_cancelled()
        call = Call(process, name, args, kwargs)
        world.checks.sending(call)
        if process.is_dead:
            await trio.sleep_forever()
        if process.line_is_stuck:
            await process.line_healed.wait()
        if process.line_is_cut or world.faults(0.4):
            await trio.sleep(self._seconds())
            raise Away(f"{name}: no way to the store")
        do = partial(checked_in, call, partial(method, *args, **kwargs))
        answer = await self._carried(do)
        process.learn(answer)
        if process.line_is_cut or world.faults(0.4):
            raise Away(f"{name}: the answer was lost")
        world.checks.answered(call, answer)
        return answer

    async def _carried(self, do):
        """Slow on the way there, on the way back, or past recall."""
        rng, seconds = self._process.world.rng, self._seconds()
        kind = rng.random()
        if kind < 0.4:
            await trio.sleep(seconds)
            return await do()
        if kind < 0.8 or self._process.world.is_calm:
            answer = await do()
            await trio.sleep(seconds)
            return answer
        return await self._past_recall(do, seconds)

    async def _past_recall(self, do, seconds):
        """The store has it, and will do it whatever becomes of us."""
        answers, there = [], trio.Event()

        async def serve():
            await trio.sleep(seconds)
            answers.append(await do())
            there.set()

        self._process.world.nursery.start_soon(serve)
        await there.wait()
        return answers[0]

    def _seconds(self):
        world = self._process.world
        if world.faults(1.0):
            return world.rng.random() * SLOW_SECONDS
        return world.rng.random() * QUICK_SECONDS
