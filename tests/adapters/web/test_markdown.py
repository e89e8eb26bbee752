"""Markdown on pages without a script: no text becomes anything but text."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.web.markdown import CODE_CHARACTERS_MAX, code_html, markdown_html

TAGS = {
    *("p", "a", "b", "sup", "em", "strong", "s", "code", "pre", "span", "br", "hr", "blockquote"),
    *("ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"id", "href", "rel", "class", "tabindex", "start"}


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found, self.addresses = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, {name for name, _ in attrs}))
        self.addresses += [value for name, value in attrs if name == "href"]


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](data:text/html,<script>1</script>)",
    "[a](vbscript:x)",
    "[a](//evil.test)",
    '[a](https://x.test/"onmouseover=alert(1))',
    "![x](https://evil.test/pixel.gif)",
    "![x](javascript:alert(1))",
    "<javascript:alert(1)>",
    '```"><script>\n</pre><script>alert(1)</script>\n```',
    "~~~python onload=x\n'</code><b>'\n~~~",
    "| <b> | [x](javascript:1) |\n|-|-|\n| </td><script> | y |",
    "&lt;script&gt; &#x3c;b&#x3e; &colon;",
    "[a]: javascript:alert(1)\n\n[a]",
    "[^<b>]: <script>\n\n[^<b>]",
    "[^'\"onclick=x]: y\n\n[^'\"onclick=x]",
]


def check(html):
    read = Tags(html)
    assert {tag for tag, _ in read.found} <= TAGS
    assert {name for _, names in read.found for name in names} <= ATTRIBUTES
    for address in read.addresses:
        assert address.lower().startswith(("http://", "https://", "mailto:", "/", "#"))
        assert not address.startswith("//")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_stays_text(text):
    check(markdown_html(text))


@given(st.text(alphabet="<>[]()!\"'`~|-#*_:/\\&;= \nabjsx", max_size=60))
def test_whatever_is_written_makes_only_harmless_elements(text):
    check(markdown_html(text))


def test_an_image_is_a_link_to_it():
    html = markdown_html("![a picture](https://x.test/a.png)")

    assert '<a href="https://x.test/a.png" rel="noreferrer">a picture</a>' in html


def test_a_footnote_is_led_to_and_set_apart_from_those_of_other_texts():
    html = markdown_html("So it is[^1], or not[^2].\n\n[^1]: Says *who*.", "7")

    assert '<p>So it is<sup><a href="#note-7-1">1</a></sup>, or not[^2].</p>' in html
    assert '<p class="footnote" id="note-7-1"><b>1</b> Says <em>who</em>.</p>' in html


def test_code_is_coloured_by_classes_of_the_style_sheet():
    html = code_html("def f():  # why\n    return 'x' + 1\n", "python")

    for part in (
        '<span class="k">def</span>',
        '<span class="f">f</span>',
        '<span class="c"># why</span>',
        '<span class="n">1</span>',
    ):
        assert part in html
    assert "&#x27;" in html


@pytest.mark.parametrize("language", ["", "no-such-language"])
def test_code_of_an_unknown_language_is_plain(language):
    assert "if &lt; 1" == code_html("if < 1", language)


def test_very_long_code_is_plain():
    assert "<span" not in code_html("1 " * CODE_CHARACTERS_MAX, "python")
