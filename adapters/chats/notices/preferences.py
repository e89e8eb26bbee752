"""The kinds of notices that a user wants: each can be switched off, in the inbox and on devices.

What is switched off is not filed (`file_event` of the schema looks). Webhooks have a list of events
of their own, which this does not touch.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from actors.law.ids import UserId
from actors.law.store.news import NewsKind
from adapters.chats.notices.inbox import INBOX_KINDS
from adapters.chats.notices.wording import KINDS_BY_TEMPLATE, TEMPLATE_IDS
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response
from adapters.http.schemas import REQUIRED
from adapters.models.routes.checks import Faults, People, refuse_if, target_user
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

PREFERENCES = "/api/v2/users/{user}/notifications/preferences"
INVALID = "Invalid notification preferences."
NAMES = {
    NewsKind.NEEDS_YOU: "A chat needs you",
    NewsKind.ENDED: "A turn has ended",
    NewsKind.FAILED: "A chat has stopped with an error",
    NewsKind.SHARED: "A chat is shared with you",
    NewsKind.ARCHIVED: "Chats that you did not use were archived",
    NewsKind.WEBHOOK_DISABLED: "A webhook was switched off",
}


class NotificationPreference(Struct, frozen=True, kw_only=True):
    """A kind of notices. `id` is its template."""

    id: UUID
    disabled: bool
    updated_at: datetime | UnsetType = UNSET  # absent: it was never switched
    name: str  # for people
    kind: str


class UpdateNotificationPreferences(Struct, frozen=True):
    """The kinds to switch, by their templates: true is off. Those that are not named stay."""

    template_disabled_map: Annotated[Mapping[str, bool] | None, REQUIRED] = None


class PreferenceStore:
    """The kinds that users have switched, on PostgreSQL."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, user: UserId) -> Mapping[NewsKind, tuple[bool, datetime]]:
        """Return which kinds a user has ever switched, whether each is off, and since when."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["notice_preferences"], {"user": user})
        kinds = {kind.value: kind for kind in INBOX_KINDS}
        return {kinds[name]: (off, at) for name, off, at in found if name in kinds}

    async def switch(
        self, user: UserId, *, off: Collection[NewsKind], on: Collection[NewsKind]
    ) -> None:
        changed = {
            "user": user,
            "kinds": [kind.value for kind in (*off, *on)],
            "are_off": [True] * len(off) + [False] * len(on),
        }
        async with self._pool.connection() as connection:
            await connection.execute(SQL["switch_notices"], changed)


class PreferenceRoutes:
    """Handlers of the switches."""

    def __init__(self, store: PreferenceStore, people: People) -> None:
        self._store = store
        self._people = people

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=PREFERENCES,
                handle=self.show,
                summary="The kinds of notices, and which of them are switched off.",
                tag="inbox",
                answers={200: Sequence[NotificationPreference]},
            ),
            Endpoint(
                method="PUT",
                path=PREFERENCES,
                handle=self.change,
                summary="Switch kinds of notices on or off, in the inbox and on devices.",
                tag="inbox",
                body=UpdateNotificationPreferences,
                answers={200: Sequence[NotificationPreference]},
            ),
        )

    async def show(self, call: Call) -> HttpResponse:
        return await self._shown(await target_user(self._people, call))

    async def change(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        asked = call.read(UpdateNotificationPreferences).template_disabled_map or {}
        refuse_if(_faults(asked), INVALID)
        wanted = {KINDS_BY_TEMPLATE[UUID(template)]: off for template, off in asked.items()}
        await self._store.switch(
            user,
            off=[kind for kind, off in wanted.items() if off],
            on=[kind for kind, off in wanted.items() if not off],
        )
        return await self._shown(user)

    async def _shown(self, user: UserId) -> HttpResponse:
        switched = await self._store.of(user)
        return json_response(200, [_presented(kind, switched.get(kind)) for kind in INBOX_KINDS])


def _presented(kind: NewsKind, switched: tuple[bool, datetime] | None) -> NotificationPreference:
    off, at = switched or (False, UNSET)
    return NotificationPreference(
        id=TEMPLATE_IDS[kind], disabled=off, updated_at=at, name=NAMES[kind], kind=kind.value
    )


def _faults(asked: Mapping[str, bool]) -> Faults:
    for template in asked:
        try:
            kind = KINDS_BY_TEMPLATE.get(UUID(template))
        except ValueError:
            kind = None
        if kind not in INBOX_KINDS:
            yield f"template_disabled_map.{template[:64]}", "is not a template of the inbox"
