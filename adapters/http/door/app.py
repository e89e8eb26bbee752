"""The door: every request comes in here, and every answer goes out.

In this order: is there such a row (404, 405); who asks, and may he (401, 403, 404); how often
(429); how much (413); then the handler. Whatever is refused on the way, or breaks, becomes an
answer here: nothing is raised to the host, and no client sees a traceback.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from errno import EDQUOT, ENOSPC
from typing import Annotated, Protocol
from urllib.parse import parse_qsl
from uuid import uuid4

from adapters.http.door.proxies import HEADER, Network, asker
from adapters.http.door.rates import Rates
from adapters.http.door.tree import OtherMethods, Tree, segments
from adapters.http.endpoints import Access, Call, Caller, Endpoint, Head, HttpResponse, Upgrade
from adapters.http.host.answering import full, refusal
from adapters.http.host.requests import Request
from adapters.http.origins import OwnAddress
from adapters.http.refusals import HttpError, Validation, foreign_origin
from adapters.postgres.driver.faults import DatabaseFault, DatabaseFull
from runtime.clock import now
from runtime.log import emit
from runtime.statistics import CounterMetric, Durations

PARAMETERS_MAX = 100  # of a query; then 400
METHOD_CHARACTERS_MAX = 20  # in the log; the rest is left out
PATH_CHARACTERS_MAX = 200  # of an unknown path, in the log; the rest is left out
BYPASS_HEADER = "x-coder-bypass-ratelimit"  # of an admin: he is not counted
RETRY_SECONDS = 1  # when the database is away

UNKNOWN = "(unknown)"  # in counts, for all paths at which there is nothing


@dataclass(frozen=True, slots=True)
class DoorStatistics:
    """Since the start; by row and status they are among the metrics."""

    answered_count: Annotated[int, CounterMetric("Requests that were answered.")]
    refused_count: Annotated[
        int, CounterMetric("Requests that were answered with a status from 400 to 499.")
    ]
    failed_count: Annotated[
        int, CounterMetric("Requests that were answered with a status of 500 or above.")
    ]


class Callers(Protocol):
    """Who asks: `adapters.people.auth`."""

    async def let_in(self, head: Head, row: Endpoint) -> Caller | HttpResponse | None:
        """None: nobody, where that is allowed. An Answer is given at once."""
        ...


@dataclass(slots=True)
class _Visit:
    """What is known of a request by now; for the log and the counts."""

    address: str
    row: Endpoint | None = None
    caller: Caller | None = None


def nothing_here() -> HttpError:
    return HttpError(404, "Route not found.")


class Door:
    """Serves rows to callers. `elsewhere` is what is said of every other path; `origin` how
    clients reach us, if not as they say themselves; `listening` the HOST:PORT where they do;
    `trusted` are proxies of ours."""

    def __init__(
        self,
        rows: Sequence[Endpoint],
        callers: Callers,
        *,
        elsewhere: HttpError | None = None,
        origin: str | None = None,
        listening: Collection[str] = (),
        trusted: Collection[Network] = (),
    ) -> None:
        self._tree = Tree(rows)
        self._callers = callers
        self._rates = Rates()
        self._elsewhere = elsewhere or nothing_here()
        self._own = OwnAddress(origin, listening)
        self._trusted = trusted
        self.durations: dict[tuple[str, str, int], Durations] = {}  # rows times statuses

    async def answer(self, request: Request) -> HttpResponse | Upgrade:
        """Fulfils `adapters.http.host.server.Serve`."""
        began = now()
        forwarded = request.headers.get(HEADER, "")
        visit = _Visit(asker(request.peer.host, forwarded, self._trusted))
        try:
            answer = await self._serve(request, visit)
        except HttpError as refused:
            answer = refusal(refused, request.headers.get("accept", ""))
        except DatabaseFull as fault:
            answer = _not_stored(request, visit, fault)
        except DatabaseFault as fault:
            answer = _away(request, visit, fault)
        except Exception as error:  # noqa: BLE001  the edge of a request; Cancelled must pass
            answer = (_not_stored if _is_disk_full(error) else _crashed)(request, visit, error)
        self._note(request, visit, 101 if isinstance(answer, Upgrade) else answer.status, began)
        return answer

    async def _serve(self, request: Request, visit: _Visit) -> HttpResponse | Upgrade:
        path = segments(request.path)
        found = self._tree.find(request.method, path)
        if found is None:
            raise self._elsewhere
        if isinstance(found, OtherMethods):
            allow = ", ".join(found.methods)
            raise HttpError(
                405, "Method not allowed.", detail=f"it takes {allow}", headers=(("allow", allow),)
            )
        row = visit.row = found.row
        query = _query(request.query)
        scheme = request.peer.scheme
        foreign = self._own.foreign_page(scheme, request.headers)
        head = Head(request.method, "/" + "/".join(path), request.headers, query, foreign)
        caller: Caller | HttpResponse | None
        if request.visitor.is_beside and not row.when_full:
            caller = await self._admin(head, row)
        else:
            caller = await self._let_in(head, row)
        if isinstance(caller, HttpResponse):
            return caller
        visit.caller = caller
        request.visitor.is_known |= caller is not None
        self._heed_rate(request, visit, row)
        if row.sets_cookies and foreign is not None:
            raise foreign_origin(foreign)
        if "%00" in request.path:  # of no name and no id
            raise nothing_here()
        body = await request.body(row.body_bytes_max)
        return await row.handle(
            Call(
                caller,
                found.path,
                query,
                request.headers,
                body,
                self._own.access_url or request.origin,
                visit.address,
                self._own.links_lead_to(scheme, request.headers.get("host", "")),
            )
        )

    async def _let_in(self, head: Head, row: Endpoint) -> Caller | HttpResponse | None:
        try:
            return await self._callers.let_in(head, row)
        except DatabaseFault:
            if row.access is not Access.OPEN:
                raise
            return None  # what is open to all is so without a database as well

    async def _admin(self, head: Head, row: Endpoint) -> Caller:
        """Where there is no place for others, whatever else they might be told."""
        try:
            caller = await self._let_in(head, row)
        except HttpError:
            raise full() from None
        if not isinstance(caller, Caller) or not caller.is_admin:
            raise full()
        return caller

    def statistics(self) -> DoorStatistics:
        by_class = [0] * 6
        for (_, _, status), durations in self.durations.items():
            by_class[status // 100] += durations.statistics().count
        return DoorStatistics(sum(by_class), by_class[4], by_class[5])

    def _heed_rate(self, request: Request, visit: _Visit, row: Endpoint) -> None:
        caller = visit.caller
        if caller and caller.is_admin and request.headers.get(BYPASS_HEADER) == "true":
            return
        who = visit.address if caller is None else caller.id
        seconds = self._rates.seconds_to_wait(who, (row.method, row.path), row.rate_per_minute)
        if seconds:
            raise HttpError(
                429,
                "You've been rate limited.",
                detail=f"{row.rate_per_minute} a minute are allowed, try again in {seconds} s",
                headers=(("retry-after", str(seconds)),),
            )

    def _note(self, request: Request, visit: _Visit, status: int, began: float) -> None:
        seconds = now() - began
        path = UNKNOWN if visit.row is None else visit.row.path  # a bounded number of them
        method = UNKNOWN if visit.row is None else visit.row.method
        durations = self.durations.get((method, path, status))
        if durations is None:
            durations = self.durations[method, path, status] = Durations()
        durations.observe(seconds)
        emit(
            "request.answered",
            "debug" if status < 400 else "info",
            method=request.method[:METHOD_CHARACTERS_MAX],
            path=path if visit.row else request.path[:PATH_CHARACTERS_MAX],
            status=status,
            seconds=round(seconds, 6),
            user=visit.caller.username if visit.caller else None,
            peer=visit.address,
        )


def _query(text: str) -> list[tuple[str, str]]:
    if not text:
        return []
    try:
        query = parse_qsl(text, keep_blank_values=True, max_num_fields=PARAMETERS_MAX)
    except ValueError:
        detail = f"there are more than {PARAMETERS_MAX}"
        raise HttpError(400, "invalid query parameters", detail=detail) from None
    for name, value in query:
        if "\0" in name or "\0" in value:
            raise HttpError(
                400,
                "invalid query parameters",
                validations=(Validation(name.replace("\0", ""), "has a zero byte in it"),),
            )
    return query


def _away(request: Request, visit: _Visit, fault: DatabaseFault) -> HttpResponse:
    emit("request.unserved", "warning", path=visit.row and visit.row.path, error=fault)
    away = HttpError(
        503,
        "The database did not answer.",
        detail="what was asked for may have been done; look before you try again",
        headers=(("retry-after", str(RETRY_SECONDS)),),
    )
    return refusal(away, request.headers.get("accept", ""))


def _is_disk_full(error: Exception) -> bool:
    """Return whether a file could not be written because its disk, or a quota, is used up."""
    return isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT)


def _not_stored(request: Request, visit: _Visit, error: Exception) -> HttpResponse:
    emit("request.not_stored", "error", path=visit.row and visit.row.path, error=error)
    refused = HttpError(
        503,
        "This cannot be stored now.",
        detail="it was not stored, for the server's disk is full; try again when there is room",
        headers=(("retry-after", str(RETRY_SECONDS)),),
    )
    return refusal(refused, request.headers.get("accept", ""))


def _crashed(request: Request, visit: _Visit, error: Exception) -> HttpResponse:
    """The client is told a number; whoever reads the log finds the rest under it."""
    number = uuid4().hex
    emit("request.crashed", "error", id=number, path=visit.row and visit.row.path, error=error)
    crashed = HttpError(
        500, "Internal server error.", detail=f"it is in the log of the server under {number}"
    )
    return refusal(crashed, request.headers.get("accept", ""))
