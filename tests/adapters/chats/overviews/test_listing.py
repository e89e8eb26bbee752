"""GET chats: who sees which, in what order, and page after page while chats move."""

import json
from uuid import UUID

import pytest

from actors.law.store.hints import ReadStatusSet
from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.overviews.ground import a_ground
from tests.adapters.chats.routes.ground import ADA, ORGANIZATION
from tests.fakes.severed_network import severed_network

ID = str(UUID(int=7))


async def test_a_list_is_of_ones_own_roots_that_are_not_archived(ground):
    root = await ground.a_chat("root")
    await ground.a_chat("child", parent=root)
    await ground.patch(await ground.a_chat("archived"), archived=True)
    await ground.a_chat("of bob", by=BOB)

    assert ["root"] == await ground.titles()
    assert ["of bob"] == await ground.titles(who=BOB)
    assert [] == await ground.titles(who=ADA)


async def test_what_is_pinned_comes_first_and_then_what_was_touched_last(ground):
    for age, name in enumerate("abcde"):
        chat = await ground.a_chat(name, age=60 * age)
        if name in "db":
            await ground.patch(chat, pin_order=1)

    assert ["b", "d", "a", "c", "e"] == await ground.titles()


async def test_a_root_brings_its_children_the_newest_first(ground):
    root = await ground.a_chat("root")
    names = [await ground.a_chat(name, parent=root) for name in ("one", "two")]

    [listed] = (await ground.list()).said

    assert ["two", "one"] == [child["title"] for child in listed["children"]]
    assert [[], []] == [child["children"] for child in listed["children"]]
    assert {str(root)} == {child["parent_chat_id"] for child in listed["children"]}
    assert {str(root)} == {child["root_chat_id"] for child in listed["children"]}
    assert [str(name) for name in reversed(names)] == [c["id"] for c in listed["children"]]


async def test_children_are_shown_in_the_same_state_of_archive(ground):
    root = await ground.a_chat("root")
    child = await ground.a_chat("child", parent=root)
    await ground.store.write_past_the_law(child, archived=True)

    [listed] = (await ground.list()).said
    shown = (await ground.get(root)).said

    assert ([], []) == (listed["children"], shown["children"])


async def test_a_listed_chat_has_what_lists_have_and_nothing_else(ground):
    chat = await ground.a_chat("root", labels={"a": "1"})

    [listed] = (await ground.list()).said
    shown = (await ground.get(chat)).said

    assert {
        "chat_id": str(chat),
        "pull_request_title": "",
        "pull_request_draft": False,
        "changes_requested": False,
        "additions": 0,
        "deletions": 0,
        "changed_files": 0,
    } == listed.pop("diff_status")
    assert shown == listed
    assert str(ORGANIZATION) == listed["organization_id"]


FILTERED = {
    "": "ab",
    "title:B": "b",
    "title:_": "ab",
    'title:"%"': "ab",
    r"title:x\\": "",
    "title:\\": "",
    "archived:true": "x",
    "archived:true title:a": "",
    "has_unread:true": "b",
    "has_unread:false": "a",
    "source:shared_with_me": "st",
    "source:shared_with_me,created_by_me": "abst",
    "source:shared_with_me archived:true": "",
    "search:lorem": "b",
}


@pytest.mark.parametrize("q", FILTERED)
async def test_terms_hold_all_together(ground, q):
    await ground.a_chat("a", age=1)
    await ground.a_chat("b", answered=["lorem ipsum"], age=2)
    await ground.patch(await ground.a_chat("x", age=3), archived=True)
    await ground.share(await ground.a_chat("s", by=BOB, age=4), ANN)
    await ground.share(await ground.a_chat("t", by=ADA, age=5), everyone=True)
    await ground.a_chat("u", by=BOB)

    assert sorted(FILTERED[q]) == sorted(await ground.titles(q))


PULLS = {  # a pull request: state, draft, number, title, repository
    "a": ("open", False, 12, "Add red wine", "ann/cellar"),
    "d": ("open", True, 13, "Draft of it", "ann/cellar"),
    "m": ("merged", False, 14, "50% off", "ann/shop"),
}
BY_PULL = {
    "pr_status:open": "a",
    "pr_status:draft": "d",
    "pr_status:draft,open,merged": "adm",
    "pr_status:closed": "",
    "pr:13": "d",
    "pr_title:WINE": "a",
    'pr_title:"0% o"': "m",
    "repo:cellar": "ad",
    "repo:ANN/": "adm",
    'diff_url:"https://FORGE.test/ann/shop/14"': "m",
    'diff_url:"https://forge.test/ann/shop"': "",
    'diff_url:"https://forge.test/ann/lib/15"': "p",
    "pr:12 pr_status:open repo:cellar": "a",
    "pr:12 pr_status:draft": "",
    "search:wine": "a",
    "search:14": "m",
    "search:1": "",
    "title:a pr:12": "a",
}


async def a_pull(ground, chat, state, draft, number, title, path):
    url = f"https://forge.test/{path}/{number}"
    pull = {"url": url, "state": state, "draft": draft, "number": number, "title": title}
    rest = dict.fromkeys(
        ("additions", "deletions", "changed_files", "commits", "reviewer_count"), 0
    )
    words = dict.fromkeys(
        ("repository", "author_login", "author_avatar_url", "base_branch", "head_branch"), "x"
    )
    await ground.store.execute(
        "INSERT INTO diff_statuses (chat_id, remote_origin, branch, pull_request)"
        " VALUES (%(chat)s, %(origin)s, 'work', %(pull)s::jsonb)",
        chat=chat,
        origin=f"git@forge.test:{path}.git",
        pull=json.dumps({**pull, **rest, **words, "approved": False, "changes_requested": True}),
    )


@pytest.mark.parametrize("q", BY_PULL)
async def test_terms_about_pull_requests(ground, q):
    for age, (title, pull) in enumerate(PULLS.items()):
        await a_pull(ground, await ground.a_chat(title, age=age), *pull)
    parent = await ground.a_chat("p", age=9)
    child = await ground.a_chat("child", parent=parent)
    await a_pull(ground, child, "open", False, 15, "by an agent", "ann/lib")
    await ground.a_chat("n")

    assert sorted(BY_PULL[q]) == sorted(await ground.titles(q))


async def test_what_a_forge_says_is_in_lists_in_single_chats_and_in_their_children(ground):
    root = await ground.a_chat("root")
    child = await ground.a_chat("child", parent=root)
    await a_pull(ground, child, "merged", False, 15, "by an agent", "ann/lib")

    [listed] = (await ground.list()).said
    shown = (await ground.get(root)).said

    [told] = [each["diff_status"] for each in listed["children"]]
    assert ("merged", "by an agent", 15, True, "https://forge.test/ann/lib/15") == (
        told["pull_request_state"],
        told["pull_request_title"],
        told["pr_number"],
        told["changes_requested"],
        told["url"],
    )
    assert "diff_status" not in shown
    assert [told] == [each["diff_status"] for each in shown["children"]]
    assert told == (await ground.get(child)).said["diff_status"]


async def test_labels_of_which_each_is_asked_for(ground):
    await ground.a_chat("a", labels={"x": "1"})
    await ground.a_chat("b", labels={"x": "1", "y": "2"})

    assert ["b", "a"] == await ground.titles(label=["x:1"])
    assert ["b"] == await ground.titles(label=["x:1", "y:2"])
    assert [] == await ground.titles(label=["x:2"])
    assert 400 == (await ground.list(label=["x"])).status


async def test_a_chat_is_unread_until_its_owner_has_looked(ground):
    root = await ground.a_chat("root", answered=["one"])
    child = await ground.a_chat("child", parent=root, answered=["one"])

    [before] = (await ground.list()).said
    [shown] = (await ground.get(root)).said["children"]
    await ground.overviews.mark_read(root)
    await ground.overviews.mark_read(child)
    [after] = (await ground.list()).said

    assert (True, True, True) == (
        before["has_unread"],
        before["children"][0]["has_unread"],
        shown["has_unread"],
    )
    assert not (await ground.get(root)).said["has_unread"]
    assert (False, False) == (after["has_unread"], after["children"][0]["has_unread"])


async def test_an_owner_marks_a_chat_as_read_and_unread(ground):
    chat = await ground.a_chat("a", answered=["one", "two"])
    empty = await ground.a_chat("b", answered=[])

    async def mark(is_read, chat=chat, who=ANN):
        answer = await ground.ask(who, "PUT", f"/{chat}/read-status", {"is_read": is_read})
        return answer.status, await ground.titles("has_unread:true")

    assert (204, []) == await mark(True)
    assert (204, ["a"]) == await mark(False)
    assert (204, ["a"]) == await mark(False)
    assert (204, ["a"]) == await mark(False, empty)
    assert (204, []) == await mark(True)
    told = [hint.is_seen for hint in ground.store.told if isinstance(hint, ReadStatusSet)]
    assert [True, False, False, False, True] == told, "open streams, of all processes, hear of it"
    await ground.share(chat, BOB)
    assert [(403, []), (404, []), (400, [])] == [
        await mark(False, who=ADA),
        await mark(False, who=BOB),
        await mark(None),
    ]


async def test_what_was_read_does_not_become_unread(ground):
    chat = await ground.a_chat(answered=["one"])
    await ground.overviews.mark_read(chat)
    await ground.overviews.mark_read(chat)

    assert [] == await ground.titles("has_unread:true")


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "-1"},
        {"limit": "x"},
        {"limit": str(2**31)},
        {"limit": ["1", "2"]},
        {"offset": "-1"},
        {"offset": "1.5"},
        {"after_id": "x"},
        {"after_id": [ID, ID]},
    ],
)
async def test_a_page_that_makes_no_sense_is_refused(ground, query):
    answer = await ground.list(**query)

    assert (400, list(query)) == (answer.status, [v["field"] for v in answer.said["validations"]])


async def test_a_page_has_as_many_as_are_asked_for_and_fifty_if_nobody_says(ground):
    await ground.store.execute(
        "INSERT INTO chats (id, owner_id, status, title)"
        " SELECT gen_random_uuid(), %(a)s, 'waiting', 'x' FROM generate_series(1, 60)",
        a=ANN,
    )

    assert [50, 50, 7, 60, 5] == [
        len(await ground.titles(**query))
        for query in ({}, {"limit": 0}, {"limit": 7}, {"limit": 100}, {"offset": 55})
    ]


async def pages(ground, size, *, between=None):
    seen, after = [], None
    while page := (await ground.list(limit=size, **({"after_id": after} if after else {}))).said:
        seen += [chat["title"] for chat in page]
        after = page[-1]["id"]
        if between is not None:
            await between()
    return seen


@pytest.mark.parametrize("size", [1, 2, 3, 10])
async def test_pages_hold_everything_once(ground, size):
    for age, name in enumerate("abcdefg"):
        chat = await ground.a_chat(name, age=60 * (age // 2))
        if name in "ce":
            await ground.patch(chat, pin_order=1)

    assert (await ground.titles()) == await pages(ground, size)


async def test_chats_of_one_moment_are_in_pages_too(ground):
    for name in "abcdef":
        await ground.a_chat(name)
    await ground.store.execute("UPDATE chats SET updated_at = '2030-01-01T00:00:00Z'")

    assert (await ground.titles()) == await pages(ground, 2)


async def test_what_moves_to_the_front_disturbs_no_page(ground):
    chats = {name: await ground.a_chat(name, age=60 * age) for age, name in enumerate("abcdef")}
    movers = iter(["f", "e"])

    async def touch():
        if (name := next(movers, None)) is not None:
            await ground.patch(chats[name], labels={"moved": name})

    seen = await pages(ground, 2, between=touch)

    assert ["a", "b", "c", "d"] == seen
    assert ["e", "f", "a", "b", "c", "d"] == await ground.titles()


@pytest.mark.parametrize("whose", ["nobody's", "of a stranger"])
async def test_behind_a_chat_that_one_cannot_see_there_is_nothing(ground, whose):
    await ground.a_chat("a", age=60)
    after = ID if whose == "nobody's" else str(await ground.a_chat("b", by=BOB))

    assert [] == await ground.titles(after_id=after)


async def test_of_each_workspace_the_chat_that_was_touched_last(ground):
    one, another, empty = [await ground.a_workspace(name=name) for name in "abc"]
    await ground.a_chat(age=60, workspace_id=one)
    latest = await ground.a_chat(age=30, workspace_id=one)
    await ground.a_chat(parent=latest, workspace_id=one)
    archived = await ground.a_chat(workspace_id=another)
    await ground.patch(archived, archived=True)
    theirs = await ground.a_chat(by=BOB, workspace_id=another)
    query = f"workspace_ids={one},{another},{empty},{ID}"

    async def ask(who=ANN):
        return (await ground.ask(who, "GET", "/by-workspace", query=query)).said

    assert {str(one): str(latest)} == await ask()
    assert {str(another): str(theirs)} == await ask(BOB)
    assert {str(one): str(latest), str(another): str(theirs)} == await ask(ADA)
    await ground.share(theirs, ANN)
    assert {str(one): str(latest), str(another): str(theirs)} == await ask()


async def test_so_many_workspaces_are_asked_about_at_once(ground):
    async def ask(ids):
        return await ground.ask(ANN, "GET", "/by-workspace", query=f"workspace_ids={ids}")

    none, many, wrong = await ask(""), await ask(",".join([ID] * 26)), await ask("x")

    assert (200, {}) == (none.status, none.said)
    assert [400, 400] == [many.status, wrong.status]


async def test_what_it_costs_in_statements(migrated):
    async with (
        severed_network(migrated) as network,
        a_ground(migrated, through=network.conninfo) as ground,
    ):
        chat = await ground.a_chat("a", answered=["one"])
        await ground.a_chat("b", parent=chat)
        await ground.list()
        counts = {}
        for name, asking in {
            "list": lambda: ground.list("title:a has_unread:true"),
            "get": lambda: ground.get(chat),
            "cost": lambda: ground.ask(ANN, "GET", f"/{chat}/cost"),
        }.items():
            network.release()
            assert 200 == (await asking()).status
            counts[name] = network.said["E"]

    assert {"list": 1, "get": 2, "cost": 2} == counts
