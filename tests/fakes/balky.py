"""A store that balks: it hangs, or fails, at the very call that a story is about.

store = BalkyStore(memory)
store.hang("commit")      the next commit waits until `store.go()`; nothing is written before
store.hang_after("commit")  it is written, but its answer waits
store.fail("commit", 3)   the next three fail with `Away`, nothing written
store.lose_answer("commit", 1)  the next one is written, and fails all the same
store.asked["view"]       how often it was asked
"""

from collections import Counter

import trio

from actors.law.store.ports import StoreUnavailable


class Away(Exception):
    """The database is gone for a while."""


class Full(StoreUnavailable):
    """The database has no room for a while."""


class BalkyStore:
    """Stands between an actor and a real (memory) store, and speaks its ports."""

    def __init__(self, store):
        self._store = store
        self._faults = {}
        self.asked = Counter()
        self._go = trio.Event()
        self.reached = trio.Event()  # somebody is at the place where it balks

    def __getattr__(self, name):
        return getattr(self._store, name)

    def hang(self, call):
        self._faults[call] = ["before"]

    def hang_after(self, call):
        self._faults[call] = ["after"]

    def fail(self, call, times, kind=Away):
        self._faults[call] = [kind(f"{call}: the database is away") for _ in range(times)]

    def lose_answer(self, call, times):
        self._faults[call] = ["lost"] * times

    def go(self):
        self._go.set()

    async def commit(self, *args, **more):
        return await self._balk("commit", self._store.commit, args, more)

    async def view(self, *args, **more):
        return await self._balk("view", self._store.view, args, more)

    async def history(self, *args, **more):
        return await self._balk("history", self._store.history, args, more)

    async def _balk(self, name, call, args, more):
        self.asked[name] += 1
        faults = self._faults.get(name)
        fault = faults.pop(0) if faults else None
        if isinstance(fault, Exception):
            await trio.lowlevel.checkpoint()
            raise fault
        if fault == "before":
            self.reached.set()
            await self._go.wait()
        answer = await call(*args, **more)
        if fault == "after":
            self.reached.set()
            await self._go.wait()
        if fault == "lost":
            raise Away(f"{name}: the database is away")
        return answer
