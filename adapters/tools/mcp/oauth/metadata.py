"""The words of servers of tools and authorization servers about themselves. Pure.

All of it is said by strangers: what is not as it should be counts as if it had not been said.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

TEXT_CHARACTERS_MAX = 2_048  # of anything that is kept of it
RESOURCE = "oauth-protected-resource"
SERVER = "oauth-authorization-server"
OPENID = "openid-configuration"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
# How a client may show a token endpoint who it is, the best first: without a secret there is none
# that runs out or becomes known.
AUTH_METHODS = (NONE, BASIC, POST) = ("none", "client_secret_basic", "client_secret_post")


def describes_server(resource: Mapping[str, Any], url: str) -> bool:
    """Return whether metadata of a resource describes the server at an address (RFC 9728, 3.3).

    It may name the server itself, or an address above it. Metadata that names no resource is
    accepted.
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


def may_trust(resource: Mapping[str, Any], issuer: str) -> bool:
    """Return whether a resource names this authorization server, first or not, or none at all."""
    said = resource.get("authorization_servers")
    named = [each for each in said if isinstance(each, str)] if isinstance(said, list) else []
    return not named or issuer.rstrip("/") in [each.rstrip("/") for each in named]


def describes_issuer(metadata: Mapping[str, Any], issuer: str) -> bool:
    """Return whether metadata describes an authorization server (RFC 8414, 3.3).

    A slash at the end does not count. Metadata that names no issuer is accepted.
    """
    said = metadata.get("issuer")
    return said is None or (isinstance(said, str) and said.rstrip("/") == issuer.rstrip("/"))


def issuer_of(metadata: Mapping[str, Any]) -> str:
    """Return the issuer that metadata names, or "" if it names none or too long a one."""
    said = metadata.get("issuer")
    return said if isinstance(said, str) and len(said) <= TEXT_CHARACTERS_MAX else ""


def resource_urls(url: str) -> Iterator[str]:
    """Yield the addresses where a server may name its authorization server."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}/.well-known/{RESOURCE}"
    if path := parts.path.rstrip("/"):
        yield root + path
    yield root


def issuer_urls(issuer: str) -> Iterator[str]:
    """Yield the addresses where an authorization server may describe itself."""
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    yield f"{root}/.well-known/{SERVER}{path}"
    yield f"{root}/.well-known/{OPENID}{path}"
    if path:
        yield f"{root}{path}/.well-known/{OPENID}"
        yield f"{root}/.well-known/{SERVER}"  # where only some are, against the rules
        yield f"{root}/.well-known/{OPENID}"


def older_endpoints(url: str) -> Mapping[str, Any]:
    """Return metadata for a server that is its own authorization server and says nothing of it:
    the endpoints are where the MCP specification of 2025-03-26 had them."""
    parts = urlsplit(url)
    names = (("authorization", "authorize"), ("token", "token"), ("registration", "register"))
    return {f"{name}_endpoint": f"{parts.scheme}://{parts.netloc}/{path}" for name, path in names}


def promises_issuer(metadata: Mapping[str, Any]) -> bool:
    """Return whether a browser that comes back with a code names its issuer, too (RFC 9207)."""
    return metadata.get("authorization_response_iss_parameter_supported") is True


def application_type(redirect_uri: str) -> str:
    """Return the type of a client to which browsers come back here (OpenID Connect)."""
    return "native" if urlsplit(redirect_uri).hostname in LOOPBACK else "web"


def method_to_ask_for(metadata: Mapping[str, Any]) -> str:
    """Return the method to register with: the best of those that are offered, or "" if none of them
    is known here. Where nothing is said of methods we ask for none."""
    offered = _methods(metadata)
    if offered is None:
        return NONE
    return next((method for method in AUTH_METHODS if method in offered), "")


def method_given(metadata: Mapping[str, Any], registered: Mapping[str, Any], asked: str) -> str:
    """Return the method with which a client was registered, or "" if it is not known here.

    The authorization server has the last word. One that says nothing of it, but gives a client that
    asked for no secret one, wants to see it, as far as it offers that."""
    if (said := registered.get("token_endpoint_auth_method")) is not None:
        return said if said in AUTH_METHODS else ""
    if asked != NONE or not registered.get("client_secret"):
        return asked
    offered = _methods(metadata)
    if offered is None:
        return BASIC
    return next((method for method in (BASIC, POST) if method in offered), NONE)


def method_of_own(metadata: Mapping[str, Any], *, has_secret: bool) -> str:
    """Return the method for a client that an administrator has registered, or "" if nothing that is
    offered says how its secret is to be shown."""
    if not has_secret:
        return NONE
    offered = _methods(metadata) or ()
    return next((method for method in (BASIC, POST) if method in offered), "")


def _methods(metadata: Mapping[str, Any]) -> list[Any] | None:
    said = metadata.get("token_endpoint_auth_methods_supported")
    return said if isinstance(said, list) else None


def url_of(document: Mapping[str, Any], name: str) -> str:
    """ "": there is none, or none that is one."""
    url = document.get(name)
    if not isinstance(url, str) or len(url) > TEXT_CHARACTERS_MAX:
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.hostname else ""


def scopes_of(document: Mapping[str, Any]) -> str:
    scopes = document.get("scopes_supported")
    named = (
        [scope for scope in scopes if isinstance(scope, str)] if isinstance(scopes, list) else []
    )
    said = " ".join(named)
    return said if len(said) <= TEXT_CHARACTERS_MAX else ""
