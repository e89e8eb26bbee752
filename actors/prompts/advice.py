"""A second opinion on what an agent is about to do: who may ask for it, how often, and the prompt.

The advisor sees an excerpt of bounded size: what the chat is told, its last messages, the question.
Calls of tools stand in it as notes, because a model without tools answers a history full of calls
with nothing. Pure.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from actors.law.chat import Chat, Message, Role, Visibility
from actors.law.parts.json_text import parsed
from actors.law.parts.message import FilePart, JsonText, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import (
    AnthropicOptions,
    AssistantOutput,
    CallSettings,
    OpenAIOptions,
    Prompt,
    PromptMessage,
    ProviderOptions,
    ToolAnswer,
    ToolResults,
    UserInput,
)
from actors.tools.gating import is_allowed, kind_of
from actors.tools.output import truncate

ADVISOR = "advisor"  # the tool's name
QUESTION_CHARACTERS_MAX = 2_000  # a longer question is cut
# Of what the chat itself is told, as JSON. A text that is over it is left out.
SYSTEM_BYTES_MAX = 12_000
MESSAGES_BYTES_MAX = 12_000  # as JSON, of the latest messages; at the first that is over it ends
MESSAGES_MAX = 20
NOTE_BYTES_MAX = 3_000  # of what a tool was given, or said; the middle of it is left out
OUTPUT_TOKENS_DEFAULT = 16_384

GUIDANCE = """\
<advisor>
You can ask an advisor, with the tool of that name: a second model that reads the latest part of \
this conversation and answers one question. It cannot use tools, and does not speak to the user.
- Ask before you commit to a course that is dear to take back, when two attempts at the same thing \
have failed, when facts contradict each other, or before you say that larger work is done.
- Do not ask what a tool can tell you, nor for things that you do every day.
- Ask one precise question: what you want to do, what speaks against it, what you have tried. Call \
it alone, with no other tool beside it.
- Its advice is not an order. Weigh it against what you have seen yourself.
</advisor>"""

RULES = """\
You advise another assistant that is in the middle of its work. You are shown the latest part of \
its conversation and its question; what it is told by others stands above, and binds it, not you. \
Notes in brackets stand for its calls of tools. You cannot act, and nobody but the assistant reads \
you.
Say first what it should do next, in a sentence. Then why, as far as that changes what it does; \
what it overlooks; how it finds out whether you are wrong. Name places and commands. If what you \
are shown does not suffice for an answer, say what is missing and how to get it. Be short."""

USED_UP = (
    "The advisor has been asked as often as is allowed in one turn. Decide with what you know, and"
    " go on alone."
)


@dataclass(frozen=True, slots=True)
class AdvisedChats:
    """The chats that have an advisor. Both the tool and the guidance about it are offered by
    this."""

    switched_on: bool = False

    def __contains__(self, chat: Chat) -> bool:
        return self.switched_on and is_allowed(ADVISOR, kind_of(chat))


NO_ADVICE = AdvisedChats()


def count_advice(history: Sequence[Message]) -> int:
    """Return how often the advisor has given advice since the last message of a user."""
    count = 0
    for message in reversed(history):
        body = message.body
        if message.deleted or body.compressed or body.visibility is Visibility.MODEL:
            continue
        if body.role is Role.USER:
            break
        count += sum(isinstance(part, ToolResultPart) and _is_advice(part) for part in body.parts)
    return count


def _is_advice(part: ToolResultPart) -> bool:
    """Advice that was too long for a result stands there as a text."""
    if part.name != ADVISOR or part.is_error or part.provider_executed:
        return False
    said = parsed(part.result)
    return not (isinstance(said, dict) and said.get("type") in ("limit_reached", "error"))


def without_call(history: Sequence[Message], id: str) -> tuple[Message, ...]:
    """Return the history without the call that asks for advice, which has no result yet."""
    rows = list(history)
    for at in reversed(range(len(rows))):
        if rows[at].body.role is Role.ASSISTANT:
            body = rows[at].body
            kept = tuple(
                part
                for part in body.parts
                if not (isinstance(part, ToolCallPart) and part.id == id)
            )
            rows[at] = replace(rows[at], body=replace(body, parts=kept))
            break
    return tuple(rows)


def advisor_prompt(prompt: Prompt, question: str, *, output_tokens_max: int) -> Prompt:
    """Return the advisor's prompt, made of what it would be asked if it were in the chat itself."""
    asked = UserInput((TextPart(question[:QUESTION_CHARACTERS_MAX]),))
    return replace(
        prompt,
        system=(*_inherited(prompt.system), RULES),
        messages=_joined([*_excerpt(prompt.messages), asked]),
        tools=(),
        provider_tools=(),
        settings=_settings(prompt.settings, output_tokens_max or OUTPUT_TOKENS_DEFAULT),
        cached=False,
    )


def _inherited(system: Sequence[str]) -> Sequence[str]:
    """Return the newest system texts that fit, in their order."""
    room = SYSTEM_BYTES_MAX
    kept: list[str] = []
    for text in reversed(system):
        size = _size(text)
        if text != GUIDANCE and size <= room:
            room -= size
            kept.append(text)
    return kept[::-1]


def _excerpt(messages: Sequence[PromptMessage]) -> Sequence[PromptMessage]:
    """Return the latest messages without a gap. They begin with a user's, as every provider wants
    it."""
    room = MESSAGES_BYTES_MAX
    kept: list[PromptMessage] = []
    for said in reversed(list(_in_words(messages))):
        size = sum(_size(part.text) for part in said.parts if isinstance(part, TextPart))
        if size > room or len(kept) == MESSAGES_MAX:
            break
        room -= size
        kept.append(said)
    if kept and isinstance(kept[-1], AssistantOutput):
        told = "".join(part.text for part in kept[-1].parts if isinstance(part, TextPart))
        kept[-1] = UserInput((TextPart(f"[the assistant said before]\n{told}"),))
    return kept[::-1]


def _in_words(messages: Iterable[PromptMessage]) -> Iterator[UserInput | AssistantOutput]:
    calls: dict[str, ToolCallPart] = {}
    for said in messages:
        match said:
            case UserInput(parts):
                yield UserInput(tuple(TextPart(_user_text(part)) for part in parts))
            case AssistantOutput(parts):
                calls |= {part.id: part for part in parts if isinstance(part, ToolCallPart)}
                texts = tuple(part for part in parts if isinstance(part, TextPart))
                if texts:
                    yield AssistantOutput(tuple(TextPart(part.text) for part in texts))
                for part in parts:
                    if isinstance(part, ToolResultPart):
                        answer = ToolAnswer(part.id, part.name, part.result, part.is_error)
                        yield _note(calls.get(part.id), answer)
            case ToolResults(answers):
                for answer in answers:
                    yield _note(calls.get(answer.id), answer)


def _user_text(part: TextPart | FilePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"[a file: {part.name or 'without a name'}, {part.media_type}]"


def _note(call: ToolCallPart | None, answer: ToolAnswer) -> UserInput:
    args = truncate((call.args if call else None) or "{}", NOTE_BYTES_MAX)
    text = truncate(answer.text, NOTE_BYTES_MAX)
    media = f"\n[{answer.media.media_type}, not shown here]" if answer.media else ""
    ended = "it failed" if answer.is_error else "it said"
    return UserInput(
        (TextPart(f"[the assistant called {answer.name} with {args}; {ended}:]\n{text}{media}"),)
    )


def _joined(messages: Iterable[PromptMessage]) -> tuple[PromptMessage, ...]:
    """Join messages of users that follow each other: some providers refuse two in a row."""
    joined: list[PromptMessage] = []
    for said in messages:
        last = joined[-1] if joined else None
        if isinstance(said, UserInput) and isinstance(last, UserInput):
            joined[-1] = UserInput((*last.parts, *said.parts))
        else:
            joined.append(said)
    return tuple(joined)


def _settings(settings: CallSettings, tokens: int) -> CallSettings:
    options = None if settings.options is None else _options(settings.options, tokens)
    return replace(settings, max_output_tokens=tokens, options=options)


def _options(options: ProviderOptions, tokens: int) -> ProviderOptions:
    """Return options under which nothing is stored elsewhere, and reasoning leaves room for an
    answer."""
    match options:
        case OpenAIOptions():
            return replace(options, store=False, max_completion_tokens=None)
        case AnthropicOptions(thinking_budget_tokens=budget) if budget and budget >= tokens:
            return replace(options, thinking_budget_tokens=None)
        case _:
            return options


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))


def advice_document(type: str, *, remaining_uses: int | None = None, **facts: str) -> JsonText:
    """Return the result that the agent reads. `remaining_uses` is None where it may ask without
    limit."""
    told = {"type": type, **facts, "remaining_uses": remaining_uses}
    return JsonText(json.dumps(told, ensure_ascii=False))
