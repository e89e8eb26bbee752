"""The line of state below the prompt, and the line of progress above it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from rich.cells import cell_len

from adapters.cli.chat.reading.drawing import fitted
from adapters.cli.harmless import one_line
from promptcorner_client.api import CostSummary, ModelSummary
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import Chat, ChatMessage

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPINNER_HZ = 8
MODEL_COLUMNS = 32  # of a model's name; a longer one would take the place of all that follows


@dataclass(frozen=True, slots=True)
class ChatFacts:
    """The facts of a chat besides what is said in it. An empty text: it is not known."""

    title: str = ""
    model: str = ""
    effort: str = ""
    used_tokens: int | None = None
    window_tokens: int = 0
    cost: str = ""
    queued: int = 0
    agents: int = 0
    agents_at_work: int = 0
    attachments: int = 0
    is_planning: bool = False
    is_agent: bool = False
    is_connected: bool = True
    is_new: bool = False


def with_chat(facts: ChatFacts, chat: Chat, used: int | None) -> ChatFacts:
    """Return the facts with what the daemon says of the chat."""
    return replace(
        facts,
        title=chat.title,
        agents=len(chat.children),
        agents_at_work=sum(child.status not in ("waiting", "error") for child in chat.children),
        is_planning=bool(chat.plan_mode),
        is_agent=bool(chat.parent_chat_id),
        is_new=False,
        used_tokens=used,
    )


def with_model(
    facts: ChatFacts, chat: Chat | None, models: Sequence[ModelSummary], chosen: UUID | None
) -> ChatFacts:
    """Return the facts with the model of the next message: the chosen one, or the chat's own."""
    wanted = chosen or (chat.last_model_config_id if chat is not None else None)
    found = (each for each in models if each.id == wanted or (not wanted and each.is_default))
    model = next(found, None)
    return replace(
        facts,
        model=(model.display_name or model.model) if model else "",
        window_tokens=model.context_limit if model else 0,
    )


def cost_of(paid: CostSummary) -> str:
    """Return a cost for the line of state; what is unknown is not called free."""
    known = f"${paid.total_cost_micros / 1_000_000:.4f}"
    if not paid.unpriced_request_count:
        return known
    return "cost unknown" if not paid.total_cost_micros else f"{known} + unknown"


def state_line(facts: ChatFacts, width: int) -> str:
    """Return as much of the state as fits, the most important first to stay."""
    found = list(_pieces(facts))
    while len(found) > 1 and cell_len(" · ".join(text for _, text in found)) > width - 1:
        found.remove(max(found, key=lambda piece: piece[0]))
    return fitted(one_line(" · ".join(text for _, text in found)), width - 1)


def _pieces(facts: ChatFacts) -> Sequence[tuple[int, str]]:
    """Return the pieces in the order of the line, each with its rank: the last is dropped first."""
    link = "● connected" if facts.is_connected else "○ no connection, trying again"
    link = "● new chat" if facts.is_new and facts.is_connected else link
    agents = f"{facts.agents_at_work} of {facts.agents} agents at work"
    found = [
        (0, link),
        (1, "planning" if facts.is_planning else ""),
        (1, "agent (/agents goes back)" if facts.is_agent else ""),
        (2, fitted(facts.model, MODEL_COLUMNS) or "no model"),
        (4, f"effort {facts.effort}" if facts.effort else ""),
        (3, window_text(facts.used_tokens, facts.window_tokens)),
        (5, facts.cost),
        (2, f"{facts.queued} queued (ctrl-T)" if facts.queued else ""),
        (2, agents if facts.agents else ""),
        (2, f"{facts.attachments} attached" if facts.attachments else ""),
        (6, facts.title),
    ]
    return [piece for piece in found if piece[1]]


def window_text(used: int | None, limit: int) -> str:
    """Return how full the window of the model is, as far as that is known."""
    if used is None:
        return f"window {tokens_text(limit)}" if limit else ""
    if not limit:
        return f"{tokens_text(used)} tokens"
    return f"{tokens_text(used)} of {tokens_text(limit)} ({min(999, round(100 * used / limit))} %)"


def tokens_text(tokens: int) -> str:
    """Return tokens as people read them: 840, 8.4k, 84k, 1.2M."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size:
            whole = tokens / size
            return f"{whole:.1f}".removesuffix(".0") + sign if whole < 10 else f"{whole:.0f}{sign}"
    return str(tokens)


def used_tokens(messages: Sequence[ChatMessage]) -> int | None:
    """Return the tokens of the newest step that counted any, or None if none has.

    A summary that came later leaves room that has not been counted yet.
    """
    for message in reversed(messages):
        if message.role != "assistant":
            continue
        if any(part.tool_name == "chat_summarized" for part in message.content or ()):
            return None
        usage = message.usage or None
        if usage is not None and usage.input_tokens:
            return usage.total_tokens or usage.input_tokens + (usage.output_tokens or 0)
    return None


def progress_text(seen: Transcript, elapsed_seconds: float, *, calls: int) -> str:
    """Return what the chat does now, or nothing if it rests."""
    clock = f"{elapsed_seconds:.0f} s"
    if seen.retry is not None:
        tried = f"attempt {seen.retry.attempt} failed and is made again: {seen.retry.error}"
        return one_line(f"{tried} · /retry makes it now · {clock}")
    if seen.status == "interrupting":
        return f"stopping · {clock}"
    if seen.status == "running":
        words = "working" if calls else "answering" if seen.preview else "thinking"
        return f"{words} · {clock} · Esc stops it"
    if seen.status == "requires_action" and seen.pending:
        names = ", ".join(call.tool_name for call in seen.pending)
        return one_line(f"waits for results of its client's tools: {names}")
    return ""


def spinner_at(seconds: float) -> str:
    return SPINNER[int(seconds * SPINNER_HZ) % len(SPINNER)]
