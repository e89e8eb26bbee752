"""Consent: what a family of chats waits for, decisions, and what is allowed always."""

from collections.abc import Sequence
from typing import NoReturn

from actors.ids import ChatId
from actors.machine.chat import Verdict
from actors.machine.refusals import NotAllowed, NotAsked, Refusal
from actors.machine.requests import DecideApproval
from actors.store.answers import Applied
from adapters.api.admission import Admission, Visible
from adapters.api.answers_of_law import refused
from adapters.api.approvals.wire import (
    ChatApproval,
    ChatApprovalDecision,
    ChatApprovalGrant,
    ChatApprovals,
    DecideApprovalRequest,
    approval_of,
)
from adapters.api.endpoints import Answer, Call, Endpoint, done, said
from adapters.api.refused import Refused, Validation
from adapters.api.sending import Sending
from adapters.postgres.approvals.consent import Asking, Consents, Decision

APPROVALS = "/api/experimental/chats/{chat}/approvals"

WORDS_MAX = 2_000  # characters of a denial; more are refused
_VERDICTS = {verdict.value: verdict for verdict in Verdict}
_SAID = {
    Verdict.ALLOW_ONCE: "allowed it once",
    Verdict.ALLOW_ALWAYS: "allowed it always",
    Verdict.DENY: "denied it",
}


class Approvals:
    def __init__(self, admission: Admission, consents: Consents, *, sending: Sending) -> None:
        self._admission = admission
        self._consents = consents
        self._sending = sending

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=APPROVALS,
                handle=self.list,
                says="What waits for consent in the whole family, what is allowed, what was"
                " decided.",
                tag="approvals",
                answers={200: ChatApprovals},
            ),
            Endpoint(
                method="POST",
                path=f"{APPROVALS}/{{call}}",
                handle=self.decide,
                says="Allow or deny a call, of the chat or of an agent of its family. The first"
                " decision counts.",
                tag="approvals",
                body=DecideApprovalRequest,
                answers={200: ChatApprovalDecision},
                refusals=(409,),
            ),
            Endpoint(
                method="DELETE",
                path=f"{APPROVALS}/always/{{tool}}",
                handle=self.revoke,
                says="Have the family ask again before it uses this tool.",
                tag="approvals",
                answers={204: None},
            ),
        )

    async def list(self, call: Call) -> Answer:
        chat = await self._admission.to_read(call)
        root = chat.root_id
        return said(
            200,
            ChatApprovals(
                [one for member in await self._consents.asking(root) for one in _shown(member)],
                [ChatApprovalGrant(g.tool, g.by, g.at) for g in await self._consents.grants(root)],
                [_decision(decision) for decision in await self._consents.decisions(root)],
            ),
        )

    async def revoke(self, call: Call) -> Answer:
        chat = await self._admission.to_update(call)
        await self._consents.revoke(chat.root_id, call.path["tool"], call.user.id)
        return done()

    async def decide(self, call: Call) -> Answer:
        chat = await self._admission.to_update(call)
        asked, id = call.read(DecideApprovalRequest), call.path["call"]
        verdict, words = _verdict(asked), _words(asked)
        family = await self._consents.asking(chat.root_id)
        where = await self._where(chat, family, id, asked)
        decision = DecideApproval(id, verdict, call.user.id, words)
        answer = await self._ask(chat, where.chat, decision)
        if not isinstance(answer, Applied):
            await self._refuse(chat, id, answer)
        if verdict is Verdict.ALLOW_ALWAYS:
            tool = next(one.tool for one in where.asks if one.tool_call_id == id)
            await self._allow_the_same(chat, family, where, tool, call)
        [latest] = await self._consents.decisions(chat.root_id, call=id, limit=1)
        return said(200, _decision(latest))

    async def _where(
        self, chat: Visible, family: Sequence[Asking], id: str, asked: DecideApprovalRequest
    ) -> Asking:
        """Whose call it is: a child's path leads to its own calls, a root's to all of the family;
        its own come first."""
        wanted = asked.chat_id or (None if chat.is_root else chat.id)
        found = [
            member
            for member in family
            if any(ask.tool_call_id == id for ask in member.asks) and wanted in (None, member.chat)
        ]
        own = [member for member in found if member.chat == chat.id]
        if not found:
            await self._refuse(chat, id, None)
        if len(found) > 1 and not own:
            chats = ", ".join(str(member.chat) for member in found)
            detail = f"{id} is a call of {chats}; say which as chat_id"
            raise Refused(409, "several chats wait with a call of this id", detail=detail)
        return (own or found)[0]

    async def _allow_the_same(
        self, chat: Visible, family: Sequence[Asking], decided: Asking, tool: str, call: Call
    ) -> None:
        """What the others of the family ask about the same tool; who has got an answer meanwhile
        keeps it. The law has done so for the chat itself."""
        for member in family:
            for ask in member.asks if member.chat != decided.chat else ():
                if ask.tool == tool:
                    once = DecideApproval(ask.tool_call_id, Verdict.ALLOW_ONCE, call.user.id)
                    await self._ask(chat, member.chat, once)

    async def _ask(
        self, chat: Visible, target: ChatId, decision: DecideApproval
    ) -> Applied | Refusal:
        return await self._sending.apply(target, [decision], is_root=target == chat.root_id)

    async def _refuse(self, chat: Visible, id: str, answer: Refusal | None) -> NoReturn:
        """Who comes too late is told who came first, and what he said."""
        if answer is not None and not _is_not_asked(answer):
            raise refused(answer)
        decisions = await self._consents.decisions(chat.root_id, call=id, limit=1)
        if not decisions:
            detail = f"no call {id} waits for a decision in this family of chats"
            raise Refused(409, "nothing to decide", detail=detail)
        raise Refused(409, "already decided", detail=_told(decisions[0]))


def _is_not_asked(answer: Refusal) -> bool:
    """The call waits no more, or its chat does not."""
    return isinstance(answer, NotAllowed) and (
        answer.fault is None or isinstance(answer.fault, NotAsked)
    )


def _told(decision: Decision) -> str:
    at = decision.at.strftime("%Y-%m-%d %H:%M:%S")
    if decision.by is None:
        return f"nobody decided in time: it was denied at {at} UTC"
    words = f": {decision.words}" if decision.words else ""
    return f"{decision.by} {_SAID[decision.verdict]} at {at} UTC{words}"


def _verdict(asked: DecideApprovalRequest) -> Verdict:
    verdict = _VERDICTS.get(asked.decision or "")
    if verdict is None:
        fact = f"must be one of {', '.join(_VERDICTS)}"
        raise Refused(400, "Invalid decision.", validations=(Validation("decision", fact),))
    return verdict


def _words(asked: DecideApprovalRequest) -> str:
    words = (asked.words or "").strip()
    if len(words) > WORDS_MAX:
        fact = f"has {len(words)} characters, it can have {WORDS_MAX}"
        raise Refused(400, "Invalid words.", validations=(Validation("words", fact),))
    return words


def _shown(member: Asking) -> Sequence[ChatApproval]:
    return [approval_of(member.chat, member.title, approval) for approval in member.asks]


def _decision(decision: Decision) -> ChatApprovalDecision:
    return ChatApprovalDecision(
        decision.chat,
        decision.tool_call_id,
        decision.tool,
        decision.verdict.value,
        decision.words,
        decision.by,
        decision.at,
    )
