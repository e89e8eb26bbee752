"""Rules of consent over the API: the deployment's, those of users, and what they say of a call.

Those that stand in the daemon's configuration are shown with the others, and changed there.
"""

from collections.abc import Sequence

import msgspec

from actors.law.ids import UserId
from actors.law.parts.message import EXECUTE, JsonText
from actors.tools.approval_rules import (
    Policy,
    strictest,
)
from actors.tools.approvals import ApprovalSettings
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import not_found
from adapters.tools.approvals.presenters import suggested_rules, verdict_of
from adapters.tools.approvals.rule_checks import TOO_MANY, NamedTool, refuse, rule_about
from adapters.tools.approvals.rule_store import ConsentRuleRow, ConsentRuleStore
from adapters.tools.approvals.schemas import (
    ConsentRule,
    ConsentRules,
    ConsentTrial,
    OwnConsentRules,
    PutConsentRuleRequest,
    TryConsentRequest,
)

DEPLOYMENTS = "/api/v2/chats/config/approvals"
OWN = "/api/v2/chats/approval-rules"
_POLICIES = {policy.value: policy for policy in Policy}


class ConsentRuleRoutes:
    """Handlers of rules."""

    def __init__(self, approving: ApprovalSettings, stored: ConsentRuleStore) -> None:
        self._approving = approving
        self._stored = stored

    def endpoints(self) -> Sequence[Endpoint]:
        return (*self._of_deployment(), *self._of_users())

    def _of_deployment(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=DEPLOYMENTS,
                handle=self.deployments,
                summary="Get the deployment's rules of consent, configured and written.",
                tag="settings",
                access=Access.HIDDEN,
                scope="settings",
                answers={200: ConsentRules},
            ),
            Endpoint(
                method="PUT",
                path=f"{DEPLOYMENTS}/rules",
                handle=self.put_deployments,
                summary="Write a rule of the deployment; an older one about the same calls is"
                " replaced.",
                tag="settings",
                access=Access.HIDDEN,
                scope="settings",
                body=PutConsentRuleRequest,
                answers={200: ConsentRules},
            ),
            Endpoint(
                method="DELETE",
                path=f"{DEPLOYMENTS}/rules/{{rule}}",
                handle=self.remove_deployments,
                summary="Remove a rule of the deployment.",
                tag="settings",
                access=Access.HIDDEN,
                scope="settings",
                answers={204: None},
            ),
        )

    def _of_users(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=f"{DEPLOYMENTS}/test",
                handle=self.test,
                summary="Tell what would become of a call in the caller's chats. It is not run.",
                tag="approvals",
                body=TryConsentRequest,
                answers={200: ConsentTrial},
            ),
            Endpoint(
                method="GET",
                path=OWN,
                handle=self.own,
                summary="List the caller's own rules of consent, for their chats.",
                tag="approvals",
                answers={200: OwnConsentRules},
            ),
            Endpoint(
                method="PUT",
                path=OWN,
                handle=self.put_own,
                summary="Write a rule for the caller's chats; an older one about the same calls is"
                " replaced.",
                tag="approvals",
                body=PutConsentRuleRequest,
                answers={200: OwnConsentRules},
            ),
            Endpoint(
                method="DELETE",
                path=f"{OWN}/{{rule}}",
                handle=self.remove_own,
                summary="Remove a rule for the caller's chats.",
                tag="approvals",
                answers={204: None},
            ),
        )

    async def deployments(self, call: Call) -> HttpResponse:
        return json_response(200, await self._deployments())

    async def put_deployments(self, call: Call) -> HttpResponse:
        await self._put(None, call)
        return json_response(200, await self._deployments())

    async def remove_deployments(self, call: Call) -> HttpResponse:
        return await self._remove(None, call)

    async def own(self, call: Call) -> HttpResponse:
        rows = await self._stored.list(call.user.id)
        return json_response(200, OwnConsentRules([_shown(row) for row in rows]))

    async def put_own(self, call: Call) -> HttpResponse:
        await self._put(call.user.id, call)
        return await self.own(call)

    async def remove_own(self, call: Call) -> HttpResponse:
        return await self._remove(call.user.id, call)

    async def test(self, call: Call) -> HttpResponse:
        asked = call.read(TryConsentRequest)
        policy = asked.policy or ""
        if policy and policy not in _POLICIES:
            refuse("policy", f"must be one of {', '.join(_POLICIES)}")
        consent = await self._approving.consent_under(policy, call.user.id)
        args = _args(asked)
        verdicts = consent.verdicts(NamedTool(asked.tool), args)
        decision = strictest(verdict.policy for verdict in verdicts)
        assert decision is not None, "a call has at least one verdict"
        parts = [verdict_of(verdict) for verdict in verdicts]
        suggested = suggested_rules(asked.tool, args) if decision is Policy.ASK else ()
        return json_response(200, ConsentTrial(decision.value, parts, suggested))

    async def _deployments(self) -> ConsentRules:
        configured = [ConsentRule(r.subject, r.policy.value) for r in self._approving.rules]
        rows = await self._stored.list(None)
        return ConsentRules(
            self._approving.default_policy.value,
            [*configured, *map(_shown, rows)],
            self._approving.deadline_seconds,
        )

    async def _put(self, user: UserId | None, call: Call) -> None:
        asked = call.read(PutConsentRuleRequest)
        policy = _POLICIES.get(asked.policy or "")
        if policy is None:
            refuse("policy", f"must be one of {', '.join(_POLICIES)}")
        rule = rule_about(asked.tool or "", policy, field="tool")
        if not await self._stored.put(user, [rule.subject], policy, call.user.id):
            refuse("tool", TOO_MANY)

    async def _remove(self, user: UserId | None, call: Call) -> HttpResponse:
        if not await self._stored.remove(user, call.uuid("rule")):
            raise not_found()
        return no_content()


def _args(asked: TryConsentRequest) -> JsonText:
    args = asked.args or {}
    if asked.command is not None:
        if asked.tool != EXECUTE:
            refuse("command", f"is for the tool {EXECUTE}; other tools have args")
        args = {"command": asked.command}
    return JsonText(msgspec.json.encode(args).decode())


def _shown(row: ConsentRuleRow) -> ConsentRule:
    return ConsentRule(row.subject, row.policy, row.id, row.changed_by, row.changed_at)
