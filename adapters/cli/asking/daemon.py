"""A running daemon, asked over HTTP; what it refuses is said in one line."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
import msgspec

from adapters.cli.asking.nearby import NEAR
from adapters.http.refusals import RefusalBody
from adapters.settings.kinds import InvalidValue, WebAddress
from adapters.settings.refusals import CannotStart

ANSWER_SECONDS = 30.0  # for each step of an answer; then it is given up
FORBIDDEN = 403
NO_QUERY: Mapping[str, str] = {}

_Wanted = TypeVar("_Wanted")


class Daemon:
    """Asks one question after the other; close it, or use it as a block."""

    def __init__(self, url: str, token: str) -> None:
        try:
            self.url = WebAddress().read(url)
        except InvalidValue as unfit:
            raise CannotStart("url", f"{url}, {unfit}") from None
        headers = {"Coder-Session-Token": token} if token else {}
        self._http = httpx2.Client(
            headers={**headers, "User-Agent": "promptcorner"},
            timeout=ANSWER_SECONDS,
            trust_env=urlsplit(self.url).hostname not in NEAR,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.close()

    def get(
        self, path: str, wanted: type[_Wanted], query: Mapping[str, str] = NO_QUERY
    ) -> tuple[_Wanted, object]:
        """An answer as one of the wire, and as it is."""
        return self._read(self._ask("GET", path, query=query), wanted)

    def post(self, path: str, body: object, wanted: type[_Wanted]) -> tuple[_Wanted, object]:
        return self._read(self._ask("POST", path, body), wanted)

    def put(self, path: str, body: object, wanted: type[_Wanted]) -> tuple[_Wanted, object]:
        return self._read(self._ask("PUT", path, body), wanted)

    def patch(self, path: str, body: object, wanted: type[_Wanted]) -> tuple[_Wanted, object]:
        return self._read(self._ask("PATCH", path, body), wanted)

    def delete(self, path: str) -> None:
        self._ask("DELETE", path)

    def end_session(self) -> None:
        """Who has logged in for a moment logs out, if he still can."""
        self._sent("POST", "/api/v2/users/logout", None, NO_QUERY)

    def get_if_allowed(self, path: str, wanted: type[_Wanted]) -> _Wanted | None:
        """None: it is not for whoever asks."""
        answer = self._sent("GET", path, None, NO_QUERY)
        if answer.status_code == FORBIDDEN:
            return None
        if not answer.is_success:
            raise self._refusal(answer)
        return self._read(answer.content, wanted)[0]

    def _ask(
        self, method: str, path: str, body: object = None, *, query: Mapping[str, str] = NO_QUERY
    ) -> bytes:
        answer = self._sent(method, path, body, query)
        if not answer.is_success:
            raise self._refusal(answer)
        return answer.content

    def _sent(
        self, method: str, path: str, body: object, query: Mapping[str, str]
    ) -> httpx2.Response:
        content = None if body is None else msgspec.json.encode(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        try:
            return self._http.request(
                method, self.url + path, content=content, headers=kind, params=dict(query)
            )
        except httpx2.TimeoutException:
            fact = f"no answer within {ANSWER_SECONDS:g} s"
            raise CannotStart(f"daemon {self.url}", fact) from None
        except httpx2.HTTPError as error:
            raise CannotStart(
                f"daemon {self.url}",
                f"cannot be reached ({error})",
                "start it with `promptcorner serve`, or name another with --url",
            ) from None

    def _read(self, answer: bytes, wanted: type[_Wanted]) -> tuple[_Wanted, object]:
        try:
            return msgspec.json.decode(answer, type=wanted), msgspec.json.decode(answer)
        except msgspec.MsgspecError as error:
            fact = f"answers what we do not understand ({error})"
            raise CannotStart(f"daemon {self.url}", fact, "is it of another version?") from None

    def _refusal(self, answer: httpx2.Response) -> CannotStart:
        try:
            said = msgspec.json.decode(answer.content, type=RefusalBody)
        except msgspec.MsgspecError:
            return CannotStart(f"daemon {self.url}", f"answers {answer.status_code}")
        faults = [f"{each.field} {each.detail}" for each in said.validations]
        detail = "; ".join(filter(None, [said.detail, *faults]))
        fact = said.message.rstrip(".!") + (f" ({detail})" if detail else "")
        advice = _ADVICE.get(answer.status_code, "")
        return CannotStart(f"daemon {self.url}", f"{answer.status_code} {fact}", advice)


def step(*names: str) -> str:
    """Steps of a path, whatever is in the names."""
    return "/".join(quote(name, safe="") for name in names)


_ADVICE = {
    401: "set PROMPTCORNER_TOKEN to a token that is good",
    FORBIDDEN: "ask an admin, or use a token that may do more",
}
