"""A run as tables: for people at a terminal, and as Markdown. Pure."""

from collections.abc import Iterable, Sequence

from adapters.cli.bench.plan import Load
from adapters.cli.bench.telling import figures
from adapters.cli.bench.telling.documents import NOT_TOLD, RunDocument, main_phase, middle
from adapters.cli.bench.telling.figures import Percentiles, Phase, Row
from adapters.cli.command_line import table

# What is told of each phase, in this order: the name in the document, and in words.
TIMES = {
    "stream_open": "stream open",
    "create": "POST of a chat → its answer",
    "send": "POST of a message → its answer",
    "running": "POST → the watcher hears `running`",
    "request": "POST → the provider has the request",
    "first_words": "POST → first words at the watcher",
    "deltas": "delta: provider → watcher",
    "turn": "POST → `waiting`: a whole turn",
    "interrupt": "interrupt → `waiting`",
}
COUNTS = {
    "statements": "statements per turn",
    "trips": "waits for the database per turn",
    "sent_bytes": "bytes to the database per turn",
}
STAGES = {
    "admit": "a message: its head is read → its transaction begins, ms",
    "commit": "→ COMMIT is answered, ms",
    "start": "→ its actor begins the step, ms",
    "prepare": "→ the model is about to be asked, ms",
}
PHASES = {
    "floor": "the floor",
    "initial": "new chats",
    "follow_up": "later turns",
    "interrupt": "interrupts",
}
SUMMARY = (
    "daemon",
    "chats",
    "turns/s",
    "CPU ms/turn",
    "by floor",
    "PostgreSQL",
    "first words p50 / p99",
    "deltas p50 / p99",
    "interrupt p99",
    "PSS MB",
    "clients' core",
    "",
)


def summary_rows(document: RunDocument) -> list[Sequence[str]]:
    """Return a line for each load: what an engineer asks first."""
    return [_summary(middle(group), len(group)) for group in document.groups]


def _summary(row: Row, repeats: int) -> Sequence[str]:
    name = main_phase(row)
    phase = row.phases[name] if name is not None else Phase(0.0, 0, 0, 0, {})
    interrupts = row.phases.get("interrupt")
    why = figures.unfit(row)
    marks = [
        *([f"the middle of {repeats}"] if repeats > 1 else []),
        *([f"unfit: {why}"] if why else []),
    ]
    return (
        row.name,
        str(row.chats),
        number(phase.turns / phase.seconds if phase.seconds else None),
        number(figures.cpu_per_turn(phase, "daemon")),
        number(figures.floor_ratio(row, name) if name else None),
        number(figures.cpu_per_turn(phase, "postgresql")),
        pair(phase.times.get("first_words")),
        pair(phase.times.get("deltas")),
        number(interrupts.times["interrupt"].p99)
        if interrupts is not None and "interrupt" in interrupts.times
        else "-",
        number(row.memory.get("pss") or row.memory.get("rss")),
        share(figures.client_share(phase)),
        "; ".join(marks),
    )


def number(value: float | None) -> str:
    """Return a number with three digits that count; what is not known is said."""
    if value is None:
        return NOT_TOLD
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def pair(times: Percentiles | None) -> str:
    return NOT_TOLD if times is None else f"{number(times.p50)} / {number(times.p99)}"


def share(value: float | None) -> str:
    return NOT_TOLD if value is None else f"{value:.0%}"


def time_rows(row: Row) -> Iterable[Sequence[str]]:
    """Yield a line for each time that was taken in a row."""
    phases = {"floor": row.floor, **row.phases}
    for name, words in PHASES.items():
        phase = phases.get(name)
        for what, meaning in TIMES.items():
            times = None if phase is None else phase.times.get(what)
            if times is not None:
                of_them = (times.p50, times.p95, times.p99, times.max)
                yield (words, meaning, str(times.count), *map(number, of_them))


def cost_rows(row: Row) -> Iterable[Sequence[str]]:
    """Yield a line for each cost of a phase."""
    phases = {"floor": row.floor, **row.phases}
    for name, words in PHASES.items():
        phase = phases.get(name)
        if phase is None or not phase.turns or name == "interrupt":
            continue
        processes = (
            ("driver",) if name == "floor" else ("daemon", "postgresql", "provider", "driver")
        )
        for process in processes:
            client = "the bare client" if name == "floor" else process
            yield (
                words,
                f"CPU of {client}, ms per turn",
                number(figures.cpu_per_turn(phase, process)),
            )
        if name != "floor":
            yield words, "turns heard while they went on", share(phase.live / phase.turns)
            for what, meaning in COUNTS.items():
                yield words, meaning, number(figures.per_turn(phase, what))
            for stage, meaning in STAGES.items():
                if stage in phase.stages:
                    yield words, meaning, number(phase.stages[stage])


def failure_lines(rows: Iterable[Row]) -> Iterable[str]:
    """Yield in plain words what failed at which stage."""
    for row in rows:
        for reason, count in sorted(row.reasons.items(), key=lambda each: -each[1]):
            yield f"{row.name}, {row.chats} chats: {count} times {reason}"
        if row.retries:
            retries = f"{row.retries} retries of the daemon at its provider"
            yield f"{row.name}, {row.chats} chats: {retries}"


def load_words(load: Load) -> str:
    """Return a load in words."""
    pace = f"one each {load.delta_ms:g} ms" if load.delta_ms else "without a pause"
    begins = f"begun over {load.spread:g} s" if load.spread else "begun all at once"
    loop = (
        f"open loop, {load.rate:g} turns/s, counted from when each was due"
        if load.rate
        else f"closed loop, {load.think:g} s between turns"
    )
    return (
        f"{load.turns} turns a chat, {load.deltas} deltas of {load.delta_chars} characters, {pace};"
        f" {begins}; {loop}"
    )


def text(document: RunDocument) -> str:
    """Return a run for people at a terminal."""
    rows = [row for group in document.groups for row in group]
    lines = [load_words(document.load), _facts(document)]
    tables = [table(SUMMARY, summary_rows(document))]
    for group in document.groups:
        one = middle(group)
        head = f"{one.name}, {one.chats} chats, milliseconds"
        tables.append(head + "\n" + table(("phase", "", "count", *HEAD), time_rows(one)))
        tables.append(table(("phase", "", "each"), cost_rows(one)))
    failures = list(failure_lines(rows)) or ["no failures"]
    return "\n".join([*lines, "", *tables, *failures, ""])


HEAD = ("p50", "p95", "p99", "max")


def _facts(document: RunDocument) -> str:
    told = {**document.machine, **document.versions, **document.settings}
    return ", ".join(f"{name} {value}" for name, value in told.items())


def markdown(document: RunDocument) -> str:
    """Return a run as a page."""
    lines = [
        f"# A {document.pace} load, {document.made_at}",
        "",
        load_words(document.load) + ".",
        "",
        _facts(document) + ".",
        "",
        *_markdown_table(SUMMARY, summary_rows(document)),
    ]
    for group in document.groups:
        one = middle(group)
        lines += ["", f"## {one.name}, {one.chats} chats", "", "Milliseconds:", ""]
        lines += _markdown_table(("phase", "", "count", *HEAD), time_rows(one))
        lines += ["", *_markdown_table(("phase", "", "each"), cost_rows(one))]
    failures = list(failure_lines(row for group in document.groups for row in group))
    lines += ["", *(f"- {line}" for line in failures or ["no failures"])]
    return "\n".join(lines) + "\n"


def _markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [_line(head), _line(["---"] * len(head))]
    return [*lines, *map(_line, rows)]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
