"""Keys that users bring: what is shown of them, and whose they are."""

from uuid import uuid4

import pytest

from tests.adapters.models.routes.test_model_configs import made
from tests.adapters.models.routes.test_providers import PROVIDERS, added
from tests.adapters.models.store.calling import Asking
from tests.adapters.models.store.ground import open_ground

OWN = "/api/experimental/users/{}/ai-provider-keys"
MINE = OWN.format("me")
KEY = "sk-brought-by-a-user-0123456789"
CHATS = "/api/experimental/chats"


def said(text):
    return [{"type": "text", "text": text}]


def of(provider, answer):
    [found] = [each for each in answer.document if each["provider"]["id"] == provider["id"]]
    return found


@pytest.mark.slow
async def test_a_key_is_brought_shown_as_there_and_taken_back(edge):
    provider = await added(edge, type="openai", api_keys=None)
    one = f"{MINE}/{provider['id']}"

    before = of(provider, await edge.member.get(MINE))
    brought = await edge.member.put(one, {"api_key": KEY})
    after = of(provider, await edge.member.get(MINE))
    of_another = of(provider, await edge.stranger.get(MINE))
    taken = [(await edge.member.delete(one)).status for _ in range(2)]

    assert {
        "provider": {
            "id": provider["id"],
            "type": "openai",
            "name": "mine",
            "display_name": "mine",
            "icon": "",
            "enabled": True,
            "deleted": False,
        },
        "has_user_api_key": False,
        "has_provider_api_key": False,
        "byok_enabled": True,
    } == before
    assert (200, after) == (brought.status, brought.document)
    assert (True, False) == (after["has_user_api_key"], of_another["has_user_api_key"])
    assert [204, 204] == taken
    assert KEY not in brought.body.decode()


@pytest.mark.slow
async def test_what_is_no_key_or_for_no_provider_is_refused(edge):
    provider = await added(edge)
    off = await added(edge, name="off", enabled=False)
    table = [
        (provider["id"], {}, 400),
        (provider["id"], {"api_key": ""}, 400),
        (provider["id"], {"api_key": f"{KEY}\n"}, 400),
        (provider["id"], {"api_key": "k" * 10241}, 400),
        ("nonsense", {"api_key": KEY}, 400),
        (str(uuid4()), {"api_key": KEY}, 404),
        (off["id"], {"api_key": KEY}, 412),
    ]

    found = [
        (id, body, (await edge.member.put(f"{MINE}/{id}", body)).status) for id, body, _ in table
    ]

    assert table == found


@pytest.mark.slow
async def test_a_disabled_provider_is_listed_for_those_who_have_a_key(edge):
    provider = await added(edge)
    await edge.member.put(f"{MINE}/{provider['id']}", {"api_key": KEY})
    await edge.admin.patch(f"{PROVIDERS}/mine", {"enabled": False})

    mine = [each["provider"]["name"] for each in (await edge.member.get(MINE)).document]
    others = [each["provider"]["name"] for each in (await edge.stranger.get(MINE)).document]

    assert (["mine", "openai-compat"], ["openai-compat"]) == (sorted(mine), others)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["id", "username"])
async def test_administrators_look_after_others_and_nobody_else_does(edge, who):
    provider = await added(edge)
    path = f"{OWN.format(getattr(edge.member, who))}/{provider['id']}"

    by_admin = await edge.admin.put(path, {"api_key": KEY})
    by_himself = await edge.member.put(path, {"api_key": KEY})
    by_stranger = await edge.stranger.put(path, {"api_key": KEY})
    of_nobody = await edge.admin.get(OWN.format("nobody-of-that-name"))

    assert [200, 200, 404, 404] == [
        answer.status for answer in (by_admin, by_himself, by_stranger, of_nobody)
    ]


@pytest.mark.slow
async def test_where_users_may_bring_no_keys_that_is_said(migrated, ground):
    async with open_ground(migrated, allow_user_keys=False) as strict:
        provider = str(await strict.add_provider())
        api, path = Asking(strict), OWN.format("{user}")

        listed = await api.get(path, user="me")
        refused = await api.put(
            path + "/{provider}", {"api_key": KEY}, user="me", provider=provider
        )

    assert [False] == [each["byok_enabled"] for each in listed[1]]
    assert 403 == refused[0]


@pytest.mark.slow
async def test_a_chat_whose_users_key_was_removed_is_not_told_to_another_provider(edge):
    mine = await added(edge, type="openai", api_keys=None)
    model = await made(edge, mine, model="of-mine")
    other = await made(edge, await added(edge, name="other"), model="of-other", is_default=True)
    await edge.member.put(f"{MINE}/{mine['id']}", {"api_key": KEY})
    chat = await edge.member.post(
        CHATS,
        {
            "organization_id": edge.organization,
            "content": said("my secret"),
            "model_config_id": model["id"],
        },
    )
    await edge.member.delete(f"{MINE}/{mine['id']}")
    messages = f"{CHATS}/{chat.document['id']}/messages"

    refused = await edge.member.post(messages, {"content": said("go on")})
    named = await edge.member.post(
        messages, {"content": said("go on there"), "model_config_id": other["id"]}
    )

    assert (400, "missing_key") == (refused.status, refused.document["kind"])
    assert "The model of this chat cannot be used." == refused.document["message"]
    assert "provider mine has no key" in refused.document["detail"]
    assert f"of-other of other ({other['id']})" in refused.document["detail"]
    assert 200 == named.status
