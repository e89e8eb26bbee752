"""Providers: the endpoints at /api/v2/ai/providers, for administrators.

Providers of the environment are listed beside those that are stored; they can only be changed in
the environment.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import msgspec
from msgspec import UNSET

from actors.law.parts.vendors import BEDROCK, Login, vendor_of
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, Validation, not_found
from adapters.models.catalogue import Catalogue
from adapters.models.routes import presenters
from adapters.models.routes.checks import (
    KEYS_MAX,
    NAME,
    Faults,
    key_faults,
    masked,
    name_faults,
    refuse_if,
    text_faults,
    url_faults,
)
from adapters.models.routes.wire import (
    AIProvider,
    AIProviderKeyChange,
    BedrockSettings,
    CreateAIProviderRequest,
    UpdateAIProviderRequest,
    WrittenBedrockSettings,
)
from adapters.models.snapshot import (
    TYPES,
    UNSUPPORTED_TYPES,
    ListedProvider,
    ModelSource,
)
from adapters.models.store.catalogue import BedrockSecrets, StoredProvider
from adapters.models.store.providers import (
    KeySet,
    NameTaken,
    NoSuchProvider,
    ProviderStore,
    SealedKey,
    key_subject,
    settings_subject,
)
from adapters.settings.secrets import Vault
from runtime.clock import wall

PATH = "/api/v2/ai/providers"
BODY_BYTES_MAX = 1024 * 1024
INVALID = "Invalid AI provider."

_KNOWN_TYPES = (*TYPES, *UNSUPPORTED_TYPES)


class ProviderRoutes:
    def __init__(self, catalogue: Catalogue, providers: ProviderStore, vault: Vault) -> None:
        self._catalogue = catalogue
        self._providers = providers
        self._vault = vault

    def endpoints(self) -> Sequence[Endpoint]:
        one = PATH + "/{provider}"
        list_of = Sequence[AIProvider]
        rows = (
            ("GET", PATH, self.list, "List all providers.", None, {200: list_of}, ()),
            (
                "POST",
                PATH,
                self.add,
                "Add a provider.",
                CreateAIProviderRequest,
                {201: AIProvider},
                (409,),
            ),
            ("GET", one, self.show, "Get a provider, by id or name.", None, {200: AIProvider}, ()),
            (
                "PATCH",
                one,
                self.change,
                "Change a provider or its keys.",
                UpdateAIProviderRequest,
                {200: AIProvider},
                (409,),
            ),
            ("DELETE", one, self.remove, "Remove a provider.", None, {204: None}, (409,)),
        )
        return tuple(
            Endpoint(
                method=method,
                path=path,
                handle=handle,
                summary=says,
                tag="providers",
                access=Access.ADMIN,
                scope="models",
                body=body,
                body_bytes_max=BODY_BYTES_MAX,
                answers=answers,
                refusals=refusals,
                has_etag=method == "GET",
            )
            for method, path, handle, says, body, answers, refusals in rows
        )

    async def list(self, call: Call) -> HttpResponse:
        snapshot = await self._catalogue.snapshot()
        return json_response(
            200, [presenters.provider(each) for each in snapshot.providers.values()]
        )

    async def show(self, call: Call) -> HttpResponse:
        return json_response(200, presenters.provider(await self._named(call)))

    async def add(self, call: Call) -> HttpResponse:
        asked = call.read(CreateAIProviderRequest)
        refuse_if(_new_faults(asked), INVALID)
        name = asked.name or ""
        other = (await self._catalogue.snapshot()).named(name)
        if other is not None and other.source is not ModelSource.DATABASE:
            raise _name_in_use(name)
        provider = self._new(asked)
        keys = [self._sealed(provider.id, key) for key in asked.api_keys or ()]
        if isinstance(await self._providers.add(provider, keys), NameTaken):
            raise _name_in_use(name)
        return json_response(201, await self._current(provider.id))

    async def change(self, call: Call) -> HttpResponse:
        asked = call.read(UpdateAIProviderRequest)
        provider = _stored_one(await self._named(call))
        refuse_if(_change_faults(asked, provider), INVALID)

        def revise(stored: StoredProvider) -> tuple[StoredProvider, KeySet | None]:
            return self._changed(stored, asked), self._key_set(stored, asked.api_keys)

        if isinstance(await self._providers.change(provider.id, revise), NoSuchProvider):
            raise not_found()
        return json_response(200, await self._current(provider.id))

    async def remove(self, call: Call) -> HttpResponse:
        provider = _stored_one(await self._named(call))
        if isinstance(await self._providers.remove(provider.id), NoSuchProvider):
            raise not_found()
        return no_content()

    async def _named(self, call: Call) -> ListedProvider:
        """Return the provider that a path names by id or name; refuse if there is none."""
        wanted = call.path["provider"]
        snapshot = await self._catalogue.snapshot()
        try:
            found = snapshot.providers.get(UUID(wanted))
        except ValueError:
            if not NAME.fullmatch(wanted):
                raise HttpError(
                    400,
                    "Invalid AI provider.",
                    validations=(Validation("provider", "must be a UUID or a name"),),
                ) from None
            found = snapshot.named(wanted)
        if found is None:
            raise not_found()
        return found

    async def _current(self, id: UUID) -> AIProvider:
        """Return a provider as it is stored now; 404 if it was removed meanwhile."""
        found = (await self._catalogue.snapshot()).providers.get(id)
        if found is None:
            raise not_found()
        return presenters.provider(found)

    def _new(self, asked: CreateAIProviderRequest) -> StoredProvider:
        id, now = uuid4(), wall()
        bare = StoredProvider(
            id,
            asked.type or "",
            asked.name or "",
            asked.display_name or "",
            asked.icon or "",
            enabled=asked.enabled is not False,
            base_url=asked.base_url or "",
            settings=None,
            sealed_settings=None,
            created_at=now,
            updated_at=now,
        )
        return self._with_settings(bare, asked.settings)

    def _changed(self, stored: StoredProvider, asked: UpdateAIProviderRequest) -> StoredProvider:
        fields = ("display_name", "icon", "enabled", "base_url")
        written = {name: getattr(asked, name) for name in fields}
        changed = replace(
            stored, **{name: value for name, value in written.items() if value is not None}
        )
        return self._with_settings(changed, asked.settings)

    def _with_settings(
        self, provider: StoredProvider, written: WrittenBedrockSettings | None
    ) -> StoredProvider:
        if written is None:
            return provider
        plain = BedrockSettings(
            region=written.region or UNSET,
            model=written.model or UNSET,
            small_fast_model=written.small_fast_model or UNSET,
            protocol=written.protocol or UNSET,
        )
        changed = replace(provider, settings=msgspec.json.encode(plain))
        if written.access_key is None and written.access_key_secret is None:
            return changed
        if not (written.access_key or written.access_key_secret):
            return replace(changed, sealed_settings=None)
        secrets = BedrockSecrets(written.access_key or "", written.access_key_secret or "")
        text = msgspec.json.encode(secrets).decode()
        sealed = self._vault.seal(text, settings_subject(provider.id))
        return replace(changed, sealed_settings=sealed)

    def _sealed(self, provider: UUID, key: str) -> SealedKey:
        id = uuid4()
        return SealedKey(id, self._vault.seal(key, key_subject(provider, id)), masked(key))

    def _key_set(
        self, stored: StoredProvider, written: Sequence[AIProviderKeyChange] | None
    ) -> KeySet | None:
        """Return the keys that a provider has from now on: the listed ones, and no others."""
        if written is None:
            return None
        kept = [each.id for each in written if each.id is not None]
        there = {key.id for key in stored.keys}
        refuse_if(
            (("api_keys", f"there is no key {id}") for id in kept if id not in there), INVALID
        )
        new = [
            self._sealed(stored.id, each.api_key) for each in written if each.api_key is not None
        ]
        return KeySet(kept, new)


def _stored_one(provider: ListedProvider) -> ListedProvider:
    """Return a provider that is stored here; refuse any other."""
    if provider.source is ModelSource.ENVIRONMENT:
        raise HttpError(
            409,
            f"Provider {provider.name} comes from the environment.",
            detail=f"it was set up by {provider.variable}: change that and start the daemon again",
        )
    if provider.source is ModelSource.REHEARSAL:
        raise HttpError(
            409,
            "The rehearsal is built in.",
            detail="it goes away by itself with the first provider that is set up",
        )
    return provider


def _name_in_use(name: str) -> HttpError:
    validation = Validation("name", "is taken by another provider")
    return HttpError(
        409, f"An AI provider named {name!r} exists already.", validations=(validation,)
    )


def _new_faults(asked: CreateAIProviderRequest) -> Faults:
    type = asked.type or ""
    if type not in _KNOWN_TYPES:
        yield "type", f"must be one of {', '.join(_KNOWN_TYPES)}"
    yield from name_faults(asked.name or "")
    yield from text_faults("display_name", asked.display_name)
    yield from text_faults("icon", asked.icon)
    yield from url_faults(asked.base_url or "")
    yield from _keys_faults([("api_keys", key) for key in asked.api_keys or ()], type)
    yield from _settings_faults(asked.settings, type)


def _change_faults(asked: UpdateAIProviderRequest, provider: ListedProvider) -> Faults:
    if all(getattr(asked, name) is None for name in asked.__struct_fields__):
        yield "", "names nothing to change"
    yield from text_faults("display_name", asked.display_name)
    yield from text_faults("icon", asked.icon)
    if asked.base_url is not None:
        yield from url_faults(asked.base_url)
    changes = asked.api_keys or ()
    for at, change in enumerate(changes):
        if (change.id is None) == (change.api_key is None):
            yield f"api_keys[{at}]", "must have either an id or an api_key"
    ids = [change.id for change in changes if change.id is not None]
    if len(set(ids)) < len(ids):
        yield "api_keys", "names a key twice"
    new = [("api_keys", change.api_key) for change in changes if change.api_key is not None]
    yield from _keys_faults(new, provider.type, count=len(changes))
    yield from _settings_faults(asked.settings, provider.type)


def _keys_faults(keys: Sequence[tuple[str, str]], type: str, *, count: int | None = None) -> Faults:
    number = len(keys) if count is None else count
    if number > KEYS_MAX:
        yield "api_keys", f"are {number}, may be {KEYS_MAX}"
    if number and type in _KNOWN_TYPES and not vendor_of(type).takes_keys:
        yield "api_keys", f"cannot be set for a provider of type {type}"
    for field, key in keys:
        yield from key_faults(field, key)


def _settings_faults(settings: WrittenBedrockSettings | None, type: str) -> Faults:
    if settings is None:
        return
    if vendor_of(type).login is not Login.AWS:
        yield "settings", f"can only be set for a provider of type {BEDROCK.type}"
    if bool(settings.access_key) != bool(settings.access_key_secret):
        yield "settings.access_key", "comes together with access_key_secret"
    if settings.role_arn:
        yield "settings.role_arn", "roles are not assumed here; give access_key and its secret"
    if settings.protocol and settings.protocol != "invoke-model":
        yield "settings.protocol", "must be invoke-model"
    for name in ("region", "model", "small_fast_model", "access_key", "access_key_secret"):
        yield from text_faults(f"settings.{name}", getattr(settings, name))
