"""PATCH chats: field after field, and what was written before a refusal stays."""

from uuid import UUID

import pytest

from actors.law.states import State
from actors.law.store.hints import ChatMoved, ContextChanged, TitleChanged
from adapters.chats.new_chats import LABELS_MAX
from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.routes.ground import ADA
from tests.contracts.test_store_matrix import chats_in

ID = str(UUID(int=7))


async def shown(ground, chat):
    return (await ground.get(chat)).said


async def test_nothing_asked_is_nothing_done(ground):
    chat = await ground.a_chat()
    before = await shown(ground, chat)

    answer = await ground.patch(chat)

    assert (204, b"") == (answer.status, answer.body)
    assert before == await shown(ground, chat)


async def test_a_title_is_trimmed_told_and_touches_nothing_else(ground):
    chat = await ground.a_chat("old")
    before = await shown(ground, chat)
    ground.store.told.clear()

    answer = await ground.patch(chat, title="  new\0 name ")

    assert 204 == answer.status
    assert {**before, "title": "new name"} == await shown(ground, chat)
    assert [TitleChanged(chat, ANN)] == ground.store.told


async def test_the_same_title_is_no_news(ground):
    chat = await ground.a_chat("old")
    ground.store.told.clear()

    await ground.patch(chat, title="old")

    assert [] == ground.store.told


async def test_labels_replace_all_labels_and_touch_the_chat(ground):
    chat = await ground.a_chat(labels={"a": "1", "b": "2"}, age=60)
    before = await shown(ground, chat)

    await ground.patch(chat, labels={"c": "3"})

    after = await shown(ground, chat)
    assert {"c": "3"} == after["labels"]
    assert before["updated_at"] < after["updated_at"]


async def test_plan_mode_comes_and_goes_without_a_touch(ground):
    chat = await ground.a_chat()
    before = await shown(ground, chat)

    await ground.patch(chat, plan_mode="plan")
    planned = await shown(ground, chat)
    await ground.patch(chat, plan_mode="")

    assert {**before, "plan_mode": "plan"} == planned
    assert before == await shown(ground, chat)


async def test_a_family_is_archived_together_and_its_root_unpinned(ground):
    root = await ground.a_chat()
    child = await ground.a_chat(parent=root)
    await ground.patch(root, pin_order=1)
    ground.store.told.clear()

    answer = await ground.patch(root, archived=True)

    assert 204 == answer.status
    said = await shown(ground, root)
    assert (True, 0, [True]) == (
        said["archived"],
        said["pin_order"],
        [each["archived"] for each in said["children"]],
    )
    moved = [hint for hint in ground.store.told if isinstance(hint, ChatMoved)]
    assert [(root, True), (child, True)] == [(hint.chat, hint.archived) for hint in moved]


async def test_an_archived_pin_leaves_no_gap(ground):
    chats = [await ground.a_chat(name) for name in "abc"]
    for chat in chats:
        await ground.patch(chat, pin_order=1)

    await ground.patch(chats[1], archived=True)

    assert [("a", 1), ("c", 2)] == await ground.pins()


async def test_it_comes_back_from_the_archive(ground):
    chat = await ground.a_chat()
    await ground.patch(chat, archived=True)

    assert 204 == (await ground.patch(chat, archived=False)).status
    assert not (await shown(ground, chat))["archived"]


@pytest.mark.parametrize(
    ("state", "archived", "status"),
    [
        (State.W, True, 204),
        (State.E0, True, 204),
        (State.E1, True, 204),
        (State.R0, True, 409),
        (State.R1, True, 409),
        (State.I0, True, 409),
        (State.I1, True, 409),
        (State.A0, True, 409),
        (State.A1, True, 409),
        (State.INVALID, True, 409),
        (State.XW, False, 204),
        (State.XE0, False, 204),
        (State.XE1, False, 204),
        (State.XW, True, 400),
        (State.W, False, 400),
        (State.R0, False, 400),
    ],
)
async def test_what_is_active_is_not_archived(ground, state, archived, status):
    [chat, *_] = await chats_in(ground.store, state)

    assert status == (await ground.patch(chat, archived=archived)).status


async def test_a_root_with_a_child_at_work_stays(ground):
    root = await ground.a_chat()
    await ground.a_chat(parent=root, done=False)

    answer = await ground.patch(root, archived=True)

    assert 409 == answer.status
    assert not (await shown(ground, root))["archived"]


REFUSED = {
    "empty title": {"title": " \n "},
    "long title": {"title": "x" * 201},
    "bad labels": {"labels": {"a b": "1"}},
    "pin below nothing": {"pin_order": -1},
    "unknown workspace": {"workspace_id": ID},
    "unknown plan mode": {"plan_mode": "act"},
    "mistyped": {"pin_order": "one"},
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_is_refused(ground, case):
    chat = await ground.a_chat()
    before = await shown(ground, chat)

    answer = await ground.patch(chat, **REFUSED[case])

    assert 400 == answer.status
    assert list(REFUSED[case]) == [fault["field"] for fault in answer.said["validations"]]
    assert before == await shown(ground, chat)


async def test_a_title_may_have_two_hundred_characters(ground):
    chat = await ground.a_chat()

    assert 204 == (await ground.patch(chat, title="ä" * 200)).status


async def test_a_chat_works_elsewhere_and_its_family_with_it(ground):
    chat = await ground.a_chat(age=60)
    child = await ground.a_chat(parent=chat)
    one, another = await ground.a_workspace(), await ground.a_workspace(name="x")
    before = await shown(ground, chat)

    await ground.patch(chat, workspace_id=str(one))
    at_first = await shown(ground, chat)
    await ground.patch(chat, workspace_id=str(another))

    assert "workspace_id" not in before
    assert str(one) == at_first["workspace_id"]
    for id in (chat, child):
        assert str(another) == (await shown(ground, id))["workspace_id"]
    assert at_first["updated_at"] > before["updated_at"]


async def test_whoever_holds_a_chat_hears_that_it_works_elsewhere(ground):
    chat = await ground.a_chat(done=False)
    workspace = await ground.a_workspace()
    ground.store.told.clear()

    await ground.patch(chat, workspace_id=str(workspace))

    told = [type(hint) for hint in ground.store.told if hint.chat == chat]
    assert {ContextChanged, ChatMoved} <= set(told)
    assert workspace == (await ground.store.reading.view(chat)).chat.workspace_id


async def test_a_nil_workspace_detaches_a_chat(ground):
    chat = await ground.a_chat()
    child = await ground.a_chat(parent=chat)
    await ground.patch(chat, workspace_id=str(await ground.a_workspace()))

    answers = [await ground.patch(chat, workspace_id=str(UUID(int=0))) for _ in range(2)]

    assert [204, 204] == [answer.status for answer in answers]
    for id in (chat, child):
        assert "workspace_id" not in await shown(ground, id)


@pytest.mark.parametrize("which", ["a stranger's", "removed", "unknown"])
async def test_a_chat_works_in_what_is_there_and_its_owners(ground, which):
    chat = await ground.a_chat()
    workspace = {
        "a stranger's": await ground.a_workspace(by=BOB),
        "removed": await ground.a_workspace(gone=True),
        "unknown": ID,
    }[which]

    answers = [
        await ground.patch(chat, workspace_id=str(workspace)),
        await ground.patch(chat, ADA, workspace_id=str(workspace)),
        await ground.create(workspace_id=str(workspace)),
    ]

    for answer in answers:
        assert 400 == answer.status
        [fault] = answer.said["validations"]
        expected = {"field": "workspace_id", "detail": f"there is no workspace {workspace}"}
        assert expected == fault
    assert "workspace_id" not in await shown(ground, chat)


async def test_an_agent_works_where_its_root_does(ground):
    chat = await ground.a_chat()
    child = await ground.a_chat(parent=chat)

    answer = await ground.patch(child, workspace_id=str(await ground.a_workspace()))

    assert 400 == answer.status
    assert f"an agent works where its root does, ask {chat}" in answer.body.decode()


async def test_a_chat_may_begin_in_a_workspace_of_its_owner(ground):
    workspace = await ground.a_workspace()

    answer = await ground.create(workspace_id=str(workspace))

    assert (201, str(workspace)) == (answer.status, answer.said["workspace_id"])


async def test_every_label_that_is_wrong_is_told(ground):
    chat = await ground.a_chat()

    answer = await ground.patch(chat, labels={"-a": "1", "b": "", "c": "x" * 257, "d": "1"})

    assert 400 == answer.status
    assert ["labels"] * 3 == [fault["field"] for fault in answer.said["validations"]]


async def test_a_chat_has_so_many_labels_and_no_more(ground):
    chat = await ground.a_chat()
    labels = {f"k{n}": "v" for n in range(LABELS_MAX)}

    assert 204 == (await ground.patch(chat, labels=labels)).status
    assert 400 == (await ground.patch(chat, labels={**labels, "more": "v"})).status


async def test_what_was_written_before_a_refusal_stays(ground):
    chat = await ground.a_chat("old")

    answer = await ground.patch(
        chat, title="new", labels={"a": "1"}, archived=True, pin_order=1, plan_mode="plan"
    )

    said = await shown(ground, chat)
    assert 400 == answer.status
    assert ("new", {"a": "1"}, True) == (said["title"], said["labels"], said["archived"])
    assert "plan_mode" not in said


async def test_a_wrong_plan_mode_is_seen_before_anything_is_written(ground):
    chat = await ground.a_chat("old")

    answer = await ground.patch(chat, title="new", plan_mode="act")

    assert 400 == answer.status
    assert "old" == (await shown(ground, chat))["title"]


@pytest.mark.parametrize("asked", [{"archived": True}, {"pin_order": 1}])
async def test_children_are_neither_archived_nor_pinned_alone(ground, asked):
    root = await ground.a_chat()
    child = await ground.a_chat(parent=root)

    answer = await ground.patch(child, **asked)

    assert 400 == answer.status
    assert str(root) in answer.said["detail"]


async def test_a_child_may_be_named_and_labelled(ground):
    child = await ground.a_chat(parent=await ground.a_chat())

    assert 204 == (await ground.patch(child, title="a child", labels={"a": "1"})).status
    assert "a child" == (await shown(ground, child))["title"]


async def test_an_archived_chat_is_not_pinned(ground):
    chat = await ground.a_chat()
    await ground.patch(chat, archived=True)

    assert 400 == (await ground.patch(chat, pin_order=1)).status
    assert 204 == (await ground.patch(chat, pin_order=0)).status


async def test_an_admin_may_put_in_order_what_is_not_his(ground):
    chat = await ground.a_chat()

    assert 204 == (await ground.patch(chat, ADA, title="kept", archived=True)).status


@pytest.mark.parametrize("asked", [{}, {"title": "mine"}, {"title": ""}, {"archived": True}])
async def test_who_only_reads_cannot_tell_it_from_one_that_is_not_there(ground, asked):
    chat = await ground.a_chat()
    await ground.share(chat, BOB)

    refused = await ground.patch(chat, BOB, **asked)
    missing = await ground.patch(ID, BOB, **asked)

    assert (404, missing.body) == (refused.status, refused.body)
    assert 404 == missing.status
