"""The schema refuses what the law never writes: each write past it fails, and says why."""

import re

import pytest
from psycopg import errors

from actors.law import requests as ask
from tests.actors.law.chats import HOLDER, RETRY, send
from tests.contracts.given import a_chat, a_held_chat, applied

INSERT_MESSAGE = (
    "INSERT INTO messages (chat_id, role, content, visibility, revision)"
    " VALUES (%(chat)s, 'user', '[]', 'both', %(revision)s)"
)
INSERT_QUEUED = (
    "INSERT INTO queued_messages (chat_id, content, position, created_by)"
    " SELECT id, '[]', 1, owner_id FROM chats WHERE id = %(chat)s"
)
HISTORY = "messages: a history is written with the chat's new snapshot as revision"
CHANGED = "messages: a message that changes stays in its chat and takes its new snapshot"
QUEUE = "queued_messages: a queue is written with the chat's new snapshot as version"
VERSIONS = "chat/.*: versions of the stored chat do not add up"

NEXT = "snapshot_version = snapshot_version + 1"
MOVE_HISTORY = f"UPDATE chats SET {NEXT}, history_version = snapshot_version + 1"
MOVE_QUEUE = f"UPDATE chats SET {NEXT}, queue_version = snapshot_version + 1"


async def refused(store, error, message, sql, **parameters):
    """It is refused in these words, and with advice if the words are ours."""
    with pytest.raises(error) as caught:
        await store.execute(sql, **parameters)
    assert re.match(message, caught.value.diag.message_primary)
    return caught.value.diag.message_hint


@pytest.mark.parametrize("revision", [0, 1, 2, 9])
async def test_a_message_out_of_band_is_refused_whatever_its_revision(store, revision):
    chat = await a_chat(store)

    hint = await refused(
        store, errors.IntegrityError, HISTORY, INSERT_MESSAGE, chat=chat, revision=revision
    )

    assert hint == (
        "in one statement: snapshot_version + 1, history_version and revision equal to it"
    )


async def test_a_message_that_comes_with_its_snapshot_is_taken(store):
    chat = await a_chat(store)

    await store.execute(f"WITH c AS ({MOVE_HISTORY} WHERE id = %(chat)s) {INSERT_MESSAGE}",
                        chat=chat, revision=2)  # fmt: skip

    assert [1, 2] == [message.revision for message in (await store.rows(chat)).messages]


@pytest.mark.parametrize(
    "change",
    [
        "content = '[{}]'",
        "deleted = true",
        "revision = 7",
        "visibility = 'user'",
        "chat_id = (SELECT id FROM chats WHERE id <> chat_id)",
        "output_tokens = 1",
    ],
)
async def test_a_message_that_changes_without_a_new_snapshot_is_refused(store, change):
    chat, _ = await a_chat(store), await a_chat(store)

    await refused(
        store,
        errors.IntegrityError,
        CHANGED,
        f"UPDATE messages SET {change} WHERE chat_id = %(chat)s",
        chat=chat,
    )


async def test_a_message_never_goes_to_another_chat(store):
    chat, other = await a_chat(store), await a_chat(store)

    await refused(
        store,
        errors.IntegrityError,
        CHANGED,
        f"WITH c AS ({MOVE_HISTORY}) UPDATE messages SET chat_id = %(other)s, revision = 2"
        " WHERE chat_id = %(chat)s",
        chat=chat,
        other=other,
    )


async def test_a_message_that_is_written_as_it_was_is_no_change(store):
    chat = await a_chat(store)
    before = await store.rows(chat)

    await store.execute("UPDATE messages SET content = content, deleted = deleted")

    assert before == await store.rows(chat)


@pytest.mark.parametrize(
    "write",
    [
        INSERT_QUEUED,
        "UPDATE queued_messages SET content = '[{}]' WHERE chat_id = %(chat)s",
        "UPDATE queued_messages SET position = 100 WHERE chat_id = %(chat)s",
        "UPDATE queued_messages SET model_config_id = chat_id WHERE chat_id = %(chat)s",
        "DELETE FROM queued_messages WHERE chat_id = %(chat)s",
    ],
)
async def test_a_queue_out_of_band_is_refused(store, write):
    chat = await a_chat(store)
    await applied(store.ledger.apply(chat, [send("q")]))

    hint = await refused(store, errors.IntegrityError, QUEUE, write, chat=chat)

    assert hint == "in one statement: snapshot_version + 1, and queue_version equal to it"


async def test_a_queue_that_comes_with_its_snapshot_is_taken(store):
    chat = await a_chat(store)

    await store.execute(f"WITH c AS ({MOVE_QUEUE} WHERE id = %(chat)s) {INSERT_QUEUED}", chat=chat)

    assert 1 == len((await store.rows(chat)).queue)


@pytest.mark.parametrize(
    "change",
    [
        "snapshot_version = snapshot_version - 1",
        "history_version = history_version - 1",
        "queue_version = queue_version - 1",
        "retry_state_version = retry_state_version - 1",
        "retry_state = NULL",
        """retry_state = '{"attempt": 9}'""",
    ],
)
async def test_versions_that_do_not_add_up_are_refused(store, change):
    chat = await a_held_chat(store)
    await applied(store.ledger.apply(chat, [send("q"), ask.RecordRetryState(RETRY)]))
    await applied(store.ledger.apply(chat, []))

    hint = await refused(store, errors.IntegrityError, VERSIONS, f"UPDATE chats SET {change}")

    assert hint == (
        "versions only grow, and a retry state that changes takes the snapshot as its version"
    )


async def test_a_retry_state_that_is_written_as_it_was_is_no_change(store):
    chat = await a_held_chat(store)
    await applied(store.ledger.apply(chat, [ask.RecordRetryState(RETRY)]))
    before = await store.rows(chat)

    await store.execute("UPDATE chats SET retry_state = retry_state")

    assert before == await store.rows(chat)


@pytest.mark.parametrize(
    "change",
    [
        "history_version = snapshot_version + 1",
        "queue_version = snapshot_version + 1",
        f"worker_id = '{HOLDER.worker}'",
        f"runner_id = '{HOLDER.runner}'",
        "archived = true, pin_order = 1",
        "pin_order = -1",
        "generation_attempt = -1",
        "status = 'asleep'",
    ],
)
async def test_columns_that_do_not_fit_together_are_refused(store, change):
    await a_chat(store)

    await refused(
        store, errors.CheckViolation, 'new row for relation "chats"', f"UPDATE chats SET {change}"
    )


@pytest.mark.parametrize("column", ["created_by", "chat_id", "content", "position"])
async def test_a_queued_message_says_whose_it_is_and_what(store, column):
    chat = await a_chat(store)
    await applied(store.ledger.apply(chat, [send("q")]))

    await refused(
        store,
        errors.NotNullViolation,
        f'null value in column "{column}"',
        f"UPDATE queued_messages SET {column} = NULL",
    )


@pytest.mark.parametrize("change", ["role = 'poet'", "visibility = 'nobody'"])
async def test_roles_and_visibilities_are_the_ones_we_know(store, change):
    chat = await a_chat(store)

    await refused(
        store,
        errors.CheckViolation,
        'new row for relation "messages"',
        f"WITH c AS ({MOVE_HISTORY}) UPDATE messages SET revision = 2, {change}"
        " WHERE chat_id = %(chat)s",
        chat=chat,
    )


async def test_a_chat_takes_all_that_is_its_own_with_it(store):
    root = await a_chat(store)
    child = await a_chat(store, parent=root)
    await applied(store.ledger.apply(child, [send("q")]))

    await store.execute("DELETE FROM chats WHERE id = %(id)s", id=root)

    assert {} == await store.all_rows()
    assert [(0, 0)] == await store.execute(
        "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM queued_messages)"
    )
