"""The rehearsal within the daemon: a first chat works where nobody has a key and nothing is online.

It is served on a port of this machine's own from the first time that a chat asks for it, so a
daemon with real providers never has one. What it says begins by saying that it is no model.
"""

from typing import NoReturn

import trio

from adapters.models.stage.words import SAYS
from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.server import serve

_BEHAVIOUR = Behaviour(text=SAYS, delta_chars=8, delta_ms=20, jitter=0.5)


class Stage:
    """`run` it in a nursery; it waits there until somebody wants the rehearsal."""

    def __init__(self) -> None:
        self.url = ""  # of a server that speaks Chat Completions, once it is open
        self._wanted = trio.Event()
        self._opened = trio.Event()

    async def run(self) -> NoReturn:
        await self._wanted.wait()
        async with serve(_BEHAVIOUR, controllable=False) as running:
            self.url = f"{running.url}/v1"
            self._opened.set()
            await trio.sleep_forever()
        raise AssertionError("it is served until cancelled")

    async def open(self) -> None:
        """Until it can be asked."""
        self._wanted.set()
        await self._opened.wait()
