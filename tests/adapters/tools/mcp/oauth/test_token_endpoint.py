"""An authorization server's endpoints, and what they say that makes no sense."""

import gzip
from ipaddress import ip_network

import httpx2
import msgspec
import pytest

from adapters.tools.mcp.oauth.guard import guarded_client
from adapters.tools.mcp.oauth.token_endpoint import OAuthClients, exchange_code, revoke_token
from adapters.tools.mcp.servers import OAuthToken, ServerSecrets, TokenDenied
from tests.adapters.tools.mcp.given import configured
from tests.fakes.auth_server import an_auth_server
from tests.fakes.tool_server import Raw
from tests.patience import PATIENCE_SECONDS

LOOPBACK = [ip_network("127.0.0.0/8")]
TOKEN = OAuthToken(access_token="a")
STRANGE = ("http://[::1", "http://h:port/", f"http://{'a' * 70}.example/")


async def a_code(url, *, discovered=False):
    server = configured(Named(), oauth2_token_url=url, discovered=discovered)
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as ours,
        guarded_client(LOOPBACK) as guarded,
    ):
        clients = OAuthClients(ours, guarded)
        return await exchange_code(
            clients, server, code="c", verifier="v", redirect_uri="http://us/"
        )


async def taken_back(url):
    server = configured(Named(), oauth2_revocation_url=url)
    async with (
        httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as ours,
        guarded_client(LOOPBACK) as guarded,
    ):
        return await revoke_token(OAuthClients(ours, guarded), server, TOKEN)


class Named:
    url = "http://h/mcp"


@pytest.mark.parametrize("discovered", [False, True])
@pytest.mark.parametrize("url", STRANGE)
async def test_an_endpoint_that_is_no_address_gives_no_token(url, discovered):
    denied = await a_code(url, discovered=discovered)

    assert isinstance(denied, TokenDenied)
    assert denied.why.startswith("the authorization server could not be asked: ")


SECRET = ServerSecrets(oauth2_client_secret="s3cret")
BASIC, POST = "client_secret_basic", "client_secret_post"


@pytest.mark.parametrize(
    ("method", "secrets", "shown"),
    [
        ("none", SECRET, [(False, False)]),
        (BASIC, SECRET, [(True, False)]),
        (POST, SECRET, [(False, True)]),
        ("", SECRET, [(True, False), (False, True)]),
        ("", ServerSecrets(), [(False, False)]),
        (POST, ServerSecrets(), [(False, False)]),
    ],
)
async def test_a_secret_is_shown_as_was_said_and_in_both_ways_where_nobody_said(
    method, secrets, shown
):
    async with an_auth_server() as auth:
        auth.answers["/token"] = Raw(b"{}", 401)
        server = configured(
            Named(),
            secrets=secrets,
            oauth2_client_id="we",
            oauth2_token_url=f"{auth.url}/token",
            oauth2_auth_method=method,
        )
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as ours:
            clients = OAuthClients(ours, ours)
            await exchange_code(clients, server, code="c", verifier="v", redirect_uri="http://us/")

    told = [(form, headers) for _, form, headers in auth.asked]
    assert shown == [("authorization" in head, "client_secret" in form) for form, head in told]
    assert all(("authorization" in head) != ("client_id" in form) for form, head in told)


@pytest.mark.parametrize("url", [*STRANGE, "http://h.example/", "https://h:99999/", "nonsense"])
async def test_nothing_is_revoked_where_there_is_no_address_or_no_safe_one(url):
    assert "the revocation endpoint is not https" == await taken_back(url)


@pytest.mark.parametrize(
    "to", [*STRANGE, "http://h:99999/", "//[", "http://%00/", "http://127.0.0.1:1/"]
)
async def test_a_revocation_that_leads_nowhere_is_not_followed(to):
    async with an_auth_server() as auth:
        auth.answers["/revoke"] = Raw(b"", 307, {"location": to})

        why = await taken_back(f"{auth.url}/revoke")

        assert "does not speak HTTP as it should" in why or "that is not followed" in why
        assert 1 == len(auth.asked)


async def test_a_revocation_is_followed_with_the_same_server():
    async with an_auth_server() as auth:
        auth.answers["/old"] = Raw(b"", 308, {"location": "/revoke"})

        why = await taken_back(f"{auth.url}/old")

        assert ("", [{"token": "a", "token_type_hint": "access_token", "client_id": ""}]) == (
            why,
            [{**form, "client_id": ""} for form in auth.of("/revoke")],
        )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # httpcore2's own
async def test_a_packed_answer_is_not_unpacked():
    """A few bytes of it could be gigabytes."""
    async with an_auth_server() as auth:
        packed = gzip.compress(b'{"access_token": "a"}')
        auth.answers["/token"] = Raw(packed, 200, {"content-encoding": "gzip"})

        denied = await a_code(f"{auth.url}/token")

        assert denied == TokenDenied(
            "the answer is packed (gzip), although it was asked for as it is"
        )
        [(_, _, headers)] = auth.asked
        assert "identity" == headers["accept-encoding"]


@pytest.mark.parametrize(
    ("said", "token", "expires_at"),
    [
        (b'{"access_token": "a\\ud800b"}', "a\ufffdb", None),
        (b'{"access_token": "a", "expires_in": 1' + b"0" * 400 + b"}", "a", None),
        (b'{"access_token": "a", "expires_in": "soon"}', "a", None),
    ],
)
async def test_what_a_token_answer_says_beside_the_point_costs_no_login(said, token, expires_at):
    async with an_auth_server() as auth:
        auth.answers["/token"] = Raw(said)

        granted = await a_code(f"{auth.url}/token")

    assert (token, expires_at) == (granted.token.access_token, granted.expires_at)
    assert token == msgspec.json.decode(msgspec.json.encode(granted.token))["access_token"]
