"""An upgrade erases nothing: an older database keeps everything until an admin says otherwise."""

import json

import pytest

from adapters.cli.doctor.database import HOLDS_NAMED_MAX, check_notices, check_retention
from adapters.cli.doctor.findings import FindingState
from adapters.models.settings import DEFAULTS, RETENTION_DAYS
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.migrating import known, migrate

[STEP] = [step.version for step in known() if step.name == "housekeeping"]
BEFORE = known()[: STEP - 1]
BOTH = ("retention_days", "debug_retention_days")


@pytest.fixture
async def look(database):
    connection = await DatabaseConnection.open(database)
    yield connection.execute
    connection.close()


async def upgraded(database, look, *, users=1, **values):
    """Take the steps there were before, live a little, and take the others."""
    await migrate(database, BEFORE)
    for number in range(users):
        await look(
            "INSERT INTO users (id, username) VALUES (gen_random_uuid(), %(n)s)",
            {"n": f"u{number}"},
        )
    for name, value in values.items():
        await look(
            "INSERT INTO settings (name, value) VALUES (%(n)s, %(v)s::text::json)",
            {"n": name, "v": json.dumps(value)},
        )
    await migrate(database)
    found = dict(await look("SELECT name, value::text FROM settings"))
    [(since, former)] = await look("SELECT upgraded_at IS NOT NULL, former::text FROM housekeeping")
    return found, since, json.loads(former) if former else None


async def test_an_older_database_keeps_everything(database, look):
    found, since, former = await upgraded(database, look)

    assert dict.fromkeys(BOTH, "0") == found
    assert (True, None) == (since, former)


async def test_what_was_set_when_it_had_no_effect_is_remembered_and_does_not_hold(database, look):
    found, since, former = await upgraded(database, look, retention_days=7, auto_archive_days=90)

    assert {"retention_days": "0", "debug_retention_days": "0", "auto_archive_days": "90"} == found
    assert (True, {"retention_days": 7}) == (since, former)


async def test_a_new_database_has_the_defaults_of_the_reference(database, look):
    await migrate(database)

    assert [] == await look("SELECT name FROM settings")
    assert [(None,)] == await look("SELECT upgraded_at FROM housekeeping")
    assert 30 == DEFAULTS[RETENTION_DAYS]


async def test_a_database_that_was_made_and_never_used_is_new(database, look):
    found, since, _ = await upgraded(database, look, users=0)

    assert ({}, False) == (found, since)


async def doctor(database):
    connection = await DatabaseConnection.open(database)
    try:
        return {each.subject: each for each in await check_retention(connection)}
    finally:
        connection.close()


async def test_doctor_says_that_an_older_database_keeps_everything_until_an_admin_sets_days(
    database, look
):
    await upgraded(database, look, retention_days=7)

    found = (await doctor(database))["retention"]

    assert FindingState.WARNING is found.state
    assert "retention_days 7 had been set" in found.fact
    assert "retention-days" in found.advice
    await look("UPDATE settings SET value = '30', updated_at = now()")
    assert FindingState.OK is (await doctor(database))["retention"].state


async def test_doctor_names_the_rules_that_are_off_and_the_legal_holds(database, look):
    await migrate(database)
    assert "auto-archive-days, workspace-ttl" in (await doctor(database))["rules"].fact
    await look("INSERT INTO users (id, username) VALUES (gen_random_uuid(), 'ann')")
    await look(
        "INSERT INTO chats (id, owner_id, status, title)"
        " SELECT gen_random_uuid(), id, 'waiting', 'A' FROM users"
    )
    await look(
        "INSERT INTO legal_holds (user_id, reason, set_by) SELECT id, 'case 7', id FROM users"
    )
    await look(
        "INSERT INTO legal_holds (root_id, reason, set_by, set_at)"
        " SELECT id, 'case 8', owner_id, '2030-01-09' FROM chats"
    )
    await look("INSERT INTO settings (name, value) VALUES ('auto_archive_days', '7')")
    await look("INSERT INTO settings (name, value) VALUES ('retention_days', '0')")

    found = await doctor(database)

    assert "retention-days, workspace-ttl" in found["rules"].fact
    assert "1 on chats, 1 on users, the first since" in found["legal holds"].fact
    assert "ann (case 7)" in found["legal holds"].fact
    assert "A (case 8)" in found["legal holds"].fact


async def test_doctor_counts_the_legal_holds_that_it_does_not_name(database, look):
    await migrate(database)
    await look(
        "INSERT INTO users (id, username)"
        " SELECT gen_random_uuid(), 'u' || n FROM generate_series(1, %(n)s::int) AS n",
        {"n": HOLDS_NAMED_MAX + 2},
    )
    await look(
        "INSERT INTO legal_holds (user_id, reason, set_by) SELECT id, 'case 7', id FROM users"
    )

    assert (await doctor(database))["legal holds"].fact.endswith(", 2 more")


async def notices(database):
    connection = await DatabaseConnection.open(database)
    try:
        return [(each.subject, each.fact) for each in await check_notices(connection)]
    finally:
        connection.close()


async def test_doctor_sees_what_is_not_sent_to_browsers_and_webhooks(database, look):
    await migrate(database)
    assert [] == await notices(database)
    await look("INSERT INTO users (id, username) VALUES (gen_random_uuid(), 'ann')")
    await look(
        "INSERT INTO push_subscriptions (id, user_id, endpoint, keys)"
        " SELECT id, id, 'https://push.example', '' FROM users"
    )
    for owner, url, hours in (
        ("NULL", "https://in.example/a-secret", 30),
        ("id", "https://to.example", 5),
        ("id", "https://lately.example", 0),
    ):
        await look(
            "INSERT INTO webhooks (id, owner_id, url, kinds, secret, created_by, failing_since)"
            f" SELECT gen_random_uuid(), {owner}::uuid, %(url)s, '{{}}', '', id,"
            "        now() - %(hours)s * interval '1 hour' FROM users",
            {"url": url, "hours": hours},
        )
    await look(
        "INSERT INTO deliveries (id, target, target_id, event_id, kind, user_id, due_at)"
        " SELECT gen_random_uuid(), 'webhook', id, id, 'ended', id, now() - interval '9 minutes'"
        " FROM users"
    )

    told = await notices(database)

    assert [
        ("web push", "1 browsers have subscribed, and there is no key pair to push with"),
        ("outbox", "of 1 deliveries the oldest has been due for 9 minutes"),
        (
            "webhooks",
            "a webhook of the deployment at in.example has failed for 30 hours, one of 2 that fail",
        ),
        ("webhooks", "a webhook of ann at to.example has failed for 5 hours, one of 2 that fail"),
    ] == told


async def test_doctor_sees_that_no_house_was_kept_for_long(database, look):
    await migrate(database)
    assert ["retention", "rules"] == list(await doctor(database))

    await look("UPDATE housekeeping SET ended_at = now() - interval '7 hours'")

    assert FindingState.WARNING is (await doctor(database))["housekeeping"].state
