"""A conversation that its summariser cannot read at once, as text and in parts. Pure.

Nothing is left out but thoughts, and what is no text: a file leaves its name. A part ends between
two entries where it can; one entry that is longer than a part goes on in the next.
"""

from collections.abc import Iterable, Iterator, Sequence

from actors.law.parts.message import FilePart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import (
    AssistantOutput,
    PromptMessage,
    ToolAnswer,
    ToolResults,
    UserInput,
)
from actors.prompts.compaction.fullness import BYTES_PER_TOKEN

PORTION_BYTES_PER_TOKEN = 3  # few: parts that turn out too long have been paid for in vain
SHARE = 2  # a part may fill half of a window: its question, the summary so far, an answer go there
PORTION_BYTES_MIN = 4 * 1024  # with a window for less than that nothing can be summarised
PORTIONS_MAX = 64  # calls in a row for one summary; what needs more is refused


def portion_bytes(messages: Iterable[PromptMessage], window: int | None) -> int:
    """How long a part may be; of a window that nobody knows, half of what was too long."""
    if window is not None:
        return window // SHARE * PORTION_BYTES_PER_TOKEN
    return max(sum(map(_size, _entries(messages))) // SHARE, PORTION_BYTES_MIN)


def portions(messages: Iterable[PromptMessage], bytes_max: int) -> Sequence[str]:
    found: list[str] = []
    part: list[str] = []
    room = bytes_max
    for piece in (piece for entry in _entries(messages) for piece in _pieces(entry, bytes_max)):
        size = _size(piece)
        if size > room:
            found.append("".join(part))
            part, room = [], bytes_max
        part.append(piece)
        room -= size
    return [*found, "".join(part)] if part else found


def tokens_about(messages: Iterable[PromptMessage]) -> int:
    """As far as can be told without a provider."""
    return sum(map(_size, _entries(messages))) // BYTES_PER_TOKEN


def _entries(messages: Iterable[PromptMessage]) -> Iterator[str]:
    for said in messages:
        match said:
            case UserInput(parts):
                for part in parts:
                    yield _entry("the user", _text(part))
            case AssistantOutput(said_parts):
                for said_part in said_parts:
                    match said_part:
                        case TextPart(text):
                            yield _entry("the assistant", text)
                        case ToolCallPart():
                            what = f"the assistant calls {said_part.name}"
                            yield _entry(what, said_part.args or "{}")
                        case ToolResultPart():
                            yield _entry(f"{said_part.name} answers", said_part.result)
                        case _:
                            pass
            case ToolResults(answers):
                yield from map(_answer, answers)


def _answer(answer: ToolAnswer) -> str:
    media = f"\n{_text(answer.media)}" if answer.media is not None else ""
    how = "fails" if answer.is_error else "answers"
    return _entry(f"{answer.name} {how}", f"{answer.text}{media}")


def _text(part: TextPart | FilePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"(a file: {part.name or 'without a name'}, {part.media_type})"


def _entry(who: str, text: str) -> str:
    return f"[{who}]\n{text}\n\n"


def _pieces(entry: str, bytes_max: int) -> Iterator[str]:
    """No character is cut in two."""
    data = entry.encode("utf-8", "replace")
    at = 0
    while at < len(data):
        end = min(at + bytes_max, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[at:end].decode()
        at = end


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
