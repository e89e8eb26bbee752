"""Consent over the API: the calls that wait for it, decisions, and what is allowed always.

routes       the endpoints
rule_routes  the endpoint that shows the deployment's rules
schemas      the JSON of calls that wait, of decisions, of grants and of rules   (pure)
store        consent in PostgreSQL
"""
