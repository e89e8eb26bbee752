"""Which authorization server a server of tools trusts, and our registration there."""

import json
from ipaddress import ip_network

import pytest

from adapters.tools.mcp.oauth.discovery import ClientIdentity, NotDiscovered, discover
from adapters.tools.mcp.oauth.guard import guarded_client
from tests.fakes.auth_server import an_auth_server
from tests.fakes.tool_server import Raw

LOOPBACK = [ip_network("127.0.0.0/8")]
RESOURCE = "/.well-known/oauth-protected-resource/mcp"
NO_URLS = {"authorization_endpoint": "file:///x", "token_endpoint": 7}
ROOT = "/.well-known/oauth-authorization-server"
ISSUER = f"{ROOT}/tenant"


async def ask(auth, allowed=LOOPBACK, **own):
    async with guarded_client(allowed) as client:
        identity = ClientIdentity("us", "http://us/callback", **own)
        return await discover(client, f"{auth.url}/mcp", identity)


async def test_endpoints_are_found_out_and_we_are_registered_without_a_secret():
    async with an_auth_server() as auth:
        found = await ask(auth)

    assert ("we", f"{auth.url}/authorize", f"{auth.url}/token", "read write") == (
        found.client_id,
        found.auth_url,
        found.token_url,
        found.scopes,
    )
    assert "https://h.example/revoke" == found.revocation_url
    assert f"{auth.url}/tenant" == found.issuer
    [wanted] = auth.of("/register")
    assert "none" == wanted["token_endpoint_auth_method"]
    assert ["http://us/callback"] == wanted["redirect_uris"]


async def test_into_our_own_network_nobody_is_followed():
    async with an_auth_server() as auth:
        with pytest.raises(NotDiscovered, match="leads into a private network"):
            await ask(auth, ())

    assert [] == auth.asked


async def test_a_server_that_says_nothing_may_be_its_own_authorization_server():
    async with an_auth_server() as auth:
        documents = auth._documents()
        auth.answers[RESOURCE] = Raw(b"", 404)
        own = {**documents[ISSUER], "issuer": auth.url}
        auth.answers[ROOT] = Raw(json.dumps(own).encode())

        found = await ask(auth)

    assert f"{auth.url}/token" == found.token_url


@pytest.mark.parametrize(
    "issuer", ["http://[::1", "http://h:port/", "file:///etc/passwd", "", "h", "http://"]
)
async def test_an_issuer_that_is_no_address_is_said(issuer):
    async with an_auth_server() as auth:
        auth.answers[RESOURCE] = Raw(json.dumps({"authorization_servers": [issuer]}).encode())

        with pytest.raises(NotDiscovered):
            await ask(auth)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # httpcore2's own
@pytest.mark.parametrize(
    ("path", "raw", "words"),
    [
        (RESOURCE, Raw(b"{}"), "names no authorization server"),
        (RESOURCE, Raw(b"[" * 100_000), "says nothing of the authorization server"),
        (RESOURCE, Raw(b'{"a": "' + b"x" * 1024 * 1024 + b'"}'), "says nothing of the auth"),
        (ISSUER, Raw(b"", 500), "says nothing of itself"),
        (ISSUER, Raw(b"{}"), "names no endpoints"),
        (ISSUER, Raw(json.dumps(NO_URLS).encode()), "names no endpoints"),
        (RESOURCE, Raw(b"{}", 200, {"content-encoding": "gzip"}), r"the answer is packed \(gzip\)"),
        ("/register", Raw(b"{}", 201), "did not register us"),
        ("/register", Raw(b"", 302, {"location": "/token"}), "did not register us"),
        ("/register", Raw(b'{"client_id": 7}', 201), "gave no client id"),
    ],
)
async def test_what_makes_no_sense_is_said(path, raw, words):
    async with an_auth_server() as auth:
        auth.answers[path] = raw

        with pytest.raises(NotDiscovered, match=words):
            await ask(auth)


@pytest.mark.parametrize(
    ("path", "foreign", "words"),
    [
        (RESOURCE, {"resource": "https://other.example/mcp"}, "the server describes another"),
        (ISSUER, {"issuer": "https://other.example"}, "authorization server describes another"),
    ],
)
async def test_metadata_of_another_server_is_refused_and_nothing_is_registered(
    path, foreign, words
):
    async with an_auth_server() as auth:
        auth.answers[path] = Raw(json.dumps({**auth._documents()[path], **foreign}).encode())

        with pytest.raises(NotDiscovered, match=words):
            await ask(auth)

    assert [] == auth.of("/register")


OFFERED = "token_endpoint_auth_methods_supported"
ASKED = "token_endpoint_auth_method"
KEY = "private_key_jwt"


@pytest.mark.parametrize(
    ("offered", "asked", "answer", "expected"),
    [
        (None, "none", {}, ("none", "")),
        (None, "none", {"client_secret": "s"}, ("client_secret_basic", "s")),
        (["none"], "none", {"client_secret": "s"}, ("none", "")),
        (["client_secret_post", "none"], "none", {ASKED: "none"}, ("none", "")),
        (["client_secret_post"], "client_secret_post", {"client_secret": "s"}, None),
        (
            ["client_secret_post", "client_secret_basic"],
            "client_secret_basic",
            {"client_secret": "s", ASKED: "client_secret_post"},
            ("client_secret_post", "s"),
        ),
    ],
)
async def test_we_register_for_a_method_that_the_authorization_server_offers(
    offered, asked, answer, expected
):
    async with an_auth_server() as auth:
        auth.says = {} if offered is None else {OFFERED: offered}
        auth.registers |= answer

        found = await ask(auth)

    [wanted] = auth.of("/register")
    assert asked == wanted[ASKED]
    assert (expected or (asked, "s")) == (found.auth_method, found.client_secret)
    assert "'s'" not in repr(found)


@pytest.mark.parametrize(
    ("offered", "answer", "registered"),
    [
        ([KEY], {}, 0),
        ([], {}, 0),
        (["client_secret_basic"], {}, 1),
        (["client_secret_basic"], {"client_secret": 7}, 1),
        (["client_secret_basic"], {"client_secret": "s", ASKED: KEY}, 1),
    ],
)
async def test_a_method_that_is_not_known_here_is_said(offered, answer, registered):
    async with an_auth_server() as auth:
        auth.says = {OFFERED: offered}
        auth.registers |= answer

        with pytest.raises(NotDiscovered, match="show"):
            await ask(auth)

    assert registered == len(auth.of("/register"))


@pytest.mark.parametrize("has_secret", [True, False])
async def test_a_client_id_of_our_own_is_used_where_nobody_is_registered(has_secret):
    async with an_auth_server() as auth:
        auth.says = {OFFERED: ["client_secret_post"], "registration_endpoint": None}

        found = await ask(auth, client_id="own", has_secret=has_secret)
        with pytest.raises(NotDiscovered, match="give a client id of your own"):
            await ask(auth)

    method = "client_secret_post" if has_secret else "none"
    assert ("own", "", method) == (found.client_id, found.client_secret, found.auth_method)
    assert f"{auth.url}/token" == found.token_url
    assert [] == auth.of("/register")


async def test_a_challenge_says_where_the_metadata_is_and_which_scopes_are_needed():
    async with an_auth_server() as auth:
        challenge = f'Bearer resource_metadata="{auth.url}/custom", scope="basic"'
        auth.answers["/mcp"] = Raw(b"", 401, {"www-authenticate": challenge})
        auth.answers["/custom"] = Raw(json.dumps(auth._documents()[RESOURCE]).encode())
        auth.answers[RESOURCE] = Raw(b"", 404)

        found = await ask(auth)

    assert ("we", "basic") == (found.client_id, found.scopes)


@pytest.mark.parametrize(
    ("supported", "status", "expected"), [(["a"], 401, "basic"), (["a"], 200, "a"), (None, 200, "")]
)
async def test_scopes_are_those_that_the_server_itself_says(supported, status, expected):
    async with an_auth_server() as auth:
        auth.says = {"scopes_supported": ["all", "of", "them"]}
        auth.answers["/mcp"] = Raw(b"", status, {"www-authenticate": 'Bearer scope="basic"'})
        said = {**auth._documents()[RESOURCE], "scopes_supported": supported}
        auth.answers[RESOURCE] = Raw(json.dumps(said).encode())

        assert expected == (await ask(auth)).scopes


async def test_where_a_token_is_wanted_and_nothing_is_said_the_older_endpoints_are_tried():
    async with an_auth_server() as auth:
        auth.answers |= {RESOURCE: Raw(b"", 404), "/mcp": Raw(b"", 401)}

        found = await ask(auth)
        with pytest.raises(NotDiscovered, match="says nothing of the authorization server"):
            await ask(auth, client_id="own")
        auth.answers["/register"] = Raw(b"", 404)
        with pytest.raises(NotDiscovered, match="says nothing of the authorization server"):
            await ask(auth)

    assert (f"{auth.url}/authorize", f"{auth.url}/token") == (found.auth_url, found.token_url)
    assert ("we", "", False) == (found.client_id, found.issuer, found.promises_issuer)


async def test_a_server_is_asked_for_by_the_name_that_it_has_for_itself():
    async with an_auth_server() as auth:
        said = {**auth._documents()[RESOURCE], "resource": auth.url}
        auth.answers[RESOURCE] = Raw(json.dumps(said).encode())

        found = await ask(auth)

    assert auth.url == found.resource
    [wanted] = auth.of("/register")
    assert "web" == wanted["application_type"]  # of http://us/callback
