"""Links that set a password: once, for a while."""

import pytest
import trio

from adapters.people.store import deployment as bounds
from adapters.people.store.users import UserStatus


async def test_a_link_tells_whom_it_is_for_as_often_as_one_looks(people):
    ann = await people.add()
    link = await people.invitations.add(ann.id)

    assert [ann, ann] == [await people.invitations.user_of(link.code) for _ in range(2)]


async def test_with_its_use_the_user_has_a_password_and_is_active(people):
    ann = await people.add()
    link = await people.invitations.add(ann.id)

    taken = await people.invitations.use(link.code, "made of it")

    assert (ann.id, UserStatus.ACTIVE) == (taken.id, taken.status)
    assert "made of it" == await people.users.password_of(ann.id)


async def test_a_link_works_once_and_takes_the_others_of_its_user_along(people):
    ann, bob = await people.add("ann"), await people.add("bob")
    one, two = [await people.invitations.add(ann.id) for _ in range(2)]
    other = await people.invitations.add(bob.id)

    await people.invitations.use(one.code, "first")

    assert await people.invitations.use(one.code, "second") is None
    assert await people.invitations.use(two.code, "second") is None
    assert "first" == await people.users.password_of(ann.id)
    assert bob == await people.invitations.user_of(other.code)


async def test_of_many_who_use_a_link_at_once_one_succeeds(people):
    ann = await people.add()
    link = await people.invitations.add(ann.id)
    taken = []

    async def take(number):
        taken.append((number, await people.invitations.use(link.code, f"password {number}")))

    async with trio.open_nursery() as nursery:
        for number in range(4):
            nursery.start_soon(take, number)

    [winner] = [number for number, user in taken if user is not None]
    assert f"password {winner}" == await people.users.password_of(ann.id)


async def test_sessions_end_with_a_new_password(people):
    ann = await people.add()
    session = await people.tokens.add_session(ann.id)
    link = await people.invitations.add(ann.id)

    await people.invitations.use(link.code, "made of it")

    assert await people.tokens.of_id(session[:10]) is None


SPOILED = {
    "it is too old": "UPDATE invitations SET expires_at = now()",
    "its user is suspended": "UPDATE users SET status = 'suspended'",
    "its user is deleted": "UPDATE users SET deleted_at = now()",
}


@pytest.mark.parametrize("sql", SPOILED.values(), ids=SPOILED)
async def test_a_link_is_void_when(people, sql):
    ann = await people.add()
    link = await people.invitations.add(ann.id)

    await people.rows(sql)

    assert await people.invitations.user_of(link.code) is None
    assert await people.invitations.use(link.code, "made of it") is None
    assert [(None,)] == await people.rows("SELECT password_hash FROM users")


async def test_of_many_links_the_newest_are_good(people, monkeypatch):
    monkeypatch.setattr(bounds, "LINKS_MAX", 2)
    ann = await people.add()

    links = [await people.invitations.add(ann.id) for _ in range(3)]

    good = [await people.invitations.user_of(link.code) is not None for link in links]
    assert [False, True, True] == good
