"""Who may do what: every row of the API, and what each kind of caller gets for it.

What is asked is good, as far as a line needs no more than a document (`requests_of.py`), so that
who may is told from who may not. Where nothing good can be asked of a chat that is at rest, the
status is that of whom the law refuses: 409 for an owner says that he was let in.

    nobody    shows nothing
    stranger  a member who never heard of the chat
    former    a member with whom it was shared once, and is not any more
    sharee    a member with whom it is shared
    owner     whose chat it is; and whose account, tokens, keys, files, where a line is about these
    admin     an owner of the deployment, with nothing to do with the chat
"""

CALLERS = ("nobody", "stranger", "former", "sharee", "owner", "admin")

CHATS = "/api/v2/chats"

TABLE = """
                                                     nobody stranger former sharee owner admin
    # open to all
    GET    /livez                                       200      200    200    200   200   200
    GET    /readyz                                      503      503    503    503   503   503
    GET    /healthz                                     200      200    200    200   200   200
    GET    /metrics                                     200      200    200    200   200   200
    GET    /docs                                        200      200    200    200   200   200
    GET    /openapi.json                                200      200    200    200   200   200
    GET    /api/v2/buildinfo                            200      200    200    200   200   200
    GET    /api/v2/users/first                          200      200    200    200   200   200
    GET    /api/v2/users/authmethods                    200      200    200    200   200   200
    POST   /api/v2/users/login                          201      201    201    201   201   201
    GET    /join/{code}                                 200      200    200    200   200   200
    POST   /join/{code}                                 200      200    200    200   200   200
    GET    C/files/{file}/download                      200      200    200    200   200   200

    # pages for people: without a session they are sent to where one logs in
    GET    /web/{digest}/{asset}                        200      200    200    200   200   200
    GET    /web/version                                 200      200    200    200   200   200
    GET    /web/worker.js                               200      200    200    200   200   200
    GET    /login                                       200      303    303    303   303   303
    POST   /login                                       303      303    303    303   303   303
    GET    /                                            303      200    200    200   200   200
    GET    /new                                         303      200    200    200   200   200
    GET    /search                                      303      200    200    200   200   200
    GET    /c/{chat}                                    303      200    200    200   200   200
    GET    /c/{chat}/read                               303      404    404    200   200   200
    POST   /c/{chat}/read                               303      404    404    404   303   403
    GET    /settings                                    303      200    200    200   200   200
    GET    /settings/{page}                             303      200    200    200   200   200
    GET    /admin                                       303      200    200    200   200   200
    GET    /admin/{page}                                303      200    200    200   200   200

    # of the deployment
    GET    /debug/actors                                401      403    403    403   403   200
    GET    /api/v2/deployment/config                    401      200    200    200   200   200
    GET    /api/v2/experiments                          401      200    200    200   200   200
    GET    /api/v2/organizations                        401      200    200    200   200   200
    GET    /api/v2/organizations/{organization}         401      200    200    200   200   200
    GET    /api/v2/organizations/{organization}/members 401      200    200    200   200   200

    # workspaces: {workspace} is of the owner of the chat
    GET    /api/v2/workspaces                           401      200    200    200   200   200
    GET    /api/v2/workspaces/{workspace}               401      404    404    404   200   200
    POST   /api/v2/workspaces/{workspace}/start         401      404    404    404   200   200
    POST   /api/v2/workspaces/{workspace}/stop          401      404    404    404   200   200
    DELETE /api/v2/workspaces/{workspace}               401      404    404    404   204   204
    GET    /api/v2/workspaces/{workspace}/files         401      404    404    404   409   409
    GET    /api/v2/workspaces/{workspace}/files/content 401      404    404    404   409   409
    GET    /api/v2/workspaces/{workspace}/files/archive 401      404    404    404   409   409
    GET    /api/v2/workspaces/{workspace}/terminals     401      404    404    404   200   404
    POST   /api/v2/workspaces/{workspace}/terminals     401      404    404    404   409   404
    DELETE /api/v2/workspaces/{workspace}/terminals/{terminal} 401 404  404    404   404   404
    GET    /api/v2/workspaces/{workspace}/terminals/{terminal}/stream 401 404 404 404 404  404
    GET    /api/v2/templates                            401      200    200    200   200   200
    GET    /api/v2/templates/{template}                 401      200    200    200   200   200
    GET    /api/v2/organizations/{organization}/templates 401    200    200    200   200   200

    # users: {user} is the owner of the chat
    GET    /api/v2/users                                401      403    403    403   403   200
    POST   /api/v2/users                                401      403    403    403   403   201
    GET    /api/v2/users/roles                          401      200    200    200   200   200
    POST   /api/v2/authcheck                            401      200    200    200   200   200
    GET    /api/v2/users/{user}                         401      404    404    404   200   200
    DELETE /api/v2/users/{user}                         401      403    403    403   403   200
    PUT    /api/v2/users/{user}/profile                 401      404    404    404   200   200
    PUT    /api/v2/users/{user}/password                401      404    404    404   204   204
    POST   /api/v2/users/{user}/one-time-link           401      403    403    403   403   201
    GET    /api/v2/users/{user}/roles                   401      404    404    404   200   200
    PUT    /api/v2/users/{user}/roles                   401      403    403    403   403   200
    PUT    /api/v2/users/{user}/status/suspend          401      403    403    403   403   200
    PUT    /api/v2/users/{user}/status/activate         401      403    403    403   403   200
    GET    /api/v2/users/{user}/organizations           401      404    404    404   200   200
    GET    /api/v2/users/{user}/organizations/{organization} 401 404    404    404   200   200
    POST   /api/v2/users/{user}/keys/tokens             401      404    404    404   201   201
    GET    /api/v2/users/{user}/keys/tokens             401      404    404    404   200   200
    GET    /api/v2/users/{user}/keys/tokens/tokenconfig 401      404    404    404   200   200
    GET    /api/v2/users/{user}/keys/sessions           401      404    404    404   200   200
    GET    /api/v2/users/{user}/keys/tokens/{key}       401      404    404    404   200   200
    GET    /api/v2/users/{user}/keys/{key}              401      404    404    404   200   200
    DELETE /api/v2/users/{user}/keys/{key}              401      404    404    404   204   204
    PUT    /api/v2/users/{user}/keys/{key}/expire       401      404    404    404   204   204
    POST   /api/v2/users/logout                         401      200    200    200   200   200
    POST   /api/v2/users/me/stream-ticket               401      201    201    201   201   201

    # chats
    GET    C                                            401      200    200    200   200   200
    POST   C                                            401      201    201    201   201   201
    GET    C/watch                                      401      101    101    101   101   101
    GET    C/count                                      401      200    200    200   200   200
    GET    C/by-workspace                               401      200    200    200   200   200
    GET    C/{chat}                                     401      404    404    200   200   200
    PATCH  C/{chat}                                     401      404    404    404   204   204
    DELETE C/{chat}                                     401      404    404    404   200   200
    PUT    C/{chat}/read-status                         401      404    404    404   204   403
    PUT    C/{chat}/context                             401      404    404    404   200   200
    GET    C/{chat}/messages                            401      404    404    200   200   200
    POST   C/{chat}/messages                            401      404    404    404   200   403
    GET    C/{chat}/messages/{message}                  401      404    404    200   200   200
    PATCH  C/{chat}/messages/{message}                  401      404    404    404   200   403
    GET    C/{chat}/prompts                             401      404    404    200   200   200
    GET    C/{chat}/cost                                401      404    404    200   200   200
    GET    C/{chat}/debug/runs                          401      404    404    404   200   200
    GET    C/{chat}/debug/runs/{debugRun}               401      404    404    404   404   404
    GET    C/{chat}/stream                              401      404    404    101   101   101
    GET    C/{chat}/stream/sse                          401      404    404    200   200   200
    GET    C/{chat}/stream/git                          401      404    404    404   400   403
    GET    C/{chat}/stream/desktop                      401      404    404    404   400   403
    GET    C/{chat}/stream/parts                        401      404    404    426   426   426
    GET    C/{chat}/diff                                401      404    404    200   200   200
    GET    C/{chat}/processes/{process}/output          401      404    404    404   404   404
    GET    C/{chat}/acl                                 401      404    404    200   200   200
    PATCH  C/{chat}/acl                                 401      404    404    403   204   204
    POST   C/{chat}/interrupt                           401      404    404    404   409   409
    POST   C/{chat}/retry                               401      404    404    404   409   403
    POST   C/{chat}/tool-results                        401      404    404    404   409   403
    POST   C/{chat}/compact                             401      404    404    404   200   403
    GET    C/{chat}/approvals                           401      404    404    200   200   200
    POST   C/{chat}/approvals/{call}                    401      404    404    404   409   409
    DELETE C/{chat}/approvals/always/{tool}             401      404    404    404   204   204
    POST   C/{chat}/reconcile-invalid                   401      404    404    404   409   409
    POST   C/{chat}/title/regenerate                    401      404    404    404   200   403
    POST   C/{chat}/title/propose                       401      404    404    404   200   403
    PUT    C/{chat}/queue/order                         401      404    404    404   409   409
    PATCH  C/{chat}/queue/{queued}                      401      404    404    404   409   403
    DELETE C/{chat}/queue/{queued}                      401      404    404    404   409   409
    POST   C/{chat}/queue/{queued}/promote              401      404    404    404   409   403

    # files: {file} is in the chat
    POST   C/files                                      401      201    201    201   201   201
    GET    C/files/{file}                               401      404    404    200   200   200
    POST   C/files/{file}/download-url                  401      404    404    200   200   200

    # servers of tools: {server} is for everybody, and not of the kind that one logs in at
    GET    O/{organization}/mcp-servers                 401      200    200    200   200   200
    POST   O/{organization}/mcp-servers                 401      403    403    403   403   201
    GET    O/{organization}/mcp-servers/{server}        401      200    200    200   200   200
    PATCH  O/{organization}/mcp-servers/{server}        401      403    403    403   403   200
    DELETE O/{organization}/mcp-servers/{server}        401      403    403    403   403   204
    GET    O/{organization}/mcp-servers/{server}/acl    401      403    403    403   403   200
    PATCH  O/{organization}/mcp-servers/{server}/acl    401      403    403    403   403   204
    GET    O/{organization}/mcp-servers/{server}/oauth2/connect 401 400 400   400   400   400
    GET    /api/experimental/mcp/servers/{server}/oauth2/callback   401 400 400 400 400 400
    DELETE M/{server}/oauth2/disconnect                 401      404    404    404   404   404

    # models and settings
    GET    C/models                                     401      200    200    200   200   200
    GET    C/model-configs                              401      200    200    200   200   200
    GET    C/model-configs/known                        401      403    403    403   403   400
    GET    O/{organization}/chats/models                401      200    200    200   200   200
    POST   O/{organization}/chats/models                401      403    403    403   403   201
    GET    O/{organization}/chats/models/{modelConfig}  401      200    200    200   200   200
    PATCH  O/{organization}/chats/models/{modelConfig}  401      403    403    403   403   200
    DELETE O/{organization}/chats/models/{modelConfig}  401      403    403    403   403   204
    POST   C/model-configs                              401      403    403    403   403   201
    PATCH  C/model-configs/{modelConfig}                401      403    403    403   403   200
    DELETE C/model-configs/{modelConfig}                401      403    403    403   403   204
    GET    /api/v2/ai/providers                         401      403    403    403   403   200
    POST   /api/v2/ai/providers                         401      403    403    403   403   201
    GET    /api/v2/ai/providers/{provider}              401      403    403    403   403   200
    PATCH  /api/v2/ai/providers/{provider}              401      403    403    403   403   200
    DELETE /api/v2/ai/providers/{provider}              401      403    403    403   403   204
    GET    C/config/system-prompt                       401      404    404    404   404   200
    PUT    C/config/system-prompt                       401      403    403    403   403   204
    GET    C/config/plan-mode-instructions              401      404    404    404   404   200
    PUT    C/config/plan-mode-instructions              401      403    403    403   403   204
    GET    C/config/model-override/{context}            401      404    404    404   404   200
    PUT    C/config/model-override/{context}            401      403    403    403   403   204
    GET    C/config/personal-model-overrides            401      404    404    404   404   200
    PUT    C/config/personal-model-overrides            401      403    403    403   403   204
    GET    C/config/user-personal-model-overrides       401      200    200    200   200   200
    PUT    C/config/user-personal-model-overrides/{context} 401  204    204    204   204   204
    GET    C/config/computer-use-provider               401      403    403    403   403   403
    PUT    C/config/computer-use-provider               401      403    403    403   403   403
    GET    C/config/debug-logging                       401      404    404    404   404   200
    PUT    C/config/debug-logging                       401      403    403    403   403   204
    GET    C/config/user-debug-logging                  401      200    200    200   200   200
    PUT    C/config/user-debug-logging                  401      204    204    204   204   204
    GET    C/config/approvals                           401      404    404    404   404   200
    PUT    C/config/approvals/rules                     401      404    404    404   404   200
    DELETE C/config/approvals/rules/{rule}              401      404    404    404   404   404
    POST   C/config/approvals/test                      401      200    200    200   200   200
    GET    C/approval-rules                             401      200    200    200   200   200
    PUT    C/approval-rules                             401      200    200    200   200   200
    DELETE C/approval-rules/{rule}                      401      404    404    404   404   404
    GET    C/config/advisor                             401      403    403    403   403   403
    PUT    C/config/advisor                             401      403    403    403   403   403
    GET    C/config/user-prompt                         401      200    200    200   200   200
    PUT    C/config/user-prompt                         401      200    200    200   200   200
    GET    C/config/user-compaction-thresholds          401      200    200    200   200   200
    PUT    C/config/user-compaction-thresholds/{modelConfig} 401 200    200    200   200   200
    DELETE C/config/user-compaction-thresholds/{modelConfig} 401 204    204    204   204   204
    GET    C/config/workspace-ttl                       401      200    200    200   200   200
    PUT    C/config/workspace-ttl                       401      403    403    403   403   204
    GET    C/config/retention-days                      401      200    200    200   200   200
    PUT    C/config/retention-days                      401      403    403    403   403   204
    GET    C/config/debug-retention-days                401      200    200    200   200   200
    PUT    C/config/debug-retention-days                401      403    403    403   403   204
    GET    C/config/auto-archive-days                   401      200    200    200   200   200
    PUT    C/config/auto-archive-days                   401      403    403    403   403   204

    # what a user keeps: {user} is the owner of the chat
    GET    K/{user}/ai-provider-keys                    401      404    404    404   200   200
    PUT    K/{user}/ai-provider-keys/{provider}         401      404    404    404   200   200
    DELETE K/{user}/ai-provider-keys/{provider}         401      404    404    404   204   204
    GET    /api/v2/users/{user}/forge-tokens            401      404    404    404   200   200
    PUT    /api/v2/users/{user}/forge-tokens/{host}     401      404    404    404   200   200
    DELETE /api/v2/users/{user}/forge-tokens/{host}     401      404    404    404   204   204
    GET    U/{user}/skills                              401      404    404    404   200   200
    POST   U/{user}/skills                              401      404    404    404   201   201
    GET    U/{user}/skills/{name}                       401      404    404    404   200   200
    PATCH  U/{user}/skills/{name}                       401      404    404    404   200   200
    DELETE U/{user}/skills/{name}                       401      404    404    404   204   204

    # notices: {notification} is the owner's
    GET    /api/v2/notifications/inbox                  401      200    200    200   200   200
    GET    /api/v2/notifications/inbox/watch            401      101    101    101   101   101
    PUT    /api/v2/notifications/inbox/mark-all-as-read 401      204    204    204   204   204
    PUT    /api/v2/notifications/inbox/{notification}/read-status 401 500 500 500  200   500
    GET    /api/v2/users/{user}/notifications/preferences 401    404    404    404   200   200
    PUT    /api/v2/users/{user}/notifications/preferences 401    404    404    404   200   200

    # web push: of the owner
    GET    /api/v2/users/{user}/webpush/subscription    401      404    404    404   200   200
    POST   /api/v2/users/{user}/webpush/subscription    401      404    404    404   204   204
    DELETE /api/v2/users/{user}/webpush/subscription    401      404    404    404   204   204
    POST   /api/v2/users/{user}/webpush/test            401      404    404    404   204   204
    PUT    /api/v2/users/{user}/webpush/watching        401      404    404    404   204   204
    POST   /api/v2/webpush/regenerate-keys              401      403    403    403   403   204

    # webhooks: {webhook} is the owner's, or the deployment's
    GET    H                                            401      404    404    404   200   200
    POST   H                                            401      404    404    404   201   201
    GET    H/{webhook}                                  401      404    404    404   200   200
    PATCH  H/{webhook}                                  401      404    404    404   200   200
    DELETE H/{webhook}                                  401      404    404    404   204   204
    POST   H/{webhook}/rotate-secret                    401      404    404    404   200   200
    POST   H/{webhook}/test                             401      404    404    404   202   202
    GET    H/{webhook}/deliveries                       401      404    404    404   200   200
    POST   H/{webhook}/deliveries/{delivery}/replay     401      404    404    404   202   202
    GET    /api/v2/webhooks                             401      403    403    403   403   200
    POST   /api/v2/webhooks                             401      403    403    403   403   201
    GET    /api/v2/webhooks/{webhook}                   401      403    403    403   403   200
    PATCH  /api/v2/webhooks/{webhook}                   401      403    403    403   403   200
    DELETE /api/v2/webhooks/{webhook}                   401      403    403    403   403   204
    POST   /api/v2/webhooks/{webhook}/rotate-secret     401      403    403    403   403   200
    POST   /api/v2/webhooks/{webhook}/test              401      403    403    403   403   202
    GET    /api/v2/webhooks/{webhook}/deliveries        401      403    403    403   403   200
    POST   /api/v2/webhooks/{webhook}/deliveries/{delivery}/replay 401 403 403 403   403   202
    # housekeeping: {erasure} is of a chat of the owner
    GET    /api/v2/housekeeping                         401      404    404    404   404   200
    POST   /api/v2/housekeeping                         401      403    403    403   403   200
    GET    /api/v2/legal-holds                          401      404    404    404   404   200
    GET    C/{chat}/legal-hold                          401      404    404    404   404   200
    PUT    C/{chat}/legal-hold                          401      404    404    404   404   200
    DELETE C/{chat}/legal-hold                          401      404    404    404   404   204
    GET    /api/v2/users/{user}/legal-hold              401      404    404    404   404   200
    PUT    /api/v2/users/{user}/legal-hold              401      404    404    404   404   200
    DELETE /api/v2/users/{user}/legal-hold              401      404    404    404   404   204
    DELETE /api/v2/users/{user}/chat-data               401      403    403    403   403   200
    GET    /api/v2/erasures                             401      404    404    404   404   200
    GET    /api/v2/erasures/{erasure}                   401      404    404    404   200   200

    # gone for good
    GET    C/providers                                  401      410    410    410   410   410
    POST   C/providers                                  401      410    410    410   410   410
    PATCH  C/providers/{provider}                       401      410    410    410   410   410
    DELETE C/providers/{provider}                       401      410    410    410   410   410
    GET    C/user-provider-configs                      401      410    410    410   410   410
    PUT    C/user-provider-configs/{provider}           401      410    410    410   410   410
    DELETE C/user-provider-configs/{provider}           401      410    410    410   410   410

    # chats as tools
    POST   /api/experimental/mcp/http                   401      200    200    200   200   200

    # spending: {user} is the owner of the chat, {group} has a budget and no members
    GET    /api/v2/ai/limits                            401      403    403    403   403   200
    PUT    /api/v2/ai/limits                            401      403    403    403   403   204
    GET    /api/v2/ai/usage                             401      200    200    200   200   200
    GET    /api/experimental/ai/model-prices            401      403    403    403   403   200
    PUT    /api/experimental/ai/model-prices            401      403    403    403   403   200
    GET    /api/v2/users/{user}/ai/spend                401      404    404    404   200   200
    GET    /api/v2/users/{user}/ai/budget/override      401      404    404    404   200   200
    PUT    /api/v2/users/{user}/ai/budget/override      401      403    403    403   403   200
    DELETE /api/v2/users/{user}/ai/budget/override      401      403    403    403   403   204
    GET    /api/v2/groups/{group}/ai/budget             401      404    404    404   404   200
    PUT    /api/v2/groups/{group}/ai/budget             401      403    403    403   403   200
    DELETE /api/v2/groups/{group}/ai/budget             401      403    403    403   403   204
    GET    /api/v2/groups/{group}/ai/spend              401      403    403    403   403   200
    GET    /api/v2/groups/{group}/members/ai/spend      401      403    403    403   403   200
    GET    /api/v2/organizations/{organization}/groups/ai/spend 401 403 403   403   403   200
    GET    /api/v2/organizations/{organization}/ai/spend/export 401 403 403   403   403   200
    GET    /api/v2/organizations/{organization}/groups  401      403    403    403   403   200
    POST   /api/v2/organizations/{organization}/groups  401      403    403    403   403   201
    GET    /api/v2/groups/{group}                       401      403    403    403   403   200
    PATCH  /api/v2/groups/{group}                       401      403    403    403   403   200
    DELETE /api/v2/groups/{group}                       401      403    403    403   403   200
"""

STABLE, OLDER = "/api/v2", "/api/experimental"
PREFIXES = {  # a line holds at each of these beginnings
    "C": (CHATS, f"{OLDER}/chats"),
    "K": (f"{STABLE}/users", f"{OLDER}/users"),
    "O": (f"{STABLE}/organizations", f"{OLDER}/organizations"),
    "M": (f"{STABLE}/mcp/servers", f"{OLDER}/mcp/servers"),
    "U": (f"{OLDER}/users",),
    "H": (f"{STABLE}/users/{{user}}/webhooks",),
}


def lines():
    """{(method, path): {caller: status}}, paths as in the rows of the API."""
    read = {}
    for line in TABLE.splitlines()[2:]:
        if line.strip() and not line.strip().startswith("#"):
            method, path, *statuses = line.split()
            prefix, slash, rest = path.partition("/")
            assert len(statuses) == len(CALLERS), line
            for begin in PREFIXES.get(prefix, (prefix,)):
                path = begin + slash + rest
                assert (method, path) not in read, f"{method} {path} is there twice"
                read[method, path] = dict(zip(CALLERS, map(int, statuses), strict=True))
    return read


def line_of(method, path):
    """Return a line by the first of the addresses that it holds at."""
    stable = path.replace(OLDER, STABLE, 1)
    return f"{method} {stable if (method, stable) in LINES else path}"


LINES = lines()
