"""Requests that a policy hook is asked about before they are sent: prompts, and results of clients.

A prompt is asked about before it is stored, whoever sends it: a user by the API, or an agent. What
the hook rewrites is stored in the place of what was sent, and nothing of that is kept: not even the
title of a new chat is made of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from actors.law.chat import Body, Role, StoredChat, Visibility
from actors.law.closing import unanswered_calls
from actors.law.ids import ChatId
from actors.law.parts.json_text import is_json
from actors.law.parts.message import JsonText, Part, TextPart, ToolCallPart, ToolResultPart
from actors.law.requests import (
    CompleteRequiresAction,
    CreateChat,
    DynamicResult,
    EditMessage,
    EditQueued,
    Request,
    SendMessage,
)
from actors.law.store.ports import StoredChats
from actors.tools.hooks.port import NO_HOOKS, HookEvent, HookFailed, HookSubject, PolicyHooks
from actors.tools.hooks.rules import (
    DENIED,
    FAILED,
    PromptDenied,
    context_row,
    denied_words,
    prompt_after,
    prompt_data,
    result_data,
    subject_of,
)
from actors.upkeep.title_wording import fallback_title, source_of
from adapters.http.refusals import HttpError


class PolicyRefusal(HttpError):
    """A request that a policy hook has denied, or that it could not be asked about."""

    failed: HookFailed | None = None

    @property
    def words(self) -> str:
        """Return the refusal in words for a model."""
        return self.body.message if self.failed is not None else denied_words(self.body.message)


@dataclass(frozen=True, slots=True)
class RequestHooks:
    """The hooks of requests. Without a server to ask, requests pass as they are."""

    hooks: PolicyHooks = NO_HOOKS
    reading: StoredChats | None = None  # there if anything is asked

    @property
    def is_on(self) -> bool:
        return self.hooks.is_on

    async def of_creation(self, request: CreateChat) -> CreateChat:
        """Return the request as it is sent after the hook. Raise `PolicyRefusal`."""
        new = request.chat
        subject = HookSubject(
            new.id,
            new.owner_id,
            new.workspace_id,
            parent=new.parent_id,
            root=new.root_id or new.parent_id or new.id,
        )
        said = [body for body in request.messages if _is_prompt(body)]
        if not said:
            return request
        prompt = said[-1]
        try:
            parts = await self._admitted(subject, prompt.parts)
        except PolicyRefusal as refused:
            if new.parent_id is not None and refused.failed is not None:
                self.hooks.hold_failure(new.parent_id, refused.failed)
            raise
        messages = tuple(
            replace(body, parts=parts) if body is prompt else body for body in request.messages
        )
        if _words(parts) != _words(prompt.parts):
            new = replace(new, title=fallback_title(source_of(parts)))
        return replace(request, chat=new, messages=messages)

    async def of_change(self, chat: ChatId, requests: Sequence[Request]) -> Sequence[Request]:
        """Return the requests as they are sent after the hook. Raise `PolicyRefusal`."""
        if not any(isinstance(request, _ASKED) for request in requests):
            return requests
        assert self.reading is not None, "hooks that are asked know the chats"
        stored = await self.reading.view(chat)
        if not isinstance(stored, StoredChat):
            return requests  # which are refused, because there is no such chat
        return [await self._of_one(request, stored) for request in requests]

    async def _of_one(self, request: Request, stored: StoredChat) -> Request:
        match request:
            case SendMessage() | EditMessage() | EditQueued():
                message, subject = request.message, subject_of(stored.chat)
                parts = await self._admitted(subject, message.parts)
                return replace(request, message=replace(message, parts=parts))
            case CompleteRequiresAction():
                return await self._with_results(request, stored)
            case _:
                return request

    async def _admitted(self, subject: HookSubject, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        event: HookEvent = "user_prompt_submit"
        data = prompt_data(parts)
        reply = await self.hooks.ask(event, subject, data, is_admission=True)
        found = reply if isinstance(reply, HookFailed) else prompt_after(parts, reply)
        if isinstance(found, HookFailed):
            raise dispatch_refusal(event, found)
        if isinstance(found, PromptDenied):
            raise PolicyRefusal(403, found.why, kind=DENIED)
        return found

    async def _with_results(
        self, request: CompleteRequiresAction, stored: StoredChat
    ) -> CompleteRequiresAction:
        """Tell the results of a client's own tools. If they are not what the chat waits for, the
        law refuses them, and nothing is told."""
        open_calls = {call.id: call for call in unanswered_calls(stored.tail)}
        told: tuple[Body, ...] = request.then
        if not all(_is_told(result, open_calls) for result in request.results):
            return request
        for result in request.results:
            call = open_calls[result.tool_call_id]
            part = ToolResultPart(
                call.id, call.name, JsonText(result.output), is_error=result.is_error
            )
            ask = partial(self.hooks.ask, "post_tool_use", subject_of(stored.chat))
            reply = await ask(result_data(call, part), is_admission=True)
            if isinstance(reply, HookFailed):
                raise dispatch_refusal("post_tool_use", reply)
            if reply.model_context:
                told = (*told, context_row(reply.model_context))
            if reply.user_message:
                self.hooks.hold_notice(stored.chat.id, reply.user_message)
        return replace(request, then=told)


_ASKED = SendMessage | EditMessage | EditQueued | CompleteRequiresAction
UNHOOKED = RequestHooks()


def dispatch_refusal(event: HookEvent, failed: HookFailed) -> PolicyRefusal:
    """Return the refusal of a request that the hook could not be asked about."""
    refusal = PolicyRefusal(
        502,
        "A policy hook of this deployment could not be asked, so nothing was sent.",
        detail=f"{event}: {failed.fault}: {failed.detail}",
        kind=FAILED,
    )
    refusal.failed = failed
    return refusal


def _is_prompt(body: Body) -> bool:
    return body.role is Role.USER and body.visibility is not Visibility.MODEL


def _is_told(result: DynamicResult, calls: dict[str, ToolCallPart]) -> bool:
    return result.tool_call_id in calls and is_json(result.output)


def _words(parts: tuple[Part, ...]) -> list[str]:
    return [part.text for part in parts if isinstance(part, TextPart)]
