"""What a chat knows of its workspace, as clients are shown it, on the whole edge."""

import json
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
import trio

from actors.prompts.resources import RESOURCES_MAX
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from tests.adapters.conftest import fresh
from tests.adapters.edges import PATIENCE_SECONDS, an_edge, eventually
from tests.adapters.workspaces.context.ground import put, skill

__all__ = ["fresh"]
pytestmark = pytest.mark.slow

CHATS = "/api/experimental/chats"
CREATES = ScriptedCall("create_workspace", json.dumps({"template_id": "web"}))
MAKES_ONE = Behaviour(tool_calls=(CREATES,), text="done")  # whoever asks for a title gets the text


@asynccontextmanager
async def a_corner(conninfo, data_dir, behaviour=MAKES_ONE, **settings):
    async with an_edge(
        conninfo, behaviour=behaviour, data_dir=data_dir, sandbox="none", **settings
    ) as edge:
        yield edge


def a_template(data_dir, **files):
    put(data_dir / "templates/web", **files)


async def a_chat(edge, text="work"):
    """At rest, in a workspace of its own; and where that is."""
    new = {"organization_id": edge.organization, "content": [{"type": "text", "text": text}]}
    chat = (await edge.member.post(CHATS, new)).document["id"]
    await at_rest(edge, chat)
    [(workspace,)] = await edge.execute(
        "SELECT workspace_id FROM chats WHERE id = %(c)s", {"c": chat}
    )
    return chat, workspace


async def at_rest(edge, chat):
    async def rests():
        return (await edge.member.get(f"{CHATS}/{chat}")).document["status"] == "waiting"

    await eventually(rests)


async def context(edge, chat):
    return (await edge.member.get(f"{CHATS}/{chat}")).document.get("context")


async def until(edge, chat, **expected):
    async def holds():
        found = await context(edge, chat)
        return found if expected.items() <= found.items() else None

    return await eventually(holds)


def home(data_dir, workspace):
    return data_dir / f"workspaces/{workspace}/home"


async def test_a_chat_shows_what_it_knows_and_lists_show_whether_that_is_old(fresh, tmp_path):
    big = b"x" * (64 * 1024 + 1)
    a_template(tmp_path, **{"AGENTS.md": "Be kind.", "CLAUDE.md": big, ".mcp.json": "{}"})
    a_template(tmp_path, **{".claude/skills/deploy/SKILL.md": skill()})
    async with a_corner(fresh, tmp_path) as edge:
        chat, workspace = await a_chat(edge)
        [listed] = (await edge.member.get(CHATS)).document
        shown = await context(edge, chat)

    top = home(tmp_path, workspace)
    file = {"source": f"{top}/AGENTS.md", "kind": "instruction_file", "size_bytes": 8}
    too_big = {"source": f"{top}/CLAUDE.md", "kind": "instruction_file", "size_bytes": len(big)}
    assert {"dirty": False} == listed["context"]
    assert {"dirty": False, "resources": shown["resources"]} == shown
    *instructions, settings, a_skill = shown["resources"]
    assert [
        {**file, "status": "ok"},
        {**too_big, "status": "oversize", "error": "has 65537 bytes, may have 65536"},
    ] == instructions
    assert ("mcp_config", "ok") == (settings["kind"], settings["status"])
    assert {
        "source": f"{top}/.claude/skills/deploy/SKILL.md",
        "kind": "skill",
        "size_bytes": len(skill()),
        "skill_name": "deploy",
        "skill_description": "How we deploy",
        "status": "ok",
    } == a_skill


async def test_servers_that_a_workspace_names_are_shown_with_the_file(fresh, tmp_path):
    named = {"search": {"command": "true"}, "bad": {}}
    a_template(tmp_path, **{".mcp.json": json.dumps({"mcpServers": named})})
    a_template(tmp_path, **{".promptcorner/.mcp.json": json.dumps({"mcpServers": named})})
    async with a_corner(fresh, tmp_path) as edge:
        chat, workspace = await a_chat(edge)
        shown = (await context(edge, chat))["resources"]

    file = f"{home(tmp_path, workspace)}/.mcp.json"
    servers = {each["source"]: each for each in shown if each["kind"] == "mcp_server"}
    assert ["mcp_config", "mcp_config", "mcp_server", "mcp_server"] == [e["kind"] for e in shown]
    assert {f"{file}#search", f"{file}#bad"} == servers.keys()
    assert "invalid" == servers[f"{file}#bad"]["status"]
    assert servers[f"{file}#bad"]["error"]


async def test_who_watches_is_told_when_files_move_on_and_a_refresh_makes_it_good(fresh, tmp_path):
    a_template(tmp_path, **{"AGENTS.md": "one"})
    async with a_corner(fresh, tmp_path) as edge, edge.member.socket(f"{CHATS}/watch") as socket:
        chat, workspace = await a_chat(edge)
        put(home(tmp_path, workspace), **{"AGENTS.md": "two"})

        dirty = await told(socket, lambda event: event["chat"]["context"]["dirty"])
        since = (await until(edge, chat, dirty=True))["dirty_since"]
        answer = await edge.member.put(f"{CHATS}/{chat}/context")
        clean = await told(socket, lambda event: not event["chat"]["context"]["dirty"])

    assert (chat, since) == (dirty["chat"]["id"], dirty["chat"]["context"]["dirty_since"])
    assert "resources" not in dirty["chat"]["context"]
    assert 200 == answer.status
    assert (False, 3) == (
        answer.document["context"]["dirty"],
        answer.document["context"]["resources"][0]["size_bytes"],
    )
    assert chat == clean["chat"]["id"]


async def told(socket, holds):
    """The next `context_dirty` of which this holds."""
    with trio.fail_after(PATIENCE_SECONDS):
        while True:
            event = json.loads(await socket.get_message())
            if event["kind"] == "context_dirty" and holds(event):
                return event


async def test_the_prompt_changes_with_the_refresh_and_not_before(fresh, tmp_path):
    a_template(tmp_path, **{"AGENTS.md": "one"})
    async with a_corner(fresh, tmp_path) as edge:
        chat, workspace = await a_chat(edge)
        first = told_to_model(edge)
        put(home(tmp_path, workspace), **{"AGENTS.md": "two"})
        await until(edge, chat, dirty=True)
        await a_turn(edge, chat)
        second = told_to_model(edge)
        await edge.member.put(f"{CHATS}/{chat}/context")
        await a_turn(edge, chat)
        third = told_to_model(edge)

    assert ("\none\n" in first, "\ntwo\n" in first) == (True, False)
    assert first == second
    assert first.replace("\none\n", "\ntwo\n") == third


async def a_turn(edge, chat):
    said = {"content": [{"type": "text", "text": "go on"}]}
    assert 200 == (await edge.member.post(f"{CHATS}/{chat}/messages", said)).status
    await at_rest(edge, chat)


def told_to_model(edge):
    """The system prompt of the latest request."""
    asked = [json.loads(heard.body) for heard in edge.rehearsal.records]
    streamed = [each for each in asked if each.get("stream")]  # titles come in one piece
    said = [each["content"] for each in streamed[-1]["messages"] if each["role"] == "system"]
    return "\n\n".join(said)


async def test_a_workspace_that_is_gone_cannot_be_taken_in_anew(fresh, tmp_path):
    a_template(tmp_path, **{"AGENTS.md": "one"})
    async with a_corner(fresh, tmp_path) as edge:
        chat, workspace = await a_chat(edge)
        home(tmp_path, workspace).rename(tmp_path / "elsewhere")  # at once, and not file by file

        answer = await edge.member.put(f"{CHATS}/{chat}/context")
        shown = await context(edge, chat)

    gone = "the directory of the workspace is not on this machine any more"
    assert (503, gone) == (answer.status, answer.document["detail"])
    assert (False, gone, 1) == (shown["dirty"], shown["error"], len(shown["resources"]))


async def test_who_leaves_a_workspace_leaves_what_was_known_of_it(fresh, tmp_path):
    a_template(tmp_path, **{"AGENTS.md": "one"})
    async with a_corner(fresh, tmp_path) as edge:
        chat, workspace = await a_chat(edge)
        shown = []
        for wanted in (str(UUID(int=0)), str(workspace)):
            said = {"workspace_id": wanted}
            assert 204 == (await edge.member.patch(f"{CHATS}/{chat}", said)).status
            [listed] = (await edge.member.get(CHATS)).document
            shown.append(("context" in listed, await context(edge, chat) is not None))

    assert [(False, False), (True, True)] == shown


async def test_a_chat_without_a_workspace_has_nothing_to_take_in(fresh, tmp_path):
    async with a_corner(fresh, tmp_path, Behaviour(text="done")) as edge:
        new = {"organization_id": edge.organization, "content": [{"type": "text", "text": "hi"}]}
        chat = (await edge.member.post(CHATS, new)).document["id"]

        answer = await edge.member.put(f"{CHATS}/{chat}/context")

    assert 200 == answer.status
    assert "context" not in answer.document


async def test_there_is_an_end_to_what_is_used(fresh, tmp_path):
    for number in range(RESOURCES_MAX + 1):
        name = f"s{number:03}"
        a_template(tmp_path, **{f"skills/{name}/SKILL.md": skill(name)})
    async with a_corner(fresh, tmp_path) as edge:
        chat, _ = await a_chat(edge)
        shown = await context(edge, chat)

    statuses = [resource["status"] for resource in shown["resources"]]
    assert ["ok"] * RESOURCES_MAX + ["excluded"] == statuses


async def test_how_it_fares_stands_among_the_actors(fresh, tmp_path):
    a_template(tmp_path, **{"AGENTS.md": "one"})
    async with a_corner(fresh, tmp_path) as edge:
        await a_chat(edge)
        actors = (await edge.admin.get("/debug/actors")).document
        metrics = (await edge.nobody.get("/metrics")).body.decode()

    assert (1, 1) == (
        actors["contexts"]["watch"]["workspaces"],
        actors["contexts"]["snapshots"]["kept"],
    )
    assert {"skills", "summaries", "prompt_files"} <= actors.keys()
    assert "promptcorner_contexts_watch_looks_total" in metrics
