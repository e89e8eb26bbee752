"""A whole chat as Markdown, for a file. Pure."""

from collections.abc import Iterator, Sequence

from adapters.cli.chat.reading.blocks import MarkdownBlock
from adapters.cli.chat.reading.cards import CallCard, output_of, pretty, subject_of
from adapters.cli.chat.reading.scrollback import (
    ChatScrollback,
    Item,
    NoteLine,
    ThoughtFold,
    UserWords,
    items_of,
)
from promptcorner_client.wire import Chat, ChatMessage


def markdown_of(chat: Chat, messages: Sequence[ChatMessage]) -> str:
    """Return the messages, in order, as Markdown; thoughts are left out."""
    head = [
        f"# {chat.title or 'A chat'}",
        f"Chat {chat.id}, begun {chat.created_at:%Y-%m-%d %H:%M}",
    ]
    said = [text for item in items_of(messages, ChatScrollback()) for text in _markdown(item)]
    return "\n\n".join([*head, *said]) + "\n"


def _markdown(item: Item) -> Iterator[str]:
    match item:
        case UserWords(text, files):
            yield "## User"
            yield from filter(None, [text, *(f"- {name}" for name in files)])
        case MarkdownBlock(text):
            yield text.strip("\n")
        case NoteLine(text):
            yield f"> {text}"
        case CallCard():
            yield f"### {item.mark} {item.name} {subject_of(item)}".rstrip()
            yield _fenced(pretty(item.args))
            if output := output_of(item) or (pretty(item.result) if item.has_failed else ""):
                yield _fenced(output)
        case ThoughtFold():
            return


def _fenced(text: str) -> str:
    """Return a text as code, in a fence that is longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"
