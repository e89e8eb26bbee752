"""Tokens: what they are good for, how long, and when they end."""

import pytest

from adapters.people.store import tokens as bounds
from adapters.people.store.tokens import LINK_RULE, TOKEN_RULE, TokenKind, TokenRefusal, hash_of
from adapters.people.store.users import UserStatus
from tests.adapters.postgres.stores import apply_rule


async def personal(people, user, name="bot", **options):
    return await people.tokens.add_personal(
        user.id, name, **({"scopes": ["all"], "seconds": None} | options)
    )


async def test_a_token_is_found_by_what_it_is_and_by_its_id(people):
    ann = await people.add()

    token = await personal(people, ann, scopes=["chats", "models:read"], seconds=3600)

    assert (10, "-", 22) == (len(token[:10]), token[10], len(token[11:]))
    good = await people.tokens.of_hash(hash_of(token))
    assert (token[:10], TokenKind.PERSONAL, ann.id) == (good.token, good.kind, good.id)
    assert {"chats", "models:read"} == good.scopes
    assert 3590 < good.seconds <= 3600
    assert good.id == (await people.tokens.of_id(good.token)).id


async def test_the_secret_is_not_stored(people):
    ann = await people.add()

    token = await personal(people, ann)

    stored = await people.rows("SELECT t::text FROM tokens t")
    assert token[11:] not in str(stored)


async def test_half_a_token_is_none(people):
    token = await personal(people, await people.add())

    assert await people.tokens.of_hash(hash_of(token[:10])) is None
    assert await people.tokens.of_hash(hash_of(token[:-1])) is None


SPOILED = {
    "it was revoked": "UPDATE tokens SET revoked_at = now()",
    "it has expired": "UPDATE tokens SET expires_at = now()",
    "its user is suspended": "UPDATE users SET status = 'suspended'",
    "its user is deleted": "UPDATE users SET deleted_at = now()",
}


@pytest.mark.parametrize("sql", SPOILED.values(), ids=SPOILED)
async def test_a_token_is_good_no_more_when(people, sql):
    token = await personal(people, await people.add())

    await people.rows(sql)

    assert await people.tokens.of_hash(hash_of(token)) is None
    assert await people.tokens.of_id(token[:10]) is None


async def test_a_token_of_who_is_dormant_is_good(people):
    ann = await people.add()

    token = await personal(people, ann)

    assert UserStatus.DORMANT is (await people.tokens.of_hash(hash_of(token))).status


async def test_two_tokens_of_a_user_do_not_share_a_name(people):
    ann, bob = await people.add("ann"), await people.add("bob")
    first = await personal(people, ann, "bot")

    assert TokenRefusal.TAKEN is await personal(people, ann, "bot")
    assert isinstance(await personal(people, bob, "bot"), str)
    await people.tokens.revoke(ann.id, first[:10])
    assert TokenRefusal.TAKEN is not await personal(people, ann, "bot")


async def test_a_token_without_a_name_is_called_like_its_id(people):
    ann = await people.add()

    token = await personal(people, ann, "")

    assert token[:10] == (await people.tokens.of_user(ann.id, token[:10])).name


async def test_there_are_enough_tokens_at_some_point(people, monkeypatch):
    monkeypatch.setattr(bounds, "PERSONAL_MAX", 2)
    ann = await people.add()
    await personal(people, ann, "a")
    await personal(people, ann, "b")

    assert TokenRefusal.FULL is await personal(people, ann, "c")
    assert isinstance(await people.tokens.add_session(ann.id), str)


async def test_with_too_many_sessions_the_oldest_ends(people, monkeypatch):
    monkeypatch.setattr(bounds, "SESSIONS_MAX", 2)
    ann = await people.add()

    sessions = [await people.tokens.add_session(ann.id) for _ in range(3)]

    good = [await people.tokens.of_id(token[:10]) is not None for token in sessions]
    assert [False, True, True] == good


async def test_only_its_user_can_revoke_a_token_and_only_once(people):
    ann, bob = await people.add("ann"), await people.add("bob")
    token = await personal(people, ann)

    assert not await people.tokens.revoke(bob.id, token[:10])
    assert await people.tokens.revoke(ann.id, token[:10])
    assert not await people.tokens.revoke(ann.id, token[:10])


async def test_what_is_listed_is_personal_and_not_revoked(people):
    ann, bob = await people.add("ann"), await people.add("bob")
    await people.tokens.add_session(ann.id)
    revoked = await personal(people, ann, "revoked")
    await people.tokens.revoke(ann.id, revoked[:10])
    await personal(people, ann, "old", seconds=-1.0)
    await personal(people, ann, "good")
    await personal(people, bob, "other")

    async def names(user, **wanted):
        return {token.name for token in await people.tokens.page(user, **wanted)}

    assert {"good"} == await names(ann.id, expired=False)
    assert {"good", "old"} == await names(ann.id, expired=True)
    assert {"good", "other"} == await names(None, expired=False)


async def test_a_token_of_a_user_is_found_by_id_or_name(people):
    ann, bob = await people.add("ann"), await people.add("bob")
    token = await personal(people, ann, "bot")

    by_id = await people.tokens.of_user(ann.id, token[:10])
    assert ("bot", "ann", ("all",)) == (by_id.name, by_id.username, by_id.scopes)
    assert by_id == await people.tokens.of_user(ann.id, "bot")
    assert await people.tokens.of_user(bob.id, "bot") is None


async def test_use_is_noted_and_wakes_who_was_dormant(people):
    ann = await people.add()
    token = await personal(people, ann)

    await people.tokens.note_use({token[:10]})

    assert (await people.tokens.of_user(ann.id, "bot")).last_used_at is not None
    [now] = (await people.users.by_ids([ann.id])).values()
    assert now.status is UserStatus.ACTIVE
    assert now.last_seen_at is not None


async def test_a_session_in_use_goes_on_but_not_for_ever(people):
    ann = await people.add()
    token = await people.tokens.add_session(ann.id)
    shorten = "UPDATE tokens SET expires_at = now() + interval '1 hour'"
    await people.rows(shorten)

    await people.tokens.note_use({token[:10]})
    fresh = (await people.tokens.of_id(token[:10])).seconds
    await people.rows("UPDATE tokens SET created_at = now() - 29 * interval '24 hours'")
    await people.tokens.note_use({token[:10]})
    old = (await people.tokens.of_id(token[:10])).seconds

    assert 6.9 < fresh / 86_400 <= 7
    assert 0.9 < old / 86_400 <= 1


async def test_use_revives_nothing(people):
    ann = await people.add()
    revoked, expired = [await people.tokens.add_session(ann.id) for _ in range(2)]
    await people.tokens.revoke(ann.id, revoked[:10])
    await people.rows("UPDATE tokens SET expires_at = now() WHERE id = %(id)s", id=expired[:10])

    await people.tokens.note_use({revoked[:10], expired[:10]})

    assert await people.tokens.of_id(revoked[:10]) is None
    assert await people.tokens.of_id(expired[:10]) is None


async def test_what_has_long_been_of_no_use_is_swept(people):
    ann = await people.add()
    for name in ("good", "expired", "revoked", "just revoked"):
        await personal(people, ann, name)
    await people.rows(
        "UPDATE tokens SET expires_at = now() - interval '31 days' WHERE name = 'expired'"
    )
    await people.rows(
        "UPDATE tokens SET revoked_at = now() - interval '31 days' WHERE name = 'revoked'"
    )
    await people.rows("UPDATE tokens SET revoked_at = now() WHERE name = 'just revoked'")
    old, new = await people.invitations.add(ann.id), await people.invitations.add(ann.id)
    await people.rows(
        "UPDATE invitations SET expires_at = now() - interval '1 second' WHERE hash = %(hash)s",
        hash=hash_of(old.code),
    )

    await apply_rule(people.pool, TOKEN_RULE)
    await apply_rule(people.pool, LINK_RULE)

    assert {("good",), ("just revoked",)} == set(await people.rows("SELECT name FROM tokens"))
    assert [(hash_of(new.code),)] == await people.rows("SELECT hash FROM invitations")
