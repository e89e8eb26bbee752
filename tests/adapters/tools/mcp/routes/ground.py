"""Servers of tools, set up over the API; users who log in there; what a turn finds."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from adapters.tools.mcp.servers import OAuthToken
from tests.actors.law.chats import State, a_chat
from tests.fakes.tool_server import USUAL, Raw

SECRETS = ("s3cret-key", "s3cret-header", "s3cret-client", "access-1", "refresh-1")


def new(slug="one", **more):
    return {
        "display_name": (slug or "one").title(),
        "slug": slug,
        "transport": "streamable_http",
        "url": "http://127.0.0.1:1/mcp?k=1",
        "auth_type": "none",
        "availability": "default_off",
        **more,
    }


async def made(edge, servers, **more):
    answer = await edge.admin.post(servers, new(**more))
    assert 201 == answer.status, answer.body
    return answer.document


# logging in


def oauth(auth, **more):
    return {
        "auth_type": "oauth2",
        "oauth2_client_id": "we",
        "oauth2_auth_url": f"{auth.url}/authorize?tenant=7",
        "oauth2_token_url": f"{auth.url}/token",
        "oauth2_revocation_url": f"{auth.url}/revoke",
        "oauth2_scopes": "read write",
        **more,
    }


async def logs_in(edge, servers, auth, server, **twisted):
    sent = await edge.member.get(f"{servers}/{server['id']}/oauth2/connect")
    assert 307 == sent.status, sent.body
    query = {k: v[0] for k, v in parse_qs(urlsplit(sent.headers["location"]).query).items()}
    auth.challenge = query["code_challenge"]
    cookies = [line.partition(";")[0] for line in sent.headers.get_list("set-cookie")]
    edge.member.client.cookies.clear()
    callback = urlsplit(query["redirect_uri"]).path
    state = twisted.get("state", query["state"])
    return query, await edge.member.get(
        f"{callback}?code=c0de&state={state}{twisted.get('more', '')}",
        headers={"cookie": twisted.get("cookies", "; ".join(cookies))},
    )


async def connected(edge, servers, server):
    return (await edge.member.get(f"{servers}/{server['id']}")).document["auth_connected"]


# what chats find


async def held(edge, server):
    known = edge.chats.mcp.registry
    found = (await known.servers()).values()
    return next(each for each in found if str(each.id) == server["id"])


async def token(edge, server) -> OAuthToken | None:
    return await edge.chats.mcp.calls.renewal.token(await held(edge, server), edge.member.id)


def taking(*tokens):
    """Answers of a server that wants to see one of these; and the set of them."""
    taken = set(tokens)

    async def answer(asked):
        shown = asked["headers"].get("authorization", "").removeprefix("Bearer ")
        return USUAL.get(asked["method"]) if shown in taken else Raw(b"no", 401)

    return dict.fromkeys((*USUAL, "server/discover"), answer), taken


async def tools_of(edge, server):
    """What a turn of the member's finds there, why not, and the chat."""
    reached = edge.chats.mcp.calls
    chat = replace(a_chat(State.R0).chat, owner_id=edge.member.id)
    tools = await reached.tools(chat, await held(edge, server))
    return [tool.offered_name for tool in tools], reached.faults.get(UUID(server["id"])), chat
