"""The tools of a chat that plans: it asks its user, and hands its plan in. Either ends the turn."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID, uuid5

import msgspec
from msgspec import Meta, Struct

from actors.chat.turn.ports import LocalTool, ToolInvocation, ToolOutput
from actors.chat.turn.steps import error_output
from actors.law.chat import FILES_PER_CHAT_MAX, Chat, Message
from actors.law.ids import FileId
from actors.law.parts.message import FilePart, JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.prompts.ports import NO_WORKSPACES, ChatFiles, Document, PlanFiles, UnreadableFile
from actors.tools.gating import is_allowed, kind_of
from actors.tools.plans import PLAN_BYTES_MAX, plan_name, plan_path_fault, read_plan
from adapters.tools.dispatch import read_arguments, schema_of

DEADLINE_SECONDS = 60.0
OPTIONS_MIN, OPTIONS_MAX = 2, 4  # of one question; users may always answer otherwise
MEDIA_TYPE = "text/markdown"

ASK, PROPOSE = "ask_user_question", "propose_plan"


class Option(Struct, frozen=True):
    label: Annotated[str, Meta(description="The answer in a few words.")]
    description: Annotated[str, Meta(description="What follows from it.")]


class Question(Struct, frozen=True):
    header: Annotated[str, Meta(description="What it is about, in one to three words.")]
    question: Annotated[str, Meta(description="The question, as one whole sentence.")]
    options: Annotated[
        list[Option],
        Meta(
            min_length=OPTIONS_MIN,
            max_length=OPTIONS_MAX,
            description="Answers to choose from. The user may always write another one.",
        ),
    ]


class AskUserQuestion(Struct, frozen=True):
    questions: Annotated[
        list[Question],
        Meta(min_length=1, description="All that you have to know now; they are shown together."),
    ]


class ProposeFile(Struct, frozen=True):
    path: Annotated[
        str, Meta(description="The plan's file, as your instructions name it; empty means that.")
    ]


class ProposeText(Struct, frozen=True):
    plan: Annotated[str, Meta(description="The whole plan, in Markdown.")]


@dataclass(frozen=True, slots=True)
class PlanningTools:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    files: ChatFiles
    plans: PlanFiles = NO_WORKSPACES

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        if not is_allowed(PROPOSE, kind_of(chat)):
            return ()
        has_file = await self.plans.place(chat) is not None
        return (ASKING, PROPOSING_FILE if has_file else PROPOSING_TEXT)

    async def run(self, calling: ToolInvocation, name: str) -> ToolOutput:
        args = calling.call.args or "{}"
        return _ask_user(args) if name == ASK else await self._proposed(calling, args)

    async def _proposed(self, calling: ToolInvocation, args: str) -> ToolOutput:
        chat = calling.chat
        place = await self.plans.place(chat)
        if place is None:
            given = read_arguments(ProposeText, args)
            if isinstance(given, str):
                return error_output(given)
            path, content = plan_name(chat), given.plan.encode("utf-8", "replace")
        else:
            found = await self._read(chat, args, place)
            if isinstance(found, UnreadableFile):
                return error_output(found.why)
            path, content = place, found
        text, fault = read_plan(content)
        if fault:
            return error_output(fault)
        return await self._keep_plan(calling, path, text)

    async def _read(self, chat: Chat, args: str, place: str) -> bytes | UnreadableFile:
        asked = read_arguments(ProposeFile, args)
        if isinstance(asked, str):
            return UnreadableFile(asked)
        path = asked.path.strip() or place
        fault = plan_path_fault(path, place)
        return (
            UnreadableFile(fault)
            if fault
            else await self.plans.read(chat, path, bytes_max=PLAN_BYTES_MAX)
        )

    async def _keep_plan(self, calling: ToolInvocation, path: str, text: str) -> ToolOutput:
        chat, name = calling.chat, plan_name(calling.chat)
        # The same for the same call: after a crash the call is made again, and finds its file.
        called = f"{PROPOSE}/{chat.history_version}/{calling.call.id}"
        id = FileId(uuid5(UUID(str(chat.id)), called))
        if not await self.files.keep(chat, Document(id, name, MEDIA_TYPE, text.encode())):
            return error_output(
                f"the plan cannot be kept: this chat has {FILES_PER_CHAT_MAX} files, which is the"
                " limit; write the plan as your answer"
            )
        kept = {
            "ok": True,
            "path": path,
            "kind": "plan",
            "file_id": str(id),
            "media_type": MEDIA_TYPE,
        }
        return ToolOutput(
            JsonText(json.dumps(kept, ensure_ascii=False)),
            shown=(FilePart(MEDIA_TYPE, name, file_id=id),),
        )


def _ask_user(args: str) -> ToolOutput:
    asked = read_arguments(AskUserQuestion, args)
    fault = asked if isinstance(asked, str) else next(_blanks(asked), None)
    if isinstance(asked, str) or fault:
        return error_output(str(fault))
    return ToolOutput(JsonText(msgspec.json.encode(asked).decode()))


def _blanks(asked: AskUserQuestion) -> Iterator[str]:
    for at, question in enumerate(asked.questions):
        yield from _blank(f"questions[{at}]", question, ("header", "question"))
        for place, option in enumerate(question.options):
            where = f"questions[{at}].options[{place}]"
            yield from _blank(where, option, ("label", "description"))


def _blank(where: str, asked: Any, fields: Sequence[str]) -> Iterator[str]:
    return (f"{where}.{name}: is blank" for name in fields if not getattr(asked, name).strip())


def _tool(name: str, arguments: type[Struct], says: str) -> LocalTool:
    """Either may run again after a crash: nothing is done twice."""
    return LocalTool(
        ToolDefinition(name, says, schema_of(arguments)),
        DEADLINE_SECONDS,
        repeatable=True,
        ends_turn=True,
        strict=True,
    )


ASKING = _tool(
    ASK,
    AskUserQuestion,
    "Ask the user what only they can decide, each question with two to four answers to choose from."
    " Ends your turn; the answers are their next message.",
)
_PROPOSES = "Hand your plan in, for the user to accept or to have changed. Ends your turn."
PROPOSING_FILE = _tool(
    PROPOSE, ProposeFile, f"{_PROPOSES} Write the plan into its file before you call this."
)
PROPOSING_TEXT = _tool(PROPOSE, ProposeText, _PROPOSES)
