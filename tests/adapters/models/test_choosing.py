"""Which model goes on with a history: a table of everything that may have become of its own one.

Two providers, `here` and `there`; the chat was answered by the model `own` of `here`. What holds in
all rows: a message that names no model never takes the history to the other provider.
"""

from dataclasses import dataclass, replace
from uuid import uuid4

import pytest

from actors.law.ids import ModelConfigId
from adapters.models.assembling import ProcessFacts, assemble
from adapters.models.choosing import (
    CHOICES_MAX,
    ModelChoice,
    NoChoice,
    Unusable,
    UserCatalogue,
    choose,
    desktop_provider,
    for_child,
    model_at_work,
    remedies_of,
)
from adapters.models.settings import (
    ALLOW_OWN_OVERRIDES,
    COMPUTER_USE_PROVIDER,
    UserSettings,
    override_name,
    override_text,
    own_override_text,
)
from adapters.models.snapshot import REHEARSAL_MODEL
from adapters.models.store.catalogue import StoredCatalogue, StoredKey
from tests.adapters.models.store.ground import SINCE, a_model, a_provider

HERE = a_provider("here", "openai")
THERE = a_provider("there", "anthropic")
OWN = a_model(HERE.id, "own")
SISTER = a_model(HERE.id, "sister")
OTHER = a_model(THERE.id, "other")
MY_KEY = {HERE.id: "sk-of-my-own"}


@dataclass(frozen=True)
class World:
    """What is configured, which keys the deployment and the user have."""

    here: object = HERE
    models: tuple = (OWN, SISTER, OTHER)
    default: str = "other"
    keys: tuple = ("here", "there")  # providers whose key the deployment has
    my_keys: tuple = ()
    faults: tuple = ()  # of the user's keys
    settings: tuple = ()
    my_settings: tuple = ()
    allow_user_keys: bool = True

    def snapshot(self):
        providers = [
            replace(each, keys=(StoredKey(uuid4(), b"sk", "...", SINCE),))
            if each.name in self.keys
            else each
            for each in (self.here, THERE)
            if each is not None
        ]
        rows = [replace(row, is_default=row.model == self.default) for row in self.models]
        known = {row.id: row.provider_id for row in (OWN, SISTER, OTHER)}
        stored = StoredCatalogue(tuple(providers), tuple(rows), known, dict(self.settings))
        opened = lambda sealed, about: sealed.decode()  # noqa: E731
        return assemble(stored, ProcessFacts((), None, SINCE), opened)

    def own(self):
        mine = UserSettings(dict(self.my_settings))
        return UserCatalogue(mine, dict(self.my_keys), dict(self.faults))

    def choose(self, last, wanted=None, effort=None):
        return choose(
            self.snapshot(),
            self.own(),
            wanted=wanted,
            effort=effort,
            last=last,
            allow_user_keys=self.allow_user_keys,
        )

    def model_at_work(self, last):
        return model_at_work(
            self.snapshot(), self.own(), last, allow_user_keys=self.allow_user_keys
        )

    def for_child(self, context="explore"):
        return for_child(
            self.snapshot(),
            self.own(),
            context=context,
            effort=None,
            parent=OWN.id,
            allow_user_keys=self.allow_user_keys,
        )


MINE = tuple(MY_KEY.items())
OFF = replace(OWN, enabled=False)
GONE = (SISTER, OTHER)

# What became of it; what the next message gets; what a turn that is under way gets.
FATES = {
    "nothing": (World(), "own", "own"),
    "the user's own key answers": (World(keys=("there",), my_keys=MINE), "own", "own"),
    "the user's own key was removed": (World(keys=("there",)), "missing_key", "missing_key"),
    "the user's own key was removed, the deployment has one there": (World(), "own", "own"),
    "the user's own key cannot be opened": (
        World(faults=((HERE.id, "sealed with another secret key"),)),
        "missing_key",
        "missing_key",
    ),
    "users may not bring keys any more": (
        World(keys=("there",), my_keys=MINE, allow_user_keys=False),
        "missing_key",
        "missing_key",
    ),
    "the deployment's key was removed": (World(keys=("there",)), "missing_key", "missing_key"),
    "the model was disabled": (World(models=(OFF, SISTER, OTHER)), "config", "config"),
    "the model was disabled, the default is at its provider": (
        World(models=(OFF, SISTER, OTHER), default="sister"),
        "sister",
        "config",
    ),
    "the model was deleted": (World(models=GONE), "config", "config"),
    "the model was deleted, the default is at its provider": (
        World(models=GONE, default="sister"),
        "sister",
        "sister",
    ),
    "the model was deleted, the default at its provider has no key": (
        World(models=GONE, default="sister", keys=("there",)),
        "config",
        "config",
    ),
    "the provider was disabled": (
        World(here=replace(HERE, enabled=False)),
        "provider_disabled",
        "provider_disabled",
    ),
    "the provider was deleted": (World(here=None), "config", "config"),
    "the provider was deleted with its models": (
        World(here=None, models=(OTHER,)),
        "config",
        "config",
    ),
    "the default was changed": (World(default="sister"), "own", "own"),
    "no model is left": (World(models=()), "config", "config"),
}


def named(answer):
    """The model, or the kind of the refusal."""
    match answer:
        case ModelChoice(model=id):
            return next(row.model for row in (OWN, SISTER, OTHER) if row.id == id)
        case NoChoice() | Unusable():
            return answer.kind
        case _:
            return answer.model


@pytest.mark.parametrize("fate", FATES)
def test_a_message_that_names_no_model_stays_with_the_provider_or_is_refused(fate):
    world, for_message, _ = FATES[fate]

    assert for_message == named(world.choose(OWN.id))


@pytest.mark.parametrize("fate", FATES)
def test_a_turn_that_goes_on_stays_with_the_provider_or_fails(fate):
    world, _, for_turn = FATES[fate]

    assert for_turn == named(world.model_at_work(OWN.id))


@pytest.mark.parametrize("fate", FATES)
def test_a_model_that_is_named_is_asked_wherever_it_is(fate):
    world = FATES[fate][0]
    answer = world.choose(OWN.id, wanted=OTHER.id)

    assert ("other" if OTHER in world.models else "") == named(answer)


def test_a_refusal_says_why_and_names_what_there_is_to_choose():
    refused = World(keys=("there",)).choose(OWN.id)

    assert (
        NoChoice(
            "model_config_id",
            "The model of this chat cannot be used.",
            "provider here has no key; bring a key, or name one of these as model_config_id to go"
            f" on with it: other of there ({OTHER.id})",
            "missing_key",
        )
        == refused
    )


def test_of_many_choices_the_first_are_named_and_the_others_counted():
    more = tuple(a_model(THERE.id, f"m{at}") for at in range(CHOICES_MAX + 3))
    world = World(models=more, default="")

    sentence = remedies_of(
        world.snapshot(), world.own(), Unusable("", "config"), allow_user_keys=True
    )

    assert CHOICES_MAX == sentence.count(" of there (")
    assert sentence.endswith(", and 3 more")


def test_where_nothing_can_be_asked_a_refusal_says_so():
    refused = World(keys=()).choose(OWN.id)

    assert refused.detail == (
        "provider here has no key; bring a key: there is no other model that can be asked now"
    )


@pytest.mark.parametrize("keys", [(), ("there",)])
def test_users_who_may_not_bring_keys_are_not_told_to(keys):
    refused = World(keys=keys, allow_user_keys=False).choose(OWN.id)

    assert "missing_key" == refused.kind
    assert "bring a key" not in refused.detail


def test_a_model_that_nobody_remembers_may_have_been_anywhere():
    strange = ModelConfigId(uuid4())

    assert "config" == named(World().choose(strange))
    assert "config" == named(World().model_at_work(strange))


def test_the_rehearsal_has_told_nobody_so_its_chats_go_on_with_the_default():
    assert "other" == named(World().choose(REHEARSAL_MODEL))
    assert "other" == named(World().model_at_work(REHEARSAL_MODEL))


def test_a_chat_of_a_provider_does_not_become_a_rehearsal():
    rehearsing = StoredCatalogue((), (), {OWN.id: HERE.id}, {})
    contents = assemble(rehearsing, ProcessFacts((), None, SINCE), lambda sealed, about: "")
    own = World().own()

    refused = choose(contents, own, wanted=None, effort=None, last=OWN.id, allow_user_keys=True)

    assert "config" == refused.kind
    assert "config" == model_at_work(contents, own, OWN.id, allow_user_keys=True).kind


ALLOWED = ((ALLOW_OWN_OVERRIDES, True),)


def my_override(context, model):
    return ((override_name(context), own_override_text("model", model.id, "low")),)


@pytest.mark.parametrize(
    ("world", "chosen"),
    [
        (World(), "own"),
        (World(keys=("there",)), "missing_key"),
        (World(keys=("there",), my_keys=MINE), "own"),
        (World(models=GONE), "config"),
        (World(models=GONE, default="sister"), "sister"),
    ],
)
def test_a_new_chat_of_a_user_who_has_chosen_a_model_is_not_told_to_another_provider(world, chosen):
    world = replace(world, settings=ALLOWED, my_settings=my_override("root", OWN))

    assert chosen == named(world.choose(None))


@pytest.mark.parametrize(
    ("mine", "for_all", "keys", "chosen"),
    [
        (None, None, ("here", "there"), None),
        (None, OTHER, ("here", "there"), "other"),
        (None, OTHER, ("here",), None),
        (OTHER, None, ("here", "there"), "other"),
        (OTHER, None, ("here",), None),
        (OTHER, SISTER, ("here",), "sister"),
        (SISTER, OTHER, ("there",), None),
    ],
)
def test_an_agent_goes_elsewhere_only_where_that_was_set(mine, for_all, keys, chosen):
    settings = ALLOWED
    if for_all is not None:
        settings += ((override_name("explore"), override_text(for_all.id, None)),)
    world = World(
        keys=keys,
        settings=settings,
        my_settings=() if mine is None else my_override("explore", mine),
    )

    found = world.for_child()

    assert chosen == (None if found is None else named(found))


@pytest.mark.parametrize(
    ("world", "found"),
    [
        (World(), "there"),  # Anthropic's, where nothing is set
        (World(settings=((COMPUTER_USE_PROVIDER, "openai"),)), "here"),
        (World(keys=("here",)), "a provider of type anthropic"),
        (
            World(keys=(), my_keys=MINE, settings=((COMPUTER_USE_PROVIDER, "openai"),)),
            "here",
        ),
        (
            World(
                keys=(),
                my_keys=MINE,
                allow_user_keys=False,
                settings=((COMPUTER_USE_PROVIDER, "openai"),),
            ),
            "a provider of type openai",
        ),
    ],
)
def test_desktops_are_operated_by_a_provider_of_the_type_that_is_set(world, found):
    chosen = desktop_provider(
        world.snapshot(), world.own(), None, allow_user_keys=world.allow_user_keys
    )

    assert found in (chosen if isinstance(chosen, str) else chosen.name)
