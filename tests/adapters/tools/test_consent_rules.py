"""The rules of consent, as administrators see them."""

import msgspec

from actors.tools.approvals import Policy, read_rules
from adapters.http.endpoints import Access
from adapters.tools.approvals.rule_routes import ConsentRuleRoutes


async def test_the_rules_are_shown_as_they_are_configured():
    rules = read_rules("execute=ask,mcp:*=deny")

    [row] = ConsentRuleRoutes(Policy.ASK, rules, deadline=300.0).endpoints()
    answer = await row.handle(None)

    assert Access.HIDDEN is row.access
    assert {
        "policy": "ask",
        "rules": [
            {"tool": "execute", "policy": "ask"},
            {"tool": "mcp:*", "policy": "deny"},
        ],
        "deadline_seconds": 300.0,
    } == msgspec.json.decode(answer.body)
