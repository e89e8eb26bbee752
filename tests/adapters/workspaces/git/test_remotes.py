"""Addresses of remotes are shown without what is nobody's business."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.workspaces.git.remotes import without_secrets


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://token@host/a/b", "https://host/a/b"),
        ("https://user:pa@ss@host:8/a", "https://host:8/a"),
        ("ssh://git:secret@host/a", "ssh://git@host/a"),
        ("helper::https://user:token@host/a", "helper::https://host/a"),
        ("a::" * 2_000 + "https://token@host/a", "a::" * 2_000 + "https://host/a"),
        ("git@host:a/b.git", "git@host:a/b.git"),
        ("/srv/a@b", "/srv/a@b"),
        ("https://[::1/a", "https://[::1/a"),
    ],
)
def test_secrets_are_left_out(address, shown):
    assert without_secrets(address) == shown


@given(st.text(max_size=60))
def test_no_text_is_too_odd(text):
    without_secrets(text)
