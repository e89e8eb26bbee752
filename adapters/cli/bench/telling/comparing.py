"""Two runs side by side: ratios, and what they say in view of the noise. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from adapters.cli.bench.telling.documents import RunDocument
from adapters.cli.bench.telling.figures import Row, Spread, ratio, spreads, verdict
from adapters.cli.bench.telling.tables import number
from adapters.cli.command_line import table

HEAD = ("figure", "before", "now", "now / before", "noise", "")
# Only these are compared: the rest of a document is there to look them up.
COMPARED = (
    "follow_up.daemon_cpu_ms_per_turn",
    "follow_up.postgresql_cpu_ms_per_turn",
    "follow_up.cpu_by_floor",
    "follow_up.turns_per_second",
    "follow_up.statements_per_turn",
    "follow_up.request.p50_ms",
    "follow_up.request.p99_ms",
    "follow_up.first_words.p50_ms",
    "follow_up.first_words.p99_ms",
    "follow_up.deltas.p50_ms",
    "follow_up.deltas.p99_ms",
    "initial.daemon_cpu_ms_per_turn",
    "initial.stream_open.p95_ms",
    "initial.first_words.p50_ms",
    "initial.first_words.p99_ms",
    "interrupt.interrupt.p99_ms",
    "memory.pss_mb",
)
WORDS = {
    "like": "",
    "more": "more",
    "less": "less",
    "once": "told apart only by repeats",
}


def noise(of: Spread) -> float:
    """Return how far the repeats of a figure lie apart, as a share of their median."""
    return ratio(of.high - of.low, of.median) or 0.0


def compared(before: Sequence[Row], now: Sequence[Row]) -> Iterable[Sequence[str]]:
    """Yield a line for each figure that both have."""
    repeats = min(len(before), len(now))
    old, new = spreads(before), spreads(now)
    for name in COMPARED:
        if name in old and name in new:
            of_them = [
                share for each in (old[name], new[name]) if (share := noise(each)) is not None
            ]
            apart = f"± {max(of_them, default=0.0) / 2:.0%}" if repeats > 1 else "one run each"
            yield (
                name,
                number(old[name].median),
                number(new[name].median),
                number(ratio(new[name].median, old[name].median)),
                apart,
                WORDS[verdict(new[name], old[name], repeats=repeats)],
            )


def side_by_side(document: RunDocument, base: str) -> str:
    """Compare the daemons of one run with the one named `base`."""
    return _text(
        (f"{row.name} / {base}", before, group)
        for group in document.groups
        for row in group[:1]
        if row.name != base
        for before in document.groups
        if before[0].name == base and before[0].chats == row.chats
    )


def with_earlier(document: RunDocument, earlier: RunDocument) -> str:
    """Compare a run with an earlier one, of the same loads."""
    if earlier.load != _like(document, earlier):
        return "the earlier run had another load: nothing is compared\n"
    return _text(
        (f"now / {earlier.made_at}", before, group)
        for group in document.groups
        for before in earlier.groups
        if (before[0].name, before[0].chats) == (group[0].name, group[0].chats)
    )


def _like(document: RunDocument, earlier: RunDocument) -> object:
    """Return our load with what may differ as the earlier one has it."""
    same = {"chats": earlier.load.chats, "interrupts": earlier.load.interrupts}
    return msgspec.structs.replace(document.load, **same)


def _text(pairs: Iterable[tuple[str, Sequence[Row], Sequence[Row]]]) -> str:
    parts = []
    for title, before, now in pairs:
        lines = compared(before, now)
        parts.append(f"{title}, {now[0].chats} chats\n" + table(HEAD, lines))
    if not parts:
        return "nothing to compare: no load is in both\n"
    return "\n".join(parts) + (
        "Medians of the repeats. Noise is half of the way from the least to the most of them;\n"
        "more or less is said only where no repeat of one reaches those of the other.\n"
    )
