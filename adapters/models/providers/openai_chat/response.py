"""The decoder of Chat Completions, a chunk at a time or whole, which makes deltas of it. Pure.

A whole answer is read like a stream of one chunk. The finish reason ends what was being said, the
token counts may follow it, and `[DONE]`, or the end of the connection, ends the answer. A
connection that ends before a finish reason has cut the answer short.
"""

from collections.abc import Iterator

import msgspec

from actors.law.parts.deltas import (
    AnswerFinished,
    Delta,
    FileMade,
    FinishReason,
    ProviderRefusal,
    ReasoningDelta,
    ReasoningEnded,
    SourceFound,
    TextDelta,
    TextEnded,
)
from actors.law.parts.message import NO_USAGE, TokenUsage
from adapters.models.providers.facts.gemini import THOUGHT_BEGINS, THOUGHT_ENDS
from adapters.models.providers.faults import BrokenStream, ReportedFailure, SkippedKinds, error_text
from adapters.models.providers.openai_chat import wire
from adapters.models.providers.openai_chat.pieces import CallAssembly, ThoughtAssembly
from adapters.models.providers.sse import EventParser

TRUNCATED = "chat completions stream closed before its end"

_chunk = msgspec.json.Decoder(wire.Chunk).decode

# DeepSeek breaks off an answer with this word when it lacks machines. Another try may succeed.
_OVERLOADED = frozenset({"insufficient_system_resource"})
# Kinds of chunks that may be empty. A reference names a source that is not sent.
_EMPTY_CHUNKS = frozenset({"text", "output_text", "thinking", "reasoning", "reference"})
_REASONS = {
    "stop": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,  # Mistral's word for a full window
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
}


class ChatDecoder:
    """A decoder of a stream of chunks, or of a whole answer."""

    truncated = TRUNCATED

    def __init__(
        self, nonce: str, *, answer_tool: str | None = None, skipped: SkippedKinds | None = None
    ) -> None:
        self._events = EventParser()
        self._reading = _Reading(nonce, answer_tool, skipped or SkippedKinds())

    def feed(self, data: bytes) -> list[Delta]:
        deltas: list[Delta] = []
        for _, event in self._events.feed(data):
            self._reading.take(event, deltas)
        return deltas

    def close(self) -> list[Delta]:
        """Return the last deltas: some servers hang up instead of saying `[DONE]`."""
        return self._reading.finished() if self._reading.has_reason else []

    def whole(self, body: bytes) -> list[Delta]:
        deltas: list[Delta] = []
        self._reading.take(body, deltas)
        if not self._reading.has_message:
            raise BrokenStream("chat completions: a whole answer without a message")
        return [*deltas, *self._reading.finished()]


class _Reading:
    """The state of one answer. `nonce` makes ids for calls that come without."""

    def __init__(self, nonce: str, answer_tool: str | None, skipped: SkippedKinds) -> None:
        self._answer_tool = answer_tool  # its arguments are the answer's text
        self._skipped = skipped
        self._calls = CallAssembly(nonce)
        self._called = False
        self._thoughts: ThoughtAssembly | None = None  # of the block of reasoning that is open
        self._text: str | None = None  # the block of text that is open
        self._blocks = 0
        self._sources: set[str] = set()
        self._refusal: list[str] = []
        self._filtered: str | None = None
        self._reason: str | None = None
        self._usage = NO_USAGE
        self._id: str | None = None
        self._over = False
        # True once there was a message or a delta, even an empty one.
        self.has_message = False

    @property
    def has_reason(self) -> bool:
        """Return whether the model has said why it stopped, so that only counts can be missing."""
        return self._reason is not None

    def take(self, data: bytes, deltas: list[Delta]) -> None:
        """Add the deltas of one event's data, or of a whole body."""
        if self._over:
            return
        if data == b"[DONE]":
            deltas += self.finished()
            return
        try:
            chunk = _chunk(data)
        except msgspec.DecodeError as error:
            raise BrokenStream(f"chat completions: {error}") from error
        if chunk.error is not None or chunk.object == "error":
            raise ReportedFailure(error_text(chunk.error or msgspec.json.decode(data)))
        self._id = self._id or chunk.id
        if chunk.usage is not None:
            self._usage = usage_of(chunk.usage)
        for choice in chunk.choices or ():
            if choice.index == 0:  # one answer was asked for
                more = self._more(choice)
                if more is None:
                    deltas += self._choice(choice)
                else:
                    deltas.append(more)

    def finished(self) -> list[Delta]:
        """Return the last deltas, once."""
        if self._over:
            return []
        self._over = True
        reason, refusal = self._outcome()
        end = AnswerFinished(reason, self._usage, self._id, refusal=refusal)
        return [*self._end_block(), *self._calls.end(), end]

    def _more(self, choice: wire.Choice) -> TextDelta | None:
        """Return the delta of a chunk that only goes on with the text under way, as most chunks do.

        None: the chunk says something else, too.
        """
        news = choice.delta
        if self._text is None or news is None or not news.content:
            return None
        if not isinstance(news.content, str):
            return None
        if choice.finish_reason or choice.content_filter_results:
            return None
        return TextDelta(self._text, news.content) if news == wire.Delta(news.content) else None

    def _choice(self, choice: wire.Choice) -> Iterator[Delta]:
        news = choice.delta or choice.message
        self.has_message = self.has_message or news is not None
        if news is not None:
            yield from self._delta(news, is_whole=choice.delta is None)
        if choice.content_filter_results:
            self._filtered = self._filtered or _filtered_by(choice.content_filter_results)
        if choice.finish_reason in _OVERLOADED:
            raise ReportedFailure(f"overloaded: {choice.finish_reason}")
        if choice.finish_reason == "error":
            raise ReportedFailure("server error: the model stopped with an error")
        if choice.finish_reason:
            self._reason = choice.finish_reason
            yield from self._end_block()
            yield from self._calls.end()

    def _delta(self, news: wire.Delta, *, is_whole: bool) -> Iterator[Delta]:
        yield from self._thought(news)
        if isinstance(news.content, str):
            thought = _is_thought(news, news.content, is_whole=is_whole)
            yield from self._content(news.content, thought=thought)
        for chunk in news.content if isinstance(news.content, list) else ():
            yield from self._content_chunk(chunk)
        if news.refusal:
            self._refusal.append(news.refusal)
        for piece in news.tool_calls or ():
            yield from self._called_for(piece)
        for annotation in news.annotations or ():
            yield from self._annotated(annotation)
        for image in news.images or ():
            yield from self._made(image.image_url.url)

    def _thought(self, news: wire.Delta) -> Iterator[Delta]:
        text = news.reasoning_content or news.reasoning or ""
        if not (text or news.reasoning_details):
            return
        yield from self._open_thoughts()
        assert self._thoughts is not None, "it was just opened"
        read = self._thoughts.add(news.reasoning_details or [])
        yield ReasoningDelta(self._block("reasoning"), text or read)

    def _content(self, text: str, *, thought: bool) -> Iterator[Delta]:
        """Say a text. Google's version of this API puts marked thoughts between two words in it."""
        if thought:
            said, _, text = text.partition(THOUGHT_ENDS)
            yield from self._think(said.removeprefix(THOUGHT_BEGINS))
        elif self._thoughts is not None:
            text = text.removeprefix(THOUGHT_ENDS)
        if text:
            yield from self._say(text)

    def _content_chunk(self, chunk: wire.ContentChunk) -> Iterator[Delta]:
        """Say a chunk of content where it is a list: a text, thoughts, or a refusal."""
        if thought := _text_in(chunk.thinking or chunk.summary):
            yield from self._think(thought)
        elif chunk.text and chunk.type == "reasoning":
            yield from self._think(chunk.text)
        elif chunk.text:
            yield from self._say(chunk.text)
        elif chunk.refusal:
            self._refusal.append(chunk.refusal)
        elif chunk.type not in _EMPTY_CHUNKS:
            self._skipped.add(f"content {chunk.type}")

    def _think(self, text: str) -> Iterator[Delta]:
        if text:
            yield from self._open_thoughts()
            yield ReasoningDelta(self._block("reasoning"), text)

    def _called_for(self, piece: wire.ToolCallDelta) -> Iterator[Delta]:
        if self._answer_tool is not None:
            if piece.function.arguments:
                yield from self._say(piece.function.arguments)
            return
        yield from self._end_block()
        self._called = True
        yield from self._calls.add(piece)

    def _annotated(self, annotation: wire.Annotation) -> Iterator[Delta]:
        if annotation.type != "url_citation" or annotation.url_citation is None:
            self._skipped.add(f"annotation {annotation.type}")
            return
        cited = annotation.url_citation
        if cited.url not in self._sources:
            self._sources.add(cited.url)
            yield SourceFound(f"source_{len(self._sources)}", cited.url, cited.title)

    def _made(self, url: str) -> Iterator[Delta]:
        """Keep an image that the model made, which gateways send as a data URL."""
        head, _, data = url.partition(";base64,")
        if head.startswith("data:") and data:
            yield from self._end_block()
            yield FileMade(head.removeprefix("data:"), data)
        else:
            self._skipped.add("image that is elsewhere")

    def _say(self, text: str) -> Iterator[Delta]:
        if self._text is None:
            yield from self._end_block()
            self._text = self._block("text")
        yield TextDelta(self._text, text)

    def _open_thoughts(self) -> Iterator[Delta]:
        if self._thoughts is None:
            yield from self._end_block()
            self._thoughts = ThoughtAssembly()

    def _block(self, kind: str) -> str:
        return f"{kind}_{self._blocks}"

    def _end_block(self) -> Iterator[Delta]:
        if self._text is not None:
            yield TextEnded(self._text)
        elif self._thoughts is not None:
            yield ReasoningEnded(self._block("reasoning"), self._thoughts.metadata())
        else:
            return
        self._blocks += 1
        self._text = self._thoughts = None

    def _outcome(self) -> tuple[FinishReason, ProviderRefusal | None]:
        """Return why the answer ended; some servers end one that calls tools with `stop`."""
        if self._refusal:
            return FinishReason.CONTENT_FILTER, ProviderRefusal(None, "".join(self._refusal))
        reason = _REASONS.get(self._reason or "", FinishReason.OTHER)
        if reason is FinishReason.CONTENT_FILTER:
            return reason, ProviderRefusal(self._filtered)
        if self._called and reason in (FinishReason.STOP, FinishReason.OTHER):
            return FinishReason.TOOL_CALLS, None
        if self._answer_tool is not None and reason is FinishReason.TOOL_CALLS:
            return FinishReason.STOP, None
        odd = ProviderRefusal(self._reason) if reason is FinishReason.OTHER else None
        return reason, odd


def _is_thought(news: wire.Delta, text: str, *, is_whole: bool) -> bool:
    """Return whether a text begins with thoughts.

    The mark of a chunk is about all of it. The mark of a whole answer only says that there are
    thoughts in it, which the words around them delimit.
    """
    google = news.extra_content.google if news.extra_content else None
    if google is None or not google.thought:
        return False
    return not is_whole or text.startswith(THOUGHT_BEGINS)


def _text_in(chunks: str | list[wire.ContentChunk] | None) -> str:
    if isinstance(chunks, str):
        return chunks
    return "".join(chunk.text or "" for chunk in chunks or ())


def usage_of(counts: wire.Usage) -> TokenUsage:
    """Return the tokens that were paid.

    Tokens read from or written to a cache are counted apart; thoughts are output. Most servers
    count thoughts as completion, xAI beside it: then the total tells.
    """
    prompt_details = counts.prompt_tokens_details or wire.PromptDetails()
    details = counts.completion_tokens_details or wire.CompletionDetails()
    read = prompt_details.cached_tokens
    written = prompt_details.cache_write_tokens
    if written is None:
        written = counts.cache_creation_input_tokens
    prompt, output = counts.prompt_tokens, counts.completion_tokens
    thoughts = details.reasoning_tokens
    if prompt is not None and output is not None and thoughts:
        output += thoughts if counts.total_tokens == prompt + output + thoughts else 0
    if prompt is not None:
        prompt = max(0, prompt - (read or 0) - (written or 0))
    return TokenUsage(prompt, output, counts.total_tokens, thoughts, written, read)


def _filtered_by(results: dict[str, object]) -> str | None:
    """Return Azure's name for the kind of content that it withheld."""
    for category, result in results.items():
        if isinstance(result, dict) and result.get("filtered"):
            return category
    return None
