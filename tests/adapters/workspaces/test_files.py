"""Files of a workspace: read, written, edited; and nothing outside it, whatever leads there."""

import os
import stat
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from actors.tools.editing import Edit, FileEdits
from actors.tools.workspaces import DirectoryEntry, WorkspaceRefusal
from adapters.workspaces.files import EDITED_BYTES_MAX, WRITTEN_BYTES_MAX, LocalFiles
from adapters.workspaces.safe_paths import COMPONENTS_MAX, LINKS_MAX

KIB = 1024


@dataclass
class Ground:
    home: Path
    outside: Path
    files: LocalFiles

    def at(self, name):
        return f"{self.home}/{name}"

    async def read(self, name, bytes_max=KIB):
        return await self.files.read(self.at(name), bytes_max=bytes_max)


@pytest.fixture
def ground(tmp_path):
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    return Ground(home, outside, LocalFiles(str(home)))


def says(refused):
    assert isinstance(refused, WorkspaceRefusal), refused
    return refused.says


async def test_what_was_written_is_read_again(ground):
    assert await ground.files.write(ground.at("a/b/c.txt"), b"one\n") is None

    assert b"one\n" == await ground.read("a/b/c.txt")
    assert ["c.txt"] == os.listdir(ground.home / "a/b")


async def test_an_old_file_keeps_its_mode(ground):
    script = ground.home / "run.sh"
    script.write_text("old")
    script.chmod(0o750)

    await ground.files.write(str(script), b"new")

    assert ("new", 0o750) == (script.read_text(), stat.S_IMODE(script.stat().st_mode))


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "{home}/../outside/secret", "{home}/a/../../outside/secret", "/"]
)
async def test_a_path_that_leads_out_is_refused(ground, path):
    (ground.home / "a").mkdir()
    path = path.format(home=ground.home)

    assert f"{path}: outside the workspace, which is {ground.home}" in says(
        await ground.files.read(path, bytes_max=KIB)
    )
    assert "outside the workspace" in says(await ground.files.write(path, b"mine"))
    assert "secret" == (ground.outside / "secret").read_text()


@pytest.mark.parametrize(
    "target", ["{outside}/secret", "../outside/secret", "d/../../outside/secret"]
)
async def test_a_symbolic_link_that_leads_out_is_refused(ground, target):
    (ground.home / "d").mkdir()
    (ground.home / "link").symlink_to(target.format(outside=ground.outside))

    assert "outside the workspace" in says(await ground.read("link"))
    assert "outside the workspace" in says(await ground.files.write(ground.at("link"), b"mine"))
    assert "secret" == (ground.outside / "secret").read_text()


async def test_a_directory_that_leads_out_is_refused(ground):
    (ground.home / "out").symlink_to(ground.outside)

    assert "outside the workspace" in says(await ground.read("out/secret"))
    assert "outside the workspace" in says(await ground.files.write(ground.at("out/new"), b""))
    assert "outside the workspace" in says(await ground.files.entries(ground.at("out")))
    assert ["secret"] == os.listdir(ground.outside)


async def test_symbolic_links_inside_are_followed(ground):
    (ground.home / "real").mkdir()
    (ground.home / "real/file").write_text("here")
    (ground.home / "relative").symlink_to("real")
    (ground.home / "absolute").symlink_to(ground.home / "relative" / "file")
    (ground.home / "real/back").symlink_to(ground.home / "absolute")

    assert b"here" == await ground.read("relative/file")
    assert b"here" == await ground.read("absolute")
    assert b"here" == await ground.read("real/back")
    assert ground.at("real/file") == await ground.files.resolve(ground.at("absolute"))
    assert ground.at("real/new/x") == await ground.files.resolve(ground.at("relative/new/x"))
    await ground.files.write(ground.at("absolute"), b"there")
    assert "there" == (ground.home / "real/file").read_text()
    assert (ground.home / "absolute").is_symlink()


async def test_links_in_a_circle_are_given_up(ground):
    (ground.home / "a").symlink_to("b")
    (ground.home / "b").symlink_to("a")

    assert f"more than {LINKS_MAX} symbolic links" in says(await ground.read("a"))


async def test_a_path_has_a_bound(ground):
    path = "/".join(["."] * 1_000 + ["a"] * (COMPONENTS_MAX + 1))

    assert f"more than {COMPONENTS_MAX} components" in says(
        await ground.files.write(ground.at(path), b"")
    )


async def test_what_waits_for_somebody_is_no_file(ground):
    os.mkfifo(ground.home / "pipe")

    assert f"{ground.at('pipe')}: a pipe, not a file" == says(await ground.read("pipe"))
    assert "a pipe, not a file" in says(await ground.files.write(ground.at("pipe"), b"x"))


async def test_a_device_is_no_file(tmp_path):
    files = LocalFiles("/dev")

    assert "/dev/zero: a device, not a file" == says(await files.read("/dev/zero", bytes_max=KIB))
    assert "a device, not a file" in says(await files.write("/dev/null", b""))


async def test_a_directory_is_no_file(ground):
    (ground.home / "d").mkdir()

    assert f"{ground.at('d')}: a directory, not a file" == says(await ground.read("d"))
    assert "a directory, not a file" in says(await ground.files.write(ground.at("d"), b""))
    assert "a directory, not a file" in says(await ground.files.write(str(ground.home), b""))


async def test_what_is_not_there_is_said(ground):
    (ground.home / "file").write_text("")

    assert f"{ground.at('no')}: not found" == says(await ground.read("no"))
    assert f"{ground.at('file/x')}: {ground.at('file')} is not a directory" == says(
        await ground.read("file/x")
    )
    assert "not a path" in says(await ground.read("a\0b"))
    assert "too long" in says(await ground.read("x" * 300))


async def test_a_huge_file_is_refused_unread(ground):
    with (ground.home / "huge").open("wb") as file:
        file.truncate(1 << 40)

    assert f"{1 << 40} bytes are too many (at most {KIB})" in says(await ground.read("huge"))
    assert f"(at most {EDITED_BYTES_MAX})" in says(
        await ground.files.edit([FileEdits(ground.at("huge"), (Edit("a", "b"),))])
    )
    assert f"(at most {WRITTEN_BYTES_MAX})" in says(
        await ground.files.write(ground.at("new"), bytes(WRITTEN_BYTES_MAX + 1))
    )


async def test_all_edits_are_made_or_none(ground):
    (ground.home / "a").write_text("one\n")
    (ground.home / "b").write_text("two\n")
    good = FileEdits(ground.at("a"), (Edit("one", "1"),))

    refused = await ground.files.edit([good, FileEdits(ground.at("b"), (Edit("three", "3"),))])

    assert f"{ground.at('b')}: old_text is not in the file" in says(refused)
    assert says(refused).endswith("nothing was changed")
    assert "one\n" == (ground.home / "a").read_text()


async def test_an_edit_is_shown_as_a_diff(ground):
    (ground.home / "a").write_text("one\ntwo\n")

    [edited] = await ground.files.edit([FileEdits(ground.at("a"), (Edit("two", "2"),))])

    path = ground.at("a")
    assert f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n" == edited.diff


async def test_one_file_by_two_paths_is_refused(ground):
    (ground.home / "a").write_text("one")
    (ground.home / "b").symlink_to("a")
    edits = (Edit("one", "1"),)

    refused = await ground.files.edit(
        [FileEdits(ground.at("a"), edits), FileEdits(ground.at("b"), edits)]
    )

    assert f"{ground.at('b')}: the same file as {ground.at('a')}" in says(refused)
    assert "one" == (ground.home / "a").read_text()


async def test_bytes_that_are_no_text_survive_an_edit(ground):
    (ground.home / "a").write_bytes(b"\xff\xfe one \x80")

    await ground.files.edit([FileEdits(ground.at("a"), (Edit("one", "1"),))])

    assert b"\xff\xfe 1 \x80" == (ground.home / "a").read_bytes()


async def test_a_directory_is_listed(ground):
    (ground.home / "z").mkdir()
    (ground.home / "a").write_text("123")
    (ground.home / "l").symlink_to(ground.outside)

    entries = await ground.files.entries(str(ground.home))

    assert [("z", True), ("a", False), ("l", False)] == [(e.name, e.is_directory) for e in entries]
    assert DirectoryEntry("a", False, 3) in entries


@pytest.mark.slow
async def test_what_is_swapped_meanwhile_does_not_lead_out(ground):
    """A directory and a link to the outside change places, and a link its target, all the time."""
    real, out, here, link = (ground.home / name for name in ("real", "out", "here", "link"))
    here.mkdir()
    (here / "secret").write_text("mine")
    out.symlink_to(ground.outside)
    link.symlink_to(".")

    def swap():
        here.rename(real)
        out.rename(here)
        here.rename(out)
        real.rename(here)
        for target in (ground.outside, "."):
            (ground.home / "next").symlink_to(target)
            (ground.home / "next").rename(link)

    with swapping(swap) as swaps:
        answers = [await ground.read("here/secret") for _ in range(400)]
        for _ in range(400):
            await ground.files.write(ground.at("link/secret"), b"mine")

    assert len(swaps) > 10
    assert {b"mine"} >= {answer for answer in answers if isinstance(answer, bytes)}
    assert ["secret"] == os.listdir(ground.outside)
    assert "secret" == (ground.outside / "secret").read_text()


@contextmanager
def swapping(swap):
    """Over and over in a thread; how often it was done."""
    stop, swaps = threading.Event(), []

    def run():
        while not stop.is_set():
            swap()
            swaps.append(1)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield swaps
    finally:
        stop.set()
        thread.join()
