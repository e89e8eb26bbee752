"""Requests to the API of a forge, and what its answers mean for the next one.

The token is shown to the address of the API and to no other: a redirect is followed if it stays
there. A forge that asks for patience delays all of one user's requests to it, and no others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any
from urllib.parse import urljoin, urlsplit

import msgspec
import trio

from adapters.chats.changes.pull_requests import ForgeAccess
from adapters.models.providers.dial import Origin, split_url
from adapters.models.providers.faults import CallFailed
from adapters.models.providers.http import USER_AGENT, HttpClient, ProviderRequest
from adapters.tools.mcp.oauth.guard import AddressRefused
from runtime.clock import wall

REQUEST_SECONDS_MAX = 15.0  # for one request with its answer; then it has failed
ANSWER_BYTES_MAX = 4 * 1024 * 1024  # of a document; a longer one has failed
REDIRECTS_MAX = 3
USER_PATH = "/user"  # of every forge's API: whose the token is
LIMIT_SECONDS = 60.0  # where a forge says that it is asked too often, and not for how long
LIMIT_SECONDS_MAX = 3_600.0  # longer waits are not believed
WORDS_OF_LIMIT = (b"rate limit", b"abuse detection")  # in GitHub's refusals without a header

_REDIRECTS = (301, 302, 307, 308)


class ForgeFailed(Exception):
    """The forge gave no answer of use. The message says why, and holds nothing that is secret."""


class ForgeLimited(Exception):
    """The forge asks for patience with this user."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the forge asks to be left alone for {seconds:.0f} s")
        self.seconds = seconds


class ForgeRefused(Exception):
    """The forge does not take the token, or it does not allow what was asked."""


@dataclass(frozen=True, slots=True)
class ForgeAnswer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def document(self) -> Any:
        """Return the JSON of the answer. ForgeFailed: it is none."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ForgeFailed("the forge's answer is no JSON") from None


class ForgeClient:
    """Sends requests to forges."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client

    async def get(
        self,
        access: ForgeAccess,
        path: str,
        *,
        accept: str,
        bytes_max: int = ANSWER_BYTES_MAX,
    ) -> ForgeAnswer | None:
        """Return the answer to a GET of this path below the API; None: there is no such thing."""
        url = access.forge.api + path
        for _ in range(REDIRECTS_MAX + 1):
            answer = await self._ask(access, url, accept=accept, bytes_max=bytes_max)
            if answer.status not in _REDIRECTS:
                return _checked(access, answer)
            url = _redirected(url, answer.headers.get("location", ""))
        raise ForgeFailed(f"{access.forge.host}: more than {REDIRECTS_MAX} redirects")

    async def document(self, access: ForgeAccess, path: str) -> Any:
        """Return the JSON at a path, or None if there is no such thing."""
        answer = await self.get(access, path, accept="application/json")
        return None if answer is None else answer.document()

    async def check(self, access: ForgeAccess) -> None:
        """Ask a forge whose the token is. ForgeRefused: it does not take the token at all. One that
        is for other questions than this is left to those; so is a forge that gives no answer."""
        url, seen = access.forge.api + USER_PATH, "application/json"
        try:
            answer = await self._ask(access, url, accept=seen, bytes_max=ANSWER_BYTES_MAX)
        except ForgeFailed:
            return
        if answer.status in (401, 429):
            _checked(access, answer)

    async def _ask(
        self, access: ForgeAccess, url: str, *, accept: str, bytes_max: int
    ) -> ForgeAnswer:
        origin, target = _target_of(url)
        headers = (
            ("Accept", accept),
            ("User-Agent", USER_AGENT),
            ("Authorization", f"Bearer {access.token}"),
        )
        request = ProviderRequest(origin, target, headers, method="GET")
        host = access.forge.host
        try:
            with trio.fail_after(REQUEST_SECONDS_MAX):
                async with self._client.call(request) as response:
                    body = await response.read(bytes_max + 1)
        except trio.TooSlowError:
            raise ForgeFailed(f"{host}: no answer within {REQUEST_SECONDS_MAX:g} s") from None
        except (CallFailed, AddressRefused) as fault:
            raise ForgeFailed(f"{host}: {fault}") from fault
        if len(body) > bytes_max:
            raise ForgeFailed(f"{host}: the answer has more than {bytes_max} bytes")
        return ForgeAnswer(response.status, response.headers, body)


def _target_of(url: str) -> tuple[Origin, str]:
    parts = urlsplit(url)
    try:
        origin, _ = split_url(url)
    except ValueError as error:
        raise ForgeFailed(str(error)) from None
    return origin, parts.path + (f"?{parts.query}" if parts.query else "")


def _redirected(url: str, location: str) -> str:
    """Return where a redirect leads. ForgeFailed: to another host, or from https to http."""
    there = urljoin(url, location)
    if not location or urlsplit(there)[:2] != urlsplit(url)[:2]:
        raise ForgeFailed("the forge redirects to another host, which is not followed")
    return there


def _checked(access: ForgeAccess, answer: ForgeAnswer) -> ForgeAnswer | None:
    host = access.forge.host
    seconds = limit_seconds(answer, now=wall().timestamp())
    if seconds is not None:
        raise ForgeLimited(seconds)
    match answer.status:
        case 200:
            return answer
        case 404 | 410:
            return None
        case 401:
            raise ForgeRefused(f"{host} does not take the token; bring a new one")
        case 403:
            raise ForgeRefused(f"{host} does not allow this with the token; look at its rights")
    raise ForgeFailed(f"{host}: answered {answer.status}")


def limit_seconds(answer: ForgeAnswer, *, now: float) -> float | None:
    """Return for how long a forge asks for patience; None: it does not. Pure.

    A primary limit says when it ends, a secondary one how long to wait, and some say neither.
    """
    headers = answer.headers
    is_spent = headers.get("x-ratelimit-remaining", headers.get("ratelimit-remaining")) == "0"
    waits = headers.get("retry-after")
    if answer.status != 429 and not (
        answer.status == 403 and (is_spent or waits is not None or _speaks_of_limit(answer.body))
    ):
        return None
    said = [] if waits is None else [_retry_seconds(waits, now)]
    if is_spent:
        reset = headers.get("x-ratelimit-reset", headers.get("ratelimit-reset", ""))
        said.append(_number(reset) - now if _number(reset) else 0.0)
    return min(LIMIT_SECONDS_MAX, max([1.0, *said]) if any(s > 0 for s in said) else LIMIT_SECONDS)


def _speaks_of_limit(body: bytes) -> bool:
    return any(words in body[:4_096].lower() for words in WORDS_OF_LIMIT)


def _retry_seconds(text: str, now: float) -> float:
    if seconds := _number(text):
        return seconds
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return 0.0


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if isfinite(number) else 0.0


def fields(value: Any) -> Mapping[str, Any]:
    """Return what a forge has told as an object; nothing if it is none."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """Return what a forge has told as a list of objects. ForgeFailed: it is none."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise ForgeFailed("the forge's answer is no list")
    return value
