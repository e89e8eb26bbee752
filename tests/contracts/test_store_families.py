"""The ledger and what hangs together: files with their chat, children with their root."""

from actors.law import requests as ask
from actors.law.chat import FILES_PER_CHAT_MAX
from actors.law.parts.message import FilePart
from actors.law.refusals import FilesFull, FilesUnavailable, InvalidState, NotAllowed, NotRoot
from actors.law.states import State, Status
from actors.law.store.ports import Applied
from tests.actors.law.chats import ANN, BROKEN, send, user
from tests.adapters.postgres.stores import new_chat_id, new_file_ids
from tests.contracts.given import a_chat, applied, stays

# files


async def test_files_are_linked_with_the_message_that_refers_to_them(world):
    a, b, c = new_file_ids(3)
    await world.add_files(a, b, c)
    chat = await a_chat(world, files=(a,))

    await applied(world.ledger.apply(chat, [send(FilePart("t", file_id=b))]))
    await applied(
        world.ledger.apply(chat, [send(FilePart("t", file_id=b), FilePart("t", file_id=c))])
    )
    await applied(world.ledger.apply(chat, [ask.FinishTurn()]))

    assert frozenset({a, b, c}) == (await world.rows(chat)).files


async def test_a_file_that_is_not_there_refuses_the_message(world):
    known, lost = new_file_ids(2)
    await world.add_files(known)
    chat = await a_chat(world)
    message = send(FilePart("t", file_id=lost), FilePart("t", file_id=known))

    async with stays(world, chat):
        refused = await world.ledger.apply(chat, [message])
    new = ask.CreateChat(ask.NewChat(new_chat_id(), ANN), (user(FilePart("t", file_id=lost)),))

    assert FilesUnavailable((lost,)) == refused
    assert FilesUnavailable((lost,)) == await world.ledger.create(new)


async def test_a_chat_holds_so_many_files_and_no_more(world):
    *files, over = new_file_ids(FILES_PER_CHAT_MAX + 1)
    await world.add_files(*files, over)
    chat = await a_chat(world, files=files)

    async with stays(world, chat):
        refused = await world.ledger.apply(chat, [send(FilePart("t", file_id=over))])
    again = await world.ledger.apply(chat, [send(FilePart("t", file_id=files[0]))])

    assert FilesFull(FILES_PER_CHAT_MAX) == refused
    assert isinstance(again, Applied)


# families


async def test_a_family_is_archived_together_the_root_first(world):
    root, children = await _family(world, 3)

    made = await world.ledger.archive_family(root, archived=True)

    assert [member.chat.id for member in made] == [root, *children]
    assert all(member.chat.archived for member in made)
    assert [(await world.rows(m.chat.id)).chat for m in made] == [member.chat for member in made]
    assert [root, *children] == [hint.chat for hint in world.told[-4:]]


async def test_a_child_at_work_keeps_its_family(world):
    root, [idle, busy] = await _family(world, 2)
    await applied(world.ledger.apply(busy, [send("go on")]))

    async with stays(world, root), stays(world, idle), stays(world, busy):
        refused = await world.ledger.archive_family(root, archived=True)

    assert isinstance(refused, NotAllowed)
    assert State.R0 is refused.state


async def test_an_invalid_child_keeps_its_family(world):
    root, [child] = await _family(world, 1)
    await applied(world.ledger.apply(child, [send("go"), send("wait"), ask.FinishError(BROKEN)]))
    await world.write_past_the_law(child, status=Status.WAITING, archived=True)

    async with stays(world, root), stays(world, child):
        refused = await world.ledger.archive_family(root, archived=True)

    assert InvalidState("SetArchived") == refused


async def test_a_child_that_is_archived_already_is_only_shown_again(world):
    root, [child] = await _family(world, 1)
    await applied(world.ledger.apply(child, [ask.SetArchived(True)]))
    before = (await world.rows(child)).chat

    _, shown = await world.ledger.archive_family(root, archived=True)

    assert shown.chat.archived
    assert before.snapshot_version + 1 == shown.chat.snapshot_version


async def test_only_a_root_can_be_archived_with_its_family(world):
    root, [child] = await _family(world, 1)

    async with stays(world, root), stays(world, child):
        refused = await world.ledger.archive_family(child, archived=True)

    assert NotRoot(child) == refused


async def test_no_child_is_born_into_an_archived_family(world):
    root, _ = await _family(world, 1)
    await world.ledger.archive_family(root, archived=True)
    late = ask.NewChat(new_chat_id(), ANN, parent_id=root, root_id=root)

    refused = await world.ledger.create(ask.CreateChat(late, (user("hello"),)))

    assert NotAllowed("CreateChat", None, f"its parent {root} is archived") == refused
    assert await world.rows(late.id) is None


async def test_a_child_has_the_policy_of_consent_that_its_family_has(world):
    first = ask.NewChat(new_chat_id(), ANN, approval_policy="ask")
    child = ask.NewChat(new_chat_id(), ANN, parent_id=first.id, root_id=first.id)
    await applied(world.ledger.create(ask.CreateChat(first, (user("hello"),))))

    born = await applied(world.ledger.create(ask.CreateChat(child, (user("hello"),))))

    kept = await world.rows(child.id)
    assert ["ask", "ask"] == [chat.approval_policy for chat in (born.chat, kept.chat)]


async def test_a_family_is_brought_back_together(world):
    root, children = await _family(world, 2)
    await world.ledger.archive_family(root, archived=True)

    made = await world.ledger.archive_family(root, archived=False)

    assert [False] * 3 == [member.chat.archived for member in made]
    assert [member.chat.id for member in made] == [root, *children]


async def _family(world, count):
    root, children = await a_chat(world, done=True), []
    for _ in range(count):
        children.append(await a_chat(world, parent=root, done=True))
        await world.pass_time(1)
    return root, children
