"""The model: a request becomes the steps of its answer, and requests are recorded.

It knows no socket and waits for nothing; the server performs the steps, and says how they ended.
Tests steer a running model over these paths:

    PUT /_fake/behaviour     the settings of the launch with these over them; counts start again
    GET /_fake/behaviour     the settings that hold now
    GET /_fake/requests      the last requests, oldest first, without their keys
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from types import ModuleType

import msgspec

from adapters.rehearsal import pacing
from adapters.rehearsal.answers import PlannedAnswer, plan_answer
from adapters.rehearsal.behaviour import (
    Always,
    Behaviour,
    BrokenAnswer,
    ContextOverflow,
    ErrorStatus,
    Fault,
    FaultRule,
    rule_text,
)
from adapters.rehearsal.dialogue import BadRequest, HttpRefusal, Json, ModelRequest
from adapters.rehearsal.pacing import DeltaPace, Send, Step
from adapters.rehearsal.settings import InvalidSetting, as_settings, read
from adapters.rehearsal.wires import anthropic, google, openai_chat, openai_errors, openai_responses
from adapters.rehearsal.wires.http import RequestHead, response, stream_head, whole_head

REQUESTS_KEPT_MAX = 256  # the oldest is forgotten
BODY_KEPT_BYTES_MAX = 64 * 1024  # of a longer body only the length is kept
CONTROL_PREFIX = "/_fake/"  # of the paths by which tests steer a running model
POINTS_MAX = 10_000  # of conversations, whose attempts are counted; the oldest is forgotten

_WIRES: tuple[
    tuple[str, ModuleType], ...
] = (  # by the end of the path, as a base URL may have any path before it
    ("/messages", anthropic),
    ("/chat/completions", openai_chat),
    ("/responses", openai_responses),
    (":generateContent", google),
    (":streamGenerateContent", google),
)
_CHAT = "x-promptcorner-chat-id"  # the header in which we name the chat that asks
_SECRET_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"})


@dataclass(slots=True, eq=False)
class RecordedRequest:
    """One request, as tests are shown it."""

    number: int
    head: RequestHead
    body: bytes | None
    body_bytes: int
    fault: str | None = None
    ended: str | None = None  # how the answer ended; None: it goes on

    def document(self) -> Json:
        """Return the request as JSON, without its keys."""
        headers = {
            name: "[redacted]" if name in _SECRET_HEADERS else value
            for name, value in self.head.headers
        }
        return {
            "number": self.number,
            "path": self.head.path,
            "headers": headers,
            "body_bytes": self.body_bytes,
            "body": None if self.body is None else _as_json(self.body),
            "fault": self.fault,
            "ended": self.ended,
        }


@dataclass(frozen=True, slots=True)
class Exchange:
    """The steps of an answer, and the record in which its end is noted."""

    steps: Iterator[Step]
    record: RecordedRequest | None = None

    def ended(self, how: str) -> None:
        """Note how the answer ended."""
        if self.record is not None:
            self.record.ended = how


class Rehearsal:
    """One model, for as long as it runs."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.launched = behaviour  # what a new behaviour starts from
        self.records: deque[RecordedRequest] = deque(maxlen=REQUESTS_KEPT_MAX)
        self.requests = 0
        self._attempts: OrderedDict[int, int] = OrderedDict()
        self._cues = 0  # of the script, that were given

    def behave(self, behaviour: Behaviour) -> None:
        """Behave like this from the next request on; counts and requests start again."""
        self.behaviour = behaviour
        self.records.clear()
        self.requests = self._cues = 0
        self._attempts.clear()

    def answer(self, head: RequestHead, body: bytes) -> Exchange:
        """Return the exchange that a request begins."""
        wire = next((wire for end, wire in _WIRES if head.path.endswith(end)), None)
        if wire is not None and head.method == "POST":
            return self._perform(wire, head, body)
        if head.path.endswith("/models") and head.method == "GET":
            return Exchange(iter([Send(0, response(200, self._models(head)))]))
        refusal = openai_errors.refusal(404, f"there is nothing at {head.method} {head.path}")
        return Exchange(iter([Send(0, response(404, refusal.document))]))

    def _perform(self, wire: ModuleType, head: RequestHead, body: bytes) -> Exchange:
        self.requests += 1
        kept = body if len(body) <= BODY_KEPT_BYTES_MAX else None
        record = RecordedRequest(self.requests, head, kept, len(body))
        self.records.append(record)
        try:
            request = wire.read(body, head.path)
            attempt = self._attempt(head, request)
            cue = 0 if is_aside(head, request) else self._cues + 1
            answer = plan_answer(
                self.behaviour, request, number=self.requests, attempt=attempt, cue=cue
            )
            self._cues = cue or self._cues
        except (BadRequest, InvalidSetting) as error:
            return Exchange(iter([_refusing(wire.refusal(400, str(error)))]), record)
        record.fault = (
            None if answer.fault is None else rule_text(FaultRule(answer.fault, Always()))
        )
        return Exchange(steps(wire, answer), record)

    def _attempt(self, head: RequestHead, request: ModelRequest) -> int:
        """Return how often this point of this conversation was reached.

        It is counted only for messages with markers. The same words in another chat, or at another
        vendor's, are another conversation.
        """
        if "[[" not in request.text:
            return 0
        point = hash((head.path, head.header(_CHAT), request.text, request.rounds))
        count = self._attempts.pop(point, 0) + 1
        self._attempts[point] = count
        if len(self._attempts) > POINTS_MAX:
            self._attempts.popitem(last=False)
        return count

    def _models(self, head: RequestHead) -> Json:
        names = self.behaviour.models
        if head.header("anthropic-version"):
            return anthropic.models(names)
        if head.header("x-goog-api-key") or "/v1beta/" in head.path:
            return google.models(names)
        return openai_chat.models(names)


def is_aside(head: RequestHead, request: ModelRequest) -> bool:
    """Tell whether a daemon of ours asks beside a turn: for a title, a label, a summary of a list.

    Those are asked for whole and without tools, at any time; answers of a turn are streamed. An
    answer of a script is not spent on them.
    """
    return bool(head.header(_CHAT)) and not request.streamed and not request.offers_tools


def steps(wire: ModuleType, answer: PlannedAnswer) -> Iterator[Step]:
    """Return the steps of an answer on a wire, with what goes wrong with it."""
    behaviour, content = answer.behaviour, answer.content
    seconds = behaviour.headers_ms / 1000
    refusal = _refusal(wire, answer.fault, streamed=content.request.streamed)
    if refusal is not None:
        return iter([_refusing(refusal, seconds)])
    broken = answer.fault if isinstance(answer.fault, BrokenAnswer) else None
    pace = DeltaPace(behaviour, answer.random)
    if content.request.streamed:
        head = Send(seconds, stream_head(f"req_{content.id}"))
        if broken is None:
            return chain([head], pacing.stream_steps(wire.stream(content), behaviour, pace))
        events = list(wire.stream(content))
        report = partial(wire.error_event, content)
        torn = pacing.broken_steps(events, behaviour, pace, broken=broken, report=report)
        return chain([head], torn)
    body = wire.whole(content)
    seconds += sum(pace.next() for _ in range(content.delta_count))
    pieces = behaviour.writes_per_event
    head_bytes = whole_head(200, body, ("x-request-id", f"req_{content.id}"))
    return pacing.whole_steps(seconds, head_bytes, body, pieces=pieces, broken=broken)


def _refusal(wire: ModuleType, fault: Fault | None, *, streamed: bool) -> HttpRefusal | None:
    match fault:
        case ErrorStatus(status, retry_after):
            refused: HttpRefusal = wire.refusal(status)
            if retry_after is None:
                return refused
            return HttpRefusal(status, refused.document, (("retry-after", str(retry_after)),))
        case ContextOverflow():
            overflow: HttpRefusal = wire.refusal(400, overflow=True)
            return overflow
        case BrokenAnswer("error") if not streamed:
            failed: HttpRefusal = wire.refusal(500)
            return failed
        case _:
            return None


def _refusing(refusal: HttpRefusal, seconds: float = 0) -> Send:
    return Send(seconds, response(refusal.status, refusal.document, *refusal.headers))


def _as_json(body: bytes) -> object:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode("utf-8", "replace")


def answer_control(rehearsal: Rehearsal, head: RequestHead, body: bytes) -> Exchange:
    """Return the answer to a request that steers the model."""
    status, document = _answer(rehearsal, head, body)
    return Exchange(iter([Send(0, response(status, document))]))


def _answer(rehearsal: Rehearsal, head: RequestHead, body: bytes) -> tuple[int, Json]:
    match head.method, head.path:
        case "GET", "/_fake/behaviour":
            return 200, as_settings(rehearsal.behaviour)
        case "PUT", "/_fake/behaviour":
            return _behave(rehearsal, body)
        case "GET", "/_fake/requests":
            kept = [record.document() for record in rehearsal.records]
            return 200, {"count": rehearsal.requests, "requests": kept}
        case _:
            said = "GET and PUT /_fake/behaviour, GET /_fake/requests"
            return 404, {"message": f"there is nothing at {head.method} {head.path}, only {said}"}


def _behave(rehearsal: Rehearsal, body: bytes) -> tuple[int, Json]:
    try:
        said = msgspec.json.decode(body or b"{}", type=dict[str, object])
        behaviour = read(rehearsal.launched, said)
    except (msgspec.DecodeError, UnicodeDecodeError, InvalidSetting) as error:
        return 400, {"message": str(error)}
    rehearsal.behave(behaviour)
    return 200, as_settings(behaviour)
