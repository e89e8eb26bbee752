"""What the end of a turn asks for, and what it is made of. Pure."""

import re
from collections.abc import Sequence
from enum import Enum

from actors.law.change import Change
from actors.law.chat import Body, Message, Role, Visibility
from actors.law.parts.message import TextPart
from actors.law.states import Status

SUMMARY_TURNS = 3  # from one summary to the next; the first is made after the first turn
TRANSCRIPT_CHARACTERS_MAX = 16_000  # of a chat; its middle is left out
MESSAGE_CHARACTERS_MAX = 4_000  # of each message; likewise
TRANSCRIPT_CHARACTERS_MIN = 200  # below it there is nothing to sum up
REPORT_CHARACTERS_MAX = 300  # of a child's
REPORT_SENTENCES_MAX = 3

_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+")  # noqa: RUF001  of all languages
_MARKS = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d+[.)][ \t]+)", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_FENCE = re.compile(r"^```.*?^```[ \t]*$", re.MULTILINE | re.DOTALL)
_EMPHASIS = re.compile(r"\*\*|__|`|~~")


class TurnEnd(Enum):
    """How a turn came to rest."""

    DONE = "done"
    WAITS = "waits"  # its client has to do something
    CUT = "cut"  # by an error or its user


def turn_end_of(change: Change) -> TurnEnd | None:
    """None: no turn has ended with this, or the next one has begun with it."""
    before, after = change.before.chat.status, change.chat.status
    if change.added and all(body.compressed for body in change.added):
        return None  # a summary of what had ended before, which somebody asked for
    match before, after:
        case Status.RUNNING, Status.WAITING:
            return TurnEnd.DONE
        case Status.RUNNING, Status.REQUIRES_ACTION:
            return TurnEnd.WAITS
        case ((Status.RUNNING | Status.INTERRUPTING), (Status.ERROR | Status.WAITING)):
            return TurnEnd.CUT
        case _:
            return None


def is_due(turns_done: int, turns_summed: int | None) -> bool:
    """Of a summary of the chat. An edit may have taken turns away that were summed up."""
    if turns_summed is None or turns_done < turns_summed:
        return turns_done > 0
    return turns_done - turns_summed >= SUMMARY_TURNS


def last_words(said: Sequence[Body]) -> str:
    """What the model said with its last step."""
    spoken = (body for body in reversed(said) if body.role is Role.ASSISTANT)
    return next(filter(None, map(_text, spoken)), "")


def transcript(history: Sequence[Message]) -> str:
    """What was said by users and models, and the summary of what came before it."""
    lines = []
    for row in history:
        body = row.body
        told = body.visibility is Visibility.MODEL and not body.compressed
        if row.deleted or told or body.role not in (Role.USER, Role.ASSISTANT):
            continue
        if text := _text(body):
            who = "earlier" if body.compressed else body.role.value
            lines.append(f"{who}: {middle_left_out(text, MESSAGE_CHARACTERS_MAX)}")
    return middle_left_out("\n\n".join(lines), TRANSCRIPT_CHARACTERS_MAX)


def middle_left_out(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    gap = "\n[…]\n"
    half = (most - len(gap)) // 2
    return f"{text[:half]}{gap}{text[-half:]}"


def report_summary(report: str) -> str:
    """The beginning of a child's report, as plain text."""
    plain = _EMPHASIS.sub("", _LINK.sub(r"\1", _FENCE.sub("", report)))
    paragraphs = (" ".join(_MARKS.sub("", part).split()) for part in re.split(r"\n\s*\n", plain))
    first = next(filter(None, paragraphs), "")
    words = " ".join(sentences(first)[:REPORT_SENTENCES_MAX])
    if len(words) <= REPORT_CHARACTERS_MAX:
        return words
    return words[: REPORT_CHARACTERS_MAX - 1].rstrip() + "…"


def sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.split(text.strip()) if sentence]


def _text(body: Body) -> str:
    return "\n".join(part.text for part in body.parts if isinstance(part, TextPart)).strip()
