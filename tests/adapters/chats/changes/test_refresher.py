"""Forges are asked about all chats in batches: rules of when, limits, fleets, wrong answers."""

import json

import pytest
import trio

from actors.law.store.hints import DiffStatusChanged
from adapters.chats.changes import refresher as refreshing
from runtime.clock import wall
from tests.actors.law.chats import ANN, BOB
from tests.fakes.forge import JSON, Raw, a_forge, a_review
from tests.patience import PATIENCE_SECONDS


async def test_a_pull_request_is_found_stored_and_told(either):
    ground = either
    await ground.bring_token()
    chat = await ground.a_chat("work")
    reviews = [a_review("bob", "APPROVED")]
    ground.forge.add_pull("ann/tools", "work", title="Make it better", reviews=reviews)
    ground.store.told.clear()

    await ground.refresher().tick()

    found = await ground.status(chat)
    assert ("Make it better", "open", 1, True) == (
        found.title,
        found.state,
        found.number,
        found.approved,
    )
    assert (2, 1, 1, 2, 1) == (
        found.additions,
        found.deletions,
        found.changed_files,
        found.commits,
        found.reviewer_count,
    )
    assert ("main", "work", "ann", False) == (
        found.base_branch,
        found.head_branch,
        found.author_login,
        found.changes_requested,
    )
    assert [DiffStatusChanged(chat, ANN)] == ground.store.told
    assert 120 == await ground.stale_in(chat)


async def test_what_says_the_same_again_is_not_told(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    ground.forge.add_pull("ann/tools", "work")
    await ground.refresher().tick()
    ground.store.told.clear()

    await ground.refresher().tick()  # it is fresh
    asked = len(ground.forge.asked)
    await ground.later(121)
    await ground.refresher().tick()

    assert [] == ground.store.told
    assert len(ground.forge.asked) == 2 * asked
    assert 120 == await ground.stale_in(chat)


async def test_reviews_of_which_the_last_verdict_counts(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    verdicts = [
        a_review("bob", "APPROVED"),
        a_review("bob", "CHANGES_REQUESTED"),
        a_review("eve", "APPROVED"),
        a_review("eve", "COMMENTED"),
        a_review("ann", "COMMENTED"),  # the author
    ]
    ground.forge.add_pull("ann/tools", "work", reviews=verdicts)

    await ground.refresher().tick()

    found = await ground.status(chat)
    assert (True, False, 2) == (found.changes_requested, found.approved, found.reviewer_count)


@pytest.mark.parametrize("state", ["open", "closed", "merged"])
async def test_the_states_of_a_pull_request(either, state):
    await either.bring_token()
    chat = await either.a_chat("work")
    either.forge.add_pull("ann/tools", "work", state=state, draft=True)

    await either.refresher().tick()

    found = await either.status(chat)
    assert (state, True) == (found.state, found.draft)


async def test_a_pull_request_in_the_repository_that_a_fork_comes_from(either):
    await either.bring_token()
    either.forge.add("ann/fork", parent="ann/tools")
    chat = await either.a_chat("work", path="ann/fork")
    either.forge.add_pull("ann/tools", "work", of="ann/fork", title="From a fork")

    await either.refresher().tick()

    found = await either.status(chat)
    assert ("From a fork", "ann/tools") == (found.title, found.repository)


async def test_the_same_branch_of_another_fork_is_none_of_ours(either):
    await either.bring_token()
    for name in ("ann/fork", "eve/fork"):
        either.forge.add(name, parent="ann/tools")
    chat = await either.a_chat("work", path="ann/fork")
    either.forge.add_pull("ann/tools", "work", of="eve/fork")

    await either.refresher().tick()

    assert await either.status(chat) is None


async def test_an_open_pull_request_counts_before_one_that_was_closed_later(either):
    await either.bring_token()
    chat = await either.a_chat("work")
    either.forge.add_pull("ann/tools", "work", title="the open one")
    either.forge.add_pull("ann/tools", "work", state="closed")

    await either.refresher().tick()

    assert "the open one" == (await either.status(chat)).title


# when


async def test_after_a_push_a_pull_request_is_sought_more_often_for_two_minutes(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work", is_push=True)

    await ground.refresher().tick()
    assert 15 == await ground.stale_in(chat)
    await ground.later(121)
    await ground.refresher().tick()

    assert 120 == await ground.stale_in(chat)


async def test_without_a_token_the_forge_is_not_asked_and_looked_for_one_ten_minutes_later(ground):
    chat = await ground.a_chat("work")

    await ground.refresher().tick()

    assert [] == ground.forge.asked
    assert 600 == await ground.stale_in(chat)


async def test_a_new_token_is_used_at_once(ground):
    chat = await ground.a_chat("work")
    ground.forge.add_pull("ann/tools", "work")
    await ground.refresher().tick()

    await ground.bring_token()
    await ground.refresher().tick()

    assert await ground.status(chat) is not None


async def test_a_branch_on_which_nothing_happens_rests_longer(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    await ground.later(3 * 3600)

    await ground.refresher().tick()

    assert 1080 == await ground.stale_in(chat)


async def test_nothing_is_asked_about_archived_chats(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    await ground.store.ledger.archive_family(chat, archived=True)

    await ground.refresher().tick()

    assert [] == ground.forge.asked
    assert await ground.stale_in(chat) is None


async def test_another_branch_is_asked_about_anew_and_the_former_forgotten(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    ground.forge.add_pull("ann/tools", "work")
    await ground.refresher().tick()
    ground.store.told.clear()

    await ground.note(chat, "other")

    assert (None, 0) == (await ground.status(chat), await ground.stale_in(chat))
    assert [DiffStatusChanged(chat, ANN)] == ground.store.told


async def test_the_same_branch_seen_again_is_only_asked_about_if_the_forge_was_spoken_with(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    await ground.refresher().tick()

    await ground.note(chat, "work")
    quiet = await ground.stale_in(chat)
    await ground.note(chat, "work", is_news=True)

    assert (120, 0) == (quiet, await ground.stale_in(chat))


# limits


PRIMARY = JSON | {"x-ratelimit-remaining": "0"}
LIMITS = {
    "primary of github": lambda: Raw(
        b"{}", 403, PRIMARY | {"x-ratelimit-reset": str(wall().timestamp() + 300)}
    ),
    "secondary": lambda: Raw(b"{}", 403, JSON | {"retry-after": "300"}),
    "secondary without a time": lambda: Raw(
        b'{"message": "You have exceeded a secondary rate limit"}', 403
    ),
    "of gitlab": lambda: Raw(b"", 429, {"retry-after": "300"}),
    "without a word": lambda: Raw(b"", 429, {}),
}


@pytest.mark.parametrize("kind", LIMITS)
async def test_a_limit_delays_its_own_user_and_no_other(ground, kind):
    await ground.bring_token()
    await ground.bring_token(BOB)
    limited = [await ground.a_chat(f"work-{n}") for n in range(3)]
    other = await ground.a_chat("theirs", by=BOB, path="bob/tools")
    ground.forge.add("bob/tools")
    ground.forge.add_pull("bob/tools", "theirs")
    ground.forge.answers["/repos/ann/tools/pulls"] = LIMITS[kind]
    refresher = ground.refresher()

    await refresher.tick()
    asked = len(ground.forge.asked)
    await ground.refresher().tick()  # as another process

    assert await ground.status(other) is not None
    assert asked == len(ground.forge.asked)
    assert refresher.statistics().limited_count >= 1
    del ground.forge.answers["/repos/ann/tools/pulls"]
    ground.forge.add_pull("ann/tools", "work-0")
    waited = 60 if kind in ("secondary without a time", "without a word") else 300
    await ground.later(waited - 30)
    await ground.refresher().tick()
    assert await ground.status(limited[0]) is None
    await ground.later(31)
    await ground.refresher().tick()
    assert await ground.status(limited[0]) is not None


async def test_what_waits_behind_a_limit_is_not_asked_about(ground):
    await ground.bring_token()
    for n in range(10):
        await ground.a_chat(f"work-{n}")
    ground.forge.limit, ground.forge.reset_at = 0, wall().timestamp() + 60

    await ground.refresher().tick()

    assert len(ground.forge.asked) <= refreshing.GROUP_AT_ONCE_MAX


async def test_a_slow_forge_holds_up_its_own_group_only(ground):
    await ground.bring_token()
    await ground.bring_token(BOB)
    slow = [await ground.a_chat(f"work-{n}") for n in range(12)]
    other = await ground.a_chat("theirs", by=BOB, path="bob/tools")
    ground.forge.add("bob/tools")
    ground.forge.add_pull("bob/tools", "theirs")

    async def pause():
        if "/ann/tools" in ground.forge.asked[-1][1]:
            await trio.sleep_forever()

    ground.forge.pause = pause
    refresher = ground.refresher()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(refresher.tick)
        with trio.fail_after(PATIENCE_SECONDS):
            while not refresher.statistics().found_count:
                await trio.sleep(0.005)
        nursery.cancel_scope.cancel()

    assert await ground.status(other) is not None
    assert len(slow) == refresher.statistics().released_count
    assert 0 == await claimed(ground)


async def test_what_a_tick_has_no_time_for_is_left_to_the_next(ground, monkeypatch):
    monkeypatch.setattr(refreshing, "TICK_SECONDS_MAX", 0.1)
    await ground.bring_token()
    chats = [await ground.a_chat(f"work-{n}") for n in range(12)]
    ground.forge.pause = trio.sleep_forever
    refresher = ground.refresher()

    await refresher.tick()

    assert len(chats) == refresher.statistics().released_count
    assert 0 == await claimed(ground)


# fleets


async def claimed(ground):
    [(count,)] = await ground.store.execute(
        "SELECT count(*) FROM diff_statuses WHERE claim IS NOT NULL"
    )
    return count


async def test_of_a_fleet_one_process_asks_about_a_branch(ground):
    await ground.bring_token()
    for n in range(20):
        await ground.a_chat(f"work-{n}")
    fleet = [ground.refresher() for _ in range(4)]

    async with trio.open_nursery() as nursery:
        for process in fleet:
            nursery.start_soon(process.tick)

    assert 20 == sum(process.statistics().claimed_count for process in fleet)
    assert 20 == sum("head=" in target for _, target, _ in ground.forge.asked)


async def test_a_process_that_dies_loses_its_claim_after_a_while(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    ground.forge.add_pull("ann/tools", "work")
    [row] = await ground.branches.claim(ground.refresher()._claim, [ground.forge.host], rows_max=9)

    await ground.refresher().tick()
    early = await ground.status(chat)
    await ground.later(91)
    await ground.refresher().tick()

    assert (chat, None) == (row.chat_id, early)
    assert await ground.status(chat) is not None


async def test_an_answer_about_a_branch_that_was_left_meanwhile_is_not_written(ground):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    ground.forge.add_pull("ann/tools", "work")
    moved = False

    async def pause():
        nonlocal moved
        if not moved:
            moved = True
            await ground.note(chat, "other")

    ground.forge.pause = pause

    await ground.refresher().tick()

    assert (None, 0) == (await ground.status(chat), await ground.stale_in(chat))


async def test_a_refresh_that_is_cancelled_leaves_no_claim_behind(ground):
    await ground.bring_token()
    await ground.a_chat("work")
    asked = trio.Event()

    async def pause():
        asked.set()
        await trio.sleep_forever()

    ground.forge.pause = pause
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ground.refresher().tick)
            await asked.wait()
            nursery.cancel_scope.cancel()

    assert 0 == await claimed(ground)


async def test_an_idle_tick_is_one_statement(ground):
    statements = []
    store = ground.branches
    run = store._run

    async def counted(sql, asked):
        statements.append(sql)
        return await run(sql, asked)

    store._run = counted
    refresher = refreshing.Refresher(store, {}, None, ground.forges)

    await refresher.tick()

    assert 1 == len(statements)


# wrong answers


WRONG = {
    "no json": Raw(b"<html>"),
    "another json": Raw(b'{"a": 1}'),
    "a list of numbers": Raw(b"[1]"),
    "nested": Raw(b"[" * 100_000),
    "an error": Raw(b"", 500),
    "hangs up": None,
    "another host": Raw(b"", 302, {"location": "http://127.0.0.1:1/steal"}),
    "no place": Raw(b"", 302, {}),
    "round and round": Raw(b"", 302, {"location": "/api/v3/repos/ann/tools/pulls"}),
    "much too long": Raw(b"x" * (4 * 1024 * 1024 + 2)),
    "without a number": Raw(json.dumps([{"head": {"ref": "work"}}]).encode()),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_an_answer_that_makes_no_sense_is_asked_for_again_later(ground, wrong):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    ground.forge.answers["/repos/ann/tools/pulls"] = WRONG[wrong]
    refresher = ground.refresher()

    await refresher.tick()

    assert (None, 300) == (await ground.status(chat), await ground.stale_in(chat))
    assert 1 == refresher.statistics().failed_count


async def test_a_redirect_at_the_forge_is_followed_with_the_token(ground):
    """As after a repository was given another name."""
    await ground.bring_token()
    chat = await ground.a_chat("work", path="ann/former")
    ground.forge.add_pull("ann/tools", "work")
    where = "/api/v3/repos/ann/tools/pulls?head=ann%3Awork"
    ground.forge.answers["/repos/ann/former/pulls"] = Raw(b"", 301, {"location": where})
    moved = Raw(b"", 301, {"location": "/api/v3/repos/ann/tools/pulls/1"})
    ground.forge.answers["/repos/ann/former/pulls/1"] = moved
    reviews = Raw(b"", 301, {"location": "/api/v3/repos/ann/tools/pulls/1/reviews"})
    ground.forge.answers["/repos/ann/former/pulls/1/reviews"] = reviews

    await ground.refresher().tick()

    assert "A change" == (await ground.status(chat)).title


@pytest.mark.parametrize("status", [401, 403])
async def test_a_token_that_is_refused_says_so_and_rests(ground, status):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    ground.forge.answers["/repos/ann/tools/pulls"] = Raw(b"{}", status)

    await ground.refresher().tick()

    own = await ground.tokens.of(ANN)
    assert 600 == await ground.stale_in(chat)
    assert "token" in own[ground.forge.host].failure


async def test_a_repository_that_the_token_does_not_show_says_so(either):
    await either.bring_token()
    chat = await either.a_chat("work", path="ann/secret")

    await either.refresher().tick()

    own = await either.tokens.of(ANN)
    assert "ann/secret" in own[either.forge.host].failure
    assert 600 == await either.stale_in(chat)


async def test_a_token_that_is_taken_again_has_no_failure(ground):
    await ground.bring_token()
    await ground.a_chat("work")
    ground.forge.answers["/repos/ann/tools/pulls"] = Raw(b"{}", 401)
    await ground.refresher().tick()

    del ground.forge.answers["/repos/ann/tools/pulls"]
    await ground.later(601)
    await ground.refresher().tick()

    assert "" == (await ground.tokens.of(ANN))[ground.forge.host].failure


async def test_addresses_that_are_no_pages_are_left_out(migrated, either):
    await either.bring_token()
    chat = await either.a_chat("work")
    either.forge.add_pull("ann/tools", "work", title="a\0b\N{BELL}\x1b")

    await either.refresher().tick()

    found = await either.status(chat)
    assert found.author_avatar_url == "" or found.author_avatar_url.startswith("http://")
    assert "ab\N{BELL}" == found.title


async def test_the_loop_goes_on_after_a_fault_of_the_database(ground):
    await ground.bring_token()
    await ground.a_chat("work")
    refresher = ground.refresher(tick_seconds=0.01)
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(refresher.run)
            while refresher.statistics().claimed_count == 0 or await claimed(ground):
                await trio.sleep(0.01)  # the answer is written: nothing is half done any more
            await ground.store.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            await ground.store.execute("UPDATE diff_statuses SET stale_at = now()")
            while refresher.statistics().claimed_count == 1:
                await trio.sleep(0.01)
            nursery.cancel_scope.cancel()


async def test_a_redirect_to_another_host_is_not_followed_and_shows_it_no_token(ground, tmp_path):
    await ground.bring_token()
    chat = await ground.a_chat("work")
    async with a_forge(tmp_path / "elsewhere") as other:
        where = {"location": f"{other.url}/api/v3/repos/ann/tools/pulls"}
        ground.forge.answers["/repos/ann/tools/pulls"] = Raw(b"", 302, where)

        await ground.refresher().tick()

    assert [] == other.asked
    assert 300 == await ground.stale_in(chat)
