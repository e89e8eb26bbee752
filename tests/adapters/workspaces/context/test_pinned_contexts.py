"""What a chat knows of its workspace: pinned once, the same until somebody asks for another."""

import os
import shutil
from dataclasses import replace

import pytest
import trio

from actors.law.store.hints import ContextChanged, HintsLost
from actors.prompts.ports import UnreadableFile
from actors.prompts.skills import SkillSummary
from adapters.workspaces.context.pins import Snapshots
from adapters.workspaces.context.watch import GONE, LOOK_SECONDS_MAX, TOO_SLOW
from tests.actors.law.chats import ANN
from tests.adapters.workspaces.context.conftest import a_process
from tests.adapters.workspaces.context.ground import Hanging, put, skill
from tests.patience import PATIENCE_SECONDS

DEPLOY = {"skills/deploy/SKILL.md": skill()}


async def test_what_stands_there_is_pinned_when_a_chat_first_works_there(process):
    chat, home = await process.at_work(**{"AGENTS.md": "Be kind.", **DEPLOY})

    told, skills = await process.contexts.instructions(chat), await process.contexts.of(chat)

    assert f'<file path="{home}/AGENTS.md">\nBe kind.\n</file>' in told
    assert f"Working directory: {home}\n" in told
    assert (SkillSummary("deploy", "How we deploy"),) == skills
    assert ContextChanged(chat.id, ANN) in process.store.told


async def test_the_words_stay_the_same_whatever_becomes_of_the_files(process, store, tmp_path):
    chat, home = await process.at_work(**{"AGENTS.md": "Be kind.", **DEPLOY})
    before = await process.contexts.instructions(chat)
    put(home, **{"AGENTS.md": "Be brief.", "CLAUDE.md": "More.", "skills/deploy/SKILL.md": None})

    async with a_process(store, tmp_path) as another:
        for each in (process, another):
            assert before == await each.contexts.instructions(chat)
            assert (SkillSummary("deploy", "How we deploy"),) == await each.contexts.of(chat)


@pytest.mark.slow
async def test_a_chat_is_dirty_until_it_is_given_what_stands_there_now(store, tmp_path):
    async with a_process(store, tmp_path, watches=True) as process:
        chat, home = await process.at_work(**{"AGENTS.md": "one"})
        await process.contexts.instructions(chat)
        await process.until_shown(chat, False, None)
        store.told.clear()

        put(home, **{"AGENTS.md": "two"})
        await process.until_shown(chat, True, None)
        still = await process.contexts.instructions(chat)
        await process.refreshed(chat)
        now = await process.contexts.instructions(chat)

        assert ("\none\n" in still, "\ntwo\n" in now) == (True, True)
        assert (False, None) == await process.shown(chat)
        assert [ContextChanged(chat.id, ANN)] * 2 == store.told


@pytest.mark.slow
async def test_files_that_are_again_what_they_were_leave_a_chat_clean(store, tmp_path):
    async with a_process(store, tmp_path, watches=True) as process:
        chat, home = await process.at_work(**{"AGENTS.md": "one"})
        await process.contexts.instructions(chat)
        put(home, **{"AGENTS.md": "two"})
        await process.until_shown(chat, True, None)

        put(home, **{"AGENTS.md": "one"})

        await process.until_shown(chat, False, None)


@pytest.mark.slow
async def test_what_moved_while_nobody_looked_is_seen_with_the_next_turn(store, tmp_path):
    async with a_process(store, tmp_path) as process:
        chat, home = await process.at_work(**{"AGENTS.md": "one"})
        await process.contexts.instructions(chat)
    put(home, **{"AGENTS.md": "two"})

    async with a_process(store, tmp_path, watches=True) as process:
        assert (False, None) == await process.shown(chat)
        await process.contexts.instructions(chat)

        await process.until_shown(chat, True, None)


@pytest.mark.slow
async def test_of_two_chats_of_one_workspace_each_has_its_own(store, tmp_path):
    async with a_process(store, tmp_path, watches=True) as process:
        first, home = await process.at_work(**{"AGENTS.md": "one"})
        second = await process.chat()
        await process.disk.give(store, first.workspace_id, second.id)
        second = await process.now(second)
        same = (
            await process.contexts.instructions(first),
            await process.contexts.instructions(second),
        )
        put(home, **{"AGENTS.md": "two"})
        await process.until_shown(first, True, None)
        await process.until_shown(second, True, None)

        await process.refreshed(second)

        told = (
            await process.contexts.instructions(first),
            await process.contexts.instructions(second),
        )
        assert same[0] == same[1]
        assert ("\none\n" in told[0], "\ntwo\n" in told[1]) == (True, True)
        assert [(True, None), (False, None)] == [
            await process.shown(first),
            await process.shown(second),
        ]


async def test_a_child_knows_what_stood_there_when_it_began(process):
    root, home = await process.at_work(**{"AGENTS.md": "one"})
    await process.contexts.instructions(root)
    put(home, **{"AGENTS.md": "two"})
    child = await process.chat(parent=root)

    told = await process.contexts.instructions(child)

    assert "\ntwo\n" in told
    assert "\none\n" in await process.contexts.instructions(root)


async def test_a_chat_without_a_workspace_costs_nothing(process):
    chat = await process.chat()
    await process.store.pool.drain(1.0)  # whoever asks the database from now on fails

    assert await process.contexts.instructions(chat) is None
    assert () == await process.contexts.of(chat)


async def test_a_warm_turn_costs_nothing_either(process):
    chat, _ = await process.at_work(**{"AGENTS.md": "one", **DEPLOY})
    await process.contexts.instructions(chat)
    told = await process.contexts.instructions(chat)
    await process.store.pool.drain(1.0)

    for _ in range(3):
        assert told == await process.contexts.instructions(chat)
        assert 1 == len(await process.contexts.of(chat))


async def test_a_chat_that_gives_itself_a_workspace_knows_it_in_the_next_step(process):
    chat = await process.chat()
    assert await process.contexts.instructions(chat) is None
    await process.disk.make(process.store, chat.id, owner=ANN, **{"AGENTS.md": "one"})

    process.contexts.opened(chat)  # the row that the turn knows is that of its beginning

    assert "\none\n" in await process.contexts.instructions(chat)


async def test_a_chat_that_makes_itself_another_workspace_knows_that_too(process):
    chat, _ = await process.at_work(**{"AGENTS.md": "one"})
    for _ in range(2):
        assert "\none\n" in await process.contexts.instructions(chat)
    await process.disk.make(process.store, chat.id, owner=ANN, **{"AGENTS.md": "two"})

    process.contexts.opened(chat)

    for row in (chat, replace(chat, workspace_id=None), await process.now(chat)):
        assert "\ntwo\n" in await process.contexts.instructions(row)
    assert (
        await process.contexts.instructions(replace(chat, workspace_id=None)) is None
    )  # taken away again


async def test_another_workspace_is_another_context(process):
    chat, _ = await process.at_work(**{"AGENTS.md": "one"})
    await process.contexts.instructions(chat)
    await process.disk.make(process.store, chat.id, owner=ANN, **{"AGENTS.md": "two"})

    told = await process.contexts.instructions(await process.now(chat))
    await process.disk.give(process.store, None, chat.id)
    nothing = await process.contexts.instructions(await process.now(chat))

    assert "\ntwo\n" in told
    assert nothing is None


async def test_who_comes_second_takes_what_the_first_has_pinned(process, store, tmp_path):
    chat, home = await process.at_work(**{"AGENTS.md": "one"})
    async with a_process(store, tmp_path) as another:
        found = await another.watch.look(chat.workspace_id)
        put(home, **{"AGENTS.md": "two"})
        first = await process.contexts.instructions(chat)

        await another.contexts._pin(chat.id, chat.workspace_id, found, again=False)
        second = await another.contexts.instructions(chat)

    assert "\ntwo\n" in first
    assert first == second


async def test_what_moves_on_while_it_is_pinned_makes_dirty_at_once(process):
    chat, home = await process.at_work(**{"AGENTS.md": "one"})
    found = await process.watch.look(chat.workspace_id)
    put(home, **{"AGENTS.md": "two"})
    await process.watch.look(chat.workspace_id)  # nobody has anything pinned yet

    await process.contexts._pin(chat.id, chat.workspace_id, found, again=False)

    assert (True, None) == await process.shown(chat)


async def test_what_another_process_has_pinned_is_heard_of(process, store, tmp_path):
    chat, home = await process.at_work(**{"AGENTS.md": "one"})
    await process.contexts.instructions(chat)
    await process.contexts.instructions(chat)
    put(home, **{"AGENTS.md": "two"})
    async with a_process(store, tmp_path) as another:
        await another.refreshed(chat)
    assert "\none\n" in await process.contexts.instructions(chat)

    process.bus.hear(ContextChanged(chat.id, ANN))

    assert "\ntwo\n" in await process.contexts.instructions(chat)


async def test_news_that_got_lost_are_made_good(process, store, tmp_path):
    chat, home = await process.at_work(**{"AGENTS.md": "one"})
    await process.contexts.instructions(chat)
    put(home, **{"AGENTS.md": "two"})
    async with a_process(store, tmp_path) as another:
        await another.refreshed(chat)

    process.bus.hear(HintsLost())

    assert "\ntwo\n" in await process.contexts.instructions(chat)


async def test_settings_for_servers_are_pinned_with_the_rest(process):
    chat, home = await process.at_work(**{".mcp.json": "{}", ".promptcorner/.mcp.json": '{"a":1}'})
    await process.contexts.of(chat)
    put(home, **{".mcp.json": '{"b":1}'})

    assert ("{}", '{"a":1}') == await process.contexts.settings(chat)


async def test_what_is_not_the_pinned_one_any_more_is_read_again(process, store, tmp_path):
    chat, home = await process.at_work(**{"AGENTS.md": "one"})
    await process.contexts.instructions(chat)
    await process.contexts.instructions(chat)
    put(home, **{"AGENTS.md": "two"})
    async with a_process(store, tmp_path) as another:
        await another.refreshed(chat)
    process.contexts._snapshots = Snapshots()  # as after much else

    assert "\ntwo\n" in await process.contexts.instructions(chat)


# workspaces that cannot be looked at


async def test_without_its_directory_a_chat_goes_on_and_says_why(process):
    chat, home = await process.at_work()
    shutil.rmtree(home)

    assert await process.contexts.instructions(chat) is None
    assert () == await process.contexts.of(chat)
    assert (False, GONE) == await process.shown(chat)


@pytest.mark.slow
async def test_a_disk_that_hangs_holds_up_a_turn_once_and_for_a_while_only(leaping_clock, process):
    chat, _ = await process.at_work()
    process.disk.elsewhere[chat.workspace_id] = disk = Hanging()
    began = trio.current_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(disk.leap_when_asked, leaping_clock, LOOK_SECONDS_MAX)
        told = [await process.contexts.instructions(chat) for _ in range(3)]
        seconds = trio.current_time() - began
    disk.release.set()

    assert [None] * 3 == told
    assert (1, True) == (process.watch.statistics().looks_count, seconds >= LOOK_SECONDS_MAX)
    assert (False, TOO_SLOW) == await process.shown(chat)


async def test_a_turn_tries_once_however_many_steps_it_has(process):
    chat, home = await process.at_work()
    shutil.rmtree(home)

    for _ in range(5):
        await process.contexts.instructions(chat)
        await process.contexts.of(chat)

    assert 1 == process.watch.statistics().looks_count


async def test_what_was_pinned_stays_when_the_workspace_is_gone(process):
    chat, home = await process.at_work(**{"AGENTS.md": "one", **DEPLOY})
    before = await process.contexts.instructions(chat)
    shutil.rmtree(home)

    refused = await process.contexts.refresh(chat.id)
    process.contexts.hear(HintsLost())

    assert UnreadableFile(GONE) == refused
    assert before == await process.contexts.instructions(chat)
    assert (False, GONE) == await process.shown(chat)
    assert "Run it twice." == (await process.contexts.text(chat, "deploy")).body


async def test_nor_is_it_lost_by_who_has_never_seen_the_workspace(process, store, tmp_path):
    chat, home = await process.at_work(**{"AGENTS.md": "one"})
    before = await process.contexts.instructions(chat)
    shutil.rmtree(home)

    async with a_process(store, tmp_path) as another:
        assert UnreadableFile(GONE) == await another.contexts.refresh(chat.id)
        after = await another.contexts.instructions(chat)

    assert before == after
    assert (False, GONE) == await process.shown(chat)


async def test_what_is_back_is_as_dirty_as_it_was(process):
    chat, home = await process.at_work(**{"AGENTS.md": "one"})
    await process.contexts.instructions(chat)
    put(home, **{"AGENTS.md": "two"})
    await process.watch.look(chat.workspace_id)
    since = await dirty_since(process, chat)
    shutil.move(home, f"{home}.away")
    await process.watch.look(chat.workspace_id)
    assert (True, GONE) == await process.shown(chat)

    shutil.move(f"{home}.away", home)
    await process.watch.look(chat.workspace_id)

    assert (True, None) == await process.shown(chat)
    assert since == await dirty_since(process, chat)


async def dirty_since(process, chat):
    return await process.store.execute(
        "SELECT dirty_since FROM chat_contexts WHERE chat_id = %(c)s", c=chat.id
    )


async def test_what_moves_in_one_workspace_is_nothing_to_another(process):
    one, home = await process.at_work(**{"AGENTS.md": "one"})
    other, _ = await process.at_work(**{"AGENTS.md": "one"})
    for chat in (one, other):
        await process.contexts.instructions(chat)

    put(home, **{"AGENTS.md": "two"})
    await process.watch.look(one.workspace_id)

    assert [(True, None), (False, None)] == [
        await process.shown(one),
        await process.shown(other),
    ]


async def test_it_is_pinned_as_soon_as_it_can_be(process):
    chat, home = await process.at_work()
    shutil.move(home, f"{home}.away")
    await process.contexts.instructions(chat)
    shutil.move(f"{home}.away", home)
    put(home, **{"AGENTS.md": "one"})

    await process.refreshed(chat)

    assert "\none\n" in await process.contexts.instructions(chat)
    assert (False, None) == await process.shown(chat)


async def test_a_stopped_workspace_is_known_as_any_other(process):
    chat, _ = await process.at_work(**{"AGENTS.md": "one", **DEPLOY, "skills/deploy/run.sh": "x"})
    process.disk.stopped.add(chat.workspace_id)

    assert "\none\n" in await process.contexts.instructions(chat)
    skill = await process.contexts.text(chat, "deploy")
    assert ("Run it twice.", ()) == (skill.body, skill.files)
    assert UnreadableFile("the workspace is stopped") == await read(process, chat, "run.sh")


# what lies beside a skill


async def read(process, chat, path, bytes_max=1024):
    return await process.contexts.file(chat, "deploy", path, bytes_max=bytes_max)


@pytest.fixture
async def beside(process):
    """A chat whose workspace has a skill with much beside it."""
    chat, home = await process.at_work(
        **DEPLOY,
        **{
            "skills/deploy/run.sh": "x",
            "skills/deploy/more/a.md": "deeper",
            "skills/deploy/.env": "secret",
            "skills/deploy/big": b"y" * 5000,
            "skills/deploy/binary": b"\xff\x00\x01",
            "skills/other/secret": "theirs",
            "secret": "outside",
        },
    )
    return chat, home, home / "skills/deploy"


async def test_what_lies_beside_a_skill_is_listed_as_it_is_now(process, beside):
    chat, _, directory = beside
    listed = (await process.contexts.text(chat, "deploy")).files
    put(directory, later="x")

    assert ("big", "binary", "more/", "run.sh") == listed
    assert "later" in (await process.contexts.text(chat, "deploy")).files


async def test_the_body_is_the_one_that_was_pinned(process, beside):
    chat, home, directory = beside
    await process.contexts.of(chat)
    put(directory, **{"SKILL.md": skill(body="Run it thrice.")})

    found = await process.contexts.text(chat, "deploy")

    assert (f"{home}/skills/deploy", "Run it twice.") == (found.directory, found.body)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("run.sh", b"x"),
        ("./more/../run.sh", b"x"),
        ("more/a.md", b"deeper"),
        ("binary", b"\xff\x00\x01"),
        ("big", b"y" * 1024),
        ("inside", b"deeper"),
    ],
)
async def test_a_file_is_read_as_far_as_it_may_be(process, beside, path, content):
    chat, _, directory = beside
    (directory / "inside").symlink_to("more/a.md")

    assert content == await read(process, chat, path)


LINKS = {
    "up": "../../secret",
    "aside": "../other/secret",
    "absolute": "/etc/passwd",
    "out": "../../../..",
    "hidden": ".env",
    "circle": "circle",
}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("up", "leads out of the skill's directory"),
        ("aside", "leads out of the skill's directory"),
        ("absolute", "leads out of the skill's directory"),
        ("out/etc/passwd", "leads out of the skill's directory"),
        ("circle", "leads out of the skill's directory, or to nothing that can be read"),
        ("hidden", "hidden files are not shown"),
        ("gone", "not found"),
        ("more", "a directory, not a file"),
        ("pipe", "not a file"),
        ("run.sh/x", "or to nothing that can be read"),
        ("n" * 300, "file name too long"),
    ],
)
async def test_what_leads_elsewhere_is_not_read(process, beside, path, says):
    chat, _, directory = beside
    for name, target in LINKS.items():
        (directory / name).symlink_to(target)
    os.mkfifo(directory / "pipe")

    with trio.fail_after(PATIENCE_SECONDS):
        refused = await read(process, chat, path)

    assert isinstance(refused, UnreadableFile), refused
    assert says in refused.why
    assert refused.why.startswith(f"{path}: ")


async def test_there_is_no_skill_of_another_name(process, beside):
    chat, _, _ = beside

    assert UnreadableFile("name: there is no skill 'x'") == await process.contexts.text(chat, "x")
    assert "no skill 'x'" in (await process.contexts.file(chat, "x", "a", bytes_max=9)).why


# what users are shown


async def test_users_are_shown_what_is_used_and_what_is_not(process):
    chat, home = await process.at_work(**{"AGENTS.md": "one", "CLAUDE.md": b"\xff", **DEPLOY})
    assert await process.contexts.shown(chat.id) is None
    await process.contexts.instructions(chat)

    shown = await process.contexts.shown(chat.id)

    assert str(home) == shown.home
    assert [("AGENTS.md", "ok"), ("CLAUDE.md", "invalid"), ("skills/deploy/SKILL.md", "ok")] == [
        (each.path, each.fitness.value) for each in shown.resources
    ]
