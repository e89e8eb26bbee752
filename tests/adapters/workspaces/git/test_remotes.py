"""Addresses of remotes: which repository they name, and what of them is nobody's business."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.workspaces.git.remotes import (
    GitRemote,
    is_branch_name,
    remote_of,
    without_secrets,
)


@pytest.mark.parametrize(
    ("address", "remote"),
    [
        ("https://github.com/ann/tools.git", GitRemote("github.com", "ann/tools")),
        ("https://u:t@GitHub.com/ann/tools/", GitRemote("github.com", "ann/tools")),
        ("http://forge:3000/a/b/c", GitRemote("forge", "a/b/c", 3000, is_plain=True)),
        ("git@gitlab.example:group/sub/name.git", GitRemote("gitlab.example", "group/sub/name")),
        ("ssh://git@host:2222/a/b.git", GitRemote("host", "a/b")),
        ("git@[::1]:a/b", GitRemote("::1", "a/b")),
        ("https://[::1]:8443/a/b", GitRemote("::1", "a/b", 8443)),
        ("git://host/a/b", GitRemote("host", "a/b")),
        (" https://host/a/b\n", GitRemote("host", "a/b")),
    ],
)
def test_a_forges_repository(address, remote):
    assert remote_of(address) == remote


@pytest.mark.parametrize(
    "address",
    [
        "",
        "/srv/git/a.git",
        "../a/b",
        "file:///srv/a/b",
        "ext::sh -c true",
        "https://host/only",
        "https://host:99999/a/b",
        "https://[::1/a/b",
        "https://host/a/../b",
        "https:///a/b",
        "host:a",
        f"https://host/{'a' * 3000}/b",
    ],
)
def test_what_is_no_forges_repository(address):
    assert remote_of(address) is None


def test_owner_and_name():
    found = remote_of("git@h:group/sub/name.git")
    assert (found.owner, found.name) == ("group/sub", "name")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://token@host/a/b", "https://host/a/b"),
        ("https://user:pa@ss@host:8/a", "https://host:8/a"),
        ("ssh://git:secret@host/a", "ssh://git@host/a"),
        ("git@host:a/b.git", "git@host:a/b.git"),
        ("/srv/a@b", "/srv/a@b"),
        ("https://[::1/a", "https://[::1/a"),
    ],
)
def test_secrets_are_left_out(address, shown):
    assert without_secrets(address) == shown


@given(st.text(max_size=60))
def test_no_text_is_too_odd(text):
    remote_of(text)
    without_secrets(text)
    is_branch_name(text)


@pytest.mark.parametrize(
    "name",
    [
        *("main", "feature/x", "a.b", "-x", "@", "a..b", "a//b", "/a", "a/", "a.lock", "a b"),
        *("a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a@{b", ".a", "a/.b", "a.", "é", "a@b"),
    ],
)
def test_branches_are_those_of_git(name):
    done = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True)
    if name == "@":
        assert not is_branch_name(name)  # git reads it as HEAD there
    else:
        assert is_branch_name(name) == (done.returncode == 0)
