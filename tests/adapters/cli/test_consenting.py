"""What somebody types who is asked for consent, and what he is shown before."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from rich.console import Console

from adapters.api.approvals.wire import ChatApproval
from adapters.cli.talking import drawing
from adapters.cli.talking.consenting import read


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("y", ("allow_once", "")),
        (" YES ", ("allow_once", "")),
        ("a", ("allow_always", "")),
        ("n", ("deny", "")),
        ("n use make  instead ", ("deny", "use make  instead")),
        ("no", ("deny", "")),
        ("", None),
        ("y please", None),
        ("always and for ever", None),
        ("nope", None),
    ],
)
def test_only_what_is_clear_is_a_decision(line, decision):
    assert decision == read(line)


def test_all_of_a_call_is_shown_and_nothing_of_it_moves_the_cursor():
    at = datetime(2030, 1, 1, tzinfo=UTC)
    args = '{"command": "ls\\n\\u001b[2Jrm -rf /", "seconds": 5}'
    approval = ChatApproval(UUID(int=1), "tidy\nup", "c", "execute", args, at, None)
    console = Console(width=60, record=True, file=None)

    with console.capture() as shown:
        console.print(drawing.asked(approval))

    lines = [line.rstrip() for line in shown.get().splitlines()]
    assert [
        "⚙ execute, asked by “tidy?up”",
        "  command: ls",
        "  ?[2Jrm -rf /",
        "  seconds: 5",
    ] == lines


@pytest.mark.parametrize("args", ["[1, 2]", "nothing", ""])
def test_arguments_that_are_no_object_are_shown_as_they_came(args):
    at = datetime(2030, 1, 1, tzinfo=UTC)
    approval = ChatApproval(UUID(int=1), "", "c", "execute", args, at, None)
    console = Console(width=60)

    with console.capture() as shown:
        console.print(drawing.asked(approval))

    assert args in shown.get()
