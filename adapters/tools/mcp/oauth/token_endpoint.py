"""The token and revocation endpoints of an authorization server: codes, refresh tokens,
revocations.

An administrator has named these addresses, or a stranger has, and then the guard looks at them.
Redirects are not followed where a secret would go along.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
import trio

from adapters.tools.mcp.faults import words_for
from adapters.tools.mcp.oauth.guard import AddressRefused
from adapters.tools.mcp.oauth.metadata import BASIC, LOOPBACK, NONE, POST
from adapters.tools.mcp.servers import (
    McpServer,
    OAuthToken,
    TokenDenied,
    TokenGranted,
    read_token_answer,
)
from adapters.tools.mcp.tolerance import mend
from runtime.clock import wall

ANSWER_SECONDS = 10.0  # for one request; then it is as if it had been refused
ANSWER_BYTES_MAX = 1024 * 1024  # of an answer; a longer one is none
HOPS_MAX = 10  # of redirects; then it has failed
# An answer that is packed would hide how long it is.
WANTED = {"accept": "application/json", "accept-encoding": "identity"}


@dataclass(frozen=True, slots=True)
class OAuthClients:
    """The HTTP clients for endpoints: one for those that administrators name, one for those of
    strangers."""

    ours: httpx2.AsyncClient
    strangers: httpx2.AsyncClient  # guarded

    def of(self, server: McpServer) -> httpx2.AsyncClient:
        return self.strangers if server.config.discovered else self.ours


class EndpointFault(Exception):
    """The other side was not reached, or made no sense. The words may be shown."""


class CompressedAnswer(Exception):
    """The answer is not as it was asked for. The words may be shown."""


async def exchange_code(
    clients: OAuthClients, server: McpServer, *, code: str, verifier: str, redirect_uri: str
) -> TokenGranted | TokenDenied:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    return await _granted(clients.of(server), server, form)


async def renew_token(
    clients: OAuthClients, server: McpServer, token: OAuthToken
) -> TokenGranted | TokenDenied:
    form = {"grant_type": "refresh_token", "refresh_token": token.refresh_token}
    return await _granted(clients.of(server), server, form, former=token)


async def revoke_token(clients: OAuthClients, server: McpServer, token: OAuthToken) -> str:
    """Revoke a token. Return why that was not possible; an empty text if it was. The refresh token
    comes first, because the rest goes with it."""
    url = server.config.oauth2_revocation_url
    if not url:
        return "the authorization server has no revocation endpoint"
    first = ("refresh_token", token.refresh_token)
    second = ("access_token", token.access_token)
    hints = [hint for hint in (first, second) if hint[1]]
    why = ""
    for kind, value in hints:
        try:
            status, said = await _revoke(
                clients.of(server), server, url, {"token": value, "token_type_hint": kind}
            )
        except EndpointFault as error:
            return str(error)
        if status in (200, 204):
            return ""
        code = said.get("error") if isinstance(said, dict) else None
        why = f"the authorization server answered {status}" + (f": {code}" if code else "")
        if code != "unsupported_token_type":
            break
    return why[:400]


async def _revoke(
    client: httpx2.AsyncClient, server: McpServer, url: str, form: Mapping[str, str]
) -> tuple[int, Any]:
    """Redirects are followed as long as the form stays whole, safe, and with the same server."""
    origin = _safe_origin(url)
    if origin is None:
        raise EndpointFault("the revocation endpoint is not https")
    for _ in range(HOPS_MAX + 1):
        response, document = await _post(client, url, form, server, method_of(server))
        if response.status_code not in (301, 302, 303, 307, 308):
            return response.status_code, document
        url = str(response.url.join(response.headers.get("location", "")))
        if response.status_code not in (307, 308) or _safe_origin(url) != origin:
            raise EndpointFault(
                "the revocation endpoint sent us elsewhere, and that is not followed"
            )
    raise EndpointFault(f"the revocation endpoint sent us elsewhere {HOPS_MAX} times")


async def _granted(
    client: httpx2.AsyncClient,
    server: McpServer,
    form: Mapping[str, str],
    *,
    former: OAuthToken | None = None,
) -> TokenGranted | TokenDenied:
    url = server.config.oauth2_token_url
    try:
        response, document = await _post(client, url, form, server, method_of(server))
        is_guess = (
            bool(server.secrets.oauth2_client_secret) and not server.config.oauth2_auth_method
        )
        if response.status_code == 401 and is_guess:
            # Some know a client by its secret in the form only.
            response, document = await _post(client, url, form, server, POST)
    except EndpointFault as error:
        return TokenDenied(str(error))
    return read_token_answer(response.status_code, document, now=wall(), former=former)


async def _post(
    client: httpx2.AsyncClient,
    url: str,
    form: Mapping[str, str],
    server: McpServer,
    method: str,
) -> tuple[httpx2.Response, Any]:
    """A client without a secret only says its name."""
    name, secret = server.config.oauth2_client_id, server.secrets.oauth2_client_secret
    auth, data = None, dict(form)
    if method == BASIC:
        auth = httpx2.BasicAuth(quote(name, safe=""), quote(secret, safe=""))
    else:
        data["client_id"] = name
    if method == POST:
        data["client_secret"] = secret
    if server.config.discovered and "grant_type" in form:
        data["resource"] = server.config.resource  # for whom the token is to be
    try:
        request = client.build_request("POST", url, data=data, headers=WANTED)
        with trio.fail_after(ANSWER_SECONDS):
            response = await client.send(request, auth=auth, stream=True, follow_redirects=False)
            try:
                return response, await read_json(response)
            finally:
                await response.aclose()
    except trio.TooSlowError:
        raise EndpointFault(
            f"the authorization server did not answer within {ANSWER_SECONDS:g} s"
        ) from None
    except (AddressRefused, CompressedAnswer) as error:
        raise EndpointFault(str(error)) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:  # of a name that is none
        why = words_for(error)
        raise EndpointFault(f"the authorization server could not be asked: {why}") from error


async def read_json(response: httpx2.Response) -> Any:
    """Return the JSON of an answer, or None if it is none, or too long."""
    packed = response.headers.get("content-encoding", "identity")
    if packed.lower() != "identity":
        raise CompressedAnswer(
            f"the answer is packed ({packed[:40]}), although it was asked for as it is"
        )
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > ANSWER_BYTES_MAX:
            return None
    try:
        return json.loads(mend(body))
    except (ValueError, RecursionError):
        return None


def method_of(server: McpServer) -> str:
    """Return how an authorization server is shown who we are. Pure."""
    if not server.secrets.oauth2_client_secret:
        return NONE
    return server.config.oauth2_auth_method or BASIC


def _safe_origin(url: str) -> tuple[str, str | None, int | None] | None:
    """Return the origin of an address, or None if no secret may be sent there."""
    try:
        parts = urlsplit(url)
        origin = parts.scheme, parts.hostname, parts.port
    except ValueError:
        return None
    is_near = parts.scheme == "http" and parts.hostname in LOOPBACK
    return origin if parts.scheme == "https" or is_near else None
