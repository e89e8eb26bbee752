"""The authorization server that a server of tools trusts, and our registration there.

Protected-resource metadata (RFC 9728), the metadata of the first authorization server that it names
(RFC 8414, or OpenID Connect's), registration as a client without a secret (RFC 7591). All of it is
said by strangers: the client that is used here must be a guarded one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import trio

from adapters.tools.mcp.faults import words_for
from adapters.tools.mcp.oauth.guard import AddressRefused
from adapters.tools.mcp.oauth.token_endpoint import WANTED, CompressedAnswer, read_json

SECONDS_MAX = 30.0  # for all of it; then it has failed
TEXT_CHARACTERS_MAX = 2_048  # of anything that is kept of it
RESOURCE = "oauth-protected-resource"
SERVER = "oauth-authorization-server"
OPENID = "openid-configuration"


class NotDiscovered(Exception):
    """No authorization server was found, or it did not register us. The text is for
    administrators."""


@dataclass(frozen=True, slots=True)
class ClientRegistration:
    """Our registration at an authorization server, and its endpoints."""

    client_id: str
    auth_url: str
    token_url: str
    issuer: str = ""  # as the authorization server names itself; empty: it does not
    revocation_url: str = ""
    scopes: str = ""


async def discover(
    client: httpx2.AsyncClient, url: str, *, redirect_uri: str, name: str
) -> ClientRegistration:
    """Find the authorization server and register there. NotDiscovered: why that is not possible."""
    try:
        with trio.fail_after(SECONDS_MAX):
            return await _discovered(client, url, redirect_uri=redirect_uri, name=name)
    except trio.TooSlowError:
        raise NotDiscovered(f"nothing was found out within {SECONDS_MAX:g} s") from None
    except (AddressRefused, CompressedAnswer) as error:
        raise NotDiscovered(str(error)) from error
    except ValueError as error:  # of addresses that are none
        raise NotDiscovered("what is said leads to no address") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NotDiscovered(f"the server could not be asked: {words_for(error)}") from error


async def _discovered(
    client: httpx2.AsyncClient, url: str, *, redirect_uri: str, name: str
) -> ClientRegistration:
    resource = await _first(client, resource_urls(url))
    if resource is not None and not describes_server(resource, url):
        raise NotDiscovered("the metadata of the server describes another server")
    issuer = _issuer(url, resource)
    found = await _first(client, issuer_urls(issuer))
    if found is not None and not describes_issuer(found, issuer):
        raise NotDiscovered("the metadata of the authorization server describes another one")
    if found is None and resource is None:
        raise NotDiscovered("the server says nothing of the authorization server that it trusts")
    if found is None:
        raise NotDiscovered("the authorization server says nothing of itself")
    auth_url, token_url = _url(found, "authorization_endpoint"), _url(found, "token_endpoint")
    registration_url = _url(found, "registration_endpoint")
    if not (auth_url and token_url):
        raise NotDiscovered("the authorization server names no endpoints")
    if not registration_url:
        raise NotDiscovered(
            "the authorization server registers no clients; give a client id of your own"
        )
    revocation_url = _url(found, "revocation_endpoint")
    client_id = await _register(client, registration_url, redirect_uri=redirect_uri, name=name)
    is_safe = revocation_url.startswith("https://")
    scopes = _scopes(resource or {}) or _scopes(found)
    return ClientRegistration(
        client_id,
        auth_url,
        token_url,
        issuer=issuer_of(found),
        revocation_url=revocation_url if is_safe else "",
        scopes=scopes,
    )


def describes_server(resource: Mapping[str, Any], url: str) -> bool:
    """Return whether metadata of a resource describes the server at an address (RFC 9728, 3.3).

    It may name the server itself, or an address above it. Metadata that names no resource is
    accepted. Pure.
    """
    said = resource.get("resource")
    if said is None:
        return True
    if not isinstance(said, str):
        return False
    named, asked = urlsplit(said), urlsplit(url)
    if (named.scheme.lower(), named.netloc.lower()) != (asked.scheme.lower(), asked.netloc.lower()):
        return False
    return f"{asked.path.rstrip('/')}/".startswith(f"{named.path.rstrip('/')}/")


def describes_issuer(metadata: Mapping[str, Any], issuer: str) -> bool:
    """Return whether metadata describes an authorization server (RFC 8414, 3.3).

    A slash at the end does not count. Metadata that names no issuer is accepted. Pure.
    """
    said = metadata.get("issuer")
    return said is None or (isinstance(said, str) and said.rstrip("/") == issuer.rstrip("/"))


def issuer_of(metadata: Mapping[str, Any]) -> str:
    """Return the issuer that metadata names, or "" if it names none or too long a one. Pure."""
    said = metadata.get("issuer")
    return said if isinstance(said, str) and len(said) <= TEXT_CHARACTERS_MAX else ""


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


def resource_urls(url: str) -> Iterator[str]:
    """Yield the addresses where a server may name its authorization server. Pure."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}/.well-known/{RESOURCE}"
    if path := parts.path.rstrip("/"):
        yield root + path
    yield root


def issuer_urls(issuer: str) -> Iterator[str]:
    """Yield the addresses where an authorization server may describe itself. Pure."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    if path:
        yield f"{root}/.well-known/{SERVER}{path}"
    yield f"{root}/.well-known/{SERVER}"
    if path:
        yield f"{root}{path}/.well-known/{OPENID}"
    yield f"{root}/.well-known/{OPENID}"


async def _first(client: httpx2.AsyncClient, urls: Iterator[str]) -> Mapping[str, Any] | None:
    for url in urls:
        async with client.stream("GET", url, headers=WANTED) as response:
            document = await read_json(response) if response.status_code == 200 else None
        if isinstance(document, dict):
            return document
    return None


async def _register(client: httpx2.AsyncClient, url: str, *, redirect_uri: str, name: str) -> str:
    wanted = {
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    request = client.build_request("POST", url, json=wanted, headers=WANTED)
    response = await client.send(request, stream=True, follow_redirects=False)
    try:
        document = await read_json(response)
    finally:
        await response.aclose()
    client_id = document.get("client_id") if isinstance(document, dict) else None
    is_made = response.status_code in (200, 201)
    if not (is_made and isinstance(client_id, str) and 0 < len(client_id) <= TEXT_CHARACTERS_MAX):
        raise NotDiscovered(
            f"the authorization server did not register us ({response.status_code})"
        )
    return client_id


def _url(document: Mapping[str, Any], name: str) -> str:
    """ "": there is none, or none that is one."""
    url = document.get(name)
    if not isinstance(url, str) or len(url) > TEXT_CHARACTERS_MAX:
        return ""
    parts = urlsplit(url)
    return url if parts.scheme in ("http", "https") and parts.hostname else ""


def _scopes(document: Mapping[str, Any]) -> str:
    scopes = document.get("scopes_supported")
    named = (
        [scope for scope in scopes if isinstance(scope, str)] if isinstance(scopes, list) else []
    )
    said = " ".join(named)
    return said if len(said) <= TEXT_CHARACTERS_MAX else ""
