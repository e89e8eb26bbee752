"""Markdown as HTML that holds nothing but text: for pages without a script. Pure.

HTML in the text is shown as text. Links lead to http, https, mailto or this daemon; an image
becomes a link to it, so that no page of ours asks another host for anything.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
from pygments.token import Comment, Keyword, Name, Number, String  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

from adapters.web.footnotes import footnotes

CODE_CHARACTERS_MAX = 64 * 1024  # of a block that is coloured; a longer one is plain
SCHEMES = ("http://", "https://", "mailto:", "/", "#")

# Kinds of words in code, and the classes of the style sheet for them: the first that fits.
CLASSES = (
    (Comment, "c"),
    (Keyword, "k"),
    (String, "s"),
    (Number, "n"),
    (Name.Function, "f"),
    (Name.Class, "f"),
)


def markdown_html(text: str, place: str = "") -> str:
    """Return a text of a model or a user as HTML. `place` sets its footnotes apart from others."""
    return str(_MARKDOWN.render(text, {"place": place}))


def code_html(code: str, language: str) -> str:
    """Return the inside of a block of code, coloured if its language is known."""
    if len(code) > CODE_CHARACTERS_MAX or not language:
        return escape(code)
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return escape(code)
    return "".join(_coloured(lexer.get_tokens(code)))


def _coloured(tokens: Any) -> Iterator[str]:
    for kind, words in tokens:
        name = next((name for of, name in CLASSES if kind in of), "")
        yield f'<span class="{name}">{escape(words)}</span>' if name else escape(words)


class _Renderer(RendererHTML):
    def image(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
        token = tokens[index]
        address = str(token.attrGet("src") or "")
        words = escape(token.content or address)
        return f'<a href="{escape(address)}" rel="noreferrer">{words}</a>'

    def fence(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
        token = tokens[index]
        language = token.info.split()[0] if token.info.strip() else ""
        inside = code_html(token.content, language)
        return f'<pre class="term" tabindex="0"><code>{inside}</code></pre>\n'

    def code_block(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
    ) -> str:
        inside = escape(tokens[index].content)
        return f'<pre class="term" tabindex="0"><code>{inside}</code></pre>\n'

    def link_open(self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any) -> str:
        return f'<a href="{escape(str(tokens[index].attrGet("href") or ""))}" rel="noreferrer">'

    def footnote_mark(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
    ) -> str:
        label = tokens[index].content
        address = _note_id(env, label)
        return f'<sup><a href="#{escape(quote(address))}">{escape(label)}</a></sup>'

    def footnote_open(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
    ) -> str:
        label = tokens[index].info
        return f'<p class="footnote" id="{escape(_note_id(env, label))}"><b>{escape(label)}</b> '

    def footnote_close(
        self, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
    ) -> str:
        return "</p>\n"


def _note_id(env: Any, label: str) -> str:
    return f"note-{env.get('place', '')}-{label.lower()}"


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return url.lower().startswith(SCHEMES) and not url.startswith("//")


def _parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"])
    footnotes(parser)
    return parser


_MARKDOWN = _parser()
