"""The page's Markdown says what markdown-it-py says, which makes the pages without a script.

The texts are made at random by tests/web/pure/markdown.js; the examples of CommonMark come from
npm, and are left out where it cannot be reached.
"""

import contextlib
import json
import os
import re
import subprocess
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML

from adapters.web.footnotes import footnotes
from tests.web import npm

CASES = Path(__file__).parent / "pure/markdown_cases.js"
TEXTS = 600
SECONDS_MAX = 60
BETWEEN_TAGS = re.compile(r"(?<=>)\n+(?=<)")
AFTER_BLOCK = re.compile(r"(</(?:h\d|pre|table|blockquote|ul|ol)>|<hr />)\n")
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")


class Pictures(RendererHTML):
    """A renderer for pages that ask no foreign host for pictures: they are links."""

    def image(self, tokens, idx, options, env):
        token = tokens[idx]
        title = f' title="{escape(token.attrs["title"])}"' if token.attrs.get("title") else ""
        words = self.renderInlineAsText(token.children, options, env) or token.attrs["src"]
        return f'<a href="{token.attrs["src"]}"{title}>{words}</a>'

    def footnote_mark(self, tokens, idx, options, env):
        return f"<sup>{escape(tokens[idx].content)}</sup>"

    def footnote_open(self, tokens, idx, options, env):
        return f'<p id="{escape(tokens[idx].info)}">'

    def footnote_close(self, tokens, idx, options, env):
        return "</p>"


def allowed(address):
    """Return whether an address may be a link, as assets/text/links.js says."""
    plain = re.sub(r"[\x00-\x20]", "", address)
    if plain.startswith("//") or "\\" in plain:
        return False
    return not SCHEME.match(plain) or bool(re.match(r"(https?|mailto):", plain, re.IGNORECASE))


def cases():
    try:
        program = npm.program()
    except npm.Unavailable as why:
        npm.leave_out(f"the page's Markdown: {why}")
    words = [program, CASES, str(TEXTS * int(os.environ.get("PURE_TIMES", "1")))]
    words.append(os.environ.get("PURE_SEED", "1"))
    with contextlib.suppress(npm.Unavailable):
        words.append(npm.package("commonmark-spec", again_seconds=600) / "spec.txt")
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def flat(html):
    """Return HTML without what stands between blocks only for the eye."""
    html = re.sub(r"\n+(?=</(li|blockquote|ul|ol|td|th)>)", "", BETWEEN_TAGS.sub("", html.strip()))
    html = AFTER_BLOCK.sub(r"\1", html.replace("<br />\n", "<br />"))
    return re.sub(
        r"(?<=<li>)\n+|(?<=<blockquote>)\n+|\n+(?=<(ul|ol|pre|blockquote|table|hr|h\d)\b)", "", html
    )


def test_a_text_is_the_same_with_a_script_and_without():
    reader = MarkdownIt("js-default", {"html": False, "xhtmlOut": True}, renderer_cls=Pictures)
    reader.validateLink = allowed
    footnotes(reader)

    wrong = [
        (text, ours, theirs)
        for text, ours in cases()
        if "://" not in text.replace("](http", "").replace("<http", "")
        if flat(ours) != flat(theirs := reader.render(text))
    ]

    assert [] == wrong[:3], f"{len(wrong)} texts"
