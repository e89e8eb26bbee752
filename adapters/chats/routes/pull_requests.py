"""The changes of a chat's branch at its forge, and the tokens of users at forges."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import Annotated

import trio
from msgspec import UNSET, Struct, UnsetType

from actors.law.ids import UserId
from adapters.access.admission import Admission
from adapters.chats.changes.forge_apis import ForgeApi
from adapters.chats.changes.forge_client import (
    ForgeClient,
    ForgeFailed,
    ForgeLimited,
    ForgeRefused,
)
from adapters.chats.changes.pull_requests import ForgeAccess
from adapters.chats.changes.store import (
    BranchStore,
    ChatBranch,
    ForgeTokenRow,
    ForgeTokenStore,
    forge_token_subject,
)
from adapters.chats.changes.wiring import ForgeParts
from adapters.chats.wire.diffs import ChatDiffContents
from adapters.http.endpoints import (
    Call,
    Endpoint,
    HttpResponse,
    Routes,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, not_found
from adapters.http.schemas import REQUIRED
from adapters.models.routes.checks import People, key_faults, refuse_if, target_user
from adapters.settings import Forge
from adapters.settings.forges import ForgeKind
from adapters.settings.secrets import CannotOpen, Vault
from runtime.clock import wall

TOKENS = "/api/v2/users/{user}/forge-tokens"
BODY_BYTES_MAX = 64 * 1024
DIFFS_PER_MINUTE = 30  # of one user: each is up to three requests to a forge; then 429
CHECK_SECONDS = 5.0  # for a forge to say whether it takes a new token; then it is seen later


class ForgeTokenConfig(Struct, frozen=True, kw_only=True):
    """A forge, and whether the user has a token there. The token itself is never shown."""

    host: str
    kind: str
    url: str
    has_token: bool
    created_at: datetime | UnsetType = UNSET
    failure: str | UnsetType = UNSET  # why the forge does not take it
    delayed_until: datetime | UnsetType = UNSET  # the forge asks for patience


class UpsertForgeTokenRequest(Struct, frozen=True):
    token: Annotated[str | None, REQUIRED] = None

    def __repr__(self) -> str:
        return "UpsertForgeTokenRequest()"


class PullRequestRoutes:
    """Handlers of the diffs that forges tell."""

    def __init__(
        self,
        admission: Admission,
        store: BranchStore,
        apis: Mapping[ForgeKind, ForgeApi],
        vault: Vault,
        forges: Sequence[Forge],
    ) -> None:
        self._admission = admission
        self._store = store
        self._apis = apis
        self._vault = vault
        self._forges = {forge.host: forge for forge in forges}

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path="/api/v2/chats/{chat}/diff",
                handle=self.diff,
                summary="The changes of the chat's pull request, or else of its branch.",
                tag="changes",
                rate_per_minute=DIFFS_PER_MINUTE,
                answers={200: ChatDiffContents},
                refusals=(500,),
            ),
        )

    async def diff(self, call: Call) -> HttpResponse:
        """Ask the forge, with the token of the chat's owner. Without a token, or a forge, only what
        is known of the branch is told."""
        chat = (await self._admission.to_read(call)).id
        found = await self._store.of_chat(chat)
        if found is None:
            return json_response(200, ChatDiffContents(chat_id=chat))
        access, known = self._access_of(found), found.known
        contents = ChatDiffContents(
            chat_id=chat,
            provider=UNSET if found.host not in self._forges else self._forges[found.host].kind,
            remote_origin=found.remote_origin,
            branch=found.branch,
            pull_request_url=UNSET if known is None else known.url,
            diff=UNSET if access is None else await self._ask(access, found) or UNSET,
        )
        return json_response(200, contents)

    async def _ask(self, access: ForgeAccess, found: ChatBranch) -> str | None:
        api, known = self._apis[access.forge.kind], found.known
        assert found.path is not None, "a branch at a forge is in a repository there"
        if found.delayed_seconds is not None:
            raise _failed(ForgeLimited(found.delayed_seconds))
        try:
            if known is not None:
                return await api.diff(access, known)
            return await api.compare(access, found.path, found.branch)
        except ForgeLimited as error:
            limited = error
        except (ForgeFailed, ForgeRefused) as error:
            raise _failed(error) from error
        await self._store.delay(found.owner_id, access.forge.host, limited.seconds)
        raise _failed(limited)

    def _access_of(self, found: ChatBranch) -> ForgeAccess | None:
        forge = self._forges.get(found.host or "")
        if forge is None or found.sealed is None:
            return None
        try:
            subject = forge_token_subject(found.owner_id, forge.host)
            return ForgeAccess(forge, self._vault.open(found.sealed, subject))
        except CannotOpen as closed:
            raise _failed(closed) from closed


def _failed(error: Exception) -> HttpError:
    waits = (("retry-after", str(ceil(error.seconds))),) if isinstance(error, ForgeLimited) else ()
    return HttpError(500, "The forge told no diff.", detail=str(error), headers=waits)


class ForgeTokenRoutes:
    """Handlers of users' tokens at forges."""

    def __init__(self, parts: ForgeParts, vault: Vault, *, people: People) -> None:
        self._tokens: ForgeTokenStore = parts.tokens
        self._branches = parts.branches
        self._client = ForgeClient(parts.client)
        self._vault = vault
        self._forges = {forge.host: forge for forge in parts.forges}
        self._people = people

    def endpoints(self) -> Sequence[Endpoint]:
        one = TOKENS + "/{host}"
        return (
            Endpoint(
                method="GET",
                path=TOKENS,
                handle=self.list,
                summary="List the forges, and whether the user has a token at each.",
                tag="changes",
                scope="settings",
                answers={200: Sequence[ForgeTokenConfig]},
            ),
            Endpoint(
                method="PUT",
                path=one,
                handle=self.put,
                summary="Set the user's token at a forge; pull requests are asked for with it.",
                tag="changes",
                scope="settings",
                body=UpsertForgeTokenRequest,
                body_bytes_max=BODY_BYTES_MAX,
                answers={200: ForgeTokenConfig},
            ),
            Endpoint(
                method="DELETE",
                path=one,
                handle=self.remove,
                summary="Remove the user's token at a forge.",
                tag="changes",
                scope="settings",
                answers={204: None},
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        own = await self._tokens.of(user)
        return json_response(
            200, [_shown(forge, own.get(host)) for host, forge in self._forges.items()]
        )

    async def put(self, call: Call) -> HttpResponse:
        user, forge = await target_user(self._people, call), self._forge(call)
        token = call.read(UpsertForgeTokenRequest).token or ""
        refuse_if(key_faults("token", token), "Invalid token.")
        sealed = self._vault.seal(token, forge_token_subject(user, forge.host))
        await self._tokens.put(user, forge.host, sealed)
        await self._check(user, ForgeAccess(forge, token), sealed)
        return json_response(200, _shown(forge, (await self._tokens.of(user)).get(forge.host)))

    async def remove(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        await self._tokens.delete(user, call.path["host"].lower())
        return no_content()

    async def _check(self, user: UserId, access: ForgeAccess, sealed: bytes) -> None:
        """Ask the forge whether it takes a new token, and note what it says."""
        host = access.forge.host
        refused, seconds = "", 0.0
        with trio.move_on_after(CHECK_SECONDS):
            try:
                await self._client.check(access)
            except ForgeRefused as refusal:
                refused = str(refusal)
            except ForgeLimited as limited:
                seconds = limited.seconds
        if refused:
            await self._branches.note_token(user, host, sealed, refused)
        if seconds:
            await self._branches.delay(user, host, seconds)

    def _forge(self, call: Call) -> Forge:
        forge = self._forges.get(call.path["host"].lower())
        if forge is None:
            raise not_found()
        return forge


def _shown(forge: Forge, row: ForgeTokenRow | None) -> ForgeTokenConfig:
    shown = ForgeTokenConfig(
        host=forge.host, kind=forge.kind, url=forge.url, has_token=row is not None
    )
    if row is None:
        return shown
    waits = row.delayed_until is not None and row.delayed_until > wall()
    return ForgeTokenConfig(
        host=forge.host,
        kind=forge.kind,
        url=forge.url,
        has_token=True,
        created_at=row.created_at,
        failure=row.failure or UNSET,
        delayed_until=row.delayed_until or UNSET if waits else UNSET,
    )


def pull_request_routes(
    parts: ForgeParts, vault: Vault, admission: Admission, people: People
) -> Sequence[Routes]:
    return (
        PullRequestRoutes(admission, parts.branches, parts.apis, vault, parts.forges),
        ForgeTokenRoutes(parts, vault, people=people),
    )
