"""Consent over the API: the calls that wait for it, decisions, and what is allowed always.

routes       the endpoints
presenters   calls that wait, and rules, as clients see them                              (pure)
rule_routes  the endpoints of rules: the deployment's, those of users, and what they say of a call
rule_checks  what is refused of rules and decisions                                    (pure)
rule_store   rules in PostgreSQL, and those that a process knows
schemas      the JSON of calls that wait, of decisions, of grants and of rules   (pure)
store        consent in PostgreSQL
"""
