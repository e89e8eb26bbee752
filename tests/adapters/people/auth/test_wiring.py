"""The first start, and what several processes know of people."""

import logging
import sys

import pytest
import trio

from actors.law.store.hints import HintsLost
from adapters.people.auth import callers
from adapters.people.store import users as known
from adapters.people.store.tokens import NOTE_SECONDS
from adapters.postgres.bus import Switchboard
from adapters.postgres.driver.pool import Pool
from adapters.postgres.hints import Hints
from tests.adapters.people.auth.stage import ACCESS_URL, ADMIN_TOKEN, a_door, a_process
from tests.patience import PATIENCE_SECONDS

ME = "/api/v2/users/me"


def entries(caplog, name):
    return [record.fields for record in caplog.records if record.message == name]


@pytest.mark.parametrize(("is_terminal", "count"), [(True, 1), (False, 0)])
async def test_the_first_start_tells_a_link_to_the_log_and_to_a_person_at_a_terminal(
    people, capsys, caplog, monkeypatch, is_terminal, count
):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)

    async with a_door(people, admin_token=None) as door:
        printed = capsys.readouterr().err
        [entry] = entries(caplog, "admin.invited")

        assert {"user": "admin", "hours": 24, "new": True} == {
            name: value for name, value in entry.items() if name != "link"
        }
        assert entry["link"].startswith(f"{ACCESS_URL}/join/")
        assert count == printed.count(entry["link"])
        page = await door.asks("GET", entry["link"].removeprefix(ACCESS_URL))
        assert b"Welcome, admin" in page.body


async def test_nothing_is_printed_once_the_admin_can_come_in(people, capsys, caplog):
    caplog.set_level(logging.INFO)
    async with a_door(people) as door:
        new = {"password": "battery staple"}
        await door.asks("PUT", f"{ME}/password", token=ADMIN_TOKEN, json=new)

    async with a_door(people, admin_token=None):
        pass

    assert "" == capsys.readouterr().err
    assert [] == entries(caplog, "admin.invited")


async def test_the_configured_token_is_never_printed(people, capsys, caplog):
    caplog.set_level(logging.DEBUG)

    async with a_door(people) as door:
        assert 200 == (await door.asks("GET", ME, token=ADMIN_TOKEN)).status

    assert ADMIN_TOKEN not in capsys.readouterr().err + caplog.text


async def test_a_token_that_the_next_start_does_not_name_is_refused(people):
    async with a_door(people) as door:
        assert 200 == (await door.asks("GET", ME, token=ADMIN_TOKEN)).status

        async with a_process(people, door.bus, admin_token="another-token-of-that-length"):
            pass

        assert 401 == (await door.asks("GET", ME, token=ADMIN_TOKEN)).status


async def test_use_that_was_not_noted_is_noted_at_the_end(people):
    async with a_door(people) as door:
        await door.asks("GET", ME, token=ADMIN_TOKEN)

    async with a_door(people) as door:
        noted = "SELECT last_used_at FROM tokens WHERE name = 'from the configuration'"
        [(last_used_at,)] = await door.rows(noted)
        assert last_used_at is not None


@pytest.mark.slow
async def test_use_is_noted_within_a_minute(people, rushing_clock):
    async with a_door(people) as door:
        await door.asks("GET", ME, token=ADMIN_TOKEN)

        rushing_clock.jump(NOTE_SECONDS)

        noted = "SELECT count(*) FROM tokens WHERE last_used_at IS NOT NULL"
        with trio.fail_after(PATIENCE_SECONDS):
            while [(1,)] != await door.rows(noted):
                await trio.sleep(0.01)


async def test_who_may_have_missed_news_reads_names_anew(people):
    async with a_door(people) as door:
        await door.asks("GET", ME, token=ADMIN_TOKEN)
        reads = door.auth.cached_users.statistics().read_count

        door.bus.hear(HintsLost())
        await door.asks("GET", ME, token=ADMIN_TOKEN)

        assert reads + 1 == door.auth.cached_users.statistics().read_count


@pytest.fixture
async def across(people, monkeypatch):
    """Two processes, with PostgreSQL between. What one changes the other hears of, or never."""
    for module in (callers, known):
        monkeypatch.setattr(module, "KEPT_SECONDS", 1_000.0)
    async with trio.open_nursery() as nursery:
        buses, pools = [], [Pool(people, size=2) for _ in range(2)]

        def process(pool):
            bus = Switchboard(lambda hint: hints.tell(hint))
            hints = Hints(pool, people, heard=bus.hear)
            nursery.start_soon(hints.run)
            buses.append(bus)

        for pool in pools:
            process(pool)
        async with a_door(people, bus=buses[0]) as here, a_door(people, bus=buses[1]) as there:
            yield here, there
        nursery.cancel_scope.cancel()
    for pool in pools:
        await pool.drain(1)


async def test_a_token_that_is_revoked_in_one_process_is_refused_in_another(across):
    here, there = across
    ann = await here.joins("ann")

    async def answered(status):
        while status != (await there.asks("GET", ME, token=ann.token)).status:
            await trio.sleep(0.002)

    with trio.fail_after(PATIENCE_SECONDS):
        await answered(200)
        await here.asks("DELETE", f"{ME}/keys/{ann.token[:10]}", token=ann.token)
        await answered(401)


async def test_a_name_that_is_changed_in_one_process_is_shown_by_another(across):
    here, there = across
    ann = await here.joins("ann")
    await there.auth.cached_users.by_id(ann.user.id)

    await here.asks("PUT", f"{ME}/profile", token=ann.token, json={"username": "anna"})

    with trio.fail_after(PATIENCE_SECONDS):
        while "anna" != (await there.auth.cached_users.by_id(ann.user.id)).username:
            await trio.sleep(0.002)
