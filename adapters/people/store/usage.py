"""Which tokens are used, noted now and then: never on a request's way."""

import trio

from adapters.people.store.tokens import Tokens
from adapters.postgres.driver.faults import DatabaseFault
from runtime.log import emit

NOTE_SECONDS = 60.0  # between two notes; so old may be what is shown as the last use
NOTED_MAX = 10_000  # tokens at once; what is over is noted when it is used again
LAST_SECONDS = 2.0  # for the last note, when the daemon stops; then it is not taken
SWEEP_NOTES = 60  # of so many notes one sweeps as well what is of no use any more


class Usage:
    """`run` it in a nursery; `note` from anywhere."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._used: set[str] = set()

    def note(self, token: str) -> None:
        if len(self._used) < NOTED_MAX:
            self._used.add(token)

    async def run(self) -> None:
        """Until cancelled."""
        notes = 0
        while True:
            await trio.sleep(NOTE_SECONDS)
            await self.write()
            notes += 1
            if notes % SWEEP_NOTES == 0:
                await self._sweep()

    async def write(self) -> None:
        """What is not noted yet. What cannot be noted is noted when it is used again."""
        used, self._used = self._used, set()
        if not used:
            return
        try:
            await self._tokens.note_use(used)
        except DatabaseFault as fault:
            emit("usage.missed", "debug", tokens=len(used), why=str(fault))

    async def _sweep(self) -> None:
        try:
            await self._tokens.sweep()
        except DatabaseFault as fault:
            emit("sweep.missed", "debug", what="tokens", why=str(fault))
