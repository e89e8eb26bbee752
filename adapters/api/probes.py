"""`/livez`: the loop turns. `/readyz`: everything that work needs is there; says what is not."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from adapters.api.server import Answer, Request, refusal

Check = Callable[[], Awaitable[str | None]]
"""Asks one thing that work needs; answers why it is missing, or None."""

METHODS = ("GET", "HEAD")


class Probes:
    """Answers the two questions; told by the daemon what to ask, and when it cannot be ready."""

    def __init__(self) -> None:
        self._checks: Mapping[str, Check] = {}
        self._phase: str | None = "starting"

    def ready(self, checks: Mapping[str, Check]) -> None:
        """From now on ready, whenever all of these say so."""
        self._checks, self._phase = checks, None

    def stopping(self) -> None:
        self._checks, self._phase = {}, "stopping"

    async def answer(self, request: Request) -> Answer:
        match request.path:
            case "/livez" | "/readyz" if request.method not in METHODS:
                wrong = refusal(405, f"{request.path} takes {' and '.join(METHODS)}")
                return replace(wrong, headers=(("allow", ", ".join(METHODS)),))
            case "/livez":
                return Answer(200, {"status": "alive"})
            case "/readyz":
                return await self._readiness(verbose=request.query.startswith("verbose"))
            case _:
                return refusal(404, f"there is nothing at {request.path}")

    async def _readiness(self, *, verbose: bool) -> Answer:
        found = {name: await check() for name, check in self._checks.items()}
        found["daemon"] = self._phase  # read last: it may have changed while the others answered
        failing = {name: why for name, why in found.items() if why is not None}
        document: dict[str, object] = {"status": "not ready" if failing else "ready"}
        if failing:
            document["failing"] = failing
        if verbose:
            document["checks"] = {name: why or "ok" for name, why in found.items()}
        return Answer(503 if failing else 200, document)
