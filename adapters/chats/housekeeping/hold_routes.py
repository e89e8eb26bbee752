"""The endpoints of legal holds, for admins; to others there is no such thing."""

from collections.abc import Sequence
from uuid import UUID

from msgspec import Struct

from actors.law.ids import UserId, chat_name
from adapters.access.admission import Admission, VisibleChat
from adapters.chats.housekeeping.holds import HoldRow, HoldStore, hold_json
from adapters.chats.housekeeping.schemas import LegalHold, LegalHolds, SetLegalHold
from adapters.http.endpoints import (
    Access,
    Call,
    Endpoint,
    Handler,
    HttpResponse,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, Validation, not_found
from adapters.models.routes.checks import ME, People
from runtime.log import emit

HOLDS = "/api/v2/legal-holds"
CHAT_HOLD = "/api/v2/chats/{chat}/legal-hold"
USER_HOLD = "/api/v2/users/{user}/legal-hold"
REASON_CHARACTERS_MAX = 500  # of a reason; a longer one is refused


class HoldRoutes:
    """Handlers of legal holds."""

    def __init__(self, admission: Admission, holds: HoldStore, people: People) -> None:
        self._admission = admission
        self._holds = holds
        self._people = people

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            _row("GET", HOLDS, self.all, "The legal holds that there are.", LegalHolds),
            _row("GET", CHAT_HOLD, self.of_chat, "What keeps a chat from erasure.", LegalHolds),
            _row("PUT", CHAT_HOLD, self.put_on_chat, "Let nothing erase a chat.", LegalHold),
            _row("DELETE", CHAT_HOLD, self.release_chat, "Lift the hold on a chat.", None),
            _row("GET", USER_HOLD, self.of_user, "What keeps a user's chats.", LegalHolds),
            _row("PUT", USER_HOLD, self.put_on_user, "Erase nothing of a user.", LegalHold),
            _row("DELETE", USER_HOLD, self.release_user, "Lift the hold on a user.", None),
        )

    async def all(self, call: Call) -> HttpResponse:
        return _listed(await self._holds.all())

    async def of_chat(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_read(call)
        return _listed(await self._holds.on_chat(chat.root_id, chat.owner_id))

    async def put_on_chat(self, call: Call) -> HttpResponse:
        chat, reason = _root(await self._admission.to_read(call)), _reason(call)
        if not await self._holds.set_on_chat(chat.id, reason, by=call.user.id):
            raise not_found()
        emit("hold.set", "info", chat=chat_name(chat.id), by=call.user.username)
        [made] = await self._holds.all(root=chat.id)
        return json_response(200, hold_json(made))

    async def release_chat(self, call: Call) -> HttpResponse:
        chat = _root(await self._admission.to_read(call))
        if not await self._holds.release(root=chat.id):
            raise not_found()
        emit("hold.lifted", "info", chat=chat_name(chat.id), by=call.user.username)
        return no_content()

    async def of_user(self, call: Call) -> HttpResponse:
        return _listed(await self._holds.all(user=await user_of_path(self._people, call)))

    async def put_on_user(self, call: Call) -> HttpResponse:
        user, reason = await user_of_path(self._people, call), _reason(call)
        if not await self._holds.set_on_user(user, reason, by=call.user.id):
            raise not_found()
        emit("hold.set", "info", user=user, by=call.user.username)
        [made] = await self._holds.all(user=user)
        return json_response(200, hold_json(made))

    async def release_user(self, call: Call) -> HttpResponse:
        user = await user_of_path(self._people, call)
        if not await self._holds.release(user=user):
            raise not_found()
        emit("hold.lifted", "info", user=user, by=call.user.username)
        return no_content()


async def user_of_path(people: People, call: Call) -> UserId:
    """Return the user whom an admin's path names: by `me`, id or name. One who was deleted can be
    named by their id: their chats are still there."""
    said = call.path["user"]
    if said == ME:
        return call.user.id
    try:
        found = await people.by_id(UserId(UUID(said)))
    except ValueError:
        found = await people.by_name(said)
    if found is None:
        raise not_found()
    return found.id


def _row(
    method: str, path: str, handle: Handler, summary: str, answer: type[Struct] | None
) -> Endpoint:
    return Endpoint(
        method=method,
        path=path,
        handle=handle,
        summary=summary,
        tag="housekeeping",
        access=Access.HIDDEN,
        scope="settings",
        body=SetLegalHold if method == "PUT" else None,
        answers={204: None} if answer is None else {200: answer},
    )


def _listed(rows: Sequence[HoldRow]) -> HttpResponse:
    return json_response(200, LegalHolds([hold_json(row) for row in rows]))


def _root(chat: VisibleChat) -> VisibleChat:
    if not chat.is_root:
        raise HttpError(
            400, "A child chat is held with its root.", detail=f"hold {chat.root_id} instead"
        )
    return chat


def _reason(call: Call) -> str:
    reason = (call.read(SetLegalHold).reason or "").strip()
    fault = None if reason else "is required: say why, for those who come after you"
    if len(reason) > REASON_CHARACTERS_MAX:
        fault = f"has {len(reason)} characters, it can have {REASON_CHARACTERS_MAX}"
    if fault is not None:
        raise HttpError(400, "Invalid legal hold.", validations=(Validation("reason", fault),))
    return reason
