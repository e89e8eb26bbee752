"""What a catalogue keeps in memory, and for how long: what it costs, who hears of a change."""

from uuid import uuid4

import pytest
import trio

from actors.law.ids import ModelConfigId
from actors.law.store.hints import HintsLost
from adapters.models import catalogue
from adapters.models.choosing import ModelChoice, NoChoice
from adapters.models.settings import OWN_PROMPT, SYSTEM_PROMPT
from adapters.postgres.driver.pool import Pool
from adapters.postgres.hints import Hints
from adapters.settings.secrets import Vault
from tests.actors.law.chats import ANN, BOB, a_chat
from tests.adapters.models.given import hello
from tests.adapters.models.store.ground import a_provider, open_ground
from tests.fakes.network import Network, whole
from tests.patience import PATIENCE_SECONDS


def a_chat_for(model=None, **columns):
    return a_chat(last_model_config_id=model, last_reasoning_effort=None, **columns).chat


async def a_turn(ground, model):
    """All that a turn asks of the catalogue, from the request on."""
    chat = a_chat_for(model)
    await ground.catalogue.choose(ANN, model, None, last=model)
    await ground.catalogue.system_messages("be kind")
    made = await ground.catalogue.model_for(chat)
    await ground.turn_context(chat)
    ground.catalogue.for_automatic_titles(chat, made)
    return made


async def test_a_turn_asks_a_warm_catalogue_and_not_the_database(ground):
    model = await ground.add_model(await ground.add_provider())
    await a_turn(ground, model)
    asked = ground.reading.asked
    await ground.pool.drain(1.0)  # whoever asks the database from now on fails

    for _ in range(20):
        await a_turn(ground, model)

    assert asked == ground.reading.asked


async def test_a_cold_catalogue_is_read_once_for_all_who_ask_together(ground):
    model = await ground.add_model(await ground.add_provider())
    ground.catalogue.forget()
    before = ground.reading.asked

    async with trio.open_nursery() as nursery:
        for _ in range(50):
            nursery.start_soon(ground.catalogue.choose, ANN, model, None)

    assert before + 2 == ground.reading.asked  # the catalogue, and what is Ann's


async def test_a_provider_is_made_once_for_all_chats_and_kept_over_readings(ground):
    model = await ground.add_model(await ground.add_provider())
    first = await ground.catalogue.model_for(a_chat_for(model))
    ground.catalogue.hear(HintsLost())

    second = await ground.catalogue.model_for(a_chat_for(model))

    assert first.provider is second.provider


async def test_a_change_holds_for_the_next_call(ground):
    provider = await ground.add_provider(keys=("sk-old",))
    model = await ground.add_model(provider)
    before = await ground.catalogue.model_for(a_chat_for(model))

    def switched_off(stored):
        return a_provider(id=stored.id, enabled=False), None

    await ground.providers.change(provider, switched_off)
    after = await ground.catalogue.model_for(a_chat_for(model))

    assert model == before.config_id
    assert ("Provider mine is disabled.", "provider_disabled") == (after.message, after.kind)


async def test_what_a_user_sets_is_dropped_for_him_alone(ground):
    await ground.catalogue.own(ANN)
    await ground.catalogue.own(BOB)
    before = ground.reading.asked

    await ground.settings.put_own(ANN, OWN_PROMPT, "be brief")
    prompts = [(await ground.catalogue.own(user)).settings.prompt for user in (ANN, BOB)]

    assert ["be brief", ""] == prompts
    assert before + 1 == ground.reading.asked


async def test_where_news_may_have_got_lost_everything_is_read_again(ground):
    await ground.catalogue.snapshot()
    await ground.catalogue.own(ANN)
    before = ground.reading.asked

    ground.catalogue.hear(HintsLost())
    await ground.catalogue.snapshot()
    await ground.catalogue.own(ANN)

    assert before + 2 == ground.reading.asked


@pytest.mark.slow
async def test_an_unknown_model_is_looked_for_once_more_and_then_no_longer(migrated, ground):
    await ground.catalogue.snapshot()
    async with open_ground(migrated) as other:  # a process that ours hears nothing of
        model = await other.add_model(await other.add_provider())

    found = await ground.catalogue.choose(ANN, model, None)
    nowhere = ModelConfigId(uuid4())
    refused = await ground.catalogue.choose(ANN, nowhere, None)
    asked = ground.reading.asked
    again = await ground.catalogue.choose(ANN, nowhere, None)

    assert ModelChoice(model, None) == found
    assert isinstance(refused, NoChoice)
    assert (refused, asked) == (again, ground.reading.asked)


async def hints_of(nursery, ground, conninfo, tellers):
    """What the bus of this ground tells reaches other processes from now on."""
    pool = Pool(conninfo, size=2)
    hints = Hints(pool, conninfo, heard=ground.bus.hear)
    nursery.start_soon(hints.run)
    tellers.append(hints.tell)

    async def is_listening():
        return hints.statistics().listener.connected

    await until(is_listening)
    return pool


@pytest.mark.slow
async def test_a_change_in_one_process_holds_in_the_other_within_a_moment(
    migrated, ground, monkeypatch
):
    for kept in ("KEEP_SECONDS", "KEEP_OWN_SECONDS"):  # nothing is read anew without news
        monkeypatch.setattr(catalogue, kept, 1_000.0)
    tellers = []
    async with (
        open_ground(migrated, beyond=lambda hint: tellers[0](hint)) as ours,
        open_ground(migrated) as theirs,
        trio.open_nursery() as nursery,
    ):
        pools = [await hints_of(nursery, each, migrated, tellers) for each in (ours, theirs)]
        warm = await theirs.catalogue.snapshot(), await theirs.catalogue.own(ANN)

        await ours.add_model(await ours.add_provider("new"), "new")
        await ours.settings.put({SYSTEM_PROMPT: "changed"})
        await ours.settings.put_own(ANN, OWN_PROMPT, "brief")

        async def have_heard():
            contents = await theirs.catalogue.snapshot()
            own = await theirs.catalogue.own(ANN)
            models = [model.model for model in contents.models.values()]
            return (["new"], "changed", "brief") == (
                models,
                contents.settings.value(SYSTEM_PROMPT),
                own.settings.prompt,
            )

        assert "new" not in repr(warm)
        await until(have_heard)
        nursery.cancel_scope.cancel()
    for pool in pools:
        await pool.drain(1.0)


async def until(condition):
    with trio.fail_after(PATIENCE_SECONDS):
        while not await condition():
            await trio.sleep(0.01)


@pytest.mark.slow
async def test_another_master_key_is_said_at_the_start_and_where_a_key_is_needed(
    migrated, ground, caplog
):
    model = await ground.add_model(await ground.add_provider(type="openai", keys=("sk-lost",)))
    await ground.bring_key(BOB, (await ground.catalogue.snapshot()).named("mine").id)

    strange = Vault(b"some other master key of 32 bytes")
    async with open_ground(migrated, vault=strange) as other:
        with caplog.at_level("ERROR", "events"):
            await other.catalogue.begin()
        of_ann = await other.catalogue.model_for(a_chat_for(model))
        of_bob = await other.catalogue.model_for(a_chat_for(model, owner_id=BOB))
        refused = await other.catalogue.choose(ANN, model, None)

    [record] = caplog.records
    assert ("provider.locked", "mine") == (record.message, record.fields["provider"])
    assert "missing_key" == of_ann.kind == of_bob.kind
    assert "Sealed with the secret key" not in of_ann.message
    assert "sealed with the secret key" in of_ann.message
    assert "PROMPTCORNER_SECRET_KEY" in of_ann.message
    assert "sealed with the secret key" in refused.detail
    assert "sk-lost" not in repr((of_ann, of_bob, refused, record.fields))


async def test_a_users_own_key_goes_before_the_deployments_where_that_is_allowed(migrated, ground):
    provider = await ground.add_provider(keys=("sk-central", "sk-second"))
    model = await ground.add_model(provider)
    await ground.bring_key(ANN, provider, "sk-anns")
    shown = []

    for allow_user_keys in (True, False):
        async with trio.open_nursery() as nursery:
            network = Network(nursery, [[whole(b"{}", 401)] for _ in range(2)])
            async with open_ground(
                migrated, allow_user_keys=allow_user_keys, dial=network.dial
            ) as here:
                for user in (ANN, BOB):
                    made = await here.catalogue.model_for(a_chat_for(model, owner_id=user))
                    await made.provider.generate(hello())
            shown += [request.headers["authorization"] for request in network.requests]
            nursery.cancel_scope.cancel()

    central = "Bearer sk-central"
    assert ["Bearer sk-anns", central, central, central] == shown
