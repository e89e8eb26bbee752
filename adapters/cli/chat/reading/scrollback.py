"""The items that a chat prints for good, and those still drawn below, by its events. Pure.

Whatever is printed stays in the terminal: it is never drawn again. So an answer is handed out block
by block as it comes, and its message, when it is kept, only adds what has not been printed yet.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from adapters.cli.chat.reading.blocks import GrowingMarkdown, MarkdownBlock
from adapters.cli.chat.reading.cards import CallCard, compact, with_call, with_result
from promptcorner_client.transcript import Transcript, text_of
from promptcorner_client.wire import ChatApproval, ChatMessage, ChatMessagePart, ChatStreamEvent

OPENED_MAX = 500  # cards and thoughts that can be opened again; older ones are in the chat
OPENED_CHARACTERS_MAX = 8 * 1024 * 1024  # of all of them; the newest can be opened in any case
PROSE = ("text", "reasoning")
BEGUN_ANEW = "the answer broke off and is begun anew; what stands above of it does not count"
EDITED = "an earlier message was edited: the chat goes on from there"


@dataclass(frozen=True, slots=True)
class UserWords:
    """A message of a user."""

    text: str
    files: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ThoughtFold:
    """The thoughts of a model, folded into a line."""

    text: str


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A line about the chat itself. `tone`: quiet, title, warning or error."""

    text: str
    tone: str = "quiet"


@dataclass(frozen=True, slots=True)
class ConsentCard:
    """A call that waits for consent, whole."""

    approval: ChatApproval
    is_agents: bool


Item = UserWords | MarkdownBlock | ThoughtFold | NoteLine | ConsentCard | CallCard
"""What is printed for good."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The part that is still drawn anew: the end of the answer, and the calls that run."""

    markdown: str = ""
    thought: str = ""
    calls: Sequence[CallCard] = ()


@dataclass(slots=True)
class _Progress:
    """A text or thoughts of the attempt that runs, and how far they were printed."""

    kind: str
    growing: GrowingMarkdown = field(default_factory=GrowingMarkdown)
    is_done: bool = False


class ChatScrollback:
    """Decides what of a chat is printed, once each. Call `apply` after the transcript has."""

    def __init__(self) -> None:
        self.last_id = 0  # of the messages that were printed
        self.opened: deque[CallCard | ThoughtFold] = deque(maxlen=OPENED_MAX)  # the newest last
        self._sizes: deque[int] = deque(maxlen=OPENED_MAX)  # of these, in characters
        self._printed: set[int] = set()
        self._progress: list[_Progress] = []
        self._calls: dict[str, CallCard] = {}  # without a result, by id
        self._error = ""

    def apply(self, event: ChatStreamEvent, seen: Transcript) -> list[Item]:
        """Return what is printed because of an event; `seen` is the chat after it."""
        items: list[Item] = []
        match event.type:
            case "message" if event.message is not UNSET:
                items = self.message(event.message)
            case "message_part" if event.message_part is not UNSET:
                items = list(self._piece(event.message_part.part, seen))
            case "preview_reset":
                items = list(self._drop_attempt())
            case "history_reset" if self._printed:
                self._progress.clear()
                self._calls.clear()
                items = [NoteLine(EDITED, "warning")]
            case "error" if seen.error is not None:
                items = self._stopped(seen.error.message, seen.error.detail)
            case "status" if seen.status in ("waiting", "running"):
                self._error = ""
                if seen.status == "waiting":
                    self._calls.clear()
        self.keep_opened(items)
        return items

    def keep_opened(self, items: Sequence[Item]) -> None:
        """Keep what can be opened again, and forget the oldest of it at the bounds."""
        for item in items:
            if isinstance(item, CallCard | ThoughtFold):
                self.opened.append(item)
                self._sizes.append(_characters(item))
        while len(self._sizes) > 1 and sum(self._sizes) > OPENED_CHARACTERS_MAX:
            self.opened.popleft()
            self._sizes.popleft()

    def message(self, message: ChatMessage) -> list[Item]:
        """Return what is printed of a message that is kept."""
        self.last_id = max(self.last_id, message.id)
        if message.id in self._printed:
            return []
        self._printed.add(message.id)
        content = message.content or ()
        if message.role == "user":
            files = [part.name or part.file_name or part.media_type for part in _files(content)]
            text = text_of(content)
            return (
                [UserWords(text, tuple(name or "a file" for name in files))]
                if text or files
                else []
            )
        items = list(self._kept(message, content))
        self._progress.clear()
        return items

    def unfinished(self) -> Unfinished:
        """Return what is drawn below all that was printed."""
        calls = tuple(self._calls.values())
        last = self._progress[-1] if self._progress else None
        if last is None or last.is_done:
            return Unfinished(calls=calls)
        if last.kind == "text":
            return Unfinished(markdown=last.growing.rest, calls=calls)
        return Unfinished(thought=last.growing.text, calls=calls)

    def _stopped(self, message: str, detail: object) -> list[Item]:
        said = f"{message}\n{detail}" if isinstance(detail, str) and detail else message
        if said == self._error:
            return []
        self._error = said
        return [NoteLine(f"✗ {said}", "error")]

    def _piece(self, piece: ChatMessagePart, seen: Transcript) -> Iterator[Item]:
        if piece.type in ("tool-call", "tool-result") and piece.tool_call_id:
            self._note_call(piece, seen)
        prose = [part for part in seen.preview if part.type in PROSE and part.text]
        is_open = bool(seen.preview) and seen.preview[-1].type in PROSE
        for index, part in enumerate(prose):
            yield from self._grow(index, part, is_last=is_open and index == len(prose) - 1)

    def _note_call(self, piece: ChatMessagePart, seen: Transcript) -> None:
        id = piece.tool_call_id or ""
        part = next(
            (p for p in seen.preview if p.type == piece.type and p.tool_call_id == id), piece
        )
        known = self._calls.get(id)
        make = with_call if piece.type == "tool-call" else with_result
        card = make(known, part)
        if not card.is_done:  # the message with the result prints it
            self._calls[id] = card

    def _grow(self, index: int, part: ChatMessagePart, *, is_last: bool) -> Iterator[Item]:
        if index >= len(self._progress):
            self._progress.append(_Progress(part.type))
        progress = self._progress[index]
        if progress.is_done:
            return
        if is_last:
            found = progress.growing.take(part.text) if part.type == "text" else []
            if part.type == "reasoning":
                progress.growing.text = part.text
            yield from found
            return
        yield from self._finish(progress, part.text)

    def _finish(self, progress: _Progress, text: str) -> Iterator[Item]:
        progress.is_done = True
        if progress.kind == "reasoning":
            yield ThoughtFold(text)
        else:
            yield from progress.growing.finish(text)

    def _drop_attempt(self) -> Iterator[Item]:
        """Forget an attempt without a message. What was printed of it cannot be taken back."""
        was_printed = any(p.is_done or p.growing.taken for p in self._progress)
        self._progress.clear()
        if was_printed:
            yield NoteLine(BEGUN_ANEW, "warning")

    def _kept(self, message: ChatMessage, content: Sequence[ChatMessagePart]) -> Iterator[Item]:
        index = 0
        for part in content:
            if part.type in PROSE and part.text:
                yield from self._prose(index, part)
                index += 1
            elif part.type == "tool-call" and part.tool_call_id:
                self._calls[part.tool_call_id] = with_call(None, part)
            elif part.type == "tool-result":
                card = with_result(
                    self._calls.pop(part.tool_call_id or "", None), part, message_id=message.id
                )
                yield card
            elif part.type == "hook-notice":
                yield NoteLine(f"! {part.text}", "warning")
            elif part.type == "source":
                yield NoteLine(f"↗ {part.title or part.url} {part.url}")
            elif part.type == "file":
                yield NoteLine(f"▫ {part.name or part.file_name or part.media_type}")

    def _prose(self, index: int, part: ChatMessagePart) -> Iterator[Item]:
        """Yield what was not printed yet of a text that is kept."""
        known = self._progress[index] if index < len(self._progress) else None
        if known is None or known.kind != part.type:
            known = _Progress(part.type)
        elif not part.text.startswith(known.growing.taken):
            yield NoteLine(BEGUN_ANEW, "warning")
            known = _Progress(part.type)
        if not known.is_done:
            yield from self._finish(known, part.text)


def items_of(messages: Sequence[ChatMessage], scrollback: ChatScrollback) -> list[Item]:
    """Return what is printed of messages in order, as of a page of the history."""
    items = [item for message in messages for item in scrollback.message(message)]
    scrollback.keep_opened(items)
    return items


def _characters(item: CallCard | ThoughtFold) -> int:
    """Return about how long an item is."""
    if isinstance(item, ThoughtFold):
        return len(item.text)
    return len(compact(item.args)) + len(compact(item.result))


def _files(content: Sequence[ChatMessagePart]) -> list[ChatMessagePart]:
    return [part for part in content if part.type in ("file", "image", "file-reference")]
