"""The authorization server that a server of tools trusts, and our registration there.

What the server says when it is asked without a token, protected-resource metadata (RFC 9728), the
metadata of the first authorization server that it names (RFC 8414, or OpenID Connect's), and
registration as a client (RFC 7591). All of it is said by strangers: the HTTP client that is used
here must be a guarded one.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import trio

from adapters.tools.mcp.faults import words_for
from adapters.tools.mcp.oauth.challenges import Challenge, challenge_of, chosen_scopes
from adapters.tools.mcp.oauth.guard import AddressRefused
from adapters.tools.mcp.oauth.metadata import (
    TEXT_CHARACTERS_MAX,
    application_type,
    describes_issuer,
    describes_server,
    issuer_of,
    issuer_urls,
    may_trust,
    method_given,
    method_of_own,
    method_to_ask_for,
    older_endpoints,
    promises_issuer,
    resource_urls,
    url_of,
)
from adapters.tools.mcp.oauth.token_endpoint import WANTED, CompressedAnswer, read_json

ASKING = {**WANTED, "accept": "application/json, text/event-stream"}
SECONDS_MAX = 30.0  # for all of it; then it has failed
AGAIN_SECONDS_MAX = 10.0  # while a user logs in; then the known server still counts as trusted
_Found = TypeVar("_Found")


class NotDiscovered(Exception):
    """No authorization server was found, or it did not register us. The text is for
    administrators."""


@dataclass(frozen=True, slots=True)
class ClientRegistration:
    """Our registration at an authorization server, and its endpoints."""

    client_id: str
    auth_url: str
    token_url: str
    client_secret: str = field(repr=False, default="")
    auth_method: str = ""  # how the token endpoint is shown who we are; one of AUTH_METHODS
    issuer: str = ""  # as the authorization server names itself; empty: it does not
    revocation_url: str = ""
    promises_issuer: bool = False  # with every code
    resource: str = ""  # the server's name for itself; empty: it has none
    scopes: str = ""


@dataclass(frozen=True, slots=True)
class ClientIdentity:
    """The facts about us that an authorization server registers, unless an administrator has a
    `client_id` there already."""

    name: str
    redirect_uri: str
    client_id: str = ""
    has_secret: bool = False


async def discover(
    client: httpx2.AsyncClient, url: str, identity: ClientIdentity
) -> ClientRegistration:
    """Find the authorization server, and register there if we have no client id. NotDiscovered: why
    that is not possible."""
    return await _told(SECONDS_MAX, partial(_discovered, client, url, identity))


async def is_trusted(client: httpx2.AsyncClient, url: str, issuer: str) -> bool:
    """Return whether a server still trusts this authorization server, as far as it says so."""
    try:
        _, resource = await _told(AGAIN_SECONDS_MAX, partial(_resource, client, url))
    except NotDiscovered:
        return True
    return resource is None or may_trust(resource, issuer)


async def _told(seconds: float, work: Callable[[], Awaitable[_Found]]) -> _Found:
    try:
        with trio.fail_after(seconds):
            return await work()
    except trio.TooSlowError:
        raise NotDiscovered(f"nothing was found out within {seconds:g} s") from None
    except (AddressRefused, CompressedAnswer) as error:
        raise NotDiscovered(str(error)) from error
    except ValueError as error:  # of addresses that are none
        raise NotDiscovered("what is said leads to no address") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NotDiscovered(f"the server could not be asked: {words_for(error)}") from error


async def _discovered(
    client: httpx2.AsyncClient, url: str, identity: ClientIdentity
) -> ClientRegistration:
    challenge, resource = await _resource(client, url)
    issuer = _issuer(url, resource)
    found = await _first(client, issuer_urls(issuer))
    if found is not None and not describes_issuer(found, issuer):
        raise NotDiscovered("the metadata of the authorization server describes another one")
    if found is None and resource is not None:
        raise NotDiscovered("the authorization server says nothing of itself")
    if found is None:
        return await _older(client, url, identity, challenge)
    return await _registration(client, found, identity, challenge, resource or {})


async def _older(
    client: httpx2.AsyncClient, url: str, identity: ClientIdentity, challenge: Challenge | None
) -> ClientRegistration:
    """Try the endpoints of a server that wants a token and says nothing of where there are some.
    They are there if they register us."""
    if challenge is not None and not identity.client_id:
        with suppress(NotDiscovered):
            return await _registration(client, older_endpoints(url), identity, challenge, {})
    raise NotDiscovered("the server says nothing of the authorization server that it trusts")


async def _registration(
    client: httpx2.AsyncClient,
    found: Mapping[str, Any],
    identity: ClientIdentity,
    challenge: Challenge | None,
    resource: Mapping[str, Any],
) -> ClientRegistration:
    auth_url, token_url = (url_of(found, f"{name}_endpoint") for name in ("authorization", "token"))
    if not (auth_url and token_url):
        raise NotDiscovered("the authorization server names no endpoints")
    revocation_url = url_of(found, "revocation_endpoint")
    client_id, secret, method = await _client(client, found, identity)
    return ClientRegistration(
        client_id,
        auth_url,
        token_url,
        client_secret=secret,
        auth_method=method,
        issuer=issuer_of(found),
        revocation_url=revocation_url if revocation_url.startswith("https://") else "",
        promises_issuer=promises_issuer(found),
        resource=url_of(resource, "resource"),
        scopes=chosen_scopes(challenge or Challenge(), resource, found),
    )


def _issuer(url: str, resource: Mapping[str, Any] | None) -> str:
    """Older servers say nothing, and are their own authorization servers, at their origin."""
    if resource is None:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}"
    issuers = resource.get("authorization_servers")
    issuer = issuers[0] if isinstance(issuers, list) and issuers else None
    if not isinstance(issuer, str):
        raise NotDiscovered("the server names no authorization server")
    return issuer


async def _client(
    client: httpx2.AsyncClient, found: Mapping[str, Any], identity: ClientIdentity
) -> tuple[str, str, str]:
    """Return our client id, the secret that we were given for it, and how it is to be shown."""
    if identity.client_id:
        return identity.client_id, "", method_of_own(found, has_secret=identity.has_secret)
    registration_url = url_of(found, "registration_endpoint")
    if not registration_url:
        raise NotDiscovered(
            "the authorization server registers no clients; give a client id of your own"
        )
    method = method_to_ask_for(found)
    if not method:
        raise NotDiscovered(
            "the authorization server wants to be shown who we are in a way that is not known here"
        )
    registered = await _register(client, registration_url, identity, method)
    return _taken(found, registered, method)


async def _resource(
    client: httpx2.AsyncClient, url: str
) -> tuple[Challenge | None, Mapping[str, Any] | None]:
    """Return what the server wants to see, and what it says of itself."""
    challenge = await _challenge(client, url)
    named = [challenge.metadata_url] if challenge and challenge.metadata_url else []
    resource = await _first(client, [*named, *resource_urls(url)])
    if resource is not None and not describes_server(resource, url):
        raise NotDiscovered("the metadata of the server describes another server")
    return challenge, resource


async def _challenge(client: httpx2.AsyncClient, url: str) -> Challenge | None:
    """Ask the server for something without a token, and return what it wants to see, or None if it
    does not want to see one."""
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    request = client.build_request("POST", url, json=asked, headers=ASKING)
    try:
        response = await client.send(request, stream=True, follow_redirects=False)
    except httpx2.HTTPError:  # that it cannot be asked is seen where its metadata is
        return None
    await response.aclose()
    if response.status_code != 401:
        return None
    return challenge_of(response.headers.get("www-authenticate", ""))


async def _first(client: httpx2.AsyncClient, urls: Iterable[str]) -> Mapping[str, Any] | None:
    for url in urls:
        async with client.stream("GET", url, headers=WANTED) as response:
            document = await read_json(response) if response.status_code == 200 else None
        if isinstance(document, dict):
            return document
    return None


async def _register(
    client: httpx2.AsyncClient, url: str, identity: ClientIdentity, method: str
) -> Mapping[str, Any]:
    """Return what the authorization server says of its new client."""
    wanted = {
        "client_name": identity.name,
        "redirect_uris": [identity.redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": application_type(identity.redirect_uri),
    }
    request = client.build_request("POST", url, json=wanted, headers=WANTED)
    response = await client.send(request, stream=True, follow_redirects=False)
    try:
        document = await read_json(response)
    finally:
        await response.aclose()
    if response.status_code not in (200, 201) or not isinstance(document, dict):
        raise NotDiscovered(
            f"the authorization server did not register us ({response.status_code})"
        )
    return document


def _taken(
    found: Mapping[str, Any], registered: Mapping[str, Any], method: str
) -> tuple[str, str, str]:
    """Return the client id, the secret if one is to be shown, and how it is to be shown."""
    client_id, secret = (registered.get(name) for name in ("client_id", "client_secret"))
    if not (isinstance(client_id, str) and 0 < len(client_id) <= TEXT_CHARACTERS_MAX):
        raise NotDiscovered("the authorization server did not register us: it gave no client id")
    if not isinstance(secret, str) or len(secret) > TEXT_CHARACTERS_MAX:
        secret = ""
    given = method_given(found, registered, method)
    if not given or (given != "none" and not secret):
        raise NotDiscovered(
            "the authorization server registered us for a way to show who we are that we have not"
        )
    return client_id, secret if given != "none" else "", given
