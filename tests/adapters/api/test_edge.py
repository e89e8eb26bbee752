"""The edge as a whole: what is there for whom, before any chat."""

import pytest

pytestmark = pytest.mark.slow


async def test_everybody_may_know_whether_it_works(edge):
    for path, body in (("/livez", b'{"status":"alive"}\n'), ("/healthz", b"OK")):
        answer = await edge.nobody.get(path)

        assert (200, body) == (answer.status, answer.body)


async def test_there_are_no_workspaces_on_any_page(edge):
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
    assert {"supervisor", "pool", "episodes", "trio"} <= set(report)


async def test_figures_are_there_for_prometheus(edge):
    await edge.member.get("/api/v2/workspaces")

    page = (await edge.nobody.get("/metrics")).body.decode()

    assert "# TYPE promptcorner_chatd_ttft_seconds histogram" in page
    row = '{method="GET",path="/api/v2/workspaces",status="200"}'
    assert f"promptcorner_http_request_seconds_count{row} 1.0" in page
    assert "promptcorner_server_connections 1.0" in page


@pytest.mark.parametrize(
    ("status", "path"),
    [
        (501, "/api/v2/notifications/inbox"),
        (410, "/api/experimental/chats/providers"),
        (404, "/api/v2/nothing"),
        (404, "/"),
    ],
)
async def test_what_is_not_there_says_so_in_the_usual_form(edge, status, path):
    answer = await edge.member.get(path)

    assert status == answer.status
    assert answer.document["message"]
