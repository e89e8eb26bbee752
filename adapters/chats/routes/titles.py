"""The routes of titles that a model is asked for while the client waits."""

from collections.abc import Awaitable, Callable, Sequence

from actors.chat.turn.ports import CallRecorder
from actors.law.chat import ChatError
from actors.law.parts.deltas import FailureKind
from actors.law.refusals import ChatNotFound
from actors.law.store.ports import StoredChats
from actors.upkeep.title_jobs import NoTitle, title_for
from actors.upkeep.title_wording import later_title_prompt
from adapters.access.admission import Admission, VisibleChat
from adapters.chats.overviews import OverviewStore
from adapters.chats.wire.chats import Chat, ChatTitle
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response
from adapters.http.refusals import HttpError, not_found
from adapters.models.catalogue import Catalogue
from adapters.models.costs import Bookkeeper

TITLE = "/api/v2/chats/{chat}/title"

ShowChat = Callable[[VisibleChat], Awaitable[Chat]]


class TitleRoutes:
    """Handlers of titles."""

    def __init__(
        self,
        admission: Admission,
        reading: StoredChats,
        overviews: OverviewStore,
        *,
        catalogue: Catalogue,
        keeper: Bookkeeper,
        recorder: CallRecorder,
        show: ShowChat,
    ) -> None:
        self._admission = admission
        self._reading = reading
        self._overviews = overviews
        self._catalogue = catalogue
        self._keeper = keeper
        self._recorder = recorder
        self._show = show

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=f"{TITLE}/regenerate",
                handle=self.regenerate,
                summary="Give the chat a title that a model finds for it now.",
                tag="titles",
                answers={200: Chat},
                refusals=(409, 500),
            ),
            Endpoint(
                method="POST",
                path=f"{TITLE}/propose",
                handle=self.propose,
                summary="Ask a model for a title, and change nothing.",
                tag="titles",
                answers={200: ChatTitle},
                refusals=(409, 500),
            ),
        )

    async def regenerate(self, call: Call) -> HttpResponse:
        chat = await self._admission.as_owner(call)
        await self._overviews.retitle(chat.id, await self._ask_title(chat) or chat.title)
        return json_response(200, await self._show(chat))

    async def propose(self, call: Call) -> HttpResponse:
        chat = await self._admission.as_owner(call)
        return json_response(200, ChatTitle(await self._ask_title(chat)))

    async def _ask_title(self, chat: VisibleChat) -> str:
        """Return a title of a model. It is empty if the chat holds nothing to name. If the model
        answers with something else than a title, the chat keeps the one it has."""
        view = await self._reading.view(chat.id)
        if isinstance(view, ChatNotFound):
            raise not_found()
        model = await self._catalogue.model_for(view.chat)
        if isinstance(model, ChatError):
            raise HttpError(400, "There is no model to ask for a title.", detail=model.message)
        model = self._catalogue.for_titles(view.chat, model)
        history = await self._reading.history(chat.id)
        prompt = later_title_prompt(view.chat, model, history)
        if prompt is None:
            return ""
        model = self._recorder.recorded(model, view.chat, "title_generation", history)
        title = await title_for(model, prompt, books=self._keeper, chat=chat.id)
        if isinstance(title, str):
            return title
        if title.kind is None:
            return chat.title
        raise _refused(title)


def _refused(missing: NoTitle) -> HttpError:
    if missing.kind is FailureKind.USAGE_LIMIT:
        return HttpError(409, "The limit of this model is used up.", detail=missing.why)
    return HttpError(500, "The model gave no title.", detail=missing.why)
