"""Keys that users bring: the endpoints at /users/{user}/ai-provider-keys."""

from collections.abc import Sequence
from uuid import UUID

from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, not_found
from adapters.models.catalogue import Catalogue
from adapters.models.routes import presenters
from adapters.models.routes.checks import People, key_faults, refuse_if, target_user
from adapters.models.routes.wire import UpsertUserAIProviderKeyRequest, UserAIProviderKeyConfig
from adapters.models.snapshot import ListedProvider, ModelSource
from adapters.models.store.providers import ProviderStore, own_key_subject
from adapters.settings.secrets import Vault

PATH = "/api/v2/users/{user}/ai-provider-keys"
BODY_BYTES_MAX = 64 * 1024


class UserKeyRoutes:
    def __init__(
        self, catalogue: Catalogue, providers: ProviderStore, vault: Vault, *, people: People
    ) -> None:
        self._catalogue = catalogue
        self._providers = providers
        self._vault = vault
        self._people = people

    def endpoints(self) -> Sequence[Endpoint]:
        one = PATH + "/{provider}"
        return (
            Endpoint(
                method="GET",
                path=PATH,
                handle=self.list,
                summary="List the providers, and whether the user has a key of their own for each.",
                tag="providers",
                scope="models",
                answers={200: Sequence[UserAIProviderKeyConfig]},
            ),
            Endpoint(
                method="PUT",
                path=one,
                handle=self.put,
                summary="Set the user's own key of a provider; their chats use it.",
                tag="providers",
                scope="models",
                body=UpsertUserAIProviderKeyRequest,
                body_bytes_max=BODY_BYTES_MAX,
                answers={200: UserAIProviderKeyConfig},
                refusals=(412,),
            ),
            Endpoint(
                method="DELETE",
                path=one,
                handle=self.remove,
                summary="Remove the user's own key of a provider.",
                tag="providers",
                scope="models",
                answers={204: None},
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        """List the providers that are enabled, and those that the user has a key for."""
        user = await target_user(self._people, call)
        snapshot, own = await self._catalogue.snapshot(), await self._catalogue.own(user)
        listed = [
            each
            for each in snapshot.providers.values()
            if _takes_keys(each) and (each.enabled or own.has_key(each.id))
        ]
        allow_user_keys = self._catalogue.allow_user_keys
        return json_response(
            200, [presenters.own_key(each, own, allow_user_keys=allow_user_keys) for each in listed]
        )

    async def put(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        if not self._catalogue.allow_user_keys:
            raise HttpError(403, "Users cannot bring keys of their own to this deployment.")
        provider = call.uuid("provider")
        key = call.read(UpsertUserAIProviderKeyRequest).api_key or ""
        refuse_if(key_faults("api_key", key), "Invalid API key.")
        found = await self._provider(provider)
        if not found.enabled:
            raise HttpError(412, f"Provider {found.name} is disabled.")
        sealed = self._vault.seal(key, own_key_subject(user, provider))
        await self._providers.bring_key(user, provider, sealed)
        own = await self._catalogue.own(user)
        return json_response(200, presenters.own_key(found, own, allow_user_keys=True))

    async def remove(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        await self._providers.take_key_back(user, call.uuid("provider"))
        return no_content()

    async def _provider(self, id: UUID) -> ListedProvider:
        found = (await self._catalogue.snapshot()).providers.get(id)
        if found is None or not _takes_keys(found):
            raise not_found()
        return found


def _takes_keys(provider: ListedProvider) -> bool:
    is_ours = provider.source is ModelSource.REHEARSAL or provider.config.ready_made is not None
    return not (is_ours or provider.is_unsupported)
