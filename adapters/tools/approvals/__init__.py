"""Consent over the API: the calls that wait for it, decisions, and what is allowed always.

routes   the endpoints
schemas  the JSON of calls that wait, of decisions and of grants   (pure)
store    consent in PostgreSQL
"""
