"""The endpoints by which users let their chats use a server in their name, and take that back.

The browser goes to the authorization server and comes back with a code. What it has to show then,
beside its session, lies in cookies that only the callback gets: the state, so that no other user
can send it there, and the verifier, without which the code is of no use. A third says what the user
was asked for, which is kept with the token.
"""

import re
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from string import Template
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import UNSET, structs

from adapters.http.endpoints import Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.http.refusals import HttpError, not_found
from adapters.settings.secrets import CannotOpen, Vault
from adapters.tools.mcp.oauth.challenges import joined
from adapters.tools.mcp.oauth.token_endpoint import exchange_code, revoke_token
from adapters.tools.mcp.routes.schemas import Disconnected
from adapters.tools.mcp.routes.servers import CALLBACK, PATH, ServerRoutes, may_see
from adapters.tools.mcp.servers import (
    McpServer,
    OAuthToken,
    TokenDenied,
    token_purpose,
)
from adapters.tools.mcp.wiring import Mcp

CONNECT = PATH + "/{server}/oauth2/connect"
DISCONNECT = "/api/v2/mcp/servers/{server}/oauth2/disconnect"
LOGIN_SECONDS = 600  # for a user to log in there; then they begin again
STATE, VERIFIER, SCOPES = "mcp_oauth2_state", "mcp_oauth2_verifier", "mcp_oauth2_scopes"

_SCRIPT = Template(
    'const told = {type: "mcp-oauth2-complete", serverID: "$server"};'
    "if (window.opener) { window.opener.postMessage(told, window.location.origin); }"
    "window.close();"
)
_PAGE = Template(
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Connected</title>'
    "<p>You are connected, and can close this window.</p><script>$script</script></html>\n"
)
_COOKIE = re.compile(r"(?:^|;)\s*([^=;\s]+)=([^;]*)")


class OAuthRoutes:
    """Handlers of logins at servers."""

    def __init__(self, mcp: Mcp, vault: Vault, servers: ServerRoutes) -> None:
        self._mcp = mcp
        self._vault = vault
        self._servers = servers

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=CONNECT,
                handle=self.connect,
                summary="Log in at the server's authorization server: leads a browser there.",
                tag="MCP servers",
                scope="settings",
                answers={307: None},
                sets_cookies=True,
            ),
            Endpoint(
                method="GET",
                path=CALLBACK,
                handle=self.callback,
                summary="Where the browser comes back to.",
                tag="MCP servers",
                scope="settings",
                answers={200: bytes},
                refusals=(409, 502),
                parameters=(
                    Parameter(name="code"),
                    Parameter(name="state"),
                    Parameter(name="iss", help="the authorization server that gave the code"),
                ),
            ),
            Endpoint(
                method="DELETE",
                path=DISCONNECT,
                handle=self.disconnect,
                summary="Forget the token, and have it revoked.",
                tag="MCP servers",
                scope="settings",
                answers={200: Disconnected},
            ),
        )

    async def connect(self, call: Call) -> HttpResponse:
        server = await self._servers.visible(call)
        _check(server)
        server = await self._servers.looked_at_again(call, server)
        callback = self._servers.callback_url(call, server.id)
        state, verifier = token_urlsafe(32), token_urlsafe(48)
        query = {
            "response_type": "code",
            "client_id": server.config.oauth2_client_id,
            "redirect_uri": callback,
            "state": state,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
        }
        if scopes := await self._scopes(call, server):
            query["scope"] = scopes
        if server.config.discovered:
            query["resource"] = server.config.resource
        url = server.config.oauth2_auth_url
        joined = "&" if urlsplit(url).query else "?"
        cookies = [
            ("set-cookie", _cookie(name, value, callback))
            for name, value in ((STATE, state), (VERIFIER, verifier), (SCOPES, _packed(scopes)))
        ]
        headers = (("location", url + joined + urlencode(query)), ("cache-control", "no-store"))
        return HttpResponse(307, b"", headers=(*headers, *cookies))

    async def callback(self, call: Call) -> HttpResponse:
        """Take the code with which the browser comes back, and fetch a token for it."""
        server = (await self._mcp.registry.servers()).get(call.uuid("server"))
        if server is None or not may_see(call.user, server):
            raise not_found()
        _check(server)
        _check_issuer(server, call.one("iss"))
        if error := call.one("error"):
            raise HttpError(400, "The authorization server said no.", detail=error[:200])
        cookies = dict(_COOKIE.findall(call.headers.get("cookie", "")))
        state, code = call.one("state") or "", call.one("code") or ""
        expected, verifier = cookies.get(STATE, ""), cookies.get(VERIFIER, "")
        if not (expected and verifier and compare_digest(expected.encode(), state.encode())):
            raise HttpError(400, "This login was not begun here.", detail="begin it again")
        if not code:
            raise HttpError(400, "The authorization server gave no code.", detail="begin it again")
        scopes = _unpacked(cookies.get(SCOPES, ""))
        await self._fetch(call, server, code=code, verifier=verifier, scopes=scopes)
        return _page(server, self._servers.callback_url(call, server.id))

    async def disconnect(self, call: Call) -> HttpResponse:
        """Forget the caller's token, and revoke it at the server. This works for a server that the
        caller may not see any more, too."""
        id = call.uuid("server")
        sealed = await self._mcp.store.delete_token(call.user.id, id)
        server = (await self._mcp.registry.servers()).get(id)
        if server is None or (sealed is None and not may_see(call.user, server)):
            raise not_found()
        if sealed is None:
            # The caller is not logged in there, which is what they ask for.
            return json_response(200, Disconnected(False))
        try:
            opened = self._vault.open(sealed, token_purpose(call.user.id, id))
        except CannotOpen:
            why = "what was stored cannot be read any more"
        else:
            token = msgspec.json.decode(opened, type=OAuthToken)
            why = await revoke_token(self._mcp.clients, server, token)
        return json_response(200, Disconnected(not why, why or UNSET))

    async def _scopes(self, call: Call, server: McpServer) -> str:
        """Return the scopes to ask the caller for: those of the server, those that they were asked
        for before, and those that the server has missed since."""
        held = (await self._mcp.registry.tokens(call.user.id)).get(server.id)
        if held is None or held.token is None:
            return server.config.oauth2_scopes
        return joined(server.config.oauth2_scopes, held.token.scopes, held.token.wanted)

    async def _fetch(
        self, call: Call, server: McpServer, *, code: str, verifier: str, scopes: str
    ) -> None:
        callback = self._servers.callback_url(call, server.id)
        got = await exchange_code(
            self._mcp.clients, server, code=code, verifier=verifier, redirect_uri=callback
        )
        if isinstance(got, TokenDenied):
            raise HttpError(502, "The authorization server gave no token.", detail=got.why)
        token = structs.replace(got.token, scopes=scopes)
        text = msgspec.json.encode(token).decode()
        sealed = self._vault.seal(text, token_purpose(call.user.id, server.id))
        if not await self._mcp.store.put_token(
            call.user.id, server.stored, sealed=sealed, expires_at=got.expires_at
        ):
            raise HttpError(409, "The server was changed meanwhile.", detail="begin it again")


def _check(server: McpServer) -> None:
    if not server.config.enabled:
        raise HttpError(400, "This MCP server is not enabled.")
    if server.config.auth_type != "oauth2":
        raise HttpError(400, "This MCP server does not use OAuth 2.")
    if not server.config.oauth2_auth_url:
        raise HttpError(400, "This MCP server has no authorization URL.")


def _check_issuer(server: McpServer, said: str | None) -> None:
    """Refuse an answer of another authorization server (RFC 9207, 2.4), or one that does not say
    whose it is although that was promised.

    Otherwise we would send its code to the wrong one.
    """
    known = server.config.oauth2_issuer
    if not said and server.config.oauth2_iss_promised:
        raise HttpError(
            400,
            "The answer does not say which authorization server has given it.",
            detail="begin the login again",
        )
    if said and known and said != known:
        raise HttpError(
            400,
            "The answer is from another authorization server.",
            detail="begin the login again",
        )


def _challenge(verifier: str) -> str:
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")


def _packed(scopes: str) -> str:
    return urlsafe_b64encode(scopes.encode()).decode().rstrip("=")


def _unpacked(packed: str) -> str:
    try:
        return joined(urlsafe_b64decode(packed + "=" * (-len(packed) % 4)).decode())
    except ValueError:  # the user has changed their cookie, which harms their own token alone
        return ""


def _cookie(name: str, value: str, callback: str, seconds: int = LOGIN_SECONDS) -> str:
    """Return a cookie for the callback alone."""
    parts = urlsplit(callback)
    attributes = [f"Path={parts.path}", f"Max-Age={seconds}", "HttpOnly", "SameSite=Lax"]
    secure = ["Secure"] if parts.scheme == "https" else []
    return "; ".join([f"{name}={value}", *attributes, *secure])


def _page(server: McpServer, callback: str) -> HttpResponse:
    script = _SCRIPT.substitute(server=server.id)
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    headers = [
        ("content-security-policy", f"default-src 'none'; script-src 'sha256-{allowed}'"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        *(("set-cookie", _cookie(name, "", callback, 0)) for name in (STATE, VERIFIER, SCOPES)),
    ]
    page = _PAGE.substitute(script=script).encode()
    return HttpResponse(200, page, "text/html; charset=utf-8", headers)
