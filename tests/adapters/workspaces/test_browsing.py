"""The files of a workspace over the API: listed, read in ranges, downloaded; and nothing else."""

import io
import os
import shutil
import stat
import subprocess
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
import trio

from adapters.http.refusals import HttpError
from adapters.workspaces.browsing import archive, ignored, reading
from adapters.workspaces.browsing.archive import ArchiveLimits
from adapters.workspaces.disk import Disk
from tests.adapters.edges import HEADER, an_edge
from tests.adapters.workspaces.test_routes import W, a_workspace
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow


@dataclass
class Place:
    edge: object
    id: str
    home: Path

    async def list(self, path="", *, who=None, **query):
        more = "".join(f"&{name}={value}" for name, value in query.items())
        asker = who or self.edge.member
        return await asker.get(f"{W}/{self.id}/files?path={quote(str(path))}{more}")

    async def names(self, path="", **query):
        answer = await self.list(path, **query)
        assert 200 == answer.status, answer.body
        return [each["name"] for each in answer.document["entries"]]

    async def get(self, what, path="", *, headers=None, **query):
        """A whole response, its headers included."""
        parameters = {"path": str(path), **query}
        ours = {HEADER: self.edge.member.token, **(headers or {})}
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
            url = f"{self.edge.url}{W}/{self.id}/files/{what}"
            return await client.get(url, params=parameters, headers=ours)

    async def pieces(self, what, *, then):
        """Read a response to its end, and do something after each piece of it."""
        headers = {HEADER: self.edge.member.token}
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
            url = f"{self.edge.url}{W}/{self.id}/files/{what}"
            async with client.stream("GET", url, headers=headers) as response:
                async for _ in response.aiter_bytes():
                    then()


@pytest.fixture
async def place(fresh, tmp_path):
    async with an_edge(fresh, data_dir=str(tmp_path), sandbox="none") as edge:
        id = await a_workspace(edge)
        await edge.execute("UPDATE workspaces SET memory_mb = 4096, file_mb = 4096, processes = 64")
        home = tmp_path / f"workspaces/{id}/home"
        home.mkdir(parents=True)
        (home.parent / "tmp").mkdir()
        yield Place(edge, id, home)


# listing


async def test_a_directory_is_listed_with_kinds_and_sizes(place):
    (place.home / "src").mkdir()
    (place.home / "run.sh").write_text("#!/bin/sh\n")
    (place.home / "run.sh").chmod(0o755)
    (place.home / "a link").symlink_to("src/gone")
    os.mkfifo(place.home / "pipe")

    document = (await place.list()).document

    assert ("", 4, False) == (document["path"], document["count"], document["is_cut"])
    facts = [(e["kind"], e["name"], e["path"], e["is_executable"]) for e in document["entries"]]
    assert [
        ("directory", "src", "src", False),
        ("link", "a link", "a link", False),
        ("other", "pipe", "pipe", False),
        ("file", "run.sh", "run.sh", True),
    ] == facts
    by_name = {each["name"]: each for each in document["entries"]}
    assert ("src/gone", 10) == (by_name["a link"]["link_to"], by_name["run.sh"]["size_bytes"])
    assert by_name["run.sh"]["modified_at"].startswith("20")
    assert {False} == {each["is_ignored"] for each in document["entries"]}


async def test_paths_are_those_of_tools_or_relative_and_may_follow_links_inside(place):
    (place.home / "src/deep").mkdir(parents=True)
    (place.home / "short").symlink_to("src/deep")
    (place.home / "src/deep/x").touch()

    for path in ("src/deep", f"{place.home}/src/deep", "short", "src/../short/.", "src//deep/"):
        document = (await place.list(path)).document
        assert ("src/deep", ["src/deep/x"]) == (
            document["path"],
            [each["path"] for each in document["entries"]],
        )


async def test_no_path_leads_out(place):
    (place.home / "src").mkdir()
    (place.home / "out").symlink_to("/etc")
    (place.home / "loop").symlink_to("loop")
    for path in ("..", "/etc", "src/../..", "out", "out/passwd", "a\0b", "loop", "x" * 5_000):
        for what in ("", "/content", "/archive"):
            url = f"{W}/{place.id}/files{what}?path={quote(path)}"
            answer = await place.edge.member.get(url)

            assert 400 == answer.status, (path, what, answer.body)
            assert answer.document["validations"]
            assert b"root:" not in answer.body


async def test_what_is_not_there_or_no_directory_or_no_file_is_said(place):
    (place.home / "file").touch()
    (place.home / "folder").mkdir()
    os.mkfifo(place.home / "pipe")
    os.mknod(place.home / "socket", stat.S_IFSOCK | 0o600)

    assert 404 == (await place.list("nothing")).status
    assert 404 == (await place.get("content", "folder/nothing")).status_code
    for what, path in (
        ("", "file"),
        ("/content", "folder"),
        ("/content", "pipe"),
        ("/content", "socket"),
        ("/archive", "file"),
    ):
        answer = await place.edge.member.get(f"{W}/{place.id}/files{what}?path={path}")
        assert (400, "path") == (answer.status, answer.document["validations"][0]["field"])


async def test_a_large_directory_has_pages_and_an_end(place, monkeypatch):
    for number in range(30):
        (place.home / f"{number:02}").touch()

    assert [f"{number:02}" for number in range(10)] == await place.names(limit=10)
    assert ["28", "29"] == await place.names(limit=10, offset=28)
    assert 400 == (await place.list(limit=1_001)).status
    monkeypatch.setattr("adapters.workspaces.browsing.listing.ENTRIES_MAX", 20)
    document = (await place.list(limit=1)).document
    assert (20, True, 1) == (document["count"], document["is_cut"], len(document["entries"]))


async def test_names_that_are_no_text_are_listed_and_packed(place):
    (place.home / os.fsdecode(b"caf\xe9")).write_text("x")
    (place.home / "new\nline").write_text("y")

    broken, plain = sorted((await place.list()).document["entries"], key=lambda e: "path" in e)

    assert ("caf\ufffd", False) == (broken["name"], "path" in broken)
    assert "y" == (await place.get("content", plain["path"])).text
    packed = zipfile.ZipFile(io.BytesIO((await place.get("archive")).content))
    assert {"caf\ufffd", "new\nline"} == set(packed.namelist())


async def test_a_time_that_no_calendar_has_is_none(place):
    (place.home / "old").touch()
    os.utime(place.home / "old", (2**50, 2**50))

    [entry] = (await place.list()).document["entries"]

    assert entry["modified_at"] is None or entry["modified_at"].startswith("2")
    assert 200 == (await place.get("archive")).status_code


async def test_a_workspace_on_another_machine_is_said_to_be_there(place):
    shutil.rmtree(place.home)

    for what in ("", "/content", "/archive"):
        answer = await place.edge.member.get(f"{W}/{place.id}/files{what}")
        assert (409, "not on the machine") == (answer.status, answer.document["detail"][17:35])


async def test_only_the_owner_and_administrators_see_files(place):
    (place.home / "secret").write_text("x")

    assert 404 == (await place.list(who=place.edge.stranger)).status
    assert 200 == (await place.list(who=place.edge.admin)).status


# what git ignores


@pytest.fixture
def repository(place, monkeypatch):
    monkeypatch.setattr(ignored, "SECONDS", PATIENCE_SECONDS)
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    subprocess.run(["git", "init", "-q", place.home], check=True)
    (place.home / ".gitignore").write_text("*.log\nbuild/\n!kept.log\n")
    for name in ("a.log", "kept.log", "-x.log", "it's.log", "a.py", "$(touch x).log"):
        (place.home / name).touch()
    (place.home / "build").mkdir()
    (place.home / "sub").mkdir()
    (place.home / "sub/.gitignore").write_text("inner\n")
    for name in ("inner", "outer", "b.log"):
        (place.home / "sub" / name).touch()
    return place


async def test_what_git_ignores_is_marked(repository):
    async def ignored_in(path):
        entries = (await repository.list(path)).document["entries"]
        return {each["name"] for each in entries if each["is_ignored"]}

    assert {"a.log", "-x.log", "it's.log", "build", "$(touch x).log"} == await ignored_in("")
    assert {"inner", "b.log"} == await ignored_in("sub")
    assert not (repository.home / "x").exists()


async def test_many_names_are_asked_for_in_several_questions(repository, monkeypatch):
    monkeypatch.setattr(ignored, "NAMES_BYTES_MAX", 40)

    entries = (await repository.list()).document["entries"]

    assert 5 == sum(each["is_ignored"] for each in entries)


async def test_a_git_that_does_not_answer_leaves_it_open(repository, monkeypatch):
    monkeypatch.setattr(ignored, "SECONDS", 0.0)
    assert not any("is_ignored" in e for e in (await repository.list()).document["entries"])

    monkeypatch.undo()
    (repository.home / ".git/config").write_text("no config at all [")
    entries = (await repository.list()).document["entries"]
    assert not any("is_ignored" in each for each in entries)
    assert 10 == len(entries)
    assert repository.edge.chats.browser.statistics().ignored.unknown_count >= 2


# reading


async def test_a_file_is_read_whole_and_in_ranges(place):
    content = os.urandom(700_000)
    (place.home / "data.bin").write_bytes(content)

    whole = await place.get("content", "data.bin")
    assert (200, content, str(len(content))) == (
        whole.status_code,
        whole.content,
        whole.headers["content-length"],
    )
    for said, begin, end in (
        ("bytes=0-9", 0, 10),
        ("bytes=500000-", 500_000, 700_000),
        ("bytes=-5", 699_995, 700_000),
        ("bytes=699999-9999999", 699_999, 700_000),
        ("bytes=-9999999", 0, 700_000),
    ):
        part = await place.get("content", "data.bin", headers={"Range": said})
        assert (206, content[begin:end]) == (part.status_code, part.content), said
        assert f"bytes {begin}-{end - 1}/700000" == part.headers["content-range"]
    for said in ("bytes=700000-", "bytes=-0"):
        refused = await place.get("content", "data.bin", headers={"Range": said})
        assert (416, "bytes */700000") == (refused.status_code, refused.headers["content-range"])
    for said in ("bytes=5-1", "bytes=0-1,3-4", "lines=1-2", "bytes=-"):
        assert 200 == (await place.get("content", "data.bin", headers={"Range": said})).status_code
    (place.home / "empty").touch()
    assert (200, b"") == (
        (empty := await place.get("content", "empty")).status_code,
        empty.content,
    )


async def test_one_who_has_the_file_is_not_sent_it_again(place):
    (place.home / "a.txt").write_text("one")
    first = await place.get("content", "a.txt")
    etag = first.headers["etag"]

    known = await place.get("content", "a.txt", headers={"If-None-Match": f'"x", {etag}'})
    part = await place.get("content", "a.txt", headers={"Range": "bytes=1-", "If-Range": etag})
    (place.home / "a.txt").write_text("two!")
    changed = await place.get("content", "a.txt", headers={"If-None-Match": etag})
    other = await place.get("content", "a.txt", headers={"Range": "bytes=1-", "If-Range": etag})

    assert (304, b"") == (known.status_code, known.content)
    assert (206, "ne") == (part.status_code, part.text)
    assert ((200, "two!"), (200, "two!")) == (
        (changed.status_code, changed.text),
        (other.status_code, other.text),
    )


SHOWN = (  # name, content, media type, and whether it is opened in place
    ("a.py", b"print()", "text/plain; charset=utf-8", True),
    ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(50), "image/png", True),
    ("a.html", b"<html><script>alert(1)</script>", "text/plain; charset=utf-8", True),
    ("a.svg", b'<svg xmlns="x"><script/></svg>', "text/plain; charset=utf-8", True),
    ("a.js", b"alert(1)", "text/plain; charset=utf-8", True),
    ("a.png", b"<html><script>", "text/plain; charset=utf-8", True),
    ("a.pdf", b"%PDF-1.7 ", "application/pdf", False),
    ("a.html", b"\0\1\2", "application/octet-stream", False),
    ("a.zip", b"PK\3\4\0\0", "application/zip", False),
    ("noname", b"\0", "application/octet-stream", False),
    ('q"\n.txt', b"x", "text/plain; charset=utf-8", True),
)


async def test_no_file_runs_as_a_page(place):
    for name, content, media_type, in_place in SHOWN:
        (place.home / name).write_bytes(content)

        got = await place.get("content", name)
        downloaded = await place.get("content", name, download="true")

        kind = "inline" if in_place else "attachment"
        assert (media_type, kind) == (
            got.headers["content-type"],
            got.headers["content-disposition"].partition(";")[0],
        ), name
        assert "nosniff" == got.headers["x-content-type-options"]
        assert "sandbox" in got.headers["content-security-policy"]
        assert downloaded.headers["content-disposition"].startswith("attachment;")
        assert "\n" not in downloaded.headers["content-disposition"]


async def test_a_file_that_changes_while_it_is_sent_ends_the_connection(place, monkeypatch):
    monkeypatch.setattr(reading, "PIECE_BYTES", 1_000)
    (place.home / "log").write_bytes(b"x" * 40_000_000)

    with pytest.raises(httpx2.RemoteProtocolError):
        await place.pieces(
            "content?path=log", then=lambda: (place.home / "log").write_bytes(b"y" * 40_000_000)
        )


# folders


async def test_a_folder_is_downloaded_as_it_is(place, tmp_path):
    top = place.home / "top"
    (top / "in/ner").mkdir(parents=True)
    (top / "in/a.txt").write_text("words " * 200_000)
    (top / "run").write_text("#!/bin/sh\n")
    (top / "run").chmod(0o755)
    (top / "away").symlink_to("/etc/passwd")
    os.mkfifo(top / "pipe")

    answer = await place.get("archive", "top")

    assert ("application/zip", 'attachment; filename="top.zip"') == (
        answer.headers["content-type"],
        answer.headers["content-disposition"],
    )
    packed = zipfile.ZipFile(io.BytesIO(answer.content))
    assert packed.testzip() is None
    assert {"away", "in/", "in/ner/", "in/a.txt", "run"} == set(packed.namelist())
    assert ("words " * 200_000).encode() == packed.read("in/a.txt")
    assert b"/etc/passwd" == packed.read("away"), "the link, and not what it leads to"
    modes = {each.filename: each.external_attr >> 16 for each in packed.infolist()}
    assert stat.S_ISLNK(modes["away"])
    assert modes["run"] & stat.S_IXUSR
    assert "web.zip" in (await place.get("archive")).headers["content-disposition"]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (ArchiveLimits(entries=2), "more than 2 entries"),
        (ArchiveLimits(size=10), "more than 10 bytes"),
        (ArchiveLimits(depth=1), "more than 1 folders"),
    ],
)
async def test_one_that_is_too_large_is_refused_before_it_begins(place, monkeypatch, limits, words):
    (place.home / "in").mkdir()
    (place.home / "in/a").write_text("0123456")
    (place.home / "b").write_text("0123456")
    monkeypatch.setattr(place.edge.chats.browser._archives, "_limits", limits)

    refused = await place.get("archive")

    assert 413 == refused.status_code
    assert words in refused.json()["detail"]


def test_a_folder_that_is_too_large_is_not_read_to_its_end(tmp_path, monkeypatch):
    for number in range(20):
        (tmp_path / f"{number}").touch()
    read = []

    @contextmanager
    def counted(directory, scandir=os.scandir):
        with scandir(directory) as entries:
            yield (read.append(entry) or entry for entry in entries)

    monkeypatch.setattr(archive.os, "scandir", counted)

    with pytest.raises(HttpError, match="too large"):
        archive.check_archive(f"{tmp_path}", f"{tmp_path}", ArchiveLimits(entries=2))
    assert 3 == len(read)


async def test_one_that_grows_over_the_bound_is_cut(place, monkeypatch):
    monkeypatch.setattr(archive, "PIECE_BYTES", 1_000)
    limits = ArchiveLimits(size=3_000_000)
    monkeypatch.setattr(place.edge.chats.browser._archives, "_limits", limits)
    (place.home / "a").write_bytes(os.urandom(2_000_000))
    (place.home / "b").write_bytes(b"x")

    with pytest.raises(httpx2.RemoteProtocolError):
        await place.pieces("archive", then=lambda: (place.home / "b").write_bytes(b"x" * 3_000_000))
    await _until(lambda: place.edge.chats.browser.statistics().archives.cut_count == 1)


async def test_no_more_folders_are_packed_at_once_than_may_be(place, monkeypatch):
    monkeypatch.setattr(archive, "ARCHIVES_MAX", 0)

    refused = await place.get("archive")

    assert (503, "10") == (refused.status_code, refused.headers["retry-after"])


async def test_of_requests_at_the_same_moment_only_so_many_are_packed_at_once(place, monkeypatch):
    (place.home / "a.txt").write_text("a")
    monkeypatch.setattr(archive, "ARCHIVES_MAX", 2)
    archives = archive.Archives()
    making, most = archives.statistics, 0
    disk = Disk(str(place.home), "the workspace")

    async def download():
        nonlocal most
        archives.checking(str(place.home), "")  # all are let in before the first is packed
        async for _ in archives.send(str(place.home), str(place.home), disk):
            most = max(most, making().making)

    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(download)

    assert (2, 0, 6) == (most, making().making, making().made_count)


async def _until(holds):
    with trio.fail_after(PATIENCE_SECONDS):
        while not holds():
            await trio.sleep(0.005)
