"""The lists that are chosen from: chats, agents, models, the queue, calls. Pure."""

from collections.abc import Sequence
from datetime import datetime

from adapters.cli.chat.deciding.picking import ListRow, PickList
from adapters.cli.chat.reading.cards import CallCard, cut_line, outcome_of, subject_of
from adapters.cli.chat.reading.scrollback import ThoughtFold
from adapters.cli.harmless import one_line
from promptcorner_client.api import ModelSummary
from promptcorner_client.transcript import text_of
from promptcorner_client.wire import Chat, ChatPrompt, ChatQueuedMessage

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
NEEDS = {
    "consent": "asks for consent",
    "tool_results": "waits for results",
    "question": "asks a question",
    "plan": "proposes a plan",
    "error": "stopped with an error",
}


def chats_list(chats: Sequence[Chat], at: datetime) -> PickList:
    """Return chats to go on with: those that need the user first."""
    ordered = sorted(chats, key=lambda chat: not chat.attention)
    rows = [
        ListRow(str(chat.id), title_of(chat), _note(chat, at), _preview(chat)) for chat in ordered
    ]
    return PickList("Which chat?", rows, "type to search · Enter opens it · Esc closes")


def agents_list(root: Chat, current: Chat) -> PickList:
    """Return a chat and its agents as a tree."""
    rows = [ListRow(str(root.id), title_of(root), status_text(root))]
    rows += [
        ListRow(str(child.id), title_of(child), status_text(child), _preview(child), depth=1)
        for child in sorted(root.children, key=lambda child: child.created_at)
    ]
    at = next((n for n, row in enumerate(rows) if row.id == str(current.id)), 0)
    hint = "Enter opens it: what you type then goes to it · Esc closes"
    return PickList("The chat and its agents", rows, hint, index=at)


def models_list(models: Sequence[ModelSummary], chosen: str) -> PickList:
    """Return the models that can be chosen."""
    rows = [
        ListRow(str(model.id), model.display_name or model.model, _model_note(model))
        for model in models
        if model.enabled
    ]
    at = next((n for n, row in enumerate(rows) if row.text == chosen), 0)
    return PickList("Which model, from the next message on?", rows, index=at)


def efforts_list(model: ModelSummary | None, chosen: str) -> PickList:
    """Return the efforts, those that the model knows if it says so."""
    known = (model.reasoning_efforts if model is not None else ()) or EFFORTS
    rows = [ListRow(effort, effort) for effort in known]
    at = next((n for n, row in enumerate(rows) if row.id == chosen), 0)
    return PickList("How much shall the model think?", rows, index=at)


def queue_list(queue: Sequence[ChatQueuedMessage], index: int = 0) -> PickList:
    """Return the messages that wait, in the order in which they are taken."""
    rows = [
        ListRow(
            str(one.id),
            one_line(cut_line(text_of(one.content)) or "a file"),
            "at the next step" if one.busy_behavior == "steer" else "",
        )
        for one in queue
    ]
    hint = "Enter rewords · Alt-Up, Alt-Down move · ctrl-K removes · ctrl-G sends now · Esc closes"
    keys = ("up", "down", "remove", "promote")
    return PickList("What waits, in this order", rows, hint, keys, index=index)


def prompts_list(prompts: Sequence[ChatPrompt]) -> PickList:
    """Return the user's earlier messages, the newest first."""
    rows = [ListRow(str(one.id), one_line(cut_line(one.text)), "", one.text) for one in prompts]
    hint = "Enter edits it: all that came after it goes · Esc closes"
    return PickList("Which message shall be another?", rows, hint)


def opened_list(cards: Sequence[CallCard | ThoughtFold]) -> PickList:
    """Return what can be opened, the newest first; the ids are places in `cards`."""
    rows = []
    for place in range(len(cards) - 1, -1, -1):
        card = cards[place]
        if isinstance(card, ThoughtFold):
            rows.append(ListRow(str(place), "∴ " + one_line(cut_line(card.text))))
        else:
            text = one_line(f"{card.mark} {card.name}  {subject_of(card)}")
            rows.append(ListRow(str(place), text, one_line(outcome_of(card))))
    return PickList("What shall be opened?", rows, "Enter opens it in a pager · Esc closes")


def title_of(chat: Chat) -> str:
    return one_line(chat.title) or "untitled"


def status_text(chat: Chat) -> str:
    """Return what a chat does, or what it needs."""
    need = NEEDS.get(chat.attention or "", "")
    return need or {"waiting": "at rest", "running": "at work"}.get(chat.status, chat.status)


def _note(chat: Chat, at: datetime) -> str:
    return f"{status_text(chat)} · {ago(at, chat.updated_at)}"


def _preview(chat: Chat) -> str:
    said = chat.question or chat.last_turn_summary or chat.summary or ""
    return one_line(cut_line(said))


def _model_note(model: ModelSummary) -> str:
    return f"{model.model}{' · the default' if model.is_default else ''}"


def ago(now: datetime, then: datetime) -> str:
    """Return how long ago something was."""
    seconds = max(0, int((now - then).total_seconds()))
    for size, sign in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {sign} ago"
    return "now"
