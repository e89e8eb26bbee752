"""POST chats: each field is looked at in its turn, and the chat is at work when it is answered."""

import itertools
import json
from uuid import UUID, uuid4

import pytest

from actors.law import requests as ask
from actors.law.chat import FILES_PER_CHAT_MAX, Role, Visibility
from actors.law.parts.message import TextPart
from adapters.chats.new_chats import TOOLS_MAX
from adapters.models.prompt_texts import DETACHED
from tests.actors.law.chats import ANN, BOB, HOLDER
from tests.adapters.chats.overviews.ground import a_ground
from tests.adapters.chats.routes.ground import MODELS, ORGANIZATION, text
from tests.adapters.postgres.stores import new_file_ids
from tests.contracts.given import applied
from tests.fakes.severed_network import severed_network
from tests.patience import PATIENCE_SECONDS

NIL = str(UUID(int=0))
ID = str(UUID(int=7))


def a_tool(name, **more):
    return {"name": name, **more}


async def test_a_chat_is_at_work_and_says_what_it_is(ground):
    answer = await ground.create(
        content=[text("  one two three four five six seven ")],
        model_config_id=str(MODELS[0]),
        reasoning_effort="high",
        labels={"team": "red"},
        plan_mode="plan",
        client_type="ui",
    )

    said = answer.said
    assert 201 == answer.status
    assert {
        "organization_id": str(ORGANIZATION),
        "owner_id": str(ANN),
        "owner_username": str(ANN),
        "root_chat_id": said["id"],
        "last_model_config_id": str(MODELS[0]),
        "last_reasoning_effort": "high",
        "title": "one two three four five six…",
        "status": "running",
        "plan_mode": "plan",
        "last_turn_summary": None,
        "summary": None,
        "archived": False,
        "shared": False,
        "pin_order": 0,
        "mcp_server_ids": [],
        "labels": {"team": "red"},
        "has_unread": False,
        "client_type": "ui",
        "children": [],
    } == {key: said[key] for key in said if key not in ("id", "created_at", "updated_at")}
    assert said["created_at"].endswith("Z")


async def test_it_is_stored_as_it_was_answered(ground):
    said = (await ground.create(reasoning_effort="low")).said

    assert said == (await ground.get(said["id"])).said


async def test_the_model_is_told_what_the_deployment_and_the_client_say_before_the_user(ground):
    said = (await ground.create(system_prompt="Be\u200b brief. \r\n\r\n\r\n\r\nAlways.")).said

    rows = (await ground.store.rows(UUID(said["id"]))).messages
    *_, own, place, user = [message.body for message in rows]
    assert [Role.SYSTEM] * 3 + [Role.USER] == [message.body.role for message in rows]
    assert (TextPart("Be brief.\n\nAlways."),) == own.parts
    assert (TextPart(DETACHED),) == place.parts
    assert Visibility.MODEL is own.visibility
    assert (ANN, Visibility.BOTH) == (user.created_by, user.visibility)


async def test_a_place_that_is_free_is_taken_with_the_chat(ground):
    ground.supervisor.slots.open(uuid4())

    said = (await ground.create()).said

    chat = (await ground.store.rows(UUID(said["id"]))).chat
    assert ground.supervisor.slots.worker == chat.holder.worker
    assert 1 == chat.generation_attempt
    assert "queued_for_capacity" not in said


async def test_files_are_linked_and_shown(ground):
    [file] = new_file_ids(1)
    await ground.store.add_files(file)

    said = (await ground.create(content=[text("see"), {"type": "file", "file_id": str(file)}])).said

    [shown] = said["files"]
    assert {"id": str(file), "organization_id": str(ORGANIZATION)}.items() <= shown.items()
    assert ("f", "text/plain", 1) == (shown["name"], shown["mime_type"], shown["size_bytes"])


async def test_a_chat_of_a_pasted_text_alone_is_called_by_its_words(ground):
    [file] = new_file_ids(1)
    await ground.store.add_files(file)
    await ground.store.execute(
        "UPDATE files SET name = 'pasted-text-2026-01-02-03-04-05.txt' WHERE id = %(f)s", f=file
    )
    await ground.store.execute(
        "INSERT INTO file_contents VALUES (%(f)s, %(b)s, sha256('x'))", f=file, b=b"a long story"
    )

    said = (await ground.create(content=[{"type": "file", "file_id": str(file)}])).said

    assert "a long story" == said["title"]


async def test_a_nil_file_with_a_text_is_no_file(ground):
    part = {"type": "text", "text": "hello", "file_id": NIL}

    assert 201 == (await ground.create(content=[part])).status


async def test_tools_of_the_client_are_kept_as_they_were_declared(ground):
    schema = {"type": "object", "properties": {"a": {}}}

    said = await ground.create(
        unsafe_dynamic_tools=[
            a_tool("one", description="first", input_schema=schema),
            a_tool("two"),
            a_tool("three", input_schema="no schema"),
        ]
    )

    chat = await ground.store.rows(UUID(said.said["id"]))
    [first, *others] = chat.new.dynamic_tools
    assert {"one", "two", "three"} == chat.chat.dynamic_tools
    assert ("first", schema) == (first.description, json.loads(first.input_schema))
    assert ["{}", "{}"] == [tool.input_schema for tool in others]


REFUSED = {
    "no organization": ({"organization_id": ...}, 400, "organization_id"),
    "nil organization": ({"organization_id": NIL}, 400, "organization_id"),
    "another organization": ({"organization_id": ID}, 403, ""),
    "no content": ({"content": ...}, 400, "content"),
    "empty content": ({"content": []}, 400, "content"),
    "blank text": ({"content": [text("  ")]}, 400, "content[0].text"),
    "unknown part": ({"content": [{"type": "song"}]}, 400, "content[0].type"),
    "unknown file": ({"content": [{"type": "file", "file_id": ID}]}, 400, "content[0].file_id"),
    "long prompt": ({"system_prompt": "x" * 131_073}, 400, "system_prompt"),
    "unknown workspace": ({"workspace_id": ID}, 400, "workspace_id"),
    "nil model": ({"model_config_id": NIL}, 400, "model_config_id"),
    "unknown model": ({"model_config_id": ID}, 400, "model_config_id"),
    "unknown effort": ({"reasoning_effort": "huge"}, 400, "reasoning_effort"),
    "unknown server": ({"mcp_server_ids": [ID, ID]}, 400, "mcp_server_ids"),
    "bad label": ({"labels": {"-": "x"}}, 400, "labels"),
    "too many tools": (
        {"unsafe_dynamic_tools": [a_tool(f"t{n}") for n in range(TOOLS_MAX + 1)]},
        400,
        "unsafe_dynamic_tools",
    ),
    "nameless tool": (
        {"unsafe_dynamic_tools": [a_tool(" ")]},
        400,
        "unsafe_dynamic_tools[0].name",
    ),
    "doubled tool": (
        {"unsafe_dynamic_tools": [a_tool("t"), a_tool("t ")]},
        400,
        "unsafe_dynamic_tools[1].name",
    ),
    "tool with a NUL": (
        {"unsafe_dynamic_tools": [a_tool("fine"), a_tool("a\0b")]},
        400,
        "unsafe_dynamic_tools[1].name",
    ),
    "unknown plan mode": ({"plan_mode": "act"}, 400, "plan_mode"),
    "unknown client": ({"client_type": "cli"}, 400, "client_type"),
    "mistyped": ({"labels": 7}, 400, "labels"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_is_refused_and_nothing_is_made(ground, case):
    asked, status, field = REFUSED[case]

    answer = await ground.create(**asked)

    assert status == answer.status, answer.said
    named = [v["field"] for v in answer.said.get("validations", [])]
    assert ([field] if field else []) == named
    assert {} == await ground.store.all_rows()


async def test_of_two_faults_the_one_that_stands_first_in_the_table_is_told(ground):
    in_order = [case for case in REFUSED if case not in ("no content", "mistyped")]
    for first, second in itertools.pairwise(in_order):
        asked, status, field = REFUSED[first]

        answer = await ground.create(**{**REFUSED[second][0], **asked})

        told = [fault["field"] for fault in answer.said.get("validations", [])]
        assert (status, [field] if field else []) == (answer.status, told), (first, second)


async def test_unknown_servers_are_listed_once_each(ground):
    said = (await ground.create(mcp_server_ids=[ID, ID])).said

    assert 1 == said["detail"].count(ID)


async def test_what_is_null_is_absent(ground):
    nulls = dict.fromkeys(
        ("system_prompt", "workspace_id", "model_config_id", "reasoning_effort", "mcp_server_ids",
         "labels", "unsafe_dynamic_tools", "plan_mode", "client_type")
    )  # fmt: skip

    said = (await ground.create(**nulls)).said

    assert ("api", {}) == (said["client_type"], said["labels"])


async def test_more_files_than_a_chat_can_hold_are_refused(ground):
    files = new_file_ids(FILES_PER_CHAT_MAX + 1)
    await ground.store.add_files(*files)

    answer = await ground.create(content=[{"type": "file", "file_id": str(f)} for f in files])

    assert (400, {}) == (answer.status, await ground.store.all_rows())


async def test_a_file_of_somebody_else_is_as_good_as_none(ground):
    [file] = new_file_ids(1)
    await ground.store.add_files(file)

    answer = await ground.create(BOB, content=[{"type": "file", "file_id": str(file)}])

    assert 400 == answer.status


async def test_a_chat_that_waits_for_a_place_says_so_until_somebody_holds_it(ground):
    slots = ground.supervisor.slots
    slots.open(HOLDER.worker)
    while slots.claim(is_root=True, now=0.0) is not None:
        pass
    chat = (await ground.create()).said["id"]
    later = (await ground.create()).said["id"]

    waiting = (await ground.get(chat)).said
    second = (await ground.get(later)).said
    listed = (await ground.list()).said
    await ground.store.leases.beat(HOLDER.worker)
    await applied(ground.store.ledger.apply(UUID(chat), [ask.Acquire(HOLDER)]))
    held = (await ground.get(chat)).said

    assert waiting["queued_for_capacity"] is True
    assert [1, 2] == [each["place_in_line"] for each in (waiting, second)]
    assert [] == [each for each in (*listed, held) if "queued_for_capacity" in each]
    assert [] == [each for each in (*listed, held) if "place_in_line" in each]
    assert 1 == (await ground.get(later)).said["place_in_line"]


async def test_a_chat_whose_process_is_silent_says_when_another_takes_it_over(ground):
    ground.supervisor.slots.open(HOLDER.worker)
    chat = (await ground.create()).said["id"]
    await ground.store.leases.beat(HOLDER.worker)
    await applied(ground.store.ledger.apply(UUID(chat), [ask.Acquire(HOLDER)]))

    async def takeover(silent_seconds):
        await ground.store.execute(
            "UPDATE workers SET heartbeat_at = now() - %(s)s * interval '1 second'",
            s=silent_seconds,
        )
        return (await ground.get(chat)).said.get("takeover_seconds")

    # A beat of the future is not old on a slow machine, either.
    assert None is await takeover(-PATIENCE_SECONDS)
    assert await takeover(10) in range(21)
    assert 0 == await takeover(60)
    assert [] == [each for each in (await ground.list()).said if "takeover_seconds" in each]


async def test_what_it_costs_in_statements(migrated):
    """Of a warm process: BEGIN, the time, the chat, COMMIT; and the chat as it is answered. A name
    costs the look for its receipt, the receipt, and the note of the answer."""
    async with (
        severed_network(migrated) as network,
        a_ground(migrated, through=network.conninfo) as ground,
    ):
        await ground.create()
        counts = []
        for headers in ([], [("idempotency-key", "one")], [("idempotency-key", "one")]):
            network.release()
            assert 201 == (await ground.create(headers=headers)).status
            counts.append(network.said["E"])

    assert [5, 8, 1] == counts
