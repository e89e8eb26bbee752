"""Draws the page on the states of a chat from the table of the law. Pure."""

from collections.abc import Iterator

from actors.law.states import State, Status, state_of
from actors.law.table import ALLOWED, EVERYWHERE, REQUESTS, leads_to

COMMAND = "python -m actors.law.diagram docs/states.md"

PAGE = """\
# The states of a stored chat

Drawn from `actors/law/table.py` by `{command}`.
What each request does stands in `actors/law/transitions.py`.

## Columns

A chat's state is not stored: it follows from three facts.

{columns}

Every other combination is **Invalid**, and only `ReconcileInvalidState` leads out of it.

Who holds a chat is another question, with another answer in every state. {everywhere}
change the holder and nothing else; they are allowed everywhere and not drawn.

## Diagram

A box is a status, whether its queue is empty or not.

```mermaid
{diagram}
```

## From each state

Where a request can lead. Empty: it is refused there, and nothing changes.

{table}
"""

_COLUMNS = {
    state_of(status, queued=queued, archived=archived): (status, queued, archived)
    for archived in (False, True)
    for status in Status
    for queued in (False, True)
}


def draw() -> str:
    """Return the page."""
    return PAGE.format(
        command=COMMAND,
        columns="\n".join(_columns()),
        everywhere=" and ".join(f"`{name}`" for name in sorted(r.__name__ for r in EVERYWHERE)),
        diagram="\n".join(_diagram()),
        table="\n".join(_table()),
    )


def _columns() -> Iterator[str]:
    yield "| state | status | queue | archived |"
    yield "|---|---|---|---|"
    for state, (status, queued, archived) in _COLUMNS.items():
        if state is not State.INVALID:
            queue, shelf = "not empty" if queued else "empty", "yes" if archived else "no"
            yield f"| {state.value} | {status.value} | {queue} | {shelf} |"


def _diagram() -> Iterator[str]:
    """One arrow from box to box; its label has a line for each request."""
    yield "stateDiagram-v2"
    for state in ALLOWED:
        if not state.value.endswith("1"):  # its twin with an empty queue is the same box
            yield f'    state "{_label(state)}" as {_box(state)}'
    yield "    [*] --> running: CreateChat"
    arrows: dict[tuple[str, str], list[str]] = {}
    for request in REQUESTS:
        for state, row in ALLOWED.items():
            for target in sorted(row.get(request, ()), key=_order):
                labels = arrows.setdefault((_box(state), _box(target)), [])
                if request.__name__ not in labels:
                    labels.append(request.__name__)
    for (here, there), labels in arrows.items():
        yield f"    {here} --> {there}: {'<br/>'.join(labels)}"


def _table() -> Iterator[str]:
    states = list(ALLOWED)
    yield f"| | {' | '.join(state.value for state in states)} |"
    yield f"|---|{'---|' * len(states)}"
    for request in REQUESTS:
        if request not in EVERYWHERE:
            cells = (_cell(leads_to(state, request)) for state in states)
            yield f"| {request.__name__} | {' | '.join(cells)} |"


def _cell(targets: frozenset[State]) -> str:
    return ", ".join(state.value for state in sorted(targets, key=_order))


def _label(state: State) -> str:
    status, _, archived = _COLUMNS[state]
    if state is State.INVALID:
        return "Invalid"
    return f"{status.value}, archived" if archived else status.value


def _box(state: State) -> str:
    return _label(state).replace(", ", "_").lower()


def _order(state: State) -> int:
    return list(State).index(state)
