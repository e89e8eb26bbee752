"""The choice of the rows of a history that a model sees. Pure; rows are read and never
rewritten."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from actors.law.chat import Message, Role, Visibility
from actors.law.ids import ModelConfigId
from actors.law.parts.message import CONTINUE_SPENDING, Part, ToolCallPart, ToolResultPart
from actors.law.parts.vendors import PromptRules


@dataclass(frozen=True, slots=True)
class Target:
    """The provider that is asked. `identity` is its configured instance; None: it is not known."""

    provider: str
    identity: str | None
    rules: PromptRules  # of the protocol that the provider speaks


IdentityOf = Callable[[ModelConfigId | None], str | None]


def model_rows(history: Iterable[Message]) -> tuple[Message, ...]:
    """Return the system rows, the newest summary, and what came after it, by id.

    A summary is a row that is compressed and for the model's eyes only, whatever its role is.
    """
    seen = sorted(
        (row for row in history if is_for_models(row)),
        key=lambda row: row.id,
    )
    summaries = (row for row in reversed(seen) if is_summary(row))
    newest = next(summaries, None)
    start = newest.id if newest is not None else -1
    return tuple(
        row
        for row in seen
        if row is newest
        or (not row.body.compressed and (row.id > start or row.body.role is Role.SYSTEM))
    )


def latest_model_rows(history: Sequence[Message]) -> Iterator[Message]:
    """Yield the same rows, the newest first, of a history that stands by id. No more of it is
    looked at than is taken."""
    is_summarised = False
    for row in reversed(history):
        if not is_for_models(row):
            continue
        if is_summary(row):
            if not is_summarised:
                yield row
            is_summarised = True
        elif not row.body.compressed and (not is_summarised or row.body.role is Role.SYSTEM):
            yield row


def without_foreign_tools(
    rows: Sequence[Message], identity_of: IdentityOf, target: str | None
) -> tuple[Message, ...]:
    """Drop what the own tools of another provider did, or of a provider that is not known.

    The provider that did it understands it again when the chat comes back. A target that is not
    known changes nothing.
    """
    if target is None:
        return tuple(rows)
    return tuple(_own(rows, identity_of, target))


def is_for_models(row: Message) -> bool:
    """Tell whether models see a row. They know nothing of questions about spending."""
    if row.deleted or row.body.visibility is Visibility.USER:
        return False
    first = row.body.parts[0] if row.body.parts else None
    return not (
        isinstance(first, ToolCallPart | ToolResultPart) and first.name == CONTINUE_SPENDING
    )


def is_summary(row: Message) -> bool:
    """Tell whether a row stands for all that was said before it."""
    return row.body.compressed and row.body.visibility is Visibility.MODEL


def _own(rows: Sequence[Message], identity_of: IdentityOf, target: str) -> Iterable[Message]:
    for row in rows:
        body = row.body
        if body.role is not Role.ASSISTANT or identity_of(body.model_config_id) == target:
            yield row
            continue
        kept = tuple(part for part in body.parts if not is_provider_executed(part))
        if kept or not body.parts:
            yield replace(row, body=replace(body, parts=kept)) if kept != body.parts else row


def is_provider_executed(part: Part) -> bool:
    return isinstance(part, ToolCallPart | ToolResultPart) and part.provider_executed
