"""The rehearsal within the daemon: a first chat works without any key and without a network.

It is served on a port of this machine's own from the first time that a chat asks for it, so a
daemon with real providers never has one. Its answer begins by saying that it is no model.
"""

from typing import NoReturn

import trio

from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.server import serve

ANSWER = (
    "This is a rehearsal, not a real model: it says these words whatever you write. "
    "The daemon works; what is missing is a provider. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or "
    "another key in its environment and start it again, or add a provider with its key through "
    "the API. From then on a real model answers here."
)
_BEHAVIOUR = Behaviour(text=ANSWER, delta_chars=8, delta_ms=20, jitter=0.5)


class RehearsalHost:
    """The server of the rehearsal, which begins when the first chat asks for it."""

    def __init__(self) -> None:
        self.url = ""  # of a server that speaks Chat Completions, once it is open
        self._wanted = trio.Event()
        self._opened = trio.Event()

    async def run(self) -> NoReturn:
        """Wait until the rehearsal is wanted, then serve it. Runs in a nursery of its own."""
        await self._wanted.wait()
        async with serve(_BEHAVIOUR, controllable=False) as running:
            self.url = f"{running.url}/v1"
            self._opened.set()
            await trio.sleep_forever()
        raise AssertionError("it is served until cancelled")

    async def open(self) -> None:
        """Return when the rehearsal can be asked."""
        self._wanted.set()
        await self._opened.wait()
