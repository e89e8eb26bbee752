"""What holds of a chat after every step, whatever the law and the plain program agree on."""

from collections import Counter

from actors.law.chat import Role, Visibility
from actors.law.closing import unanswered_calls
from actors.law.parts.message import ToolCallPart, ToolResultPart
from actors.law.states import State, Status
from tests.models.law import tag


def both_hold_the_same(it):
    book, plain, chat = it.book, it.plain, it.book.chat
    assert [tuple(row) for row in plain.history] == [
        (m.id, m.body, m.deleted, m.revision) for m in book.messages
    ]
    assert plain.queue == [[row.id, row.message, row.steers] for row in book.queue]
    assert (plain.status, plain.archived) == (chat.status.value, chat.archived)
    assert (plain.holder, plain.pin) == (chat.holder, chat.pin_order)
    assert plain.options == [chat.plan_mode, chat.mcp_server_ids]
    assert (plain.error, plain.retry) == (chat.last_error, chat.retry_state)
    assert plain.consent == [
        [a.tool_call_id, a.tool, a.asked_at, a.until, a.allowed_by] for a in chat.approvals
    ]
    assert plain.decided == [
        (d.tool_call_id, d.tool, d.verdict.value, d.by, d.words) for d in book.decided
    ]
    assert plain.deadline == chat.requires_action_deadline_at
    assert plain.marker == chat.compaction_requested_at
    assert plain.snapshot == chat.snapshot_version
    assert plain.history_version == chat.history_version
    assert plain.queue_version == chat.queue_version
    assert plain.retry_version == chat.retry_state_version
    assert plain.attempt == chat.generation_attempt
    assert plain.failures == chat.provider_failures_count
    assert plain.deaths == chat.process_deaths_count
    assert plain.model == chat.last_model_config_id
    assert plain.effort == chat.last_reasoning_effort
    assert plain.files == book.linked


def versions_only_grow_and_never_pass_the_snapshot(it):
    before, after = _versions(it.before), _versions(it.book.chat)
    assert all(old <= new for old, new in zip(before, after, strict=True))
    assert it.book.chat.snapshot_version <= it.before.snapshot_version + 1
    assert max(after) == it.book.chat.snapshot_version


def positions_rise(it):
    positions = [row.position for row in it.book.queue]
    assert sorted(set(positions)) == positions


def what_users_said_is_there_exactly_once(it):
    said = [body for body in it.book.history if body.role is Role.USER]
    found = Counter(map(tag, [*said, *(row.message for row in it.book.queue)]))
    del found[None]
    assert dict.fromkeys(it.sent, 1) == found


def a_chat_is_in_one_of_its_states_and_idle_when_archived(it):
    chat = it.book.chat
    state = it.book.read(it.now).state
    assert state is not State.INVALID
    assert not chat.archived or chat.status in (Status.WAITING, Status.ERROR)
    waits = chat.requires_action_deadline_at is not None or bool(chat.open_approvals)
    assert waits == (chat.status is Status.REQUIRES_ACTION)


def consent_is_asked_for_calls_that_are_open(it):
    calls = {call.id for call in unanswered_calls(it.book.read(it.now).tail)}
    asked = [approval.tool_call_id for approval in it.book.chat.approvals]
    assert set(asked) <= calls
    assert len(set(asked)) == len(asked)


def every_call_has_its_one_result_behind_it(it):
    call_of_step, results, is_last = {}, Counter(), False
    for body in [*it.book.history, None]:
        is_last = body is None
        if is_last or body.role is Role.ASSISTANT:
            for id, call in call_of_step.items():
                if call.provider_executed:
                    assert results[id] == 0
                else:
                    assert results[id] == 1 or (is_last and results[id] == 0)
            if not is_last:
                call_of_step = {p.id: p for p in body.parts if isinstance(p, ToolCallPart)}
                results = Counter()
        elif body.role is Role.TOOL and body.visibility is not Visibility.MODEL:
            ids = [p.id for p in body.parts if isinstance(p, ToolResultPart)]
            assert set(ids) <= call_of_step.keys()
            results += Counter(ids)


def _versions(chat):
    return (
        chat.history_version,
        chat.queue_version,
        chat.retry_state_version,
        chat.snapshot_version,
    )


ALWAYS = (
    both_hold_the_same,
    consent_is_asked_for_calls_that_are_open,
    versions_only_grow_and_never_pass_the_snapshot,
    positions_rise,
    what_users_said_is_there_exactly_once,
)
SANELY = (
    a_chat_is_in_one_of_its_states_and_idle_when_archived,
    every_call_has_its_one_result_behind_it,
)


def check(it):
    for rule in (*ALWAYS, *(SANELY if it.sane else ())):
        rule(it)
