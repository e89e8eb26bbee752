"""Draw the pictures of docs/architecture.md: `NAME.svg` from each text `NAME.txt` in this folder.

    python docs/pictures/sequences.py           draw all of them
    python docs/pictures/sequences.py --check   only say which pictures are not as their texts say

A text has one line for each step, and the steps are numbered from the top:

    title: A message up              the name of the picture
    lanes: Client, Door, Ledger      who takes part, from left to right
    Client -> Door: POST messages    a call
    Door --> Client: 200             its answer
    Ledger ~> Chat actor: a hint     news that may be lost
    Ledger: asks the law             work in one place
    x Ledger: is killed              the end of a lane
    [ one transaction                a frame around the steps up to the line with ]
"""

import re
import sys
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
WIDTH, MARGIN, TOP = 960, 14, 14
CHARACTER, LINE = 7.2, 16  # of a label of 13 px
HEAD_LINE, HEAD_PADDING = 17, 9
LABEL_MIN, NOTE_MAX, PADDING = 132, 196, 8
ROW = 14  # between two steps
RADIUS = 9  # of a step's number
HEAD = 7  # of an arrow

STEP = re.compile(r"(?P<begin>[^:]+?) (?P<arrow>->|-->|~>) (?P<end>[^:]+?): (?P<label>.+)")
NOTE = re.compile(r"(?P<ends>x )?(?P<lane>[^:]+?): (?P<label>.+)")
KINDS = {"->": "call", "-->": "answer", "~>": "news"}

STYLE = """
text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif;
  fill: #24292f }
.paper { fill: #ffffff; stroke: #d0d7de }
.lane { stroke: #afb8c1 }
.head { fill: #ddf4ff; stroke: #54aeff } .name { font-weight: 600 }
.note { fill: #fff8c5; stroke: #d4a72c }
.frame { fill: none; stroke: #8c959f; stroke-dasharray: 2 3 } .caption { font-style: italic }
.call, .answer, .news { stroke: #0550ae; stroke-width: 1.5; fill: none }
.answer { stroke-dasharray: 7 4 } .news { stroke-dasharray: 2 4; stroke: #8250df }
.tip { fill: #0550ae } .tip.of-news { fill: #8250df } .end { stroke: #cf222e; stroke-width: 3 }
.back { fill: #ffffff }
.number { fill: #57606a } .digit { fill: #ffffff; font-size: 11px; font-weight: 600 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .paper { fill: #0d1117; stroke: #30363d } .lane { stroke: #484f58 }
  .head { fill: #12233a; stroke: #388bfd } .note { fill: #2b2410; stroke: #9e6a03 }
  .frame { stroke: #6e7681 }
  .call, .answer { stroke: #79c0ff } .news { stroke: #d2a8ff }
  .tip { fill: #79c0ff } .tip.of-news { fill: #d2a8ff } .end { stroke: #ff7b72 }
  .back { fill: #0d1117 } .number { fill: #8b949e } .digit { fill: #0d1117 }
}
"""


@dataclass
class Drawing:
    """A picture on its way from the top to the bottom."""

    lanes: dict[str, float]  # the middle of each, by its name
    y: float = 0.0
    number: int = 0
    under: list[str] = field(default_factory=list)  # frames, which lie below everything else
    over: list[str] = field(default_factory=list)
    ends: dict[str, float] = field(default_factory=dict)  # of lanes that end before the bottom
    frames: list[tuple[str, float, list[float]]] = field(default_factory=list)  # still open

    def place(self, left, right):
        """Note how far a step reaches, for the frames around it."""
        for _, _, reach in self.frames:
            reach += [left, right]

    def text(self, lines, x, y, style, anchor="middle"):
        for index, line in enumerate(lines):
            self.over.append(
                f'<text class="{style}" x="{x:.0f}" y="{y + index * LINE:.0f}" '
                f'text-anchor="{anchor}">{escape(line)}</text>'
            )

    def label(self, lines, x, y):
        """Draw words that stand on a background of their own, so that lanes do not strike them."""
        width = max(map(len, lines)) * CHARACTER
        self.over.append(
            f'<rect class="back" x="{x - width / 2:.0f}" y="{y - LINE + 4:.0f}" '
            f'width="{width:.0f}" height="{len(lines) * LINE}"/>'
        )
        self.text(lines, x, y, "label")

    def count(self, x, y):
        self.number += 1
        self.over.append(f'<circle class="number" cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS}"/>')
        self.text([str(self.number)], x, y + 4, "digit")

    def arrow(self, begin, end, kind, label):
        """Draw a step from one lane to another, its words above it."""
        x1, x2 = self.lanes[begin], self.lanes[end]
        sign = 1 if x2 > x1 else -1
        lines = wrap(label, max(abs(x2 - x1) - 3 * RADIUS, LABEL_MIN))
        middle, half = (x1 + x2) / 2, max(map(len, lines)) * CHARACTER / 2
        self.label(lines, middle, self.y + LINE - 4)
        self.y += len(lines) * LINE + RADIUS - 2
        self.over.append(
            f'<path class="{kind}" d="M{x1:.0f} {self.y:.0f}H{x2 - sign * HEAD:.0f}"/>'
            f'<path class="tip of-{kind}" d="M{x2:.0f} {self.y:.0f}l{-sign * HEAD * 1.4:.1f} '
            f'{-HEAD * 0.7:.1f}v{HEAD * 1.4:.1f}z"/>'
        )
        self.count(x1, self.y)
        self.place(min(x1, x2, middle - half), max(x1, x2, middle + half))
        self.y += RADIUS + ROW / 2

    def note(self, lane, label, *, is_end=False):
        """Draw work in one lane, as a box on it, or the end of the lane."""
        x = self.lanes[lane]
        lines = wrap(label, NOTE_MAX - 2 * PADDING - RADIUS)
        half = max(map(len, lines)) * CHARACTER / 2 + PADDING + RADIUS
        x = min(max(x, MARGIN + half + RADIUS), WIDTH - MARGIN - half)
        height = len(lines) * LINE + PADDING
        self.over.append(
            f'<rect class="note" x="{x - half:.0f}" y="{self.y:.0f}" width="{2 * half:.0f}" '
            f'height="{height:.0f}" rx="5"/>'
        )
        self.text(lines, x + RADIUS / 2, self.y + LINE, "label")
        self.count(x - half, self.y + height / 2)
        self.place(x - half - RADIUS, x + half)
        self.y += height
        if is_end:
            middle, self.y = self.lanes[lane], self.y + 2 * RADIUS
            self.ends[lane] = self.y
            for slope in (1, -1):
                self.over.append(
                    f'<path class="end" d="M{middle - HEAD:.0f} {self.y - slope * HEAD:.0f}'
                    f'L{middle + HEAD:.0f} {self.y + slope * HEAD:.0f}"/>'
                )
            self.y += HEAD
        self.y += ROW

    def open_frame(self, label):
        self.frames.append((label, self.y, []))
        self.y += LINE + PADDING

    def close_frame(self):
        label, top, reach = self.frames.pop()
        reach.append(min(reach) + len(label) * CHARACTER)
        left, right = max(MARGIN / 2, min(reach) - 16), min(WIDTH - MARGIN / 2, max(reach) + 16)
        self.place(left, right)
        self.under.append(
            f'<rect class="frame" x="{left:.0f}" y="{top:.0f}" width="{right - left:.0f}" '
            f'height="{self.y - top - PADDING / 2:.0f}" rx="6"/>'
        )
        self.text([label], left + 10, top + LINE, "caption", "start")
        self.y += ROW


def wrap(words, width):
    """Break words into lines of about that width, as even as they can be."""
    room = int(width / CHARACTER)
    lines = _filled(words, room)
    while room > 1 and len(narrower := _filled(words, room - 1)) == len(lines):
        room, lines = room - 1, narrower
    return lines


def _filled(words, room):
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def picture(text):
    """Return the picture of a text, as SVG."""
    numbered = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    (_, title), (_, names) = lines[:2]
    if not (title.startswith("title: ") and names.startswith("lanes: ")):
        raise ValueError("the first line is the title, the second one names the lanes")
    names = [name.strip() for name in names.removeprefix("lanes: ").split(",")]
    gap = (WIDTH - 2 * MARGIN) / len(names)
    drawing = Drawing({name: MARGIN + gap * (index + 0.5) for index, name in enumerate(names)})
    below = _heads(drawing, gap)
    for number, line in lines[2:]:
        try:
            _draw(drawing, line)
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(f"line {number}: {line!r} is no step: {error!r}") from error
    if drawing.frames:
        raise ValueError(f"the frame {drawing.frames[-1][0]!r} has no end")
    return _svg(drawing, title.removeprefix("title: "), [line for _, line in lines[2:]], below)


def _heads(drawing, gap):
    """Draw the names of the lanes, and return where their lines begin."""
    heads = {name: wrap(name, gap - 32) for name in drawing.lanes}
    height = max(map(len, heads.values())) * HEAD_LINE + HEAD_PADDING
    for name, x in drawing.lanes.items():
        first = TOP + (height - len(heads[name]) * LINE) / 2 + LINE - 4
        drawing.over.append(
            f'<rect class="head" x="{x - gap / 2 + 6:.0f}" y="{TOP}" width="{gap - 12:.0f}" '
            f'height="{height}" rx="6"/>'
        )
        drawing.text(heads[name], x, first, "name")
    drawing.y = TOP + height + ROW
    return TOP + height


def _draw(drawing, line):
    if line.startswith("["):
        drawing.open_frame(line[1:].strip())
    elif line == "]":
        drawing.close_frame()
    elif step := STEP.fullmatch(line):
        drawing.arrow(step["begin"], step["end"], KINDS[step["arrow"]], step["label"])
    elif note := NOTE.fullmatch(line):
        drawing.note(note["lane"], note["label"], is_end=note["ends"] is not None)
    else:
        raise ValueError("neither an arrow, nor a note, nor a frame")


def _svg(drawing, title, steps, below):
    height = round(drawing.y + MARGIN)
    lanes = [
        f'<path class="lane" d="M{x:.0f} {below}V{drawing.ends.get(name, height - MARGIN):.0f}"/>'
        for name, x in drawing.lanes.items()
    ]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape('; '.join(step for step in steps if step != ']'))}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        *drawing.under[::-1],
        *lanes,
        *drawing.over,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def stale(folder=HERE):
    """Yield each picture that is not as its text says, and what it should be."""
    for text in sorted(folder.glob("*.txt")):
        made, target = picture(text.read_text()), text.with_suffix(".svg")
        if not target.exists() or target.read_text() != made:
            yield target, made


def main(*words):
    others = list(stale())
    if "--check" in words:
        names = ", ".join(target.name for target, _ in others)
        sys.exit(f"not as their texts say: {names}; make pictures" if names else 0)
    for target, made in others:
        target.write_text(made)
        sys.stdout.write(f"{target.name}: drawn\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
