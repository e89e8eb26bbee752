"""The branch of a chat is found out after its commands, by git in the sandbox of its workspace."""

from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
import trio
import trio.lowlevel

from actors.law.ids import ChatId
from actors.tools.workspaces import Command
from adapters.chats.changes.branches import WAITING_MAX, BranchFinder
from adapters.chats.changes.pull_requests import BRANCH_CHARACTERS_MAX
from adapters.chats.changes.store import BranchNote, BranchStore
from adapters.settings.forges import Forges
from adapters.workspaces.commands.processes import ProcessSpec
from adapters.workspaces.commands.sandbox import Unconfined, sandbox_of
from tests.actors.law.chats import ANN
from tests.adapters.postgres.stores import open_store
from tests.adapters.tools.built_in.workspace.conftest import a_daemon
from tests.patience import PATIENCE_SECONDS

FORGES = Forges().read("github=https://github.com")
REPOSITORY = (
    "git init -q -b main {0} && cd {0} && git -c user.name=a -c user.email=a@test"
    " commit -q --allow-empty -m begin && git remote add origin {1}"
)


@asynccontextmanager
async def a_place(store, top, sandbox):
    async with a_daemon(store, top, sandbox) as daemon, trio.open_nursery() as nursery:
        branches = BranchStore(store.pool, tell=store.told.append)
        finder = BranchFinder(daemon.workspaces, branches, FORGES)
        nursery.start_soon(finder.run)
        with daemon.workspaces.table.follow_ends(finder.note_end):
            chat = await daemon.chat(title="t")
            await daemon.home(chat)
            yield daemon, finder, chat
        nursery.cancel_scope.cancel()


@pytest.fixture(params=["sandbox", "none"])
async def place(migrated, tmp_path, request):
    sandbox = Unconfined()
    if request.param == "sandbox":
        sandbox = await sandbox_of("bubblewrap", {}, network=False)
    async with open_store(migrated) as store:
        await store.add_users(ANN)
        async with a_place(store, tmp_path, sandbox) as (daemon, finder, chat):
            yield Place(store, daemon, finder, chat)


class Place:
    def __init__(self, store, daemon, finder, chat):
        self.store, self.daemon, self.finder, self.chat = store, daemon, finder, chat

    async def does(self, command):
        """Run a command, and wait for the look that follows it."""
        looks = self.finder.statistics().looks_count
        done = await self.daemon.call(self.chat, "execute", command=command)
        assert done["success"], done
        with trio.fail_after(PATIENCE_SECONDS):
            while (found := self.finder.statistics()).looks_count == looks or found.looking:
                await trio.sleep(0.01)
        rows = await self.store.execute(
            "SELECT branch, remote_origin, host, path FROM diff_statuses"
        )
        return tuple(rows[0]) if rows else None


async def test_the_branch_and_the_repository_of_a_chat_are_found(place):
    made = REPOSITORY.format("tools", "https://ann:secret@github.com/ann/tools.git")

    assert ("work/1", "https://github.com/ann/tools.git", "github.com", "ann/tools") == (
        await place.does(f"{made} && git checkout -q -b work/1")
    )


async def test_of_several_repositories_the_one_that_was_worked_in_last_counts(place):
    for name in ("one", "two"):
        await place.does(REPOSITORY.format(name, f"git@github.com:ann/{name}.git"))

    _, _, _, path = await place.does("cd one && git switch -q -c other && git switch -q main")

    assert "ann/one" == path


async def test_a_remote_at_no_forge_is_known_and_never_asked(place):
    made = REPOSITORY.format("tools", "https://git.elsewhere.test/ann/tools.git")

    branch, origin, host, path = await place.does(made)

    assert ("main", None, None) == (branch, host, path)
    assert "https://git.elsewhere.test/ann/tools.git" == origin


@pytest.mark.parametrize(
    "command",
    [
        "echo git; true",
        "git init -q x",
        REPOSITORY.format("x", "/srv/x.git"),
        REPOSITORY.format("x", "https://github.com/a/b") + " && git checkout -q --detach",
    ],
    ids=["no repository", "no remote", "a remote on a disk", "a detached head"],
)
async def test_where_there_is_no_branch_at_a_remote_nothing_is_noted(place, command):
    assert await place.does(command) is None


async def test_no_look_follows_a_command_without_git(place):
    await place.daemon.call(place.chat, "execute", command="echo digital")

    statistics = place.finder.statistics()
    assert (0, 0) == (statistics.looks_count, statistics.waiting)


async def test_no_more_than_so_many_wait(migrated):
    finder = BranchFinder(None, None, FORGES)
    for _ in range(WAITING_MAX + 3):
        finder.note_end(a_spec("git push"))

    statistics = finder.statistics()
    assert (WAITING_MAX, 3) == (statistics.waiting, statistics.dropped_count)


def a_spec(text):
    return ProcessSpec(
        chat=ChatId(uuid4()),
        workspace=uuid4(),
        command=Command(text, "", background=False),
        workdir="/",
        arguments=(),
        environment={},
        seconds_max=1,
    )


@pytest.mark.parametrize("branch", ["", "x" * (BRANCH_CHARACTERS_MAX + 1), "a b", "a\x1bb"])
async def test_what_can_be_no_branch_is_not_noted(branch):
    note = BranchNote(chat=ChatId(uuid4()), remote_origin="https://github.com/a/b", branch=branch)

    assert not await BranchFinder(None, None, FORGES).note(note)
