"""A run as a picture, on light and dark: how long people wait, and what a turn costs. Pure."""

import math
from collections.abc import Iterable, Sequence
from html import escape

from adapters.cli.bench.telling import figures
from adapters.cli.bench.telling.documents import RunDocument, main_phase, middle
from adapters.cli.bench.telling.figures import Percentiles, Row
from adapters.cli.bench.telling.tables import load_words, number

WIDTH, LEFT, RIGHT = 960, 300, 36
LINE, GAP, TOP = 24, 22, 66
LOW, HIGH = 0.1, 100_000.0  # milliseconds at both ends of the scale
DECADES = (0.1, 1, 10, 100, 1_000, 10_000, 100_000)
SHOWN = (
    ("initial", "stream_open", "stream open"),
    ("follow_up", "request", "POST → provider has the request"),
    ("follow_up", "first_words", "POST → first words"),
    ("follow_up", "deltas", "delta: provider → watcher"),
    ("follow_up", "turn", "whole turn"),
    ("interrupt", "interrupt", "interrupt → waiting"),
)
COSTS = (("daemon", "daemon"), ("postgresql", "PostgreSQL"))
STYLE = """
text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif;
  fill: #24292f }
.paper { fill: #ffffff } .title { font-size: 16px; font-weight: 600 } .head { font-weight: 600 }
.grid { stroke: #d0d7de } .scale, .facts { fill: #57606a; font-size: 12px }
.range { fill: #54aeff } .half { fill: #0550ae } .mark { stroke: #0550ae; stroke-width: 2 }
.most { stroke: #8c959f; stroke-dasharray: 2 3 }
.daemon { fill: #0550ae } .postgresql { fill: #1a7f37 }
.floor { fill: #8c959f } .unfit { fill: #cf222e }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .paper { fill: #0d1117 } .grid { stroke: #30363d }
  .scale, .facts { fill: #8b949e } .range { fill: #1f4b7a } .half { fill: #79c0ff }
  .mark { stroke: #79c0ff } .most { stroke: #6e7681 } .daemon { fill: #79c0ff }
  .postgresql { fill: #56d364 } .floor { fill: #6e7681 } .unfit { fill: #ff7b72 }
}
"""


def picture(document: RunDocument) -> str:
    """Return a run as SVG."""
    body: list[str] = []
    y = TOP
    for group in document.groups:
        y = _draw_row(body, middle(group), y)
    y += 10
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}"'
        f' height="{y}" role="img" aria-label="{escape(_spoken(document))}">',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{y}"/>',
        _text(20, 26, f"A {document.pace} load of promptcorner, {document.made_at}", "title"),
        _text(20, 47, load_words(document.load), "facts"),
    ]
    return "\n".join([*head, *body, "</svg>", ""])


def _draw_row(body: list[str], row: Row, y: int) -> int:
    why = figures.unfit(row)
    title = f"{row.name}, {row.chats} chats" + (f": unfit, {why}" if why else "")
    y += GAP
    body.append(_text(20, y, title, "head unfit" if why else "head"))
    y += 10
    shown = [
        (words, row.phases[phase].times[what])
        for phase, what, words in SHOWN
        if phase in row.phases and what in row.phases[phase].times
    ]
    if shown:
        body += _scale(y, len(shown) * LINE)
        for words, times in shown:
            body += _range(words, times, y)
            y += LINE
        y += 16
        body.append(_text(20, y, "dot p50, bar to p99, line p95, dashes max", "facts"))
    return _draw_costs(body, row, y + 4)


def _x(value: float) -> float:
    share = math.log(min(max(value, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _scale(y: int, height: int) -> Iterable[str]:
    for value in DECADES:
        x = _x(value)
        yield f'<line class="grid" x1="{x:.0f}" x2="{x:.0f}" y1="{y}" y2="{y + height}"/>'
        label = f"{value:,g} ms"
        yield _text(x, y + height + 14, label, "scale", "middle")


def _range(words: str, times: Percentiles, y: int) -> Iterable[str]:
    middle_, low, high = y + LINE / 2, _x(times.p50), _x(times.p99)
    most, near = _x(times.max), _x(times.p95)
    yield _text(LEFT - 12, middle_ + 4, words, "", "end")
    yield f'<line class="most" x1="{high:.1f}" x2="{most:.1f}" y1="{middle_}" y2="{middle_}"/>'
    width = max(high - low, 2.0)
    yield f'<rect class="range" x="{low:.1f}" y="{y + 5}" width="{width:.1f}" height="14" rx="2"/>'
    yield f'<circle class="half" cx="{low:.1f}" cy="{middle_}" r="5"/>'
    yield f'<line class="mark" x1="{near:.1f}" x2="{near:.1f}" y1="{y + 4}" y2="{y + 20}"/>'
    label = f"{number(times.p50)} / {number(times.p99)}"
    end = max(high, low + 6)
    side = ("start", end + 8) if end < WIDTH - 140 else ("end", low - 10)
    yield _text(side[1], middle_ + 4, label, "", side[0])


def _draw_costs(body: list[str], row: Row, y: int) -> int:
    name = main_phase(row)
    if name is None:
        return y
    phase = row.phases[name]
    bars = [
        (words, style, cost)
        for style, words in COSTS
        if (cost := figures.cpu_per_turn(phase, style)) is not None
    ]
    bare = figures.cpu_per_turn(row.floor, "driver")
    if bare is not None:
        bars.append(("floor: a bare client", "floor", bare))
    longest = max((cost for _, _, cost in bars), default=1.0) or 1.0
    for words, style, cost in bars:
        width = cost / longest * (WIDTH - LEFT - RIGHT - 180)
        body.append(_text(LEFT - 12, y + 17, words, "", "end"))
        body.append(
            f'<rect class="{style}" x="{LEFT}" y="{y + 6}" width="{width:.1f}" height="12" rx="2"/>'
        )
        body.append(_text(LEFT + width + 8, y + 17, f"{number(cost)} ms of CPU a turn", ""))
        y += LINE - 4
    return y + 8


def _text(x: float, y: float, words: str, style: str, anchor: str = "start") -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _spoken(document: RunDocument) -> str:
    """Return the picture in words, for those who do not see it."""
    told: Sequence[str] = [
        f"{row.chats} chats: first words after {number(times.p50)} ms, p99 {number(times.p99)}"
        for group in document.groups
        for row in [middle(group)]
        if (name := main_phase(row)) and (times := row.phases[name].times.get("first_words"))
    ]
    return "; ".join(told) or "nothing was measured"
