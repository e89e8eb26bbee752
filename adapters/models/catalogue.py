"""The catalogue: providers, models and settings, kept in memory by each process.

A warm catalogue asks the database nothing. It forgets what has changed as soon as it hears of it
(`CatalogueChanged`, told by the process that committed the change), and after a while in any case,
should the news have got lost. A model that it has never heard of is looked for once more before it
is said not to exist, because another process may just have made it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from actors.chat.turn.ports import CompactionPlan, Model
from actors.law.chat import Body, Chat, ChatError, Role, Visibility
from actors.law.ids import ModelConfigId, UserId
from actors.law.parts.message import TextPart
from actors.law.store.hints import CatalogueChanged, HintsLost, News
from actors.law.store.ports import Bus
from actors.tools.gating import ChatKind, kind_of
from adapters.models.assembling import ProcessFacts, assemble
from adapters.models.choosing import (
    NO_MODEL,
    ModelChoice,
    NoChoice,
    Unusable,
    UserCatalogue,
    choose,
    desktop_provider,
    for_child,
    model_at_work,
    remedies_of,
    why_unusable,
)
from adapters.models.connecting import ModelCache, RehearsalHost
from adapters.models.prompt_texts import visible_text
from adapters.models.provider_config import desktop_config, with_effort
from adapters.models.providers.http import HttpClient
from adapters.models.settings import (
    ALLOW_DEBUG_LOGGING,
    DeploymentSettings,
    Override,
    UserSettings,
)
from adapters.models.snapshot import (
    REHEARSAL_MODEL,
    THRESHOLD_USUAL,
    CatalogueSnapshot,
    ListedModel,
    ModelSource,
    provider_with_key,
    with_user_key,
)
from adapters.models.store.catalogue import CatalogueReader
from adapters.models.store.providers import own_key_subject
from adapters.settings.caching import Cache, CacheStatistics
from adapters.settings.secrets import CannotOpen, Vault
from runtime.log import emit

KEEP_SECONDS = 10.0  # then it is read again, in case news of a change got lost
KEEP_OWN_SECONDS = 60.0  # the same for users; longer, because there are many and each is read alone
USERS_MAX = 65_536  # users that are kept; the one unused for longest is dropped
UNKNOWN_MAX = 1_024  # ids without a model that are remembered; with more, all are sought anew

_ALL = "all"


@dataclass(frozen=True, slots=True)
class CatalogueStatistics:
    """Counts of what is kept."""

    catalogue: CacheStatistics
    users: CacheStatistics


class Catalogue:
    """The models that chats ask; implements `actors.chat.turn.ports.Models`.

    It has to `follow` the bus as long as it is used.
    """

    def __init__(
        self,
        reading: CatalogueReader,
        facts: ProcessFacts,
        *,
        vault: Vault,
        client: HttpClient,
        rehearsal: RehearsalHost,
        allow_user_keys: bool = True,
    ) -> None:
        self.allow_user_keys = allow_user_keys  # whether users may bring keys of their own
        self._reading = reading
        self._facts = facts
        self._vault = vault
        self._rehearsal = rehearsal
        self._models = ModelCache(client)
        self._all: Cache[str, CatalogueSnapshot] = Cache(
            self._read, keep_seconds=KEEP_SECONDS, max_entries=1
        )
        self._own: Cache[UserId, UserCatalogue] = Cache(
            self._read_own, keep_seconds=KEEP_OWN_SECONDS, max_entries=USERS_MAX
        )
        self._unknown: set[ModelConfigId] = set()

    @property
    def offers_model(self) -> bool:
        """Return whether the environment offers a model, so that there is a default in any case."""
        return bool(self._facts.offered)

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        """Hear of changes as long as the context lasts."""
        with bus.follow(self.hear, CatalogueChanged):
            yield

    def hear(self, news: News) -> None:
        """Drop what has changed, in the task that tells it; it is read again with the next use."""
        match news:
            case CatalogueChanged(user=None):
                self.forget()
            case CatalogueChanged(user=UUID() as user):
                self._own.drop(UserId(user))
            case HintsLost():
                self.forget()
                self._own.drop_all()
            case _:
                pass

    def statistics(self) -> CatalogueStatistics:
        return CatalogueStatistics(self._all.statistics(), self._own.statistics())

    async def begin(self) -> None:
        """Prepare the catalogue once, when the daemon starts.

        The models that the environment offers are stored, because messages will name them. Keys
        that cannot be opened are logged.
        """
        offered = [(model.id, model.provider.id, str(model)) for model in self._facts.offered]
        if offered:
            await self._reading.remember_offered(offered)
        for provider in (await self.snapshot()).providers.values():
            if provider.fault:
                emit("provider.locked", "error", provider=provider.name, error=provider.fault)

    # the snapshot

    async def snapshot(self) -> CatalogueSnapshot:
        return await self._all.get(_ALL)

    async def settings(self) -> DeploymentSettings:
        return (await self.snapshot()).settings

    def known_settings(self) -> DeploymentSettings | None:
        """Return the settings as they are known, without reading; None if none has been read."""
        snapshot = self._all.peek(_ALL)
        return None if snapshot is None else snapshot.settings

    async def own(self, user: UserId) -> UserCatalogue:
        return await self._own.get(user)

    async def _snapshot_with(self, *ids: ModelConfigId | None) -> CatalogueSnapshot:
        """Return the snapshot, read again if one of these is unknown and was not sought before."""
        snapshot = await self.snapshot()
        missing = {id for id in ids if id is not None and id not in snapshot.known} - self._unknown
        if missing:
            self._all.drop(_ALL)
            snapshot = await self.snapshot()
            if len(self._unknown) >= UNKNOWN_MAX:
                self._unknown.clear()
            self._unknown |= missing - snapshot.known.keys()
        return snapshot

    # for new messages

    async def choose(
        self,
        user: UserId,
        wanted: ModelConfigId | None,
        effort: str | None,
        *,
        last: ModelConfigId | None = None,
    ) -> ModelChoice | NoChoice:
        """Return the model and effort of a new message, or why there is none.

        `wanted` and `effort` are as the client says them; `last` is the model that answered the
        chat, or the message before an edit.
        """
        snapshot = await self._snapshot_with(wanted, last)
        own = await self.own(user)
        return choose(
            snapshot,
            own,
            wanted=wanted,
            effort=effort,
            last=last,
            allow_user_keys=self.allow_user_keys,
        )

    async def system_messages(self, prompt: str = "", *, place: str = "") -> tuple[Body, ...]:
        """Return the hidden messages that a new chat begins with.

        They are the prompt of the deployment, the prompt of the chat's client, and where the chat
        works. They stay as they are, whatever is set later.
        """
        snapshot = await self.snapshot()
        texts = filter(None, (snapshot.settings.system_prompt, visible_text(prompt), place))
        return tuple(
            Body(Role.SYSTEM, (TextPart(text),), visibility=Visibility.MODEL) for text in texts
        )

    async def for_child(
        self, user: UserId, *, context: str, effort: str | None, parent: ModelConfigId | None
    ) -> ModelChoice | None:
        """Return the model that is set for agents of a kind.

        None: such agents are asked with their parent's model.
        """
        snapshot, own = await self._snapshot_with(parent), await self.own(user)
        return for_child(
            snapshot,
            own,
            context=context,
            effort=effort,
            parent=parent,
            allow_user_keys=self.allow_user_keys,
        )

    async def askable(self, user: UserId) -> Sequence[ListedModel]:
        """Return the models that a user's chats can ask."""
        snapshot, own = await self.snapshot(), await self.own(user)
        found = [
            m
            for m in snapshot.models.values()
            if why_unusable(m, own, allow_user_keys=self.allow_user_keys) is None
        ]
        return sorted(found, key=lambda model: model.order)

    # for chats at work

    async def model_for(self, chat: Chat) -> Model | ChatError:
        """Return the model that a chat asks now, or why it cannot.

        A deleted model is replaced by the default if that is at the same provider. A model that
        cannot be asked at the moment is not replaced.
        """
        last = chat.last_model_config_id
        snapshot = await self._snapshot_with(last)
        own = await self.own(chat.owner_id)
        model = model_at_work(snapshot, own, last, allow_user_keys=self.allow_user_keys)
        if model is None:
            return ChatError(NO_MODEL, kind="config")
        if isinstance(model, Unusable):
            label = model.provider_type
            detail = remedies_of(snapshot, own, model, allow_user_keys=self.allow_user_keys)
            return ChatError(_sentence(model.why), model.kind, label, detail=_sentence(detail))
        if kind_of(chat) is ChatKind.COMPUTER_USE:
            return self._for_desktop(snapshot, own, model, chat.last_reasoning_effort)
        if model.source is ModelSource.REHEARSAL:
            await self._rehearsal.open()
        return self._ready(model, own, chat.last_reasoning_effort)

    async def why_no_desktop_model(self, user: UserId) -> str | None:
        """Return why no model can operate a user's desktops, or None if one can."""
        snapshot, own = await self.snapshot(), await self.own(user)
        found = desktop_provider(snapshot, own, None, allow_user_keys=self.allow_user_keys)
        return found if isinstance(found, str) else None

    def _for_desktop(
        self,
        snapshot: CatalogueSnapshot,
        own: UserCatalogue,
        model: ListedModel,
        effort: str | None,
    ) -> Model | ChatError:
        """Return the model that operates a desktop, called as the chat's own one is."""
        provider = desktop_provider(
            snapshot, own, model.provider_id, allow_user_keys=self.allow_user_keys
        )
        if isinstance(provider, str):
            return ChatError(_sentence(provider), "config")
        assert model.config is not None, "only a model that can be used is replaced"
        key = own.keys.get(provider.id) if self.allow_user_keys else None
        config = desktop_config(
            model.config, provider_with_key(provider, key) if key else provider.config
        )
        return replace(self._models.model(config), settings=with_effort(config, effort))

    def for_titles(self, chat: Chat, model: Model) -> Model:
        """Return the model that finds titles for a chat that asks `model`."""
        return self.overridden("title_generation", chat, model)

    def for_automatic_titles(self, chat: Chat, model: Model) -> Model | None:
        """Return the same for a chat that is new; a rehearsal would call all chats the same."""
        return None if model.config_id == REHEARSAL_MODEL else self.for_titles(chat, model)

    def overridden(self, context: str, chat: Chat, model: Model) -> Model:
        """Return the model that an administrator has set for this, if usable, else `model`."""
        snapshot, own = self._all.peek(_ALL), self._own.peek(chat.owner_id)
        if snapshot is None or own is None:
            return model
        return self._in_place(snapshot, own, snapshot.settings.override(context)) or model

    async def model_for_advice(self, chat: Chat) -> Model | ChatError:
        """Return the model that an administrator has set for advice, if usable, else the chat's."""
        snapshot, own = await self.snapshot(), await self.own(chat.owner_id)
        advisor = self._in_place(snapshot, own, snapshot.settings.advisor.model)
        return advisor or await self.model_for(chat)

    def _in_place(
        self, snapshot: CatalogueSnapshot, own: UserCatalogue, override: Override
    ) -> Model | None:
        found = snapshot.models.get(override.id) if override.id is not None else None
        if (
            found is None
            or why_unusable(found, own, allow_user_keys=self.allow_user_keys) is not None
        ):
            return None
        return self._ready(found, own, override.effort)

    # for records of model calls

    def allows_records(self) -> bool:
        """Return whether users may have their model calls recorded, as far as it is known here."""
        snapshot = self._all.peek(_ALL)
        return snapshot is not None and bool(snapshot.settings.value(ALLOW_DEBUG_LOGGING))

    def wants_records(self, user: UserId) -> bool:
        """Return whether a user has switched records of their model calls on, likewise."""
        own = self._own.peek(user)
        return own is not None and own.settings.wants_debug_logging

    def forget(self) -> None:
        self._unknown.clear()
        self._all.drop(_ALL)

    async def _read(self, _: str) -> CatalogueSnapshot:
        return assemble(await self._reading.everything(), self._facts, self._opened)

    async def _read_own(self, user: UserId) -> UserCatalogue:
        stored = await self._reading.own(user)
        keys, faults = {}, {}
        for provider, sealed in stored.keys.items():
            opened = self._opened(sealed, own_key_subject(user, provider))
            if isinstance(opened, str):
                keys[provider] = opened
            else:
                faults[provider] = str(opened)
        return UserCatalogue(UserSettings(stored.settings), keys, faults)

    def _opened(self, sealed: bytes, about: str) -> str | CannotOpen:
        try:
            return self._vault.open(sealed, about)
        except CannotOpen as closed:
            return closed

    def _ready(self, model: ListedModel, own: UserCatalogue, effort: str | None) -> Model:
        assert model.provider is not None, "only a model that can be used is made ready"
        config = with_user_key(
            model, own.keys.get(model.provider.id) if self.allow_user_keys else None
        )
        if model.source is ModelSource.REHEARSAL:
            config = replace(
                config, provider=replace(config.provider, base_url=self._rehearsal.url)
            )
        made = self._models.model(config)
        settings = with_effort(config, effort)
        return made if settings is made.settings else replace(made, settings=settings)


def _sentence(why: str) -> str:
    return f"{why[:1].upper()}{why[1:]}."


class ConfiguredCompacting:
    """The rules of when a chat is compacted, and by which model.

    They follow from how its model is configured, what its owner has set and what an administrator
    has set for all. Implements `actors.chat.turn.ports.Compacting`.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    async def plan_for(self, chat: Chat, model: Model) -> CompactionPlan:
        snapshot = await self._catalogue.snapshot()
        own = await self._catalogue.own(chat.owner_id)
        threshold = THRESHOLD_USUAL
        if model.config_id is not None:
            if (listed := snapshot.models.get(model.config_id)) is not None:
                threshold = listed.compression_threshold
            threshold = own.settings.thresholds.get(model.config_id, threshold)
        summarising = self._catalogue.overridden("compaction", chat, model)
        limits = [limit for limit in (model.context_limit, summarising.context_limit) if limit]
        return CompactionPlan(summarising, threshold, min(limits, default=None))
