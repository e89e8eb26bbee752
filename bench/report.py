"""Targets of benchmarks, and their figures as JSON, a table and a plot."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
BAR_WIDTH, BAR_HEIGHT = 360, 22


@dataclass(frozen=True, slots=True)
class Target:
    """A figure with the bound that it has to keep."""

    figure: str
    means: str
    at_most: float | None = None
    at_least: float | None = None

    def met(self, value: float) -> bool:
        low = -float("inf") if self.at_least is None else self.at_least
        high = float("inf") if self.at_most is None else self.at_most
        return low <= value <= high

    @property
    def bound(self) -> str:
        return f"≤ {self.at_most:g}" if self.at_most is not None else f"≥ {self.at_least:g}"

    def share(self, value: float) -> float:
        """Return the value as a share of its bound: above 1.0 the target is missed."""
        if self.at_most == 0:
            return float("inf") if value else 0.0
        if self.at_most is not None:
            return value / self.at_most
        assert self.at_least is not None, "a target has a bound"
        return self.at_least / value if value else float("inf")


@dataclass(frozen=True, slots=True)
class Result:
    module: str
    question: str
    figures: Mapping[str, float]
    targets: Sequence[Target]

    @property
    def met(self) -> bool:
        return all(target.met(self.figures[target.figure]) for target in self.targets)

    def lines(self) -> list[str]:
        judged = {target.figure for target in self.targets}
        lines = [f"{self.module}: {self.question}"]
        for target in self.targets:
            value = self.figures[target.figure]
            missed = "over" if target.at_most is not None else "under"
            verdict = "ok" if target.met(value) else missed
            lines.append(f"  {verdict:<5} {value:12,.3g}  {target.bound:<9} {target.means}")
        for name, value in self.figures.items():
            if name not in judged:
                lines.append(f"        {value:12,.3g}  {'':<9} {name}")
        return lines


def save(result: Result) -> None:
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(dict(result.figures), indent=2) + "\n"
    (RESULTS / f"{result.module}.json").write_text(text)


def kept(module: str) -> Mapping[str, float] | None:
    """Return the figures of the last run of a module; None if it has never run here."""
    path = RESULTS / f"{module}.json"
    return json.loads(path.read_text()) if path.exists() else None


def show(results: Sequence[Result]) -> None:
    """Write the table and the plot of all modules that have run so far."""
    table = "\n\n".join("\n".join(result.lines()) for result in results)
    (RESULTS / "table.txt").write_text(table + "\n")
    (RESULTS / "targets.svg").write_text(_plot(results))


def _plot(results: Sequence[Result]) -> str:
    """Draw one bar for each target: its share of the bound. A bar beyond the line is a miss."""
    bars = [
        (target, result.figures[target.figure]) for result in results for target in result.targets
    ]
    height = BAR_HEIGHT * (len(bars) + 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * BAR_WIDTH + 460}" height="{height}"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for row, (target, value) in enumerate(bars, start=1):
        y = row * BAR_HEIGHT
        width = min(target.share(value), 2.0) * BAR_WIDTH
        colour = "#4a8f5d" if target.met(value) else "#b5473c"
        lines += [
            f'<text x="430" y="{y + 13}" text-anchor="end">{target.means}</text>',
            f'<rect x="440" y="{y}" width="{width:.0f}" height="16" fill="{colour}"/>',
            f'<text x="{446 + width:.0f}" y="{y + 13}">{value:,.3g} ({target.bound})</text>',
        ]
    x = 440 + BAR_WIDTH
    lines.append(f'<line x1="{x}" y1="10" x2="{x}" y2="{height - 10}" stroke="#333"/>')
    return "\n".join([*lines, "</svg>", ""])
