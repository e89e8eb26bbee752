"""How workspaces are kept: stopped in every process, idle, removed, too many, too large."""

import os
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import trio
import trio.testing

from actors.law.store.hints import HintsLost, WorkspaceClosed
from adapters.postgres.bus import Switchboard
from adapters.settings.caching import RecentlyUsed
from adapters.workspaces.lifecycle import RetentionLimits
from adapters.workspaces.store import CaretakerStore
from adapters.workspaces.templates import READING, UNREGISTERED, Templates
from runtime.threads import read
from tests.adapters.tools.built_in.workspace.conftest import a_daemon
from tests.fakes.hanging import HangingDisk, all_ended, leave, use_up_trios_threads
from tests.patience import PATIENCE_SECONDS

DAY = 86_400


@pytest.fixture
async def home(daemon, chat):
    return await daemon.home(chat)


async def grow_old(daemon, home, *, seconds):
    await daemon.store.execute(
        "UPDATE workspaces SET used_at = now() - %(s)s * interval '1 second' WHERE id = %(id)s",
        s=seconds,
        id=home.parent.name,
    )


async def rests(daemon, chat, status="waiting"):
    await daemon.store.execute(
        "UPDATE chats SET status = %(status)s WHERE id = %(id)s", status=status, id=chat.id
    )


async def is_archived(daemon, chat):
    await daemon.store.execute(
        "UPDATE chats SET status = 'waiting', archived = true WHERE id = %(id)s", id=chat.id
    )


async def set_ttl(daemon, ms):
    await daemon.store.execute(
        "INSERT INTO settings (name, value) VALUES ('workspace_ttl_ms', %(ms)s::text::json)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        ms=str(ms),
    )


async def is_stopped(daemon, home):
    [(stopped,)] = await daemon.store.execute(
        "SELECT is_stopped FROM workspaces WHERE id = %(id)s", id=home.parent.name
    )
    return stopped


async def ended(daemon, chat, id):
    """How the command has ended, which it does soon."""
    return await daemon.workspaces.table.wait(chat.id, id, PATIENCE_SECONDS)


async def a_server(daemon, chat):
    begun = await daemon.call(chat, "execute", command="sleep 1000 &")
    return begun["background_process_id"]


# several processes


@asynccontextmanager
async def two_daemons(store, top):
    """On one database and one disk; each tells the other what it tells."""
    buses = []
    for other in (1, 0):
        buses.append(Switchboard(lambda hint, other=other: buses[other].hear(hint)))
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(a_daemon(store, top, bus=bus)) for bus in buses]


async def test_a_workspace_that_is_stopped_ends_what_runs_in_it_elsewhere(store, tmp_path):
    async with two_daemons(store, tmp_path) as (one, other), trio.open_nursery() as nursery:
        nursery.start_soon(other.lifecycle.caretaker.run)
        chat = await one.chat()
        await one.home(chat)
        id = await a_server(other, chat)

        await one.call(chat, "stop_workspace")

        done = await ended(other, chat, id)
        assert ("its workspace was stopped", 137) == (done.why, done.exit_code)
        nursery.cancel_scope.cancel()


@pytest.fixture
def near():
    """A directory whose sockets have paths that the system takes."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-") as home:
        yield Path(home)


async def test_a_command_is_known_in_whichever_process_its_chat_goes_on(store, near):
    async with two_daemons(store, near) as (one, other), trio.open_nursery() as nursery:
        for daemon in (one, other):
            nursery.start_soon(daemon.workspaces.peers.run)
        chat = await one.chat()
        await one.home(chat)
        id = await a_server(other, chat)
        here = await a_server(one, chat)
        with trio.fail_after(PATIENCE_SECONDS):
            while len(list(near.glob("workspaces/.peers/[0-9a-f]*"))) < 2:
                await trio.sleep(0.002)

        lists = [await each.call(chat, "process_list") for each in (one, other)]
        running = await one.call(chat, "process_output", process_id=id, wait_timeout="0s")
        await one.call(chat, "process_signal", process_id=id, signal="kill")
        ended = await one.call(chat, "process_output", process_id=id, wait_timeout="20s")
        again = await one.call(chat, "process_signal", process_id=id, signal="kill")
        unknown = await one.call(chat, "process_signal", process_id="none", signal="kill")

        for listed in lists:
            assert [here, id] == [each["id"] for each in listed["processes"]]
        assert (True, "sleep 1000") == (running["running"], running["command"])
        assert (False, 137) == (ended["success"], ended["exit_code"])
        assert "is not running any more" in again["error"]
        assert "process none not found" in unknown["error"]
        nursery.cancel_scope.cancel()


async def test_news_that_come_too_late_end_nothing(store, tmp_path):
    async with a_daemon(store, tmp_path) as daemon:
        chat = await daemon.chat()
        home = await daemon.home(chat)
        await a_server(daemon, chat)

        daemon.lifecycle.caretaker.hear(WorkspaceClosed(UUID(home.parent.name)))
        await daemon.lifecycle.caretaker.look()

        assert daemon.workspaces.table.all(chat.id)[0].is_running


async def test_if_the_news_is_lost_it_is_found_out_at_the_next_look(store, tmp_path):
    async with a_daemon(store, tmp_path) as one, a_daemon(store, tmp_path) as other:
        chat = await one.chat()
        await one.home(chat)
        id = await a_server(other, chat)
        await one.call(chat, "stop_workspace")
        assert other.workspaces.table.all(chat.id)[0].is_running

        await other.lifecycle.caretaker.look()

        assert "its workspace was stopped" == (await ended(other, chat, id)).why


async def test_a_deaf_process_looks_at_once(store, tmp_path):
    async with a_daemon(store, tmp_path) as daemon, trio.open_nursery() as nursery:
        chat = await daemon.chat()
        await daemon.home(chat)
        nursery.start_soon(daemon.lifecycle.caretaker.run)
        await trio.testing.wait_all_tasks_blocked()
        id = await a_server(daemon, chat)
        await store.execute("UPDATE workspaces SET is_stopped = true")

        daemon.lifecycle.caretaker.hear(HintsLost())

        assert "its workspace was stopped" == (await ended(daemon, chat, id)).why
        nursery.cancel_scope.cancel()


async def test_listeners_are_told_once_wherever_it_was_stopped(store, tmp_path):
    told = []

    class Listener:
        def opened(self, chat):
            """Nobody asks here."""

        def running(self):
            return {}

        async def closed(self, workspace):
            told.append((self.name, str(workspace)))

    async with two_daemons(store, tmp_path) as daemons:
        for name, daemon in zip("ab", daemons, strict=True):
            listener = Listener()
            listener.name = name
            daemon.listeners.append(listener)
        one, _ = daemons
        chat = await one.chat()
        home = await one.home(chat)

        await one.call(chat, "stop_workspace")
        for daemon in daemons:
            await daemon.lifecycle.caretaker.look()

    assert [("a", home.parent.name), ("b", home.parent.name)] == told


# idle


async def test_one_that_nobody_uses_is_stopped(daemon, chat, home):
    id = await a_server(daemon, chat)
    await daemon.lifecycle.caretaker.look()
    await rests(daemon, chat)
    await set_ttl(daemon, 60_000)
    await grow_old(daemon, home, seconds=61)

    await daemon.lifecycle.caretaker.look()

    assert await is_stopped(daemon, home)
    assert "its workspace was stopped" == (await ended(daemon, chat, id)).why
    assert "is stopped; start_workspace starts it" in await daemon.fault(
        chat, "execute", command="true"
    )


@pytest.mark.parametrize(
    ("status", "ttl_ms", "seconds"),
    [("running", 60_000, 61), ("waiting", 60_000, 50), ("waiting", 0, DAY), ("waiting", None, DAY)],
)
async def test_one_that_is_used_or_may_be_kept_goes_on(daemon, chat, home, status, ttl_ms, seconds):
    await rests(daemon, chat, status)
    if ttl_ms is not None:
        await set_ttl(daemon, ttl_ms)
    await daemon.lifecycle.caretaker.look()
    await grow_old(daemon, home, seconds=seconds)

    await daemon.lifecycle.caretaker.look()

    assert not await is_stopped(daemon, home)


async def test_every_call_of_a_tool_is_a_use(daemon, chat, home):
    await rests(daemon, chat)
    await set_ttl(daemon, 60_000)
    await grow_old(daemon, home, seconds=61)
    await daemon.call(chat, "write_file", path=f"{home}/a", content="a")

    await daemon.lifecycle.caretaker.look()

    assert not await is_stopped(daemon, home)


# removed


@pytest.fixture
async def old(store, tmp_path):
    """A daemon that keeps what nobody needs for a day, and anything for ten."""
    async with a_daemon(store, tmp_path, limits=RetentionLimits(days=1, days_max=10)) as daemon:
        yield daemon


async def test_one_that_no_chat_needs_is_removed_with_its_files(old):
    chat = await old.chat()
    home = await old.home(chat)
    (home / "locked/in").mkdir(parents=True)
    (home / "locked").chmod(0)
    await is_archived(old, chat)
    await grow_old(old, home, seconds=DAY + 1)

    await old.lifecycle.caretaker.clear()

    assert [] == os.listdir(home.parent.parent)
    assert "this chat has no workspace" in await old.fault(chat, "execute", command="true")
    assert await old.store.execute("SELECT workspace_id FROM chats") == [(None,)]


@pytest.mark.slow
async def test_a_tree_of_any_depth_is_removed(old):
    chat = await old.chat()
    home = await old.home(chat)
    top = os.open(home, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=top)
        below = os.open("d", os.O_RDONLY, dir_fd=top)
        os.close(top)
        top = below
    os.close(top)
    await rests(old, chat)

    assert await old.lifecycle.caretaker.remove((await old.workspaces.registry.of(chat.id)).id)
    await old.lifecycle.caretaker.clear()

    assert [] == os.listdir(home.parent.parent)


@pytest.mark.parametrize(
    ("archived", "status", "seconds"),
    [(True, "waiting", DAY - 60), (False, "waiting", 9 * DAY), (False, "running", 11 * DAY)],
)
async def test_one_that_is_needed_stays(old, archived, status, seconds):
    chat = await old.chat()
    home = await old.home(chat)
    await (is_archived(old, chat) if archived else rests(old, chat, status))
    await grow_old(old, home, seconds=seconds)

    await old.lifecycle.caretaker.clear()

    assert home.is_dir()
    assert [] == await CaretakerStore(old.store.pool).unused(days=1, days_max=10)


async def test_one_that_nobody_has_used_for_very_long_is_removed_whoever_has_it(old):
    chat = await old.chat()
    home = await old.home(chat)
    await rests(old, chat)
    await grow_old(old, home, seconds=11 * DAY)

    await old.lifecycle.caretaker.clear()

    assert not home.exists()


async def test_a_chat_that_still_names_a_removed_one_has_none(old):
    """It was given to the chat in the moment in which it was removed."""
    chat = await old.chat()
    await old.home(chat)
    await old.store.execute("UPDATE workspaces SET removed_at = now()")

    fault = await old.fault(chat, "execute", command="true")

    assert "this chat has no workspace; create_workspace makes one" == fault


async def test_nothing_is_removed_where_nobody_has_said_so(daemon, chat, home):
    await is_archived(daemon, chat)
    await grow_old(daemon, home, seconds=10_000 * DAY)

    await daemon.lifecycle.caretaker.clear()

    assert home.is_dir()


async def test_a_directory_of_which_nobody_knows_stays(daemon, chat, home):
    """The database may be another one than yesterday."""
    await daemon.store.empty("workspaces")

    await daemon.lifecycle.caretaker.clear()

    assert home.is_dir()


def is_from(path, *, days):
    at = path.lstat().st_mtime - days * DAY
    os.utime(path, (at, at))


@pytest.mark.parametrize(("days", "stays"), [(1.1, False), (0.9, True)])
async def test_what_was_never_made_to_the_end_goes_a_day_later(daemon, chat, home, days, stays):
    """Its process was killed before or after the directory had its name, or in the removing."""
    top = home.parent.parent
    half, whole, gone = (top / name.format(uuid4()) for name in (".{}.new", "{}", ".{}.gone"))
    for each in (half, whole, gone):
        (each / "home").mkdir(parents=True)
    (whole / UNREGISTERED).touch()
    for each in (half, whole / UNREGISTERED, gone):
        is_from(each, days=days)

    await daemon.lifecycle.caretaker.clear()

    assert (stays, stays, False) == (half.is_dir(), whole.is_dir(), gone.is_dir())
    assert home.is_dir()


async def test_one_that_is_registered_stays_and_is_marked_no_more(daemon, chat, home):
    """Its process was killed between the two."""
    mark = home.parent / UNREGISTERED
    mark.touch()
    is_from(mark, days=2)

    await daemon.lifecycle.caretaker.clear()

    assert home.is_dir()
    assert not mark.exists()


async def test_what_is_none_of_ours_stays(daemon, chat, home):
    strange = [home.parent.parent / name for name in (".peers", "backup", ".x.gone", "a" * 36)]
    for each in strange:
        each.mkdir()
        is_from(each, days=2)

    await daemon.lifecycle.caretaker.clear()

    assert all(each.is_dir() for each in strange)


async def test_what_cannot_be_looked_into_stays_and_keeps_nothing_else(daemon, chat, home):
    top = home.parent.parent
    strange, gone = top / str(uuid4()), top / f".{uuid4()}.gone"
    strange.write_text("a file, and no directory")
    gone.mkdir()

    await daemon.lifecycle.caretaker.clear()

    assert (True, False) == (strange.is_file(), gone.is_dir())


async def test_what_was_removed_elsewhere_goes_here_and_its_name_is_free(store, tmp_path):
    tops = [tmp_path / "one", tmp_path / "other"]
    async with a_daemon(store, tops[0]) as one, a_daemon(store, tops[1]) as other:
        chat = await one.chat()
        home = await one.home(chat)
        await rests(one, chat)
        row = await one.workspaces.registry.of(chat.id)
        assert await other.lifecycle.caretaker.remove(row.id)
        assert home.is_dir()

        await one.lifecycle.caretaker.clear()
        again = await one.call(chat, "create_workspace", template_id="empty")

        assert not home.exists()
        assert row.name == again["workspace_name"]


async def test_what_was_removed_long_ago_is_forgotten(daemon, chat, home):
    await rests(daemon, chat)
    row = await daemon.workspaces.registry.of(chat.id)
    await daemon.lifecycle.caretaker.remove(row.id)
    await daemon.store.execute("UPDATE workspaces SET removed_at = now() - interval '91 days'")

    await daemon.lifecycle.caretaker.clear()

    assert [] == await daemon.store.execute("SELECT id FROM workspaces")


async def test_one_in_which_a_chat_is_at_work_is_not_removed(daemon, chat, home):
    row = await daemon.workspaces.registry.of(chat.id)

    assert not await daemon.lifecycle.caretaker.remove(row.id)
    assert home.is_dir()


# too many, too large


async def test_a_user_has_so_many_and_no_more(store, tmp_path):
    async with a_daemon(store, tmp_path, limits=RetentionLimits(per_user=1)) as daemon:
        chat = await daemon.chat()
        home = await daemon.home(chat)
        another = await daemon.chat()

        refused = await daemon.call(another, "create_workspace", template_id="empty")

        assert "this user has 1 workspaces (at most 1)" in refused["error"]
        quota = {"credits_consumed": 1, "budget": 1}
        assert ("INSUFFICIENT_QUOTA", quota) == (refused["error_code"], refused["quota"])
        assert [home.parent.name] == os.listdir(tmp_path / "workspaces")
        assert (
            "already_exists"
            == (await daemon.call(chat, "create_workspace", template_id="empty"))["status"]
        )


@pytest.fixture
async def small(daemon, chat):
    """A workspace of a mebibyte."""
    daemon.templates.mkdir(exist_ok=True)
    (daemon.templates / "small.toml").write_text("[limits]\ndisk_mb = 1")
    made = await daemon.call(chat, "create_workspace", template_id="small")
    return Path(made["path"])


FILLS = "while :; do head -c 200000 /dev/urandom >> big; sleep 0.01; done"


async def test_a_command_that_fills_the_disk_is_ended(daemon, chat, small):
    id = (await daemon.call(chat, "execute", command=FILLS, timeout="10ms"))[
        "background_process_id"
    ]
    with trio.fail_after(PATIENCE_SECONDS):
        while daemon.workspaces.table.all(chat.id)[0].is_running:
            await daemon.lifecycle.caretaker.measure()

    done = await ended(daemon, chat, id)

    assert 137 == done.exit_code
    assert "MiB of the disk (at most 1); remove what is not needed" in done.why
    assert 1 == daemon.lifecycle.statistics().kept.full


async def test_a_command_that_only_removes_is_let_go_on(daemon, chat, small):
    (small / "big").write_bytes(os.urandom(3_000_000))
    await a_server(daemon, chat)

    await daemon.lifecycle.caretaker.measure()
    (small / "big").write_bytes(os.urandom(2_000_000))
    await daemon.lifecycle.caretaker.measure()

    assert daemon.workspaces.table.all(chat.id)[0].is_running


async def test_a_full_workspace_is_written_to_again_when_there_is_room(daemon, chat, small):
    (small / "big").write_bytes(os.urandom(3_000_000))
    await a_server(daemon, chat)
    await daemon.lifecycle.caretaker.measure()
    (small / "a").write_text("a")
    edit = {"path": f"{small}/a", "edits": [{"old_text": "a", "new_text": "b"}]}

    refused = [
        await daemon.fault(chat, "write_file", path=f"{small}/b", content="b"),
        await daemon.fault(chat, "edit_files", files=[edit]),
    ]
    (small / "big").unlink()
    written = await daemon.call(chat, "write_file", path=f"{small}/b", content="b")

    for fault in refused:
        assert "the workspace takes 2 MiB of the disk (at most 1)" in fault
    assert "a" == (small / "a").read_text()
    assert {"ok": True} == written


async def test_a_full_workspace_is_full_for_all_who_write_at_once(daemon, chat, small):
    """It is measured once at a time: who comes meanwhile finds it as it was."""
    (small / "big").write_bytes(os.urandom(3_000_000))
    await a_server(daemon, chat)
    caretaker = daemon.lifecycle.caretaker
    await caretaker.measure()
    id, refused = UUID(small.parent.name), []

    async def ask():
        refused.append(await daemon.workspaces.usage.room(id, 1, 1))

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(ask)
        nursery.start_soon(caretaker.measure)

    assert None not in refused
    assert 1 == daemon.lifecycle.statistics().kept.full


async def test_one_that_is_full_no_more_is_not_counted(daemon, chat, small):
    (small / "big").write_bytes(os.urandom(3_000_000))
    await a_server(daemon, chat)
    await daemon.lifecycle.caretaker.measure()
    full = daemon.lifecycle.statistics().kept.full
    (small / "big").unlink()

    await daemon.lifecycle.caretaker.measure()

    assert (1, 0) == (full, daemon.lifecycle.statistics().kept.full)


@pytest.mark.slow
async def test_tools_alone_do_not_fill_the_disk_either(daemon, chat, small):
    content = "x" * 9_000_000

    written = [
        await daemon.run(chat, "write_file", path=f"{small}/{number}", content=content)
        for number in range(9)
    ]

    # A few are not looked at: what they may come to is bounded.
    assert [False] * 7 + [True] * 2 == [output.is_error for output in written]


async def test_what_templates_say_of_the_disk_is_kept_with_the_workspace(daemon, chat, small):
    found = await Templates(daemon.templates).named("small")

    assert (1, 1) == (
        found.limits.disk_mb,
        (await daemon.workspaces.registry.of(chat.id)).disk_mb,
    )


async def test_of_workspaces_that_tools_wrote_to_so_many_are_remembered(daemon, monkeypatch):
    monkeypatch.setattr(daemon.workspaces.usage, "_written", RecentlyUsed(3))
    caretaker = daemon.lifecycle.caretaker
    ids = [uuid4() for _ in range(5)]

    for id in ids:
        assert await daemon.workspaces.usage.room(id, 100, 1) is None
    assert 3 == caretaker.statistics().noted
    for id in ids:
        await caretaker.close(id)

    assert 0 == caretaker.statistics().noted


async def test_nothing_of_a_workspace_needs_a_thread_of_trios(store, near):
    async with two_daemons(store, near) as (one, other), trio.open_nursery() as nursery:
        use_up_trios_threads()
        for daemon in (one, other):
            nursery.start_soon(daemon.workspaces.peers.run)
        with trio.fail_after(60):
            chat = await one.chat()
            assert (await one.call(chat, "list_templates"))["templates"]
            home = await one.home(chat)
            done = await one.call(chat, "execute", command="echo a > file")
            assert done["success"], done
            shown = await one.call(chat, "read_file", path=f"{home}/file")
            assert "a" in str(shown)
            assert await other.call(chat, "process_list")
            await one.lifecycle.caretaker.measure()
            await one.lifecycle.caretaker.clear()
        nursery.cancel_scope.cancel()


async def test_templates_that_hang_do_not_keep_a_workspace_from_being_started(
    daemon, chat, home, tmp_path
):
    """What has been set up needs none any more."""
    await daemon.call(chat, "stop_workspace")
    disk = HangingDisk(tmp_path / "disk")
    for _ in range(READING.threads_max):
        await leave(disk, partial(read, READING, disk.touch))

    started = await daemon.call(chat, "start_workspace")

    assert started["started"]
    disk.mend()
    await all_ended()
    disk.close()


async def test_a_disk_that_hangs_does_not_hold_up_who_gives_up(daemon, tmp_path, monkeypatch):
    disk, id = HangingDisk(tmp_path / "disk"), uuid4()
    (tmp_path / "workspaces" / str(id)).mkdir(parents=True)
    ours = os.rename
    monkeypatch.setattr(os, "rename", lambda *names: [disk.touch(), ours(*names)])
    began = trio.current_time()

    await leave(disk, partial(daemon.lifecycle.caretaker.give_up, id))

    assert trio.current_time() - began < 10, "the bound does not bind"
    disk.mend()
    await all_ended()
    disk.close()
    assert [f".{id}.gone"] == os.listdir(tmp_path / "workspaces")
