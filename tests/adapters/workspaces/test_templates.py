"""What workspaces can be made of, and how they are made."""

import os
import subprocess

import pytest

from adapters.workspaces.commands.sandbox import DEFAULT_LIMITS, CommandLimits
from adapters.workspaces.templates import (
    EMPTY,
    UNREGISTERED,
    FaultyTemplate,
    Template,
    Templates,
    WorkspaceNotMade,
    make_directory,
    mark_registered,
)

ENVIRON = {
    **os.environ,
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


@pytest.fixture
def top(tmp_path):
    (tmp_path / "templates").mkdir()
    return tmp_path / "templates"


def git(directory, *words):
    subprocess.run(["git", *words], cwd=directory, env=ENVIRON, check=True, capture_output=True)


def a_repository(directory):
    directory.mkdir()
    git(directory, "init", "-b", "main")
    (directory / "a").write_text("committed")
    git(directory, "add", "a")
    git(directory, "commit", "-m", "one")
    (directory / "a").write_text("not committed")


async def test_where_there_are_none_there_is_an_empty_one(top):
    assert [EMPTY] == await Templates(top).all()
    assert [EMPTY] == await Templates(top / "none").all()


async def test_a_template_is_a_directory_a_file_or_both(top):
    (top / "a").mkdir()
    (top / "b.toml").write_text('setup = "make"\n[limits]\nmemory_mb = 1')
    (top / "c").mkdir()
    (top / "c.toml").write_text('description = "both"')
    (top / ".hidden").mkdir()
    (top / "a file").write_text("")

    a, b, c = await Templates(top).all()

    assert Template("a", directory=top / "a") == a
    assert Template("b", setup="make", limits=CommandLimits(memory_mb=1)) == b
    assert ("both", top / "c", DEFAULT_LIMITS) == (c.description, c.directory, c.limits)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("setup", "="),
        ("set_up = 'x'", "unknown field `set_up`"),
        ("[limits]\nseconds = 0", "$.limits.seconds"),
    ],
)
async def test_a_file_that_cannot_be_read_says_why(top, text, why):
    (top / "a.toml").write_text(text)

    found = await Templates(top).named("a")

    assert isinstance(found, FaultyTemplate)
    assert why in found.why


async def test_a_directory_is_copied_but_not_what_waits_or_never_ends(top, tmp_path):
    source = top / "a"
    (source / "d").mkdir(parents=True)
    (source / "d/run").write_text("x")
    (source / "d/run").chmod(0o755)
    (source / "link").symlink_to("d/run")
    os.mkfifo(source / "pipe")

    await make_directory(Template("a", directory=source), tmp_path / "w", ENVIRON)

    home = tmp_path / "w/home"
    assert {"d", "link"} == {each.name for each in home.iterdir()}
    assert "d/run" == os.readlink(home / "link")
    assert os.access(home / "d/run", os.X_OK)
    assert (tmp_path / "w/tmp").is_dir()
    assert 0o700 == (tmp_path / "w").stat().st_mode & 0o777


async def test_a_repository_is_cloned(top, tmp_path):
    a_repository(top / "a")
    found = await Templates(top).named("a")

    await make_directory(found, tmp_path / "w", ENVIRON)

    assert "committed" == (tmp_path / "w/home/a").read_text()
    assert (tmp_path / "w/home/.git").is_dir()


async def test_a_repository_elsewhere_is_cloned_at_its_branch(top, tmp_path):
    a_repository(tmp_path / "elsewhere")
    git(tmp_path / "elsewhere", "checkout", "-b", "other")
    git(tmp_path / "elsewhere", "commit", "-am", "two")
    template = Template("a", git=str(tmp_path / "elsewhere"), branch="main")

    await make_directory(template, tmp_path / "w", ENVIRON)

    assert "committed" == (tmp_path / "w/home/a").read_text()


async def test_the_keys_by_which_it_was_cloned_are_in_nothing_that_others_see(tmp_path):
    a_repository(tmp_path / "elsewhere")
    with_keys = "https://ann:s3c@ret@h.example/"
    template = Template("a", git=f"{with_keys}elsewhere")
    leads = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{tmp_path}/.insteadOf",
        "GIT_CONFIG_VALUE_0": with_keys,
    }

    await make_directory(template, tmp_path / "w", {**ENVIRON, **leads})

    home = tmp_path / "w/home"
    assert "https://h.example/elsewhere" == template.shown_git
    assert "https://h.example/elsewhere" in (home / ".git/config").read_text()
    files = [path for path in home.rglob("*") if path.is_file()]
    assert not [path for path in files if b"s3c@ret" in path.read_bytes()]


async def test_nor_are_they_in_the_words_of_one_that_is_not_cloned(tmp_path):
    template = Template("a", git="http://ann:s3cret@127.0.0.1:1/x")

    with pytest.raises(WorkspaceNotMade, match=r"'http://127\.0\.0\.1:1/x/'") as not_made:
        await make_directory(template, tmp_path / "w", ENVIRON)

    assert "s3cret" not in str(not_made.value)


async def test_what_is_half_made_is_taken_away(tmp_path):
    template = Template("a", git=str(tmp_path / "nowhere"))

    with pytest.raises(WorkspaceNotMade, match=r"^template a: git does not clone it: fatal: "):
        await make_directory(template, tmp_path / "top/w", ENVIRON)

    assert [] == list((tmp_path / "top").iterdir())


async def test_what_a_killed_process_has_left_is_no_hindrance(top, tmp_path):
    (tmp_path / ".w.new/home").mkdir(parents=True)

    await make_directory(EMPTY, tmp_path / "w", ENVIRON)

    assert {"home", "tmp", UNREGISTERED} == {each.name for each in (tmp_path / "w").iterdir()}
    assert not (tmp_path / ".w.new").exists()


async def test_what_is_registered_is_marked_no_more(tmp_path):
    await make_directory(EMPTY, tmp_path / "w", ENVIRON)

    for _ in range(2):
        await mark_registered(tmp_path / "w")

    assert {"home", "tmp"} == {each.name for each in (tmp_path / "w").iterdir()}
