"""Workspaces and templates over the API: listed, found, started, stopped, removed."""

from uuid import UUID, uuid4

import pytest

from adapters.settings import read_config
from tests.adapters.edges import an_edge, eventually

pytestmark = pytest.mark.slow
W = "/api/v2/workspaces"


@pytest.fixture
async def edge(fresh, tmp_path):
    async with an_edge(fresh, data_dir=str(tmp_path)) as edge:
        yield edge


async def a_workspace(edge, name="web", *, by=None, template="empty", stopped=False, age=0):
    id = str(uuid4())
    await edge.execute(
        "INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes,"
        " seconds, is_stopped, used_at) VALUES (%(id)s, %(owner)s, %(name)s, %(template)s, 1, 2,"
        " 3, 4, %(stopped)s, now() - %(age)s * interval '1 minute')",
        {
            "id": id,
            "owner": str((by or edge.member).id),
            "name": name,
            "template": template,
            "stopped": stopped,
            "age": age,
        },
    )
    return id


async def at_rest(edge):
    """Whether the turn of every chat is over, so that nobody writes its status any more."""
    return not await edge.execute("SELECT FROM chats WHERE status = 'running'")


async def names(edge, query, who=None):
    answer = await (who or edge.member).get(f"{W}?{query}")
    assert 200 == answer.status, answer.body
    return [each["name"] for each in answer.document["workspaces"]], answer.document["count"]


async def test_a_workspace_is_shown_with_all_there_is_to_know(edge, tmp_path):
    id = await a_workspace(edge)

    shown = (await edge.member.get(f"{W}/{id}")).document

    for moment in ("created_at", "started_at", "last_used_at"):
        assert shown.pop(moment).startswith("20")
    assert {
        "id": id,
        "organization_id": edge.organization,
        "owner_id": str(edge.member.id),
        "owner_name": edge.member.username,
        "name": "web",
        "template_name": "empty",
        "status": "running",
        "is_set_up": False,
        "path": f"{tmp_path}/workspaces/{id}/home",
        "limits": {
            "memory_mb": 1,
            "file_mb": 2,
            "processes": 3,
            "seconds": 4,
            "disk_mb": 10240,
        },
    } == shown


async def test_a_list_is_of_ones_own_and_of_everybodys_for_admins(edge):
    await a_workspace(edge, "old", age=2)
    await a_workspace(edge, "new", age=1)
    await a_workspace(edge, "theirs", by=edge.stranger)
    await a_workspace(edge, "mine", by=edge.admin, age=3)

    assert (["new", "old"], 2) == await names(edge, "")
    assert (["theirs", "new", "old", "mine"], 4) == await names(edge, "", edge.admin)
    assert (["mine"], 1) == await names(edge, "q=owner:me", edge.admin)
    owner = f"q=owner:{edge.member.username.upper()}"
    assert (["new", "old"], 2) == await names(edge, owner, edge.admin)
    assert ([], 0) == await names(edge, f"q=owner:{edge.stranger.username}")


async def test_a_list_is_searched_and_has_pages(edge):
    for age, name in enumerate(("web-one", "web-two", "api")):
        template = "go" if name == "api" else "js"
        await a_workspace(edge, name, template=template, stopped=name == "web-two", age=age)

    assert (["web-one", "web-two"], 2) == await names(edge, "q=name%3A%22WEB-%22")
    assert (["web-two"], 1) == await names(edge, "q=two")
    assert (["web-one", "api"], 2) == await names(edge, "q=status:running")
    assert (["web-two"], 1) == await names(edge, "q=status:stopped+template:js")
    assert (["web-two"], 3) == await names(edge, "limit=1&offset=1")
    assert ([], 3) == await names(edge, "limit=100&offset=100")
    assert ([], 0) == await names(edge, "q=name%3A%22scaletest-%22+owner%3A%22me%22")


NOT_UNDERSTOOD = {  # and what is to blame
    "q=colour:red": "colour",
    "q=status:odd": "status",
    "q=a+b": "name",
    "limit=1001": "limit",
    "limit=x": "limit",
    "q=a&q=b": "q",
}


@pytest.mark.parametrize("query", NOT_UNDERSTOOD)
async def test_what_cannot_be_understood_is_refused(edge, query):
    refused = await edge.member.get(f"{W}?{query}")

    assert 400 == refused.status
    assert [NOT_UNDERSTOOD[query]] == [each["field"] for each in refused.document["validations"]]


async def test_one_is_stopped_and_started(edge):
    id = await a_workspace(edge)

    stopped = await edge.member.post(f"{W}/{id}/stop")
    again = await edge.member.post(f"{W}/{id}/stop")
    started = await edge.admin.post(f"{W}/{id}/start")

    for answer, status in ((stopped, "stopped"), (again, "stopped"), (started, "running")):
        assert (200, status) == (answer.status, answer.document["status"])


async def test_one_is_removed_with_its_files_but_not_below_a_chat_at_work(edge, tmp_path):
    id = await a_workspace(edge)
    home = tmp_path / f"workspaces/{id}/home"
    home.mkdir(parents=True)
    new = {
        "organization_id": edge.organization,
        "content": [{"type": "text", "text": "hello"}],
        "workspace_id": id,
    }
    chat = (await edge.member.post("/api/experimental/chats", new)).document
    await eventually(lambda: at_rest(edge))
    await edge.execute("UPDATE chats SET status = 'requires_action'")

    refused = await edge.member.delete(f"{W}/{id}")
    await edge.execute("UPDATE chats SET status = 'waiting'")
    removed = await edge.member.delete(f"{W}/{id}")
    await edge.chats.lifecycle.caretaker.clear()

    assert id == chat["workspace_id"]
    assert 409 == refused.status
    assert "a chat is at work in web; interrupt it first" == refused.document["detail"]
    assert (204, b"") == (removed.status, removed.body)
    assert 404 == (await edge.member.get(f"{W}/{id}")).status
    assert not home.exists()
    shown = await edge.member.get(f"/api/experimental/chats/{chat['id']}")
    assert "workspace_id" not in shown.document


async def test_templates_are_listed_and_read(edge, tmp_path):
    nothing = (await edge.member.get("/api/v2/templates")).document
    (tmp_path / "templates/web").mkdir(parents=True)
    (tmp_path / "templates/web/README.md").write_text("# Web")
    (tmp_path / "templates/web.toml").write_text('setup = "make"\n[limits]\nseconds = 5')
    (tmp_path / "templates/bad.toml").write_text("setup = 7")

    bad, web = (await edge.member.get("/api/v2/templates")).document
    whole = (await edge.member.get("/api/v2/templates/web")).document

    assert ["empty"] == [each["name"] for each in nothing]
    assert ("bad", "web") == (bad["name"], web["name"])
    assert "$.setup" in bad["error"]
    assert {"setup": "make"}.items() <= web.items()
    assert 5 == web["limits"]["seconds"]
    assert {**web, "readme": "# Web"} == whole
    assert 404 == (await edge.member.get("/api/v2/templates/none")).status


async def test_a_template_has_a_uuid_that_stays_and_is_found_by_it(edge):
    [listed] = (await edge.member.get("/api/v2/templates")).document
    [again] = (
        await edge.stranger.get(f"/api/v2/organizations/{edge.organization}/templates")
    ).document
    found = (await edge.member.get(f"/api/v2/templates/{listed['id']}")).document
    elsewhere = await edge.member.get(f"/api/v2/organizations/{uuid4()}/templates")

    assert str(UUID(listed["id"])) == listed["id"]
    assert listed == again == found
    assert edge.organization == listed["organization_id"]
    assert 404 == elsewhere.status


def test_how_long_they_are_kept_and_how_many_there_may_be_is_set():
    usual = read_config({}, {})
    said = read_config({"workspace_days": "0", "workspaces_per_user": "3"}, {})

    assert (100, 30, 0) == (
        usual.workspaces_per_user,
        usual.workspace_days,
        usual.workspace_days_max,
    )
    assert (3, 0) == (said.workspaces_per_user, said.workspace_days)
