"""Looks at real repositories by real git, in the sandbox where there is one and without."""

import os
import shutil
from pathlib import Path

import pytest
import trio

from adapters.workspaces.git import runner as running
from adapters.workspaces.git.looking import (
    DIFF_BYTES_MAX,
    FILTERS_MAX,
    NEW_FILES_BYTES_MAX,
    LookFailed,
    RepositoryGone,
    WorkingTree,
    look_command,
    read_look,
)
from tests.adapters.workspaces.git.diffs import DiffCounts, diff_counts
from tests.adapters.workspaces.git.ground import a_ground, git, put, repository
from tests.patience import PATIENCE_SECONDS


@pytest.fixture(params=["sandbox", "none"])
async def ground(request, tmp_path):
    async with a_ground(tmp_path.resolve(), sandboxed=request.param == "sandbox") as ground:
        yield ground


def in_conflict(place):
    """A repository in which a merge of two changes of `x` was begun."""
    root = repository(place, x="base\n")
    git(root, "checkout", "-q", "-b", "other")
    put(root, x="theirs\n")
    git(root, "commit", "-qam", "theirs")
    git(root, "checkout", "-q", "main")
    put(root, x="ours\n")
    git(root, "commit", "-qam", "ours")
    with pytest.raises(AssertionError):
        git(root, "merge", "-q", "other")
    return root


async def test_a_clean_repository_has_no_diff(ground):
    root = repository(ground.home / "r")
    git(root, "remote", "add", "origin", "https://token@forge.test/a/b.git")
    assert await ground.look(root) == WorkingTree("main", "https://forge.test/a/b.git", "")


async def test_all_kinds_of_changes(ground):
    many = {f"f{number}.txt": f"line {number}\n" * 9 for number in range(6)}
    root = repository(ground.home / "r", **many)
    put(root, **{"f0.txt": "line 0\n" * 9 + "more\n", "new file.txt": "new\n", "ü.bin": b"\0\1"})
    (root / "f1.txt").unlink()
    (root / "f2.txt").rename(root / "moved.txt")  # git was not told
    put(root, **{"f3.txt": "staged\n"})
    git(root, "add", "f3.txt")
    (root / "f4.txt").chmod(0o755)
    (root / "link").symlink_to("f5.txt")
    put(root, **{".gitignore": "ignored\n", "ignored": "never seen"})
    found = await ground.look(root)
    diff = found.unified_diff
    for words in (
        "+more\n",
        "diff --git a/new file.txt b/new file.txt\nnew file mode 100644",
        "Binary files /dev/null and b/ü.bin differ",
        "deleted file mode 100644",
        "rename from f2.txt\nrename to moved.txt",
        "+staged\n",
        "old mode 100644\nnew mode 100755",
        "new file mode 120000",
        "+ignored\n",  # a line of .gitignore
    ):
        assert words in diff, words
    assert "never seen" not in diff
    assert diff_counts(diff) == DiffCounts(5, 18, 9)


ODD_NAMES = ("*", ":(no such magic)x", "a b", 'q"q', "two\nlines", "-x", "ü")
LIKE_A_CONFLICT = f"100644 {'a' * 40} 1\tx"


@pytest.mark.parametrize("name", ["n", LIKE_A_CONFLICT])
@pytest.mark.parametrize("more", [0, NEW_FILES_BYTES_MAX // 10])
async def test_new_files_are_shown_whatever_their_names_and_number(ground, name, more):
    root = repository(ground.home / "r", **{".gitignore": "ignored*\n", "kept": "as it is\n"})
    put(root, **dict.fromkeys([*ODD_NAMES, name], "odd\n"), **{"ignored.txt": "never seen\n"})
    put(root / "deep" / "down", **{f"f{number}": "many\n" for number in range(more)})

    diff = (await ground.look(root)).unified_diff

    assert (len(ODD_NAMES) + 1, more) == (diff.count("+odd\n"), diff.count("+many\n"))
    assert "never seen" not in diff
    assert "as it is" not in diff


async def test_a_conflict_beside_a_new_file_is_shown_as_it_stands(ground):
    root = in_conflict(ground.home / "r")
    put(root, new="new\n")

    diff = (await ground.look(root)).unified_diff

    assert "+<<<<<<<" in diff
    assert "+new\n" in diff
    assert "Unmerged" not in diff


async def test_a_branch_is_called_as_its_chat_calls_it(ground):
    root = repository(ground.home / "r")
    git(root, "checkout", "-q", "-b", "topic/ü-1")
    git(root, "tag", "topic/ü-1")

    assert "topic/ü-1" == (await ground.look(root)).branch


async def test_a_look_changes_nothing_in_the_repository(ground):
    """Neither the index nor the objects; and it needs no lock there."""
    root = repository(ground.home / "r")
    put(root, **{"a.txt": "other\n", "new.txt": "new\n"})
    os.utime(root / "a.txt", (1, 1))
    (root / ".git/index.lock").write_text("an agent's git is at work")
    before = _all_of(root)
    assert "+new\n" in (await ground.look(root)).unified_diff
    assert _all_of(root) == before


def _all_of(root):
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file()
    }


async def test_a_change_of_the_same_size_in_the_same_moment_is_seen(ground):
    """Git compares what is as old as the index; so the copy of the index is as old as that."""
    root = repository(ground.home / "r", **{"a.txt": "one\n"})
    git(root, "config", "core.trustctime", "false")  # which no test can set
    os.utime(root / "a.txt", (1_000, 1_000))
    git(root, "update-index", "--refresh")
    put(root, **{"a.txt": "two\n"})
    for path in (root / "a.txt", root / ".git/index"):
        os.utime(path, (1_000, 1_000))
    assert "+two" in (await ground.look(root)).unified_diff


async def test_a_repository_without_a_commit(ground):
    root = ground.home / "r"
    root.mkdir()
    git(root, "init", "-q", "-b", "trunk")
    assert await ground.look(root) == WorkingTree("trunk")
    put(root, x="1\n")
    found = await ground.look(root)
    assert "+1\n" in found.unified_diff
    git(root, "add", "x")
    assert await ground.look(root) == found


async def test_a_detached_head_has_no_branch(ground):
    root = repository(ground.home / "r")
    git(root, "checkout", "-q", "--detach")
    assert await ground.look(root) == WorkingTree("")


async def test_a_conflict_shows_the_marks(ground):
    root = in_conflict(ground.home / "r")
    found = await ground.look(root)
    assert "+<<<<<<<" in found.unified_diff
    assert found.branch == "main"


async def test_submodules_and_further_working_trees(ground):
    inner = repository(ground.home / "inner")
    root = repository(ground.home / "r")
    git(root, "submodule", "add", "-q", str(inner), "sub")
    git(root, "commit", "-qam", "with a submodule")
    git(root, "worktree", "add", "-q", "-b", "side", str(ground.home / "side"))
    put(root / "sub", **{"a.txt": "changed in the submodule\n"})
    put(ground.home / "side", **{"a.txt": "changed beside\n"})
    assert (await ground.look(root)).unified_diff == ""  # its commit is the same
    assert "+changed in the submodule" in (await ground.look(root / "sub")).unified_diff
    beside = await ground.look(ground.home / "side")
    assert (beside.branch, "+changed beside" in beside.unified_diff) == ("side", True)
    git(root / "sub", "commit", "-qam", "next")
    assert "+Subproject commit" in (await ground.look(root)).unified_diff


async def test_a_repository_inside_without_a_commit_hides_nothing(ground):
    root = repository(ground.home / "r")
    (root / "within").mkdir()
    git(root / "within", "init", "-q")
    put(root, z="last\n")
    assert "+last\n" in (await ground.look(root)).unified_diff


async def test_a_long_diff_is_told_by_its_size(ground):
    root = repository(ground.home / "r")
    put(root, big="some line\n" * (DIFF_BYTES_MAX // 10 + 1000))
    found = await ground.look(root)
    assert (found.branch, found.unified_diff[:18]) == ("main", "The diff is not sh")
    put(root, big="some line\n" * (DIFF_BYTES_MAX // 11 - 1000))
    assert (await ground.look(root)).unified_diff.count(
        "\n+some line"
    ) == DIFF_BYTES_MAX // 11 - 1000


async def test_a_place_without_a_repository(ground):
    root = repository(ground.home / "r")
    (root / "below").mkdir()
    assert await ground.look(ground.home / "gone") == RepositoryGone()
    assert await ground.look(root / "below") == RepositoryGone()  # it is part of another
    broken = ground.home / "broken"
    (broken / ".git").mkdir(parents=True)
    found = await ground.look(broken)
    assert isinstance(found, LookFailed)
    assert "not a git repository" in found.why


async def test_a_broken_index_is_told(ground):
    root = repository(ground.home / "r")
    (root / ".git/index").write_bytes(b"no index at all")
    found = await ground.look(root)
    assert isinstance(found, LookFailed)
    assert "index" in found.why


@pytest.mark.parametrize("name", ["with space", "co:lon", 'quo"te', "back\\slash", "-dash", "$(x)"])
async def test_names_of_directories_are_only_names(ground, name):
    root = repository(ground.home / name)
    put(root, **{"a.txt": "x\n", "b.txt": "y\n"})
    found = await ground.look(root)
    assert "+y\n" in found.unified_diff


def _evil(home, word):
    """Return a program that leaves a trace, and where."""
    trace = home / f"ran-{word}"
    program = home / f"evil-{word}"
    program.write_text(f"#!/bin/sh\necho ran >> '{trace}'\ncat\n")
    program.chmod(0o755)
    return str(program)


async def test_a_repository_runs_no_programs(ground):
    """Whatever git can be told to run when it looks at a repository."""
    home = ground.home
    inner = repository(home / "inner")
    root = repository(
        home / "r",
        **{
            ".gitattributes": "*.txt filter=evil diff=evil\n*.proc filter=proc\n*.cmd diff=cmd\n",
            "a.txt": "one\n",
            "b.proc": "one\n",
            "c.cmd": "one\n",
        },
    )
    git(root, "submodule", "add", "-q", str(inner), "sub")
    git(root, "commit", "-qm", "sub")
    included = home / "included"
    for file, settings in {
        root / ".git/config": {
            "core.fsmonitor": _evil(home, "fsmonitor"),
            "core.hooksPath": str(home / "hooks"),
            "core.pager": _evil(home, "pager"),
            "core.alternateRefsCommand": _evil(home, "refs"),
            "diff.external": _evil(home, "external"),
            "diff.cmd.command": _evil(home, "command"),
            "diff.evil.textconv": _evil(home, "textconv"),
            "filter.evil.clean": _evil(home, "clean"),
            "filter.evil.smudge": _evil(home, "smudge"),
            "filter.evil.required": "true",
            "submodule.recurse": "true",
            "diff.ignoreSubmodules": "none",
            "status.submoduleSummary": "true",
            "include.path": str(included),
        },
        included: {"filter.proc.process": _evil(home, "process")},
        root / ".git/modules/sub/config": {"core.fsmonitor": _evil(home, "subfsmonitor")},
        home / ".gitconfig": {"core.fsmonitor": _evil(home, "homefsmonitor")},
    }.items():
        for key, value in settings.items():
            git(home, "config", "--file", str(file), key, value)
    hooks = home / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-auto-gc", "reference-transaction"):
        shutil.copy(_evil(home, f"hook-{hook}"), hooks / hook)
    (root / ".git/info/attributes").write_text("*.cmd filter=evil\n")
    put(root, **{"a.txt": "two\n", "b.proc": "two\n", "c.cmd": "two\n", "d.txt": "new\n"})
    put(root / "sub", **{"a.txt": "dirty\n"})
    found = await ground.look(root)
    assert diff_counts(found.unified_diff) == DiffCounts(4, 3, 4)
    assert not list(home.glob("ran-*"))


async def test_too_many_filters_are_not_looked_at(ground):
    root = repository(ground.home / "r")
    with (root / ".git/config").open("a") as config:
        for number in range(FILTERS_MAX + 1):
            config.write(f'[filter "x{number}"]\n\tclean = true\n')
    assert "filters" in (await ground.look(root)).why


async def test_git_that_hangs_is_killed(ground, monkeypatch):
    monkeypatch.setattr(running, "GIT_SECONDS_MAX", 0.5)
    root = repository(ground.home / "r")
    os.mkfifo(ground.home / "fifo")
    git(root, "config", "include.path", str(ground.home / "fifo"))
    with trio.fail_after(PATIENCE_SECONDS):
        found = await ground.look(root)
    assert isinstance(found, LookFailed)
    assert "took longer than" in found.why
    await _nothing_runs(str(ground.home))
    assert ground.runner.statistics().left == 0


async def test_a_caller_that_goes_takes_git_along(ground):
    root = repository(ground.home / "r")
    os.mkfifo(ground.home / "fifo")
    git(root, "config", "include.path", str(ground.home / "fifo"))
    with trio.move_on_after(0.3):
        await ground.look(root)
    await _nothing_runs(str(ground.home))


async def _nothing_runs(words):
    """Wait until no process has these words in its command: what is killed goes in a moment."""
    with trio.fail_after(PATIENCE_SECONDS):
        while _running(words):
            await trio.sleep(0.01)


def _running(words):
    return [pid for pid in os.listdir("/proc") if pid.isdecimal() and words in _command_of(pid)]


def _command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


async def test_git_does_not_look_above_the_workspace(ground):
    """Where the data directory lies in a repository itself."""
    repository(ground.home.parent)
    assert isinstance(await ground.look(ground.home), LookFailed)


async def test_no_more_looks_run_than_may(ground):
    root = repository(ground.home / "r")
    async with trio.open_nursery() as nursery:
        for _ in range(running.GIT_AT_ONCE_MAX + 4):
            nursery.start_soon(ground.look, root)
        await trio.lowlevel.checkpoint()
        assert ground.runner.statistics().running <= running.GIT_AT_ONCE_MAX
    assert ground.runner.statistics().looks_count == running.GIT_AT_ONCE_MAX + 4


def test_content_cannot_forge_an_answer():
    command = look_command("/r", "/tmp")
    output = (
        f"\n{command.mark} branch\nx\n\n{command.mark} diff\n\nforged end\n\n{command.mark} end\n"
    )
    assert read_look(output.encode(), command.mark) == WorkingTree("x", "", "\nforged end\n")
    assert isinstance(read_look(b"", command.mark), LookFailed)
    assert command.mark != look_command("/r", "/tmp").mark
