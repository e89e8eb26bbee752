"""Consent: what a family of chats waits for, decisions, and what is allowed always."""

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from actors.law.chat import Approval, Verdict
from actors.law.ids import ChatId
from actors.law.refusals import NotAllowed, NotAwaitingDecision, Refusal
from actors.law.requests import DecideApproval
from actors.law.store.ports import Applied
from actors.tools.approval_rules import ApprovalRule, Policy
from actors.tools.approvals import ApprovalSettings
from adapters.access.admission import Admission, VisibleChat
from adapters.access.changes import ChatSender, refusal_response
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, Validation
from adapters.tools.approvals.presenters import approval_of
from adapters.tools.approvals.rule_checks import (
    TOO_MANY,
    is_freed,
    refuse,
    refuse_too_narrow,
    refuse_too_wide,
    rules_of,
)
from adapters.tools.approvals.rule_store import ConsentRuleStore
from adapters.tools.approvals.schemas import (
    ChatApproval,
    ChatApprovalDecision,
    ChatApprovalGrant,
    ChatApprovals,
    DecideApprovalRequest,
)
from adapters.tools.approvals.store import ConsentStore, Decision, WaitingChat

APPROVALS = "/api/v2/chats/{chat}/approvals"

WORDS_MAX = 2_000  # characters of a denial; more are refused
_VERDICTS = {verdict.value: verdict for verdict in Verdict}
_SAID = {
    Verdict.ALLOW_ONCE: "allowed it once",
    Verdict.ALLOW_ALWAYS: "allowed it always",
    Verdict.DENY: "denied it",
}


class Approvals:
    """Handlers of consent."""

    def __init__(
        self,
        admission: Admission,
        consents: ConsentStore,
        *,
        sending: ChatSender,
        approving: ApprovalSettings,
        own_rules: ConsentRuleStore,
    ) -> None:
        self._admission = admission
        self._consents = consents
        self._sending = sending
        self._approving = approving
        self._own_rules = own_rules

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=APPROVALS,
                handle=self.list,
                summary="What waits for consent in the whole family, what is allowed, what was"
                " decided.",
                tag="approvals",
                answers={200: ChatApprovals},
            ),
            Endpoint(
                method="POST",
                path=f"{APPROVALS}/{{call}}",
                handle=self.decide,
                summary="Allow or deny a call, of the chat or of an agent of its family. The first"
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
                summary="Have the family ask again before it uses this tool.",
                tag="approvals",
                answers={204: None},
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_read(call)
        root = chat.root_id
        return json_response(
            200,
            ChatApprovals(
                [
                    one
                    for member in await self._consents.waiting_chats(root)
                    for one in _approvals_of(member)
                ],
                [ChatApprovalGrant(g.tool, g.by, g.at) for g in await self._consents.grants(root)],
                [_decision(decision) for decision in await self._consents.decisions(root)],
            ),
        )

    async def revoke(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_update(call)
        await self._consents.revoke(chat.root_id, call.path["tool"], call.user.id)
        return no_content()

    async def decide(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_update(call)
        asked, id = call.read(DecideApprovalRequest), call.path["call"]
        verdict, words = _verdict(asked), _words(asked)
        rules, is_own = rules_of(asked, verdict), asked.scope == "user"
        if is_own and chat.owner_id != call.user.id:
            refuse("scope", "user is for chats of one's own; chat is for all")
        family = await self._consents.waiting_chats(chat.root_id)
        wanted = None if chat.is_root else chat.id
        if asked.chat_id is not None:
            wanted = ChatId(asked.chat_id)
        found = _waiting(family, id, chat=wanted, at=asked.requested_at)
        if not found:
            return await self._too_late(chat, call, asked, where=wanted)
        where, one = _chosen(found, chat)
        if rules:
            refuse_too_narrow(rules, one)
            verdict = Verdict.ALLOW_ONCE  # the tool is not allowed always, only what the rules say
        if is_own:
            await self._write_own(rules, one, call)
        grants = () if is_own else tuple(rule.subject for rule in rules)
        decision = DecideApproval(id, verdict, call.user.id, words, one.asked_at, grants)
        answer = await self._ask(chat, where, decision)
        if not isinstance(answer, Applied):
            if not _is_not_asked(answer):
                raise refusal_response(answer)
            return await self._too_late(chat, call, asked, where=where)
        latest = await self._consents.latest(chat.root_id, id, chat=where)
        assert latest is not None, "a decision is stored with what it changes"
        if rules:
            await self._allow_covered(chat, rules, call, is_own=is_own)
        elif verdict is Verdict.ALLOW_ALWAYS:
            await self._allow_the_same(chat, one.tool, call)
        return json_response(200, _decision(latest))

    async def _too_late(
        self, chat: VisibleChat, call: Call, asked: DecideApprovalRequest, *, where: ChatId | None
    ) -> HttpResponse:
        """Tell the caller who decided first, and what they said.

        A person who allows always what they have allowed always, or writes the same rules, may have
        had no answer the first time: then the rest of the family has not heard of it either, and
        does now. What is allowed from now on was stored with the first decision, or not at all.
        """
        id = call.path["call"]
        since = asked.requested_at
        first = await self._consents.latest(chat.root_id, id, chat=where, since=since)
        if first is None:
            which = id if since is None else f"{id} of that time"
            detail = f"no call {which} waits for a decision in this family of chats"
            raise HttpError(409, "nothing to decide", detail=detail)
        is_his = first.by == call.user.username
        if is_his and first.verdict is Verdict.ALLOW_ONCE and asked.rules:
            rules = rules_of(asked, Verdict.ALLOW_ALWAYS)
            is_own, known = asked.scope == "user", await self._consents.of(chat.root_id, chat.id)
            if is_own or all(rule.subject in known for rule in rules):
                await self._allow_covered(chat, rules, call, is_own=is_own)
                return json_response(200, _decision(first))
        is_again = is_his and asked.decision == first.verdict.value == Verdict.ALLOW_ALWAYS.value
        if not (is_again and first.tool in await self._consents.of(chat.root_id, chat.id)):
            raise HttpError(409, "already decided", detail=_decided_sentence(first))
        await self._allow_the_same(chat, first.tool, call)
        return json_response(200, _decision(first))

    async def _allow_the_same(self, chat: VisibleChat, tool: str, call: Call) -> None:
        """Allow what the family asks about the same tool."""
        await self._allow_covered(chat, [ApprovalRule(tool, Policy.ALLOW)], call, is_own=False)

    async def _allow_where(
        self, chat: VisibleChat, call: Call, is_meant: Callable[[Approval], bool]
    ) -> None:
        """Allow some of what the family asks. A call that was decided meanwhile keeps its
        decision."""
        for member in await self._consents.waiting_chats(chat.root_id):
            for one in filter(is_meant, member.approvals):
                once, by = Verdict.ALLOW_ONCE, call.user.id
                decision = DecideApproval(one.tool_call_id, once, by, asked_at=one.asked_at)
                await self._ask(chat, member.chat, decision)

    async def _allow_covered(
        self, chat: VisibleChat, rules: Sequence[ApprovalRule], call: Call, *, is_own: bool
    ) -> None:
        """Allow what the family asks, as far as new rules are enough for it."""
        known = await self._approving.consent_under("", chat.owner_id)
        await self._allow_where(chat, call, lambda one: is_freed(rules, known, one, is_own=is_own))

    async def _write_own(
        self, rules: Sequence[ApprovalRule], approval: Approval, call: Call
    ) -> None:
        """Write rules of the caller. They hold even if another user decides first."""
        user = call.user.id
        refuse_too_wide(await self._approving.consent_under("", user), approval)
        subjects = [rule.subject for rule in rules]
        if not await self._own_rules.put(user, subjects, Policy.ALLOW, user):
            refuse("rules", TOO_MANY)

    async def _ask(
        self, chat: VisibleChat, target: ChatId, decision: DecideApproval
    ) -> Applied | Refusal:
        return await self._sending.apply(target, [decision], is_root=target == chat.root_id)


def _waiting(
    family: Sequence[WaitingChat], id: str, *, chat: UUID | None, at: datetime | None
) -> Sequence[tuple[ChatId, Approval]]:
    """Return the calls that can be meant: a child's path leads to its own calls, a root's to all of
    the family."""
    return [
        (member.chat, ask)
        for member in family
        for ask in member.approvals
        if ask.tool_call_id == id and chat in (None, member.chat) and at in (None, ask.asked_at)
    ]


def _chosen(found: Sequence[tuple[ChatId, Approval]], chat: VisibleChat) -> tuple[ChatId, Approval]:
    """Return the call that is meant; a chat's own calls come first."""
    own = [one for one in found if one[0] == chat.id]
    if len(found) > 1 and not own:
        chats = ", ".join(str(where) for where, _ in found)
        detail = f"{found[0][1].tool_call_id} is a call of {chats}; say which as chat_id"
        raise HttpError(409, "several chats wait with a call of this id", detail=detail)
    return (own or found)[0]


def _is_not_asked(answer: Refusal) -> bool:
    """Return whether the call waits no more, or its chat does not."""
    return isinstance(answer, NotAllowed) and (
        answer.fault is None or isinstance(answer.fault, NotAwaitingDecision)
    )


def _decided_sentence(decision: Decision) -> str:
    at = f"{decision.at:%Y-%m-%d %H:%M:%S} UTC"
    if decision.by is None:
        return f"no person decided in time: it was denied at {at}"
    words = f": {decision.words}" if decision.words else ""
    return f"{decision.by} {_SAID[decision.verdict]} at {at}{words}"


def _verdict(asked: DecideApprovalRequest) -> Verdict:
    verdict = _VERDICTS.get(asked.decision or "")
    if verdict is None:
        fact = f"must be one of {', '.join(_VERDICTS)}"
        raise HttpError(400, "Invalid decision.", validations=(Validation("decision", fact),))
    return verdict


def _words(asked: DecideApprovalRequest) -> str:
    words = (asked.words or "").strip()
    if len(words) > WORDS_MAX:
        fact = f"has {len(words)} characters, it can have {WORDS_MAX}"
        raise HttpError(400, "Invalid words.", validations=(Validation("words", fact),))
    return words


def _approvals_of(member: WaitingChat) -> Sequence[ChatApproval]:
    return [approval_of(member.chat, member.title, approval) for approval in member.approvals]


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
