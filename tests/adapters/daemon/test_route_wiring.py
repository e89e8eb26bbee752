"""The edge as a whole: what is there for whom, before any chat."""

import pytest
from trio_websocket import open_websocket_url

from adapters.rehearsal.behaviour import Behaviour
from tests.adapters.edges import an_edge

pytestmark = pytest.mark.slow


async def test_everybody_may_know_whether_it_works(edge):
    for path, body in (("/livez", b'{"status":"alive"}\n'), ("/healthz", b"OK")):
        answer = await edge.nobody.get(path)

        assert (200, body) == (answer.status, answer.body)


async def test_without_any_workspaces_there_are_none_on_any_page(edge):
    answer = await edge.member.get("/api/v2/workspaces?limit=100&offset=100&q=name%3Ax")

    assert (200, {"workspaces": [], "count": 0}) == (answer.status, answer.document)
    assert {"config": {}} == (await edge.member.get("/api/v2/deployment/config")).document


async def test_who_shows_no_token_is_told_how_to(edge):
    answer = await edge.nobody.get("/api/v2/workspaces")

    assert 401 == answer.status
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_actors_are_shown_to_admins_only(edge):
    assert 403 == (await edge.member.get("/debug/actors")).status

    report = (await edge.admin.get("/debug/actors")).document

    assert 1 == report["server"]["connections"]
    assert {"supervisor", "pool", "episodes", "hints", "workspaces", "trio"} <= set(report)
    commands = report["workspaces"]["commands"]
    assert (0, 0, 0) == tuple(commands[key] for key in ("running", "ended", "started_count"))
    assert 0 == report["threads"]["price_table"]["running"]


async def test_figures_are_there_for_prometheus(edge):
    await edge.member.get("/api/v2/workspaces")

    page = (await edge.nobody.get("/metrics")).body.decode()

    assert "# TYPE promptcorner_chatd_ttft_seconds histogram" in page
    row = '{method="GET",path="/api/v2/workspaces",status="200"}'
    assert f"promptcorner_http_request_duration_seconds_count{row} 1.0" in page
    assert "promptcorner_server_connections 1.0" in page


@pytest.mark.parametrize(
    ("status", "path"),
    [
        (405, "/api/experimental/mcp/http"),
        (410, "/api/experimental/chats/providers"),
        (404, "/api/v2/nothing"),
    ],
)
async def test_what_is_not_there_says_so_in_the_usual_form(edge, status, path):
    answer = await edge.member.get(path)

    assert status == answer.status
    assert answer.document["message"]


async def test_how_full_it_is_can_be_read_and_who_waits_for_a_place(fresh):
    from tests.adapters.edges import an_edge, eventually

    def figure(page, name, pool):
        [line] = [
            line
            for line in page.splitlines()
            if line.startswith(f'promptcorner_chatd_{name}{{pool="{pool}"}}')
        ]
        return float(line.split()[-1])

    async with an_edge(fresh, behaviour=Behaviour(first_token_ms=60_000), root_chats=1) as edge:
        said = {"organization_id": edge.organization, "content": [{"type": "text", "text": "hi"}]}
        for _ in range(3):
            assert 201 == (await edge.member.post("/api/experimental/chats", said)).status

        async def page_with_one_that_streams():
            page = (await edge.nobody.get("/metrics")).body.decode()
            return page if 'promptcorner_chatd_chats{state="streaming"} 1.0' in page else None

        page = await eventually(page_with_one_that_streams)

        assert (1, 0) == tuple(figure(page, "agents_active", p) for p in ("root", "subagent"))
        queued = (figure(page, "agents_queued_for_capacity", p) for p in ("root", "subagent"))
        assert (2, 0) == tuple(queued)
        assert "promptcorner_chatd_stream_buffer_dropped_total 0.0" in page


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
FOREIGN = {
    "another page": {"Origin": "https://evil.example"},
    "a page without a name": {"Origin": "null"},
    "another site": {"Sec-Fetch-Site": "cross-site"},
}


@pytest.mark.parametrize("said", FOREIGN.values(), ids=FOREIGN)
async def test_a_page_of_somebody_else_opens_no_socket_in_the_name_of_who_is_logged_in(edge, said):
    session = (await edge.member.post("/api/v2/users/me/keys/tokens", {})).document["key"]
    shown, watch = {"Cookie": f"coder_session_token={session}"}, "/api/experimental/chats/watch"

    refused = await edge.nobody.get(watch, headers=UPGRADE | shown | said)
    headers = [*shown.items(), ("Origin", edge.url)]
    url = edge.url.replace("http", "ws", 1) + watch
    async with open_websocket_url(url, extra_headers=headers) as socket:
        is_open = socket.closed is None
        await socket.aclose()
        await socket._stream.aclose()

    assert ("Origin not allowed.", 403) == (refused.document["message"], refused.status)
    assert is_open


async def test_a_page_of_somebody_else_begins_no_login_at_a_server_of_tools(edge):
    path = f"/api/experimental/organizations/{edge.organization}/mcp-servers/x/oauth2/connect"

    foreign = await edge.member.get(path, headers={"Sec-Fetch-Site": "cross-site"})
    ours = await edge.member.get(path, headers={"Sec-Fetch-Site": "same-origin"})

    assert ("Origin not allowed.", 403) == (foreign.document["message"], foreign.status)
    assert 403 != ours.status


async def test_clients_learn_the_experiments_and_that_nothing_is_pushed(fresh):
    async with an_edge(fresh, experiments="chat-advisor") as edge:
        experiments = (await edge.member.get("/api/v2/experiments")).document
        build = (await edge.nobody.get("/api/v2/buildinfo")).document

    assert ["chat-advisor"] == experiments
    assert "" == build["webpush_public_key"]
