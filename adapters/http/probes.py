"""`/livez`: the loop turns. `/readyz`: everything that work needs is there; says what is not."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, Parameter, json_response

Check = Callable[[], Awaitable[str | None]]
"""Asks one thing that work needs; answers why it is missing, or None."""

UNCACHED = (("cache-control", "no-store"),)


class Liveness(msgspec.Struct, frozen=True):
    status: str


class Readiness(msgspec.Struct, frozen=True, omit_defaults=True):
    status: str
    failing: Mapping[str, str] = {}
    checks: Mapping[str, str] = {}


class Probes:
    """Answers the questions; told by the daemon what to ask, and when it cannot be ready."""

    def __init__(self) -> None:
        self._checks: Mapping[str, Check] = {}
        self._phase: str | None = "starting"

    def ready(self, checks: Mapping[str, Check]) -> None:
        """From now on ready, whenever all of these say so."""
        self._checks, self._phase = checks, None

    def stopping(self) -> None:
        self._checks, self._phase = {}, "stopping"

    def endpoints(self) -> Sequence[Endpoint]:
        verbose = Parameter(name="verbose", help="every check, also those that pass")
        return (
            Endpoint(
                method="GET",
                path="/livez",
                handle=self.liveness,
                summary="The process turns",
                tag="health",
                access=Access.OPEN,
                rate_per_minute=0,
                when_full=True,
                answers={200: Liveness},
            ),
            Endpoint(
                method="GET",
                path="/readyz",
                handle=self.readiness,
                summary="Everything that work needs is there",
                tag="health",
                access=Access.OPEN,
                rate_per_minute=0,
                when_full=True,
                answers={200: Readiness, 503: Readiness},
                parameters=(verbose,),
            ),
            Endpoint(
                method="GET",
                path="/healthz",
                handle=self.health,
                summary="The same as /livez, in one word",
                tag="health",
                access=Access.OPEN,
                rate_per_minute=0,
                when_full=True,
                answers={200: str},
            ),
        )

    async def liveness(self, call: Call) -> HttpResponse:
        return json_response(200, Liveness("alive"), UNCACHED)

    async def health(self, call: Call) -> HttpResponse:
        return HttpResponse(200, b"OK", "text/plain; charset=utf-8", UNCACHED)

    async def readiness(self, call: Call) -> HttpResponse:
        found = {name: await check() for name, check in self._checks.items()}
        found["daemon"] = self._phase  # read last: it may have changed while the others answered
        failing = {name: why for name, why in found.items() if why is not None}
        is_verbose = any(name == "verbose" for name, _ in call.query)
        checks = {name: why or "ok" for name, why in found.items()} if is_verbose else {}
        document = Readiness("not ready" if failing else "ready", failing, checks)
        return json_response(503 if failing else 200, document, UNCACHED)
