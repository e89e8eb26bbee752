"""A chat that plans asks its user, and hands its plan in as a file to keep."""

import json
from dataclasses import dataclass, field

import pytest

from actors.chat.turn.ports import ToolInvocation
from actors.law.parts.message import FilePart, ToolCallPart
from actors.prompts.ports import UnreadableFile
from adapters.tools.built_in.planning import ASK, PROPOSE, PlanningTools
from tests.actors.law.chats import CHAT, a_chat

PLACE = "/home/x/PLAN.md"
FIRST = {"label": "A", "description": "the first"}
SECOND = {"label": "B", "description": "the second"}
QUESTION = {"header": "Which", "question": "Which one?", "options": [FIRST, SECOND]}


@dataclass
class Shelf:
    """The port ChatFiles in memory."""

    has_room: bool = True
    kept: dict = field(default_factory=dict)

    async def keep(self, chat, document):
        if self.has_room:
            self.kept[document.id] = document
        return self.has_room


@dataclass
class Disk:
    """The port PlanFiles: one plan, or why it cannot be read."""

    content: object

    async def place(self, chat):
        return PLACE

    async def read(self, chat, path, *, bytes_max):
        assert path == PLACE
        return self.content


def planning(**columns):
    return a_chat(plan_mode="plan", **columns).chat


async def call(tools, name, _args=None, chat=None, **arguments):
    args = json.dumps(arguments) if _args is None else _args
    calling = ToolInvocation(chat or planning(), ToolCallPart("c1", name, args), (), show=print)
    return await tools.run(calling, name)


def error(output):
    assert output.is_error
    return json.loads(output.result)["error"]


async def names_for(chat, **more):
    return [tool.tool.name for tool in await PlanningTools(Shelf(), **more).offered(chat, ())]


async def test_only_a_root_that_plans_has_them_and_either_ends_its_turn():
    tools = await PlanningTools(Shelf()).offered(planning(), ())

    assert [(ASK, True), (PROPOSE, True)] == [(tool.tool.name, tool.ends_turn) for tool in tools]
    assert [] == await names_for(a_chat().chat)
    assert [] == await names_for(planning(parent_id=CHAT))
    assert [] == await names_for(planning(mode="explore"))


@pytest.mark.parametrize(("more", "argument"), [({}, "plan"), ({"plans": Disk(b"")}, "path")])
async def test_a_plan_is_proposed_as_text_or_as_the_file_it_stands_in(more, argument):
    _, proposing = await PlanningTools(Shelf(), **more).offered(planning(), ())

    assert [argument] == json.loads(proposing.tool.schema)["required"]


async def test_questions_are_given_back_as_they_were_asked():
    output = await call(PlanningTools(Shelf()), ASK, questions=[QUESTION, QUESTION])

    assert not output.is_error
    assert {"questions": [QUESTION, QUESTION]} == json.loads(output.result)


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        ([], "questions: expected `array` of length >= 1"),
        ([QUESTION | {"options": [FIRST]}], "questions[0].options: expected `array` of length >="),
        ([QUESTION | {"options": [FIRST] * 5}], "questions[0].options: expected `array` of length"),
        ([QUESTION, QUESTION | {"header": " "}], "questions[1].header: is blank"),
        ([QUESTION | {"question": ""}], "questions[0].question: is blank"),
        ([QUESTION | {"options": [FIRST, SECOND | {"label": "\n"}]}], "[0].options[1].label: is"),
        ([QUESTION | {"options": [FIRST | {"description": ""}, SECOND]}], "[0].description: is"),
    ],
)
async def test_a_question_that_cannot_be_shown_is_refused_with_its_place(questions, says):
    assert says in error(await call(PlanningTools(Shelf()), ASK, questions=questions))


async def test_a_plan_is_kept_as_a_file_and_shown():
    shelf = Shelf()

    output = await call(PlanningTools(shelf), PROPOSE, plan=" # Plan\n1. do it\n")

    told = json.loads(output.result)
    [document] = shelf.kept.values()
    assert b"# Plan\n1. do it" == document.content
    assert f"PLAN-{CHAT}.md" == document.name == told["path"]
    assert {
        "ok": True,
        "path": told["path"],
        "kind": "plan",
        "file_id": str(document.id),
        "media_type": "text/markdown",
    } == told
    assert (FilePart("text/markdown", document.name, file_id=document.id),) == output.shown


async def test_a_call_that_is_made_again_after_a_crash_finds_its_file():
    shelf = Shelf()

    for _ in range(2):
        await call(PlanningTools(shelf), PROPOSE, plan="x")
    assert 1 == len(shelf.kept)

    await call(PlanningTools(shelf), PROPOSE, chat=planning(history_version=51), plan="x")
    assert 2 == len(shelf.kept)


@pytest.mark.parametrize("path", [PLACE, "", "  "])
async def test_a_plan_of_a_workspace_is_read_where_it_stands(path):
    shelf = Shelf()

    output = await call(PlanningTools(shelf, Disk(b"# Plan")), PROPOSE, path=path)

    [document] = shelf.kept.values()
    assert (b"# Plan", PLACE) == (document.content, json.loads(output.result)["path"])


@pytest.mark.parametrize(
    ("tools", "arguments", "says"),
    [
        (PlanningTools(Shelf()), {"plan": "  "}, "the plan is empty"),
        (PlanningTools(Shelf()), {"plan": "x" * 32_769}, "more than 32768 bytes"),
        (PlanningTools(Shelf()), {"path": PLACE}, "missing the required argument `plan`"),
        (PlanningTools(Shelf(), Disk(b"x")), {"path": "/other.md"}, f"stands at {PLACE}"),
        (PlanningTools(Shelf(), Disk(b"x")), {"plan": "x"}, "missing the required argument `path`"),
        (PlanningTools(Shelf(), Disk(UnreadableFile("gone"))), {"path": ""}, "gone"),
        (PlanningTools(Shelf(has_room=False)), {"plan": "x"}, "this chat has 50 files"),
    ],
)
async def test_a_plan_that_cannot_be_handed_in_is_no_end_of_the_turn(tools, arguments, says):
    output = await call(tools, PROPOSE, **arguments)

    assert says in error(output)
    assert () == output.shown
