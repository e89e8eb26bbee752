"""People: accounts, tokens, sessions, passwords, and the deployment that they belong to.

For other rooms:
auth.callers        the callers of requests
auth.signing        texts that we sign, and the cookies of a session
auth.wiring         the parts that know people
routes.all_routes   all routes about people
routes.forms        forms of pages, and what shows that they are ours
routes.schemas      people as JSON
routes.sessions     logging in and out, and tickets
store.deployment    the deployment and its first admin
store.tokens        tokens, and when they go
store.users         users on PostgreSQL

Inside:
auth                who sends a request: tokens, passwords, sessions, tickets of streams
routes              the routes about people
store               people on PostgreSQL
"""
