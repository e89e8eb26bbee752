"""Models as newer clients ask for them: those of an organization, along with their providers."""

from uuid import uuid4

import pytest

from adapters.models.routes.model_configs import BODY_BYTES_MAX, PATH
from tests.adapters.models.routes.test_model_configs import a_model, listed, made
from tests.adapters.models.routes.test_providers import added

pytestmark = pytest.mark.slow


def models_of(organization):
    return f"/api/v2/organizations/{organization}/chats/models"


async def test_a_model_is_added_read_changed_and_removed_in_its_organization(edge):
    provider = await added(edge)
    all_of_them = models_of(edge.organization)

    new = await edge.admin.post(all_of_them, a_model(provider, model="m"))
    one = f"{all_of_them}/{new.document['id']}"
    changed = await edge.admin.patch(one, {"display_name": "M"})
    read = await edge.member.get(one)
    removed = await edge.admin.delete(one)
    gone = await edge.admin.get(one)

    assert [201, 200, 200, 204, 404] == [
        each.status for each in (new, changed, read, removed, gone)
    ]
    assert edge.organization == new.document["organization_id"]
    assert (changed.document, "M") == (read.document, read.document["display_name"])


async def test_the_models_of_an_organization_come_with_their_providers(edge):
    provider = await added(edge, type="openai", name="mine", display_name="Mine")
    await added(edge, type="copilot", name="pilot", api_keys=None)
    hidden = await made(edge, provider, model="hidden", enabled=False)
    shown = await made(edge, provider, model="shown")

    answer = (await edge.member.get(models_of(edge.organization))).document

    ids = [each["id"] for each in answer["models"]]
    assert shown["id"] in ids
    assert hidden["id"] not in ids
    [described] = [each for each in answer["providers"] if each["id"] == provider["id"]]
    assert {
        "id": provider["id"],
        "type": "openai",
        "display_name": "Mine",
        "icon": "",
        "enabled": True,
        "has_api_key": True,
        "has_user_api_key": False,
        "has_effective_api_key": True,
        "allow_user_api_key": described["allow_user_api_key"],
        "available": True,
    } == described
    assert ["copilot"] == [each["provider"] for each in answer["unsupported_providers"]]


async def test_an_organization_is_named_by_its_id_or_its_name_and_another_one_is_not_there(edge):
    statuses = [
        (await edge.member.get(models_of(name))).status
        for name in (edge.organization, "default", uuid4(), "another")
    ]

    assert [200, 200, 404, 404] == statuses


async def test_a_model_tells_the_type_of_its_provider(edge):
    provider = await added(edge, type="openai")
    model = await made(edge, provider)

    assert "openai" == model["provider"]
    assert "openai" in [each["provider"] for each in await listed(edge.member)]


@pytest.mark.parametrize("path_of", [models_of, lambda _: PATH])
async def test_a_model_that_is_too_large_is_refused_at_both_addresses(path_of, edge):
    provider = await added(edge)
    large = a_model(provider, display_name="x" * BODY_BYTES_MAX)

    assert 413 == (await edge.admin.post(path_of(edge.organization), large)).status
