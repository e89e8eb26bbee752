"""Users as others name them: few statements, and never a former name after the news of it."""

from uuid import uuid4

import pytest
import trio

from adapters.people.store.users import CachedUsers, Users


@pytest.fixture
def known(people):
    return CachedUsers(people.users)


class CountedUsers(Users):
    """Users that say how many were read by each statement."""

    reads = ()

    async def by_ids(self, ids):
        self.reads = (*self.reads, len(ids))
        return await super().by_ids(ids)


async def test_many_are_read_in_one_statement_and_then_in_none(people):
    ids = [(await people.add(name)).id for name in ("ann", "bob", "cyd")]
    users = CountedUsers(people.pool)
    known = CachedUsers(users)
    await known.by_id(ids[0])

    found = [await known.by_ids([*ids, uuid4()]), await known.by_ids(ids)]

    assert [{"ann", "bob", "cyd"}] * 2 == [
        {user.username for user in each.values()} for each in found
    ]
    assert (1, 3) == users.reads


async def test_who_has_changed_is_read_anew_by_id_and_name(people, known):
    ann = await people.add("ann")
    await known.by_id(ann.id)
    await known.by_name("ANN")

    await people.users.set_profile(ann.id, username="anna", name="", avatar_url="")
    known.forget(ann.id)

    assert "anna" == (await known.by_id(ann.id)).username
    assert await known.by_name("ann") is None
    assert "anna" == (await known.by_name("anna")).username


async def test_what_was_read_before_the_news_is_not_kept_after_it(people, known):
    ann = await people.add("ann")
    async with people.aside.transaction() as tx:
        await tx.run([("LOCK TABLE users", ())])  # reads wait
        async with trio.open_nursery() as nursery:
            nursery.start_soon(known.by_ids, [ann.id])
            while people.pool.statistics().lent == 0:
                await trio.sleep(0.002)
            known.forget(ann.id)
            await tx.commit()

    assert 0 == known.statistics().kept


async def test_who_is_deleted_has_a_name_still_but_is_not_found_by_it(people, known):
    ann = await people.add("ann")
    await people.users.delete(ann.id)

    assert "ann" == (await known.by_id(ann.id)).username
    assert await known.by_name("ann") is None
