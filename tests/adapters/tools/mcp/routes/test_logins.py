"""Users log in at servers of tools, and take that back."""

import json

import pytest

from actors.law.store.hints import CatalogueChanged
from tests.adapters.edges import an_edge
from tests.adapters.tools.mcp.routes.ground import SECRETS, connected, logs_in, made, oauth
from tests.fakes.auth_server import an_auth_server
from tests.fakes.tool_server import Raw

pytestmark = pytest.mark.slow


async def test_a_user_logs_in_is_connected_and_takes_it_back(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        assert not await connected(edge, servers, server)

        query, back = await logs_in(edge, servers, auth, server)

        assert (200, "S256", "7") == (back.status, query["code_challenge_method"], query["tenant"])
        assert server["id"] in back.body.decode()
        assert await connected(edge, servers, server)
        [form] = auth.of("/token")
        assert ("we", query["redirect_uri"]) == (form["client_id"], form["redirect_uri"])
        rows = await edge.execute("SELECT encode(sealed, 'escape') FROM mcp_tokens")
        assert not any(secret in str(rows) for secret in SECRETS)

        path = f"/api/experimental/mcp/servers/{server['id']}/oauth2/disconnect"
        assert {"token_revoked": True} == (await edge.member.delete(path)).document
        assert "refresh-1" == auth.of("/revoke")[0]["token"]
        assert not await connected(edge, servers, server)
        again = await edge.member.delete(path)
        assert (200, {"token_revoked": False}) == (again.status, again.document)


@pytest.mark.parametrize("twisted", [{"state": "x"}, {"cookies": "a=b"}, {"cookies": ""}])
async def test_who_did_not_begin_a_login_does_not_end_it(edge, servers, twisted):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))

        _, back = await logs_in(edge, servers, auth, server, **twisted)

        assert 400 == back.status
        assert [] == auth.of("/token")


async def test_a_server_that_is_another_one_now_is_shown_nothing(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)

        await edge.admin.patch(f"{servers}/{server['id']}", {"display_name": "Other"})
        assert await connected(edge, servers, server)
        await edge.admin.patch(f"{servers}/{server['id']}", {"url": "http://other.example/"})

        assert not await connected(edge, servers, server)
        assert [] == await edge.execute("SELECT 1 FROM mcp_tokens")


async def test_a_server_that_changes_while_a_user_logs_in_gets_no_token(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))

        async def change():
            await edge.admin.patch(f"{servers}/{server['id']}", {"url": "http://other.example/"})

        auth.pause = change
        _, back = await logs_in(edge, servers, auth, server)

        assert 409 == back.status
        assert [] == await edge.execute("SELECT 1 FROM mcp_tokens")


async def test_a_revocation_that_leads_elsewhere_is_not_followed(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        auth.answers["/revoke"] = Raw(b"", 307, {"location": "http://127.0.0.1:1/steal"})

        path = f"/api/experimental/mcp/servers/{server['id']}/oauth2/disconnect"
        said = (await edge.member.delete(path)).document

    assert not said["token_revoked"]
    assert "elsewhere" in said["token_revocation_error"]


async def test_a_client_with_a_secret_shows_it_in_the_header(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth, oauth2_client_secret=SECRETS[2]))
        await logs_in(edge, servers, auth, server)

        [(_, form, headers)] = [asked for asked in auth.asked if asked[0] == "/token"]

    assert headers["authorization"].startswith("Basic ")
    assert "client_id" not in form


# what strangers name


@pytest.fixture
async def open_edge(fresh):
    """As where strangers may lead into our own loopback."""
    async with an_edge(fresh, private_networks="127.0.0.0/8") as edge:
        yield edge


async def test_what_is_found_out_is_logged_in_at_and_told_what_for(open_edge):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    async with an_auth_server() as auth:
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp")

        query, back = await logs_in(edge, servers, auth, server)

        assert ("we", "read write") == (server["oauth2_client_id"], server["oauth2_scopes"])
        assert (200, f"{auth.url}/mcp") == (back.status, query["resource"])
        assert [f"{auth.url}/mcp"] == [form["resource"] for form in auth.of("/token")]
        assert await connected(edge, servers, server)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_a_secret_that_we_were_registered_with_is_stored_sealed_and_shown(open_edge, method):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    async with an_auth_server() as auth:
        auth.says = {"token_endpoint_auth_methods_supported": [method]}
        auth.registers["client_secret"] = SECRETS[2]
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp")
        await edge.admin.patch(f"{servers}/{server['id']}", {"description": "d"})

        _, back = await logs_in(edge, servers, auth, server)
        [(_, form, headers)] = [asked for asked in auth.asked if asked[0] == "/token"]

    assert (200, True) == (back.status, server["has_oauth2_secret"])
    assert (method == "client_secret_basic") == ("authorization" in headers)
    assert (method == "client_secret_post") == (form.get("client_secret") == SECRETS[2])
    rows = await edge.execute("SELECT config::text, encode(sealed, 'escape') FROM mcp_servers")
    assert SECRETS[2] not in str(rows)


async def test_a_client_id_of_ones_own_logs_in_at_what_is_found_out(open_edge):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    own = {"oauth2_client_id": "own", "oauth2_client_secret": SECRETS[2]}
    async with an_auth_server() as auth:
        auth.says = {"registration_endpoint": None}
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp", **own)

        query, back = await logs_in(edge, servers, auth, server)
        [(_, _, headers)] = [asked for asked in auth.asked if asked[0] == "/token"]

    assert (200, "own") == (back.status, query["client_id"])
    assert headers["authorization"].startswith("Basic ")


async def test_the_secret_of_a_registration_goes_with_its_client_id(open_edge):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    async with an_auth_server() as auth:
        auth.says = {"token_endpoint_auth_methods_supported": ["client_secret_basic"]}
        auth.registers["client_secret"] = SECRETS[2]
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp")
        path = f"{servers}/{server['id']}"

        own = (await edge.admin.patch(path, {"oauth2_client_id": "own"})).document
        found_out = {"oauth2_client_id": "", "oauth2_auth_url": "", "oauth2_token_url": ""}
        anew = (await edge.admin.patch(path, found_out)).document
        only_addresses = {"oauth2_auth_url": "", "oauth2_token_url": ""}
        again = (await edge.admin.patch(path, only_addresses)).document

    seen = [(each["oauth2_client_id"], each["has_oauth2_secret"]) for each in (own, anew, again)]
    assert [("own", False), ("we", True), ("we", True)] == seen
    assert 3 == len(auth.of("/register"))


async def test_a_code_of_another_authorization_server_is_refused_and_not_sent_on(open_edge):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    async with an_auth_server() as auth:
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp")

        _, foreign = await logs_in(edge, servers, auth, server, more="&iss=https://other.example")
        shown = auth.of("/token")
        _, own = await logs_in(edge, servers, auth, server, more=f"&iss={auth.url}/tenant")

    assert (400, []) == (foreign.status, shown)
    assert 200 == own.status


async def test_a_code_of_which_nobody_says_whose_it_is_is_shown_to_nobody_where_it_was_promised(
    open_edge,
):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    async with an_auth_server() as auth:
        auth.says = {"authorization_response_iss_parameter_supported": True}
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp")

        _, silent = await logs_in(edge, servers, auth, server)
        shown = auth.of("/token")
        _, told = await logs_in(edge, servers, auth, server, more=f"&iss={auth.url}/tenant")

    assert (400, [], 200) == (silent.status, shown, told.status)


@pytest.mark.parametrize("own", [{}, {"oauth2_client_id": "own"}])
async def test_a_server_that_trusts_another_authorization_server_now_is_logged_in_at_there(
    open_edge, own
):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    resource = "/.well-known/oauth-protected-resource/mcp"
    async with an_auth_server() as auth, an_auth_server() as other:
        other.registers = {"client_id": "we-there"}
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp", **own)
        await logs_in(edge, servers, auth, server)
        moved = {**auth._documents()[resource], "authorization_servers": [f"{other.url}/tenant"]}
        auth.answers[resource] = Raw(json.dumps(moved).encode())

        path = f"{servers}/{server['id']}"
        sent = await edge.member.get(f"{path}/oauth2/connect")
        now = (await edge.admin.get(path)).document

    if own:
        assert (400, []) == (sent.status, other.of("/register"))
        assert f"{auth.url}/authorize" == now["oauth2_auth_url"]
        return
    assert sent.headers["location"].startswith(f"{other.url}/authorize?")
    assert "client_id=we-there" in sent.headers["location"]
    assert ("we-there", f"{other.url}/token") == (now["oauth2_client_id"], now["oauth2_token_url"])
    assert [] == await edge.execute("SELECT 1 FROM mcp_tokens")


async def test_a_server_with_another_address_is_not_called_by_the_former_name(open_edge):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    async with an_auth_server() as auth:
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp")
        await edge.admin.patch(f"{servers}/{server['id']}", {"url": f"{auth.url}/mcp/other"})

        query, _ = await logs_in(edge, servers, auth, server)

    assert f"{auth.url}/mcp/other" == query["resource"]


async def test_a_server_that_says_nothing_for_a_while_is_logged_in_at_as_before(open_edge):
    edge = open_edge
    servers = f"/api/experimental/organizations/{edge.organization}/mcp-servers"
    async with an_auth_server() as auth:
        server = await made(edge, servers, auth_type="oauth2", url=f"{auth.url}/mcp")
        auth.answers["/.well-known/oauth-protected-resource/mcp"] = Raw(b"", 503)

        _, back = await logs_in(edge, servers, auth, server)

    assert (200, 1) == (back.status, len(auth.of("/register")))


async def test_endpoints_that_strangers_have_named_lead_nowhere_into_our_network(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        await edge.execute(
            "UPDATE mcp_servers"
            """ SET config = (config::jsonb || '{"discovered": true}')::json"""
        )
        edge.chats.mcp.registry.hear(CatalogueChanged(None))

        _, back = await logs_in(edge, servers, auth, server)

        assert (502, True) == (back.status, "private network" in back.document["detail"])
        assert [] == auth.asked
        named = {"oauth2_token_url": f"{auth.url}/token"}
        await edge.admin.patch(f"{servers}/{server['id']}", named)
        assert 200 == (await logs_in(edge, servers, auth, server))[1].status
