"""Skills of chats: told of in every turn for nothing, read when they are needed."""

import json

from actors.chat.turn.ports import ToolInvocation
from actors.law.parts.message import ToolCallPart
from actors.law.store.hints import HintsLost
from actors.prompts.ports import SkillText, UnreadableFile
from actors.prompts.skills import SkillSummary
from adapters.tools.built_in.skills import SkillTools
from adapters.workspaces.context.skills import SkillIndex
from tests.actors.law.chats import ANN, BOB, CHAT, a_chat

CHAT_OF_ANN = a_chat().chat
NOTES = """---
name: notes
description: How we write\u200b them
---
<!-- for authors -->
Begin with what changed.
"""


class Disk:
    """The port WorkspaceSkills: one skill, with one file."""

    async def of(self, chat):
        return (
            SkillSummary("notes", "How it is done here"),
            SkillSummary("deploy", "How it is done here"),
        )

    async def text(self, chat, name):
        return SkillText(f"/w/skills/{name}", "Run it.", ("run.sh", "more/"))

    async def file(self, chat, name, path, *, bytes_max):
        return b"x" * (bytes_max + 9) if path == "big" else UnreadableFile(f"{path}: is not there")


async def keep(ground, user=ANN, name="notes", content=NOTES):
    await ground.skills.add(user, name, description="How we write\u200b them", content=content)


async def call(index, _tool, chat=CHAT_OF_ANN, **arguments):
    calling = ToolInvocation(chat, ToolCallPart("c", _tool, json.dumps(arguments)), (), show=print)
    output = await SkillTools(index).run(calling, _tool)
    return output.is_error, json.loads(output.result)


async def names(index, chat=CHAT_OF_ANN):
    return [tool.tool.name for tool in await SkillTools(index).offered(chat, ())]


async def test_skills_of_the_owner_are_told_of_in_all_his_chats(ground):
    await keep(ground)

    root = await ground.turn_context(CHAT_OF_ANN)
    child = await ground.turn_context(a_chat(parent_id=CHAT).chat)
    bobs = await ground.turn_context(a_chat(owner_id=BOB).chat)

    assert "- notes: How we write them\n" in "".join(root.words)
    assert "- notes: How we write them\n" in "".join(child.words)
    assert "available-skills" not in "".join(bobs.words)


async def test_a_turn_asks_a_warm_index_and_not_the_database(ground):
    await keep(ground)
    await ground.turn_context(CHAT_OF_ANN)
    await names(ground.index)
    await ground.pool.drain(1.0)  # whoever asks the database from now on fails

    for _ in range(20):
        await ground.turn_context(CHAT_OF_ANN)
        assert ["read_skill"] == await names(ground.index)


async def test_what_a_user_changes_is_known_in_the_next_turn(ground):
    assert [] == await names(ground.index)
    await keep(ground)
    assert ["read_skill"] == await names(ground.index)

    await ground.skills.change(ANN, "notes", description="Otherwise", content=NOTES)
    assert "- notes: Otherwise\n" in "".join((await ground.turn_context(CHAT_OF_ANN)).words)

    await ground.skills.remove(ANN, "notes")
    assert [] == await names(ground.index)


async def test_news_that_got_lost_are_made_good(ground):
    assert [] == await names(ground.index)
    other = SkillIndex(ground.skills)  # follows nobody
    assert [] == await names(other)
    await keep(ground)

    assert [] == await names(other)
    other.hear(HintsLost())

    assert ["read_skill"] == await names(other)


async def test_a_skill_is_read_without_what_is_for_its_author(ground):
    await keep(ground)

    told = {"name": "personal/notes", "body": "Begin with what changed.", "files": []}
    assert (False, told) == await call(ground.index, "read_skill", name="personal/notes")
    assert (False, told | {"name": "notes"}) == await call(ground.index, "read_skill", name="notes")


async def test_a_skill_that_is_not_there_is_an_error_for_the_model(ground):
    assert (True, {"error": "name: there is no skill 'x'; see the list of skills"}) == await call(
        ground.index, "read_skill", name="x"
    )


async def test_a_skill_that_was_removed_a_moment_ago_is_an_error_too(ground):
    await keep(ground)
    other = SkillIndex(ground.skills)
    await names(other)
    await ground.skills.remove(ANN, "notes")

    is_error, told = await call(other, "read_skill", name="notes")

    assert is_error
    assert "no skill 'notes' any more" in told["error"]


async def test_a_workspace_has_skills_and_their_files(ground):
    await keep(ground)
    index = SkillIndex(ground.skills, Disk())

    assert ["read_skill", "read_skill_file"] == await names(index)
    assert (
        False,
        {
            "name": "deploy",
            "dir": "/w/skills/deploy",
            "body": "Run it.",
            "files": ["run.sh", "more/"],
        },
    ) == await call(index, "read_skill", name="deploy")
    is_error, ambiguous = await call(index, "read_skill", name="notes")
    assert is_error
    assert "personal/notes or workspace/notes" in ambiguous["error"]


async def test_a_file_of_a_skill_is_read_as_far_as_it_may_be(ground):
    await keep(ground)
    index = SkillIndex(ground.skills, Disk())

    is_error, told = await call(index, "read_skill_file", name="deploy", path="big")
    faults = [
        (await call(index, "read_skill_file", name=name, path=path))[1]["error"]
        for name, path in (("deploy", "gone"), ("deploy", "../x"), ("personal/notes", "a"))
    ]

    assert (False, 512 * 1024) == (is_error, len(told["content"]))
    assert [
        "gone: is not there",
        "path: must not lead out of the skill's directory",
        "name: skills of the user's own have no files",
    ] == faults
