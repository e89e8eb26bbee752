"""Draw what something consists of: `NAME.svg` from each text `NAME.bars` in this folder.

    python docs/pictures/bars.py           draw all of them
    python docs/pictures/bars.py --check   only say which pictures are not as their texts say

A text has a title, and for each bar its name, the unit, and its parts from left to right:

    title: Where the time goes       the name of the picture
    bar: A message, µs               a bar
    64 commit: its disk              a part: so much of the bar, its name, and what it is
"""

import re
import sys
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
WIDTH, MARGIN, TOP = 960, 20, 54
BAR, LINE, GAP = 22, 19, 26
HALF = WIDTH / 2
PART = re.compile(r"(?P<size>[\d.]+) (?P<name>[^:]+)(: (?P<what>.+))?")
COLOURS = 6
STYLE = """
text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif;
  fill: #24292f }
.paper { fill: #ffffff; stroke: #d0d7de } .title { font-size: 16px; font-weight: 600 }
.bar { font-weight: 600 } .what { fill: #57606a }
.p0 { fill: #0550ae } .p1 { fill: #54aeff } .p2 { fill: #1a7f37 } .p3 { fill: #bf8700 }
.p4 { fill: #8250df } .p5 { fill: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .paper { fill: #0d1117; stroke: #30363d } .what { fill: #8b949e }
  .p0 { fill: #79c0ff } .p1 { fill: #1f6feb } .p2 { fill: #56d364 } .p3 { fill: #e3b341 }
  .p4 { fill: #d2a8ff } .p5 { fill: #6e7681 }
}
"""


def bars(text):
    """(title, [(name of a bar, [(size, name, what)])]) of a text."""
    title, found = "", []
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("title: "):
            title = line.removeprefix("title: ")
        elif line.startswith("bar: "):
            found.append((line.removeprefix("bar: "), []))
        elif (part := PART.fullmatch(line)) and found:
            found[-1][1].append((float(part["size"]), part["name"], part["what"] or ""))
        else:
            raise ValueError(f"neither title nor bar nor part: {line}")
    return title, found


def picture(text):
    """The SVG of a text."""
    title, found = bars(text)
    body = []
    y = TOP
    for name, parts in found:
        y = draw(body, name, parts, y)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}"'
        f' height="{y}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{y - 1}" rx="6"/>',
        f'<text class="title" x="{MARGIN}" y="30">{escape(title)}</text>',
    )
    return "\n".join([*head, *body, "</svg>", ""])


def draw(body, name, parts, y):
    """Draw a bar, its legend in two columns below it; where the next one begins."""
    whole = sum(size for size, _, _ in parts)
    body.append(f'<text class="bar" x="{MARGIN}" y="{y + 12}">{escape(name)}</text>')
    y += 20
    x = float(MARGIN)
    for number, (size, _, _) in enumerate(parts):
        width = size / whole * (WIDTH - 2 * MARGIN)
        style = f"p{number % COLOURS}"
        body.append(
            f'<rect class="{style}" x="{x:.1f}" y="{y}" width="{width - 1:.1f}" height="{BAR}"/>'
        )
        x += width
    y += BAR + 18
    rows = -(-len(parts) // 2)
    for number, (size, part, what) in enumerate(parts):
        column, row = divmod(number, rows)
        left, line = MARGIN + column * (HALF - MARGIN / 2), y + row * LINE
        style = f"p{number % COLOURS}"
        body.append(
            f'<rect class="{style}" x="{left}" y="{line - 10}" width="10" height="10" rx="2"/>'
        )
        told = f'{escape(part)} {size:g}<tspan class="what">  {escape(what)}</tspan>'
        body.append(f'<text x="{left + 16}" y="{line}">{told}</text>')
    return y + rows * LINE + GAP - 12


def main(words):
    stale = []
    for text in sorted(HERE.glob("*.bars")):
        drawn, svg = picture(text.read_text()), text.with_suffix(".svg")
        if "--check" not in words:
            svg.write_text(drawn)
        elif not svg.exists() or svg.read_text() != drawn:
            stale.append(svg.name)
    for name in stale:
        sys.stdout.write(f"{name} is not as its text says: make pictures\n")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
