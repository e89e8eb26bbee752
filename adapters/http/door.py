"""The door: every request comes in here, and every answer goes out.

It checks in this order: is there such a row (404, 405); is the caller known and allowed (401, 403,
404); how often do they ask (429); how much do they send (413). Then the handler is called. What is
refused on the way, or breaks, becomes an answer here: nothing is raised to the host, and no client
sees a traceback.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from errno import EDQUOT, ENOSPC
from hashlib import sha256
from math import ceil
from typing import Annotated, Protocol
from urllib.parse import urlencode
from uuid import uuid4

from adapters.http.compression import compressed
from adapters.http.endpoints import (
    Access,
    Call,
    Caller,
    Endpoint,
    HttpResponse,
    Upgrade,
    no_content,
)
from adapters.http.host.responses import refusal, server_full
from adapters.http.origins import (
    FORWARDED_HEADER,
    PREFLIGHT_HEADERS,
    Network,
    OwnAddress,
    client_address,
    cors_headers,
)
from adapters.http.refusals import HttpError, foreign_origin
from adapters.http.requests import HttpRequest
from adapters.http.routing import OtherMethods, RouteTree
from adapters.postgres.driver.faults import DatabaseFault, DatabaseFull, PoolExhausted
from runtime.clock import now
from runtime.log import emit
from runtime.statistics import CounterMetric, Durations

METHOD_CHARACTERS_MAX = 20  # in the log; the rest is left out
PATH_CHARACTERS_MAX = 200  # of an unknown path, in the log; the rest is left out
BYPASS_HEADER = "x-coder-bypass-ratelimit"  # of an admin, whose requests are then not counted
ETAG_CHARACTERS = 32  # of the hash of an answer
RETRY_SECONDS = 1  # when the database is away
BUSY_SECONDS = (
    10  # when a request had no turn at the database: many wait for longer than clients do
)
LOGIN_PATH = "/login"  # where people are sent who ask for a page without a session
WINDOW_SECONDS = 60.0  # in which requests are counted
COUNTS_MAX = 100_000  # of one minute; further callers are not counted before the next

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


class Authenticator(Protocol):
    """Tells who sent a request: `adapters.people.auth`, or a plugin."""

    async def let_in(self, request: HttpRequest, row: Endpoint) -> Caller | HttpResponse | None:
        """Return the caller. None: no caller, where that is allowed. A response is sent at once."""
        ...


@dataclass(slots=True)
class _Visit:
    """A request as far as it is known by now, for the log and the counts."""

    address: str
    began: float
    row: Endpoint | None = None
    caller: Caller | None = None


def route_not_found() -> HttpError:
    """Refuse a path at which there is nothing."""
    return HttpError(404, "Route not found.")


class Door:
    """Serves rows to callers.

    `elsewhere` is the refusal of every other path; `origin` is the address at which clients reach
    us, if it is not the one they name; `listening` the HOST:PORT where we listen; `trusted` are
    proxies of ours; `pages` the origins of other sites whose pages may call the API.
    """

    def __init__(
        self,
        rows: Sequence[Endpoint],
        callers: Authenticator,
        *,
        elsewhere: HttpError | None = None,
        origin: str | None = None,
        listening: Collection[str] = (),
        trusted: Collection[Network] = (),
        pages: Collection[str] = (),
    ) -> None:
        self._tree = RouteTree(rows)
        self._callers = callers
        self._rates = RateCounts()
        self._elsewhere = elsewhere or route_not_found()
        self._own = OwnAddress(origin, listening)
        self._trusted = trusted
        self._pages = pages
        self.durations: dict[tuple[str, str, int], Durations] = {}  # rows times statuses

    async def answer(self, request: HttpRequest) -> HttpResponse | Upgrade:
        """Answer a request, whatever happens. Fulfils `adapters.http.host.server.Serve`."""
        began = now()
        forwarded = request.headers.get(FORWARDED_HEADER, "")
        visit = _Visit(client_address(request.client.host, forwarded, self._trusted), began)
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
        if isinstance(answer, HttpResponse):
            if visit.row is not None and visit.row.has_etag:
                answer = with_etag(answer, request.headers.get("if-none-match", ""))
            if allowed := cors_headers(request.headers, self._pages):
                answer = replace(answer, headers=(*answer.headers, *allowed))
            answer = await compressed(answer, request.headers.get("accept-encoding", ""))
        self._note(request, visit, 101 if isinstance(answer, Upgrade) else answer.status, began)
        return answer

    async def _serve(self, request: HttpRequest, visit: _Visit) -> HttpResponse | Upgrade:
        if is_preflight(request) and cors_headers(request.headers, self._pages):
            return no_content(headers=PREFLIGHT_HEADERS)
        found = self._tree.find(request.method, request.segments)
        if found is None:
            raise self._elsewhere
        if isinstance(found, OtherMethods):
            allow = ", ".join(found.methods)
            raise HttpError(
                405, "Method not allowed.", detail=f"it takes {allow}", headers=(("allow", allow),)
            )
        row = visit.row = found.row
        query = request.query
        scheme = request.client.scheme
        request.foreign_page = self._own.foreign_page(scheme, request.headers)
        caller = await self._let_in(request, row)
        if isinstance(caller, HttpResponse):
            return caller
        visit.caller = caller
        request.client.is_known |= caller is not None
        self._check_rate(request, visit, row)
        if row.sets_cookies and request.foreign_page is not None:
            raise foreign_origin(request.foreign_page)
        if "%00" in request.path:  # of no name and no id
            raise route_not_found()
        body = await request.read_body(row.body_bytes_max)
        return await row.handle(
            Call(
                caller,
                found.path,
                query,
                request.headers,
                body,
                address=visit.address,
                scheme=scheme,
                own=self._own,
                arrived=visit.began,
            )
        )

    async def _let_in(self, request: HttpRequest, row: Endpoint) -> Caller | HttpResponse | None:
        """Ask who sent the request. Without a place for its connection only an admin is served."""
        only_admins = request.client.is_beside and not row.served_when_full
        try:
            caller = await self._callers.let_in(request, row)
        except HttpError as refused:
            if only_admins:
                raise server_full() from None
            if row.is_page and refused.status == 401:
                return login_redirect(request)
            raise
        except DatabaseFault:
            if row.access is not Access.OPEN:
                raise
            caller = None  # what is open to everybody is so without a database as well
        if only_admins and not (isinstance(caller, Caller) and caller.is_admin):
            raise server_full()
        return caller

    def statistics(self) -> DoorStatistics:
        by_class = [0] * 6
        for (_, _, status), durations in self.durations.items():
            by_class[status // 100] += durations.statistics().count
        return DoorStatistics(sum(by_class), by_class[4], by_class[5])

    def _check_rate(self, request: HttpRequest, visit: _Visit, row: Endpoint) -> None:
        caller = visit.caller
        if caller and caller.is_admin and request.headers.get(BYPASS_HEADER) == "true":
            return
        sender = visit.address if caller is None else caller.id
        seconds = self._rates.seconds_to_wait(sender, (row.method, row.path), row.rate_per_minute)
        if seconds:
            raise HttpError(
                429,
                "You've been rate limited.",
                detail=f"{row.rate_per_minute} a minute are allowed, try again in {seconds} s",
                headers=(("retry-after", str(seconds)),),
            )

    def _note(self, request: HttpRequest, visit: _Visit, status: int, began: float) -> None:
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


def with_etag(answer: HttpResponse, if_none_match: str) -> HttpResponse:
    """Return the answer with an ETag of its content, or 304 to a client that has that content.

    The ETag is weak, because the same content may be compressed or not (RFC 9110, 8.8.1, 13.1.2).
    """
    if answer.status != 200 or not isinstance(answer.body, bytes):
        return answer
    etag = f'W/"{sha256(answer.body).hexdigest()[:ETAG_CHARACTERS]}"'
    headers = (*answer.headers, ("etag", etag), ("cache-control", "private, no-cache"))
    known = {word.strip().removeprefix("W/") for word in if_none_match.split(",")}
    if "*" in known or etag.removeprefix("W/") in known:
        return HttpResponse(304, b"", headers=headers)
    return replace(answer, headers=headers)


def is_preflight(request: HttpRequest) -> bool:
    """Return whether a browser asks whether a page of another site may send a request."""
    return request.method == "OPTIONS" and "access-control-request-method" in request.headers


def login_redirect(request: HttpRequest) -> HttpResponse:
    """Send a person to the page where one logs in, and from there back to what they asked for."""
    wanted = request.path + (f"?{request.query_text}" if request.query_text else "")
    asked = f"?{urlencode({'next': wanted})}" if wanted != "/" and request.method == "GET" else ""
    headers = (("location", LOGIN_PATH + asked), ("cache-control", "no-store"))
    return HttpResponse(303, headers=headers)


def _away(request: HttpRequest, visit: _Visit, fault: DatabaseFault) -> HttpResponse:
    emit("request.unserved", "warning", path=visit.row and visit.row.path, error=fault)
    seconds = BUSY_SECONDS if isinstance(fault, PoolExhausted) else RETRY_SECONDS
    away = HttpError(
        503,
        "The database did not answer.",
        detail="what was asked for may have been done; look before you try again",
        headers=(("retry-after", str(seconds)),),
    )
    return refusal(away, request.headers.get("accept", ""))


def _is_disk_full(error: Exception) -> bool:
    """Return whether a file could not be written because its disk, or a quota, is used up."""
    return isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT)


def _not_stored(request: HttpRequest, visit: _Visit, error: Exception) -> HttpResponse:
    emit("request.not_stored", "error", path=visit.row and visit.row.path, error=error)
    refused = HttpError(
        503,
        "This cannot be stored now.",
        detail="it was not stored, for the server's disk is full; try again when there is room",
        headers=(("retry-after", str(RETRY_SECONDS)),),
    )
    return refusal(refused, request.headers.get("accept", ""))


def _crashed(request: HttpRequest, visit: _Visit, error: Exception) -> HttpResponse:
    """Tell the client a number, under which the log has the error."""
    number = uuid4().hex
    emit("request.crashed", "error", id=number, path=visit.row and visit.row.path, error=error)
    crashed = HttpError(
        500, "Internal server error.", detail=f"it is in the log of the server under {number}"
    )
    return refusal(crashed, request.headers.get("accept", ""))


class RateCounts:
    """Counts the requests of each caller within one minute. With the minute all are forgotten."""

    def __init__(self, counts_max: int = COUNTS_MAX) -> None:
        self._counts_max = counts_max
        self._until = 0.0
        self._counts: dict[tuple[object, object], int] = {}

    def seconds_to_wait(self, sender: object, subject: object, per_minute: int) -> int:
        """Return 0 if the request may be served, and count it. A rate of 0 is no limit."""
        if per_minute == 0:
            return 0
        if now() >= self._until:
            self._until = now() + WINDOW_SECONDS
            self._counts.clear()
        count = self._counts.get((sender, subject), 0)
        if count >= per_minute:
            return max(1, ceil(self._until - now()))
        if count or len(self._counts) < self._counts_max:
            self._counts[sender, subject] = count + 1
        return 0
