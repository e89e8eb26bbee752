"""What somebody types who is asked for consent, and what he is shown before."""

from datetime import UTC, datetime
from uuid import UUID

import httpx2
import msgspec
import pytest
from rich.console import Console

from adapters.cli.chat.approvals import (
    ApprovalPrompter,
    Approve,
    UserDecision,
    choices_of,
    read_decision,
)
from adapters.cli.chat.screen import approval_view
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import ChatApproval


@pytest.mark.parametrize(
    ("line", "decision"),
    [
        ("y", UserDecision("allow_once")),
        (" YES ", UserDecision("allow_once")),
        ("a", UserDecision("allow_always")),
        ("r", UserDecision("allow_always", rules=("execute(ls *)",))),
        ("u", UserDecision("allow_always", rules=("execute(ls *)",), scope="user")),
        ("n", UserDecision("deny")),
        ("n use make  instead ", UserDecision("deny", "use make  instead")),
        ("no", UserDecision("deny")),
        ("", None),
        ("y please", None),
        ("always and for ever", None),
        ("nope", None),
    ],
)
def test_only_what_is_clear_is_a_decision(line, decision):
    at = datetime(2030, 1, 1, tzinfo=UTC)
    rules = ("execute(ls *)",)
    asked = ChatApproval(UUID(int=1), "", "c", "execute", "{}", at, None, suggested_rules=rules)

    assert decision == read_decision(line, asked)


@pytest.mark.parametrize("line", ["r", "u"])
def test_without_a_rule_that_would_do_none_can_be_written(line):
    at = datetime(2030, 1, 1, tzinfo=UTC)

    assert read_decision(line, ChatApproval(UUID(int=1), "", "c", "x", "{}", at, None)) is None


@pytest.mark.parametrize(
    ("tool", "says"),
    [("execute", "y allows it once"), ("start:kit:d1", "y allows it in this chat")],
)
def test_a_person_is_told_how_long_it_holds(tool, says):
    at = datetime(2030, 1, 1, tzinfo=UTC)

    assert choices_of(ChatApproval(UUID(int=1), "", "c", tool, "{}", at, None)).startswith(says)


async def test_a_chat_that_gets_a_title_does_not_ask_again():
    at = datetime(2030, 1, 1, tzinfo=UTC)
    untitled = ChatApproval(UUID(int=1), "", "c", "execute", "{}", at, None)
    titled = msgspec.structs.replace(untitled, chat_title="Tidy up")
    decided = httpx2.Response(409, json={"message": "already decided", "detail": ""})
    transport = httpx2.MockTransport(lambda request: decided)
    async with AsyncClient("http://localhost", "token", transport=transport) as client:
        prompter = ApprovalPrompter(client, Console(quiet=True), Approve.ALLOW)
        await prompter.decide([untitled])

        undecided = prompter.undecided(Transcript(approvals=(titled,)))

    assert [] == undecided


def test_all_of_a_call_is_shown_and_nothing_of_it_moves_the_cursor():
    at = datetime(2030, 1, 1, tzinfo=UTC)
    args = '{"command": "ls\\n\\u001b[2Jrm -rf /", "seconds": 5}'
    approval = ChatApproval(UUID(int=1), "tidy\nup", "c", "execute", args, at, None)
    console = Console(width=60, record=True, file=None)

    with console.capture() as shown:
        console.print(approval_view(approval))

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
        console.print(approval_view(approval))

    assert args in shown.get()
