"""A command in a terminal of 84 by 22: each screen that differs becomes a frame of a picture."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from html import escape
from itertools import groupby

import pyte

COLUMNS, LINES = 84, 22
CELL_WIDTH, LINE_HEIGHT, MARGIN = 8.4, 19, 14
FRAME_SECONDS_MIN = 0.1  # screens that follow each other faster are one frame
LAST_FRAME_SECONDS = 4.0  # the picture rests there, and begins again
WAIT_SECONDS_MAX = 30.0
KEY_SECONDS = 0.045
COLOURS = {
    "cyan": "c",
    "green": "g",
    "red": "r",
    "yellow": "y",
    "blue": "b",
    "magenta": "m",
    "brown": "y",  # as pyte calls it
    "brightblack": "d",
}


class Recording:
    """The screens of a command, each with the second at which it was seen."""

    def __init__(self, words, settings):
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            words, stdin=theirs, stdout=theirs, stderr=theirs, env=settings, start_new_session=True
        )
        os.close(theirs)
        self._began = time.monotonic()
        self.frames = []

    def read(self, seconds):
        """Follow the command for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._mine], [], [], left)[0]:
                self._stream.feed(os.read(self._mine, 65_536))
                self._keep()

    def until(self, text):
        """Follow the command until this stands on the screen."""
        end = time.monotonic() + WAIT_SECONDS_MAX
        while not any(text in line for line in self._screen.display):
            if time.monotonic() > end:
                raise TimeoutError(f"{text!r} was not shown:\n" + "\n".join(self._screen.display))
            self.read(0.05)

    def types(self, text):
        for letter in text:
            os.write(self._mine, letter.encode())
            self.read(KEY_SECONDS)

    def close(self):
        self._process.kill()
        self._process.wait()
        os.close(self._mine)

    def _keep(self):
        lines = tuple(line_of(self._screen.buffer[y]) for y in range(LINES))
        at = time.monotonic() - self._began
        if self.frames and self.frames[-1][1] == lines:
            return
        if self.frames and at - self.frames[-1][0] < FRAME_SECONDS_MIN:
            self.frames[-1] = (self.frames[-1][0], lines)
        else:
            self.frames.append((at, lines))


def line_of(cells):
    """Return a line of the screen as SVG: a `tspan` for each run of one style."""
    styled = [(cells[x].data, style_of(cells[x])) for x in range(COLUMNS)]
    while styled and styled[-1][0] == " ":
        styled.pop()
    runs, x = [], 0
    for style, run in groupby(styled, key=lambda cell: cell[1]):
        text = "".join(data for data, _ in run)
        name = f' class="{style}"' if style else ""
        long = f' textLength="{len(text) * CELL_WIDTH:.1f}"' if len(text) > 1 else ""
        runs.append(f'<tspan x="{x * CELL_WIDTH:.1f}"{long}{name}>{escape(text)}</tspan>')
        x += len(text)
    return "".join(runs)


def style_of(cell):
    """Return the CSS classes of a cell."""
    names = [COLOURS[cell.fg]] if cell.fg in COLOURS else []
    return " ".join([*names, *(["s"] if cell.bold else []), *(["i"] if cell.italics else [])])


STYLE = """
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #24292f;
  white-space: pre }
.paper { fill: #f6f8fa; stroke: #d0d7de }
.s { font-weight: 600 } .i { font-style: italic }
.c { fill: #0a6b7d } .g { fill: #1a7f37 } .r { fill: #cf222e } .y { fill: #8a6100 }
.b { fill: #0969da } .m { fill: #8250df } .d { fill: #6e7781 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .paper { fill: #0d1117; stroke: #30363d }
  .c { fill: #56d4dd } .g { fill: #56d364 } .r { fill: #ff7b72 } .y { fill: #e3b341 }
  .b { fill: #79c0ff } .m { fill: #d2a8ff } .d { fill: #8b949e }
}
.frame { visibility: hidden; animation-iteration-count: infinite;
  animation-timing-function: step-end }
@media (prefers-reduced-motion: reduce) {
  .frame { animation: none } .frame.last { visibility: visible }
}
"""


def picture(frames):
    """Return the SVG that plays these frames for ever."""
    began = frames[0][0]
    starts = [at - began for at, _ in frames]
    seconds = starts[-1] + LAST_FRAME_SECONDS
    names = {}  # each line that is ever shown is drawn once
    for _, lines in frames:
        for line in filter(None, lines):
            names.setdefault(line, f"l{len(names)}")
    drawn = "".join(f'<text id="{name}">{line}</text>' for line, name in names.items())
    rules, groups = [], []
    for number, ((_, lines), start) in enumerate(zip(frames, starts, strict=True)):
        end = starts[number + 1] if number + 1 < len(frames) else seconds
        a, b = 100 * start / seconds, 100 * end / seconds
        is_last = number + 1 == len(frames)
        before = "0%{visibility:hidden}" if number else ""
        after = "" if is_last else f"{b:.3f}%{{visibility:hidden}}"
        rules.append(f"@keyframes f{number}{{{before}{a:.3f}%{{visibility:visible}}{after}}}")
        uses = "".join(
            f'<use href="#{names[line]}" x="{MARGIN}" y="{MARGIN + (y + 0.75) * LINE_HEIGHT:.1f}"/>'
            for y, line in enumerate(lines)
            if line
        )
        last = " last" if is_last else ""
        groups.append(
            f'<g class="frame{last}" style="animation-name:f{number};'
            f'animation-duration:{seconds:.2f}s">{uses}</g>'
        )
    width = COLUMNS * CELL_WIDTH + 2 * MARGIN
    height = LINES * LINE_HEIGHT + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">'
        f"<title>promptcorner chat in a terminal</title><style>{STYLE}{''.join(rules)}</style>"
        f"<defs>{drawn}</defs>"
        f'<rect class="paper" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}"'
        ' rx="8"/>'
        f"{''.join(groups)}</svg>\n"
    )


def save(path, recording):
    """Write the last screen of a recording."""
    path.write_text(picture([(0.0, recording.frames[-1][1])]))
