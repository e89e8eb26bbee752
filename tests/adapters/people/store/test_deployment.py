"""From the first start on there is one admin who can come in."""

import pytest
import trio

from adapters.people.store.deployment import ensure_first_admin, read_deployment
from adapters.people.store.tokens import TokenKind, hash_of
from adapters.people.store.users import OWNER

SET = "as-the-configuration-says"
LOCAL = "local-as-the-master-key-says"


async def test_the_first_start_makes_an_admin_and_a_link_for_him(people):
    founded = await ensure_first_admin(people.pool, None, local_token=LOCAL)

    assert (True, "admin", True) == (
        founded.is_new,
        founded.admin.username,
        founded.admin.is_admin,
    )
    assert founded.admin == await people.invitations.user_of(founded.code)
    assert [(founded.admin.id,)] == await people.rows("SELECT first_admin_id FROM deployment")


async def test_of_several_that_start_together_one_makes_the_admin_and_every_link_works(people):
    founded = []

    async def start():
        founded.append(await ensure_first_admin(people.pool, None, local_token=LOCAL))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(start)

    assert [False, False, False, True] == sorted(each.is_new for each in founded)
    assert [(1,)] == await people.rows("SELECT count(*) FROM users")
    for each in founded:
        assert "admin" == (await people.invitations.user_of(each.code)).username


async def test_there_is_a_link_until_the_admin_can_log_in(people):
    first = await ensure_first_admin(people.pool, None, local_token=LOCAL)
    second = await ensure_first_admin(people.pool, None, local_token=LOCAL)
    await people.invitations.use(second.code, "made of it")
    third = await ensure_first_admin(people.pool, None, local_token=LOCAL)

    assert (False, first.admin.id) == (second.is_new, second.admin.id)
    assert (False, None) == (third.is_new, third.code)


async def test_who_is_an_admin_already_needs_no_other(people):
    boss = await people.add("boss", roles=[OWNER], password_hash="made of it")

    founded = await ensure_first_admin(people.pool, None, local_token=LOCAL)

    assert (boss.id, False, None) == (founded.admin.id, founded.is_new, founded.code)


async def test_a_member_called_admin_keeps_his_name_and_his_rights(people):
    member = await people.add("Admin")

    founded = await ensure_first_admin(people.pool, None, local_token=LOCAL)

    assert f"admin-{str(founded.admin.id)[:8]}" == founded.admin.username
    assert {member.id: member} == await people.users.by_ids([member.id])


async def test_the_configured_token_is_the_first_admins_and_makes_a_link_needless(people):
    founded = await ensure_first_admin(people.pool, SET, local_token=LOCAL)

    good = await people.tokens.of_hash(hash_of(SET))
    assert (founded.admin.id, TokenKind.CONFIGURED) == (good.id, good.kind)
    assert {"all"} == good.scopes
    assert (None, None) == (founded.code, good.seconds)


async def test_commands_on_this_machine_get_in_and_the_link_is_there_all_the_same(people):
    founded = await ensure_first_admin(people.pool, None, local_token=LOCAL)

    good = await people.tokens.of_hash(hash_of(LOCAL))
    assert (founded.admin.id, TokenKind.CONFIGURED) == (good.id, good.kind)
    assert founded.code is not None


async def test_another_master_key_ends_the_former_ones_token(people):
    await ensure_first_admin(people.pool, None, local_token=LOCAL)
    await ensure_first_admin(people.pool, None, local_token="local-of-another-key")

    assert await people.tokens.of_hash(hash_of(LOCAL)) is None


CONFIGURED = {
    "changed": ([SET, "another-one-of-that-length"], [False, True]),
    "taken away": ([SET, None], [False, False]),
    "left as it is": ([SET, SET], [True, True]),
    "changed back": ([SET, "another-one-of-that-length", SET], [True, False, True]),
}


@pytest.mark.parametrize(("starts", "good"), CONFIGURED.values(), ids=CONFIGURED)
async def test_only_what_is_configured_now_is_good(people, starts, good):
    for token in starts:
        await ensure_first_admin(people.pool, token, local_token=LOCAL)

    assert good == [
        token is not None and await people.tokens.of_hash(hash_of(token)) is not None
        for token in starts
    ]


async def test_a_configured_token_is_not_revoked_by_its_user(people):
    founded = await ensure_first_admin(people.pool, SET, local_token=LOCAL)
    good = await people.tokens.of_hash(hash_of(SET))

    assert not await people.tokens.revoke(founded.admin.id, good.token)


async def test_a_deployment_keeps_its_names(people):
    one, two = await read_deployment(people.pool), await read_deployment(people.pool)

    assert one == two
    assert one.id != one.organization_id
