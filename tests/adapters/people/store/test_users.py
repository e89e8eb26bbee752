"""Users as they are stored, and the one admin who stays."""

import pytest
import trio

from adapters.people.store.users import OWNER, UserFilter, UserPage, UserRefusal, UserStatus


async def test_a_new_user_is_dormant_and_may_nothing_special(people):
    ann = await people.users.add("ann", name="Ann", email="ann@example.org")

    assert ("ann", "Ann", "ann@example.org") == (ann.username, ann.name, ann.email)
    assert (UserStatus.DORMANT, False, None) == (ann.status, ann.is_admin, ann.last_seen_at)
    assert {ann.id: ann} == await people.users.by_ids([ann.id])


@pytest.mark.parametrize(
    ("username", "email"),
    [("ann", ""), ("ANN", ""), ("bob", "ann@example.org"), ("bob", "Ann@Example.org")],
)
async def test_a_name_and_an_address_belong_to_one_user(people, username, email):
    await people.users.add("ann", email="ann@example.org")

    assert UserRefusal.TAKEN is await people.users.add(username, email=email)


async def test_many_may_be_without_an_address(people):
    await people.users.add("ann")

    assert "bob" == (await people.users.add("bob")).username


async def test_a_user_is_found_by_name_whatever_its_case(people):
    ann = await people.add("Ann")

    assert ann == await people.users.by_name("aNN")
    assert await people.users.by_name("an") is None


async def test_one_logs_in_by_name_or_address(people):
    ann = await people.add("ann", email="ann@example.org", password_hash="made of it")
    await people.add("bob", email="")

    for name in ("ANN", "ann@EXAMPLE.org"):
        found = await people.users.to_log_in(name)
        assert (ann.id, "made of it") == (found.id, found.password_hash)
    assert await people.users.to_log_in("") is None


LISTED = {
    "everybody": (UserFilter(), ["ann", "Bea", "cyd"]),
    "one word": (UserFilter(words=["b"]), ["Bea", "cyd"]),
    "every word": (UserFilter(words=["b", "C"]), ["cyd"]),
    "by address": (UserFilter(words=["@here"]), ["ann"]),
    "no pattern is one": (UserFilter(words=["%"]), []),
    "by role": (UserFilter(role=OWNER), ["ann"]),
    "by status": (UserFilter(status=UserStatus.SUSPENDED), ["Bea"]),
    "all of it": (UserFilter(words=["e"], status=UserStatus.SUSPENDED), ["Bea"]),
}


@pytest.mark.parametrize(("wanted", "names"), LISTED.values(), ids=LISTED)
async def test_users_are_listed_by_what_is_wanted(people, wanted, names):
    await people.add("ann", email="ann@here", roles=[OWNER])
    bea = await people.add("Bea")
    await people.users.set_status(bea.id, UserStatus.SUSPENDED)
    await people.add("cyd", name="Ba Cyd")

    page = await people.users.page(wanted)

    assert (names, len(names)) == ([user.username for user in page.users], page.count)


async def test_a_page_tells_how_many_there_are_in_all(people):
    for name in "abcde":
        await people.add(name)

    page = await people.users.page(UserFilter(limit=2, offset=3))

    assert (["d", "e"], 5) == ([user.username for user in page.users], page.count)
    assert UserPage((), 5) == await people.users.page(UserFilter(limit=2, offset=9))


async def test_a_profile_changes_under_a_name_that_is_free(people):
    ann, _ = await people.add("ann"), await people.add("bob")

    taken = await people.users.set_profile(ann.id, username="BOB", name="", avatar_url="")
    changed = await people.users.set_profile(ann.id, username="Ann", name="A", avatar_url="u")

    assert UserRefusal.TAKEN is taken
    assert ("Ann", "A", "u") == (changed.username, changed.name, changed.avatar_url)
    assert changed.updated_at > ann.updated_at


async def less(people, id):
    return await people.users.set_roles(id, [])


async def suspended(people, id):
    return await people.users.set_status(id, UserStatus.SUSPENDED)


async def deleted(people, id):
    return await people.users.delete(id)


@pytest.mark.parametrize("lessen", [less, suspended, deleted])
async def test_the_last_admin_stays_one(people, lessen):
    ann = await people.add("ann", roles=[OWNER])
    gone = await people.add("gone", roles=[OWNER])
    away = await people.add("away", roles=[OWNER])
    await people.users.delete(gone.id)
    await people.users.set_status(away.id, UserStatus.SUSPENDED)

    assert UserRefusal.LAST_ADMIN is await lessen(people, ann.id)
    assert {ann.id: ann} == await people.users.by_ids([ann.id])


@pytest.mark.parametrize("lessen", [less, suspended, deleted])
async def test_of_two_admins_who_lessen_each_other_one_stays(people, lessen):
    ann, bob = await people.add("ann", roles=[OWNER]), await people.add("bob", roles=[OWNER])
    answers = []

    async def act(id):
        answers.append(await lessen(people, id))

    async with people.aside.transaction() as tx, trio.open_nursery() as nursery:
        await tx.run([("SELECT FROM users FOR UPDATE", ())])  # so that both are at it
        nursery.start_soon(act, ann.id)
        nursery.start_soon(act, bob.id)
        await people.until("SELECT count(*) FILTER (WHERE wait_event_type = 'Lock') = 2")
        await tx.commit()

    assert 1 == answers.count(UserRefusal.LAST_ADMIN)
    assert 1 == (await people.users.page(UserFilter(role=OWNER, status=UserStatus.DORMANT))).count


@pytest.mark.parametrize("lessen", [less, suspended, deleted])
async def test_there_is_nothing_to_do_to_nobody(people, lessen):
    ann = await people.add("ann")
    await people.users.delete(ann.id)

    assert UserRefusal.NOT_FOUND is await lessen(people, ann.id)


@pytest.mark.parametrize("lessen", [less, suspended, deleted])
async def test_a_member_may_go_while_there_is_one_admin(people, lessen):
    await people.add("ann", roles=[OWNER])
    bob = await people.add("bob")

    assert bob.id == (await lessen(people, bob.id)).id


async def test_who_is_deleted_is_remembered_but_neither_found_nor_let_in(people):
    ann = await people.add("ann", email="a@b", password_hash="made of it")
    token = await people.tokens.add_personal(ann.id, "bot", scopes=["all"], seconds=None)
    link = await people.invitations.add(ann.id)

    await people.users.delete(ann.id)

    [kept] = (await people.users.by_ids([ann.id])).values()
    assert ("ann", True) == (kept.username, kept.is_deleted)
    assert await people.users.by_name("ann") is None
    assert await people.users.to_log_in("a@b") is None
    assert await people.tokens.of_id(token[:10]) is None
    assert await people.invitations.user_of(link.code) is None
    assert "ann" == (await people.add("ann", email="a@b")).username


async def test_a_new_password_ends_links_and_other_sessions_but_no_personal_token(people):
    ann = await people.add()
    here, there = [await people.tokens.add_session(ann.id) for _ in range(2)]
    bot = await people.tokens.add_personal(ann.id, "bot", scopes=["all"], seconds=None)
    link = await people.invitations.add(ann.id)

    await people.users.set_password(ann.id, "made of it", keep_token=here[:10])

    assert "made of it" == await people.users.password_of(ann.id)
    good = [await people.tokens.of_id(token[:10]) is not None for token in (here, there, bot)]
    assert [True, False, True] == good
    assert await people.invitations.user_of(link.code) is None


async def test_a_hash_is_renewed_only_if_it_is_still_that_of_the_password(people):
    ann = await people.add(password_hash="old")

    hashes = []
    for was, now in (("other", "wrong"), ("old", "new")):
        await people.users.renew_hash(ann.id, was=was, now=now)
        hashes.append(await people.users.password_of(ann.id))

    assert ["old", "new"] == hashes
