"""The rules of consent as they hold in this deployment. They are changed in its configuration."""

from collections.abc import Sequence

from actors.tools.approvals import ApprovalRule
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response
from adapters.tools.approvals.schemas import ConsentRule, ConsentRules

RULES = "/api/v2/chats/config/approvals"


class ConsentRuleRoutes:
    """Shows administrators the policy, the rules and the deadline."""

    def __init__(self, policy: str, rules: Sequence[ApprovalRule], *, deadline: float) -> None:
        shown = [ConsentRule(rule.pattern, rule.policy.value) for rule in rules]
        self._rules = ConsentRules(policy, shown, deadline)

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=RULES,
                handle=self.rules,
                summary="Get the rules of consent, which stand in the daemon's configuration.",
                tag="settings",
                access=Access.HIDDEN,
                scope="settings",
                answers={200: ConsentRules},
            ),
        )

    async def rules(self, call: Call) -> HttpResponse:
        return json_response(200, self._rules)
