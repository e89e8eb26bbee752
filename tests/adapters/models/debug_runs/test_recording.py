"""Records of model calls through a whole daemon: who is recorded, what is kept, when it goes."""

import json
from uuid import UUID, uuid4

import pytest
import trio

from adapters.models.debug_runs.store import DEBUG_RUN_RULE, STALE_SECONDS
from adapters.rehearsal.behaviour import Behaviour, read_rules
from tests.adapters.edges import PATIENCE_SECONDS, an_edge, eventually
from tests.adapters.postgres.stores import apply_rule

pytestmark = pytest.mark.slow

CHATS, CONFIG = "/api/v2/chats", "/api/v2/chats/config"
SECRET = "the-key-of-the-deployment"


def hello(text="[[text: good day]] hello"):
    return {"content": [{"type": "text", "text": text}]}


async def switch_on(edge, user):
    await edge.admin.put(f"{CONFIG}/debug-logging", {"allow_users": True})
    put = await user.put(f"{CONFIG}/user-debug-logging", {"debug_logging_enabled": True})
    assert 204 == put.status


async def a_chat(edge, user, text="[[text: good day]] hello"):
    new = {**hello(text), "organization_id": edge.organization}
    answer = await user.post(CHATS, new)
    assert 201 == answer.status, answer.body
    return f"{CHATS}/{answer.document['id']}"


async def at_rest(user, chat, status="waiting"):
    async def is_so():
        return (await user.get(chat)).document["status"] == status

    await eventually(is_so)


async def written(edge):
    """Wait until all that was told to the writer is written."""
    await edge.chats.records._writer.flush(PATIENCE_SECONDS)


async def runs_of(edge, user, chat, kind="chat_turn"):
    """The runs of a chat at rest: its turn is at its end in the database first, and then here."""

    async def is_noted():
        return UUID(chat.rpartition("/")[2]) not in edge.chats.records._writer.open_turns

    await eventually(is_noted)
    await written(edge)
    found = (await user.get(f"{chat}/debug/runs")).document
    return [run for run in found if run["kind"] == kind]


async def the_run(edge, user, chat, kind="chat_turn"):
    """The only run of its kind, when it has ended. A title is made beside the turn."""

    async def ended():
        runs = await runs_of(edge, user, chat, kind)
        return runs if runs and runs[0]["status"] != "in_progress" else None

    [run] = await eventually(ended)
    return (await user.get(f"{chat}/debug/runs/{run['id']}")).document


async def test_a_turn_with_a_tool_is_a_run_of_two_steps(fresh):
    async with an_edge(fresh) as edge:
        ann = edge.member
        await switch_on(edge, ann)
        said = "[[tool-calls: no_such_tool:{}]] [[text: well]] my first words"
        chat = await a_chat(edge, ann, said)
        await at_rest(ann, chat)

        run = await the_run(edge, ann, chat)
        messages = (await ann.get(f"{chat}/messages")).document["messages"]

    summary, (one, two) = run["summary"], run["steps"]
    assert ("completed", "openai-compat") == (run["status"], run["provider"])
    assert [1, 2] == [one["step_number"], two["step_number"]]
    assert {"stream"} == {one["operation"], two["operation"]}
    assert 2 == summary["step_count"]
    assert said == summary["first_message"]
    assert summary["total_input_tokens"] > 0
    assert summary["total_output_tokens"] > 0
    assert not summary["has_error"]
    assert "POST /v1/chat/completions" == summary["endpoint_label"]
    by_model = sorted(m["id"] for m in messages if m["role"] == "assistant")
    assert by_model == [one["assistant_message_id"], two["assistant_message_id"]]
    prompt = min(m["id"] for m in messages if m["role"] == "user")
    assert prompt == run["trigger_message_id"]
    asked = one["normalized_request"]["messages"][-1]
    assert {"role": "user", "parts": [{"type": "text", "text": said}]} == asked
    content = two["normalized_response"]["content"]
    assert [{"type": "text", "text": "well"}] == content
    [attempt] = one["attempts"]
    assert (1, "completed", "POST", 200) == (
        attempt["number"],
        attempt["status"],
        attempt["method"],
        attempt["response_status"],
    )
    assert "data: " in attempt["response_body"]
    assert "my first words" in attempt["request_body"]


async def test_the_calls_of_others_are_not_recorded(fresh):
    async with an_edge(fresh) as edge:
        await switch_on(edge, edge.member)
        theirs = await a_chat(edge, edge.stranger)
        await at_rest(edge.stranger, theirs)
        await written(edge)
        [(stored,)] = await edge.execute("SELECT count(*) FROM debug_runs")
        answer = await edge.stranger.get(f"{theirs}/debug/runs")

    assert (0, 200, []) == (stored, answer.status, answer.document)


async def test_records_are_of_their_owner_and_admins(fresh):
    async with an_edge(fresh, debug_logging_forced="on") as edge:
        chat = await a_chat(edge, edge.member)
        await at_rest(edge.member, chat)
        [run] = await runs_of(edge, edge.member, chat)
        path = f"{chat}/debug/runs/{run['id']}"
        other = await a_chat(edge, edge.member)

        answers = [
            (await edge.member.get(path)).status,
            (await edge.admin.get(path)).status,
            (await edge.stranger.get(path)).status,
            (await edge.member.get(f"{other}/debug/runs/{run['id']}")).status,
            (await edge.member.get(f"{chat}/debug/runs/{uuid4()}")).status,
            (await edge.member.get(f"{chat}/debug/runs/nonsense")).status,
        ]

    assert [200, 200, 404, 404, 404, 400] == answers


async def test_titles_have_runs_of_their_own_and_the_deployment_may_record_all(fresh):
    async with an_edge(fresh, debug_logging_forced="on") as edge:
        chat = await a_chat(edge, edge.member)
        await at_rest(edge.member, chat)

        run = await the_run(edge, edge.member, chat, "title_generation")

    assert ["generate"] == [step["operation"] for step in run["steps"]]
    assert run["trigger_message_id"]


async def test_attempts_at_one_step_are_in_one_record_and_tell_why_they_failed(fresh):
    behaviour = Behaviour(faults=read_rules("429@1"), deltas=3)
    async with an_edge(fresh, debug_logging_forced="on", behaviour=behaviour) as edge:
        chat = await a_chat(edge, edge.member, "hello")
        await at_rest(edge.member, chat)
        turn = await the_run(edge, edge.member, chat)

        async def two_attempts():
            for kind in ("chat_turn", "title_generation"):  # one of them was asked for first
                run = await the_run(edge, edge.member, chat, kind)
                attempts = [attempt for step in run["steps"] for attempt in step["attempts"]]
                if len(attempts) == 2:
                    return attempts

        attempts = await eventually(two_attempts)

    assert [("failed", 429), ("completed", 200)] == [
        (attempt["status"], attempt["response_status"]) for attempt in attempts
    ]
    assert "rate_limit" == attempts[0]["retry_classification"]
    assert ("completed", 1) == (turn["status"], turn["summary"]["step_count"])


async def test_a_turn_that_fails_for_good_is_an_error(fresh):
    behaviour = Behaviour(faults=read_rules("401"))
    async with an_edge(fresh, debug_logging_forced="on", behaviour=behaviour) as edge:
        chat = await a_chat(edge, edge.member, "hello")
        await at_rest(edge.member, chat, "error")
        run = await the_run(edge, edge.member, chat)

    assert ("error", True) == (run["status"], run["summary"]["has_error"])
    [step] = run["steps"]
    assert ("error", "auth", 401) == (
        step["status"],
        step["error"]["kind"],
        step["error"]["status_code"],
    )


async def test_an_interrupted_turn_is_no_error(fresh):
    slow = Behaviour(deltas=500, delta_ms=50)
    async with an_edge(fresh, debug_logging_forced="on", behaviour=slow) as edge:
        chat = await a_chat(edge, edge.member, "hello")
        with trio.fail_after(PATIENCE_SECONDS):
            while not edge.chats.records._writer.open_turns:
                await trio.sleep(0.01)
        assert 200 == (await edge.member.post(f"{chat}/interrupt")).status
        await at_rest(edge.member, chat)
        run = await the_run(edge, edge.member, chat)

    assert ("interrupted", False) == (run["status"], run["summary"]["has_error"])
    assert ["interrupted"] == [step["status"] for step in run["steps"]]
    assert edge.chats.records._writer.open_turns == {}


async def test_an_edit_and_the_archive_remove_records(fresh):
    async with an_edge(fresh, debug_logging_forced="on") as edge:
        chat = await a_chat(edge, edge.member, "first")
        await at_rest(edge.member, chat)
        await the_run(edge, edge.member, chat, "title_generation")  # none comes later any more
        await edge.member.post(f"{chat}/messages", hello("second"))
        await at_rest(edge.member, chat)
        before = {run["summary"]["first_message"] for run in await runs_of(edge, edge.member, chat)}
        messages = (await edge.member.get(f"{chat}/messages")).document["messages"]
        second = max(m["id"] for m in messages if m["role"] == "user")
        edited = await edge.member.patch(f"{chat}/messages/{second}", hello("third"))
        assert 200 == edited.status
        await at_rest(edge.member, chat)
        after = {run["summary"]["first_message"] for run in await runs_of(edge, edge.member, chat)}
        assert 204 == (await edge.member.patch(chat, {"archived": True})).status
        await written(edge)
        [(left,)] = await edge.execute("SELECT count(*) FROM debug_runs")

    assert ({"first", "second"}, {"first", "third"}, 0) == (before, after, left)


async def test_old_records_go_by_their_age(fresh):
    async with an_edge(fresh, debug_logging_forced="on") as edge:
        chat = await a_chat(edge, edge.member, "first")
        await at_rest(edge.member, chat)
        await edge.member.post(f"{chat}/messages", hello("second"))
        await at_rest(edge.member, chat)
        runs = await runs_of(edge, edge.member, chat)
        await edge.execute(
            "UPDATE debug_runs SET started_at = now() - interval '31 days'"
            " WHERE first_message <> 'second'"
        )
        kept_for_ever = DEBUG_RUN_RULE.age_seconds(0)
        gone = await apply_rule(edge.pool, DEBUG_RUN_RULE)
        left = await runs_of(edge, edge.member, chat)

    assert kept_for_ever is None
    assert gone >= 1
    assert ({"first", "second"}, {"second"}) == tuple(
        {run["summary"]["first_message"] for run in found} for found in (runs, left)
    )


async def test_keys_are_in_no_record(fresh):
    async with an_edge(fresh, debug_logging_forced="on") as edge:
        made = await edge.admin.post(
            "/api/v2/ai/providers",
            {
                "type": "openai-compat",
                "name": "sealed",
                "base_url": f"{edge.chats.catalogue._facts.offered[0].provider.base_url}",
                "api_keys": [SECRET],
            },
        )
        assert 201 == made.status, made.body
        model = await edge.admin.post(
            f"/api/v2/organizations/{edge.organization}/chats/models",
            {"ai_provider_id": made.document["id"], "model": "m", "context_limit": 100_000},
        )
        chosen = model.document.get("id")
        new = {**hello(), "organization_id": edge.organization, "model_config_id": chosen}
        chat = f"{CHATS}/{(await edge.member.post(CHATS, new)).document['id']}"
        await at_rest(edge.member, chat)
        run = await the_run(edge, edge.member, chat)

    assert SECRET not in json.dumps(run)
    headers = run["steps"][0]["attempts"][0]["request_headers"]
    assert "[REDACTED]" == headers["Authorization"]


async def test_what_nobody_keeps_alive_counts_as_interrupted(fresh):
    async with an_edge(fresh, debug_logging_forced="on") as edge:
        chat = await a_chat(edge, edge.member)
        await at_rest(edge.member, chat)
        [run] = await runs_of(edge, edge.member, chat)
        for table in ("debug_runs", "debug_steps"):
            await edge.execute(f"UPDATE {table} SET status = 'in_progress', finished_at = NULL")
        store = edge.chats.records._writer._store
        early = await store.finish_stale()
        old = {"seconds": STALE_SECONDS + 1}
        await edge.execute(
            "UPDATE debug_runs SET updated_at = now() - make_interval(secs => %(seconds)s)", old
        )
        late = await store.finish_stale()
        dead = await the_run(edge, edge.member, chat)
        await store.end_run(UUID(run["id"]), "completed")  # another process went on with it
        await store.end_run(UUID(run["id"]), "error")
        [after] = await runs_of(edge, edge.member, chat)

    assert early == 0
    assert late >= 1
    assert ("interrupted", "interrupted") == (dead["status"], dead["steps"][0]["status"])
    assert "completed" == after["status"]


async def test_a_beat_keeps_only_what_is_at_work_here(fresh):
    slow = Behaviour(deltas=500, delta_ms=50)
    async with an_edge(fresh, debug_logging_forced="on", behaviour=slow) as edge:
        chat = await a_chat(edge, edge.member, "hello")
        writer = edge.chats.records._writer
        with trio.fail_after(PATIENCE_SECONDS):
            while not writer.open_turns:
                await trio.sleep(0.01)
        await written(edge)
        await writer._beat()
        kept = len(writer.open_turns)
        await edge.execute("UPDATE debug_runs SET status = 'interrupted'")
        await writer._beat()
        left = len(writer.open_turns)
        await edge.member.post(f"{chat}/interrupt")
        await at_rest(edge.member, chat)

    assert (1, 0) == (kept, left)


async def test_switched_off_it_adds_no_statement_to_a_turn(fresh, counting):
    async with an_edge(fresh) as edge:
        chat = await a_chat(edge, edge.member)
        await at_rest(edge.member, chat)
        await edge.member.post(f"{chat}/messages", hello())
        await at_rest(edge.member, chat)
        counting.begin()
        await edge.member.post(f"{chat}/messages", hello())
        await at_rest(edge.member, chat)
        await edge.chats.store.hints.flush(PATIENCE_SECONDS)
        said = counting.said()

    assert not [statement for statement in said if "debug" in statement]


async def test_a_database_that_refuses_records_stops_no_turn(fresh):
    async with an_edge(fresh, debug_logging_forced="on") as edge:
        await edge.execute("ALTER TABLE debug_steps RENAME TO elsewhere")
        chat = await a_chat(edge, edge.member)
        await at_rest(edge.member, chat)
        await written(edge)
        failed = edge.chats.records.statistics().failed_count
        await edge.execute("ALTER TABLE elsewhere RENAME TO debug_steps")

    assert failed > 0
