"""Workspaces are looked at when something moves in them: a real disk, and the system's notices."""

import shutil
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.prompts.ports import UnreadableFile
from adapters.postgres.driver.faults import DatabaseGone
from adapters.workspaces.context.inotify import NoticesLost
from adapters.workspaces.context.watch import (
    DEBOUNCE_SECONDS,
    GONE,
    LOOK_SECONDS_MAX,
    POLL_SECONDS,
    TOO_SLOW,
    WORKSPACES_MAX,
    WorkspaceWatch,
)
from tests.adapters.workspaces.context.ground import PATIENCE_SECONDS, Hanging, put, skill

WRITES = 20
ONE, TWO = UUID(int=1), UUID(int=2)


@dataclass
class Told:
    """The port Standings: what was said of each workspace, in order."""

    said: list = field(default_factory=list)
    is_down: bool = False
    news: trio.Event = field(default_factory=trio.Event)

    async def note_contents(self, workspace, digest):
        await self._say((workspace, digest))

    async def note_unreadable(self, workspace, error):
        await self._say((workspace, error))

    async def _say(self, what):
        if self.is_down:
            raise DatabaseGone("gone")
        self.said.append(what)
        self.news.set()

    async def times(self, count):
        with trio.fail_after(PATIENCE_SECONDS):
            while len(self.said) < count:
                await trio.sleep(0.005)
        return self.said[count - 1]


@asynccontextmanager
async def a_watch(top, told=None):
    told = told or Told()
    watch = WorkspaceWatch(lambda workspace: str(top / str(workspace)), told)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        await wait_all_tasks_blocked()
        yield watch, told
        nursery.cancel_scope.cancel()


@pytest.fixture
def home(tmp_path):
    home = tmp_path / str(ONE)
    put(home, **{"AGENTS.md": "one", "docs/rules.md": "a rule"})
    (home / "CLAUDE.md").symlink_to("docs/rules.md")
    return home


def write_in_place(home):
    with (home / "AGENTS.md").open("a") as file:
        file.write("more")


def put_another_in_its_place(home):
    put(home, new="two")
    (home / "new").rename(home / "AGENTS.md")


def take_it_away(home):
    put(home, **{"AGENTS.md": None})


def add_a_skill(home):
    put(home, **{".claude/skills/deploy/SKILL.md": skill()})


def change_what_a_link_leads_to(home):
    put(home, **{"docs/rules.md": "another rule"})


def add_a_directory_of_ours(home):
    put(home, **{".promptcorner/skills/AGENTS.md": "two"})


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        write_in_place,
        put_another_in_its_place,
        take_it_away,
        add_a_skill,
        change_what_a_link_leads_to,
        add_a_directory_of_ours,
    ],
)
async def test_what_changes_is_seen_and_told_once(home, tmp_path, change):
    async with a_watch(tmp_path) as (watch, told):
        before = await watch.look(ONE)
        change(home)

        workspace, digest = await told.times(2)
        after = await watch.look(ONE)

    assert [(ONE, before.digest), (ONE, after.digest)] == told.said
    assert (ONE, after.digest) == (workspace, digest)
    assert before.digest != after.digest


async def test_what_changed_before_anybody_listened_is_found_too(home):
    looks = []

    def home_of(workspace):
        looks.append(workspace)
        if len(looks) == 2:  # since the first of them it is listened to
            put(home, **{"AGENTS.md": "two"})
        return str(home)

    watch = WorkspaceWatch(home_of, Told())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        await wait_all_tasks_blocked()
        found = await watch.look(ONE)
        nursery.cancel_scope.cancel()

    assert "two" == found.snapshot.resources[0].text


@pytest.mark.slow
async def test_a_skill_that_comes_piece_by_piece_is_seen_in_the_end(home, tmp_path):
    async with a_watch(tmp_path) as (watch, told):
        await watch.look(ONE)
        (home / ".agents").mkdir()
        await trio.sleep(0.4)
        (home / ".agents/skills").mkdir()
        await trio.sleep(0.4)
        (home / ".agents/skills/deploy").mkdir()
        await trio.sleep(0.4)
        put(home, **{".agents/skills/deploy/SKILL.md": skill()})

        await told.times(2)
        found = await watch.look(ONE)

    assert ["deploy"] == [each.name for each in found.snapshot.skills]


@pytest.mark.slow
async def test_much_in_a_row_is_looked_at_together(home, tmp_path):
    async with a_watch(tmp_path) as (watch, told):
        await watch.look(ONE)
        before, began = watch.statistics().looks_count, trio.current_time()
        for number in range(WRITES):
            put(home, **{"AGENTS.md": f"version {number}"})
            await trio.sleep(0.02)

        await told.times(2)
        seconds = trio.current_time() - began

    assert watch.statistics().looks_count - before <= 1 + seconds / DEBOUNCE_SECONDS


@pytest.mark.slow
async def test_work_in_a_workspace_is_not_looked_at(home, tmp_path):
    async with a_watch(tmp_path) as (watch, told):
        await watch.look(ONE)
        before = watch.statistics().looks_count
        put(home, **{"main.py": "x", "src/a.py": "x", "docs/b.md": "x"})
        await trio.sleep(0.5)  # twice the time after which a notice is looked into

    assert before == watch.statistics().looks_count
    assert 1 == len(told.said)


async def test_many_who_ask_at_once_cost_little_more_than_one(home, tmp_path):
    found = []
    async with a_watch(tmp_path) as (watch, told):

        async def look():
            found.append(await watch.look(ONE))

        async with trio.open_nursery() as nursery:
            for _ in range(200):
                nursery.start_soon(look)

    assert (200, {found[0].digest}) == (len(found), {each.digest for each in found})
    assert watch.statistics().looks_count <= 4  # the first listens, and looks again
    assert 1 == len(told.said)


async def test_who_asks_while_somebody_looks_gets_what_stands_there_then(home, tmp_path):
    found = []
    async with a_watch(tmp_path) as (watch, _):
        await watch.look(ONE)

        async def look(number):
            seen = (await watch.look(ONE)).snapshot.resources[0].text
            found.append((number, int(seen)))

        async with trio.open_nursery() as nursery:
            for number in range(50):
                put(home, new=f"{number}")
                (home / "new").rename(home / "AGENTS.md")
                nursery.start_soon(look, number)
                await trio.lowlevel.checkpoint()

    assert 50 == len(found)
    assert [] == [(number, seen) for number, seen in found if seen < number]


@pytest.mark.slow
async def test_a_workspace_that_goes_is_told_of_and_when_it_comes_back(home, tmp_path):
    async with a_watch(tmp_path) as (watch, told):
        first = await watch.look(ONE)
        shutil.move(home, tmp_path / "elsewhere")

        assert (ONE, GONE) == await told.times(2)
        assert UnreadableFile(GONE) == await watch.look(ONE)
        shutil.move(tmp_path / "elsewhere", home)
        again = await watch.look(ONE)

    assert first.digest == again.digest
    assert (ONE, first.digest) == told.said[-1]


async def test_one_that_was_never_there_is_told_of_to_who_asks_only(tmp_path):
    async with a_watch(tmp_path) as (watch, told):
        assert UnreadableFile(GONE) == await watch.look(TWO)

    assert [] == told.said


async def test_what_cannot_be_read_is_complained_of_once(tmp_path, caplog):
    watch = WorkspaceWatch(lambda workspace: str(tmp_path / str(workspace)), Told())
    for _ in range(3):
        await watch.look(TWO)
    put(tmp_path / str(TWO), **{"AGENTS.md": "two"})
    await watch.look(TWO)
    shutil.rmtree(tmp_path / str(TWO))
    await watch.look(TWO)

    assert ["context.unread"] * 2 == [record.getMessage() for record in caplog.records]
    assert 4 == watch.statistics().unread_count


class Overrun:
    """Notices of which only this is left: there were more than the system keeps."""

    def __init__(self):
        self.told = [[NoticesLost()]]

    async def next(self):
        if not self.told:
            await trio.sleep_forever()
        return self.told.pop()


@pytest.mark.slow
async def test_when_notices_were_missed_everything_is_looked_at(home, tmp_path):
    told = Told()
    watch = WorkspaceWatch(lambda workspace: str(tmp_path / str(workspace)), told)
    await watch.look(ONE)
    put(home, **{"AGENTS.md": "two"})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch._work)
        nursery.start_soon(watch._hear, Overrun())

        await told.times(2)
        nursery.cancel_scope.cancel()

    assert 2 == len(told.said)


async def test_what_the_store_could_not_be_told_it_is_told_next_time(home, tmp_path):
    async with a_watch(tmp_path, Told(is_down=True)) as (watch, told):
        await watch.look(ONE)
        told.is_down = False
        found = await watch.look(ONE)
        await watch.look(ONE)

    assert [(ONE, found.digest)] == told.said


async def test_only_so_many_are_watched_and_the_rest_is_let_go(tmp_path):
    ids = [UUID(int=number) for number in range(WORKSPACES_MAX + 1)]
    for id in ids:
        (tmp_path / str(id)).mkdir()
    async with a_watch(tmp_path) as (watch, _):
        for id in ids[:2]:
            await watch.look(id)
        places = watch.statistics().places
        for id in ids[2:]:
            watch.watch(id)

        after = watch.statistics()

    assert (WORKSPACES_MAX, places // 2) == (after.workspaces, after.places)


@pytest.mark.slow
async def test_where_the_system_tells_nothing_it_is_seen_after_a_while(
    home, tmp_path, leaping_clock
):
    told = Told()
    watch = WorkspaceWatch(lambda workspace: str(tmp_path / str(workspace)), told)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch._work)
        nursery.start_soon(watch._poll)
        await watch.look(ONE)
        put(home, **{"AGENTS.md": "two"})
        told.news = trio.Event()
        await wait_all_tasks_blocked()

        leaping_clock.jump(POLL_SECONDS)
        await told.news.wait()
        nursery.cancel_scope.cancel()

    assert 2 == len(told.said)


async def test_a_disk_that_hangs_is_not_waited_for(home, tmp_path, leaping_clock):
    told, disk = Told(), Hanging()
    watch = WorkspaceWatch({ONE: str(home), TWO: disk}.get, told)
    began = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(disk.leap_when_asked, leaping_clock, LOOK_SECONDS_MAX)
        found = await watch.look(TWO)
        seconds = trio.current_time() - began
    other = await watch.look(ONE)
    disk.release.set()

    assert UnreadableFile(TOO_SLOW) == found
    assert seconds >= LOOK_SECONDS_MAX
    assert [(ONE, other.digest)] == told.said
