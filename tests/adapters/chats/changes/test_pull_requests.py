"""Addresses of remotes, and how long an answer is good for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chats.changes.forge_client import LIMIT_SECONDS_MAX, ForgeAnswer, limit_seconds
from adapters.chats.changes.gitlab import _joined
from adapters.chats.changes.pull_requests import (
    REST_SECONDS_MAX,
    RefreshOutcome,
    fresh_seconds,
    is_branch,
    plain_origin,
    repository_of,
)
from adapters.settings.forges import Forges
from adapters.settings.kinds import InvalidValue

FORGES = Forges().read(
    "github=https://github.com,gitlab=https://git.test:8443/lab,gitlab=https://gitlab.com"
)

ORIGINS = {
    "https://github.com/ann/tools.git": ("github.com", "ann/tools"),
    "https://github.com/ann/tools": ("github.com", "ann/tools"),
    "https://ann:secret@github.com/ann/tools.git": ("github.com", "ann/tools"),
    "HTTPS://GitHub.com/ann/tools/": ("github.com", "ann/tools"),
    "git@github.com:ann/tools.git": ("github.com", "ann/tools"),
    "github.com:ann/tools": ("github.com", "ann/tools"),
    "ssh://git@github.com:22/ann/tools.git": ("github.com", "ann/tools"),
    "git@gitlab.com:group/sub/tools.git": ("gitlab.com", "group/sub/tools"),
    "https://git.test:8443/lab/ann/tools.git": ("git.test:8443", "ann/tools"),
    "ssh://git@git.test:2222/ann/tools.git": ("git.test:8443", "ann/tools"),
    "https://git.test/lab/ann/tools.git": None,
    "https://git.test:8443/ann/tools.git": None,
    "https://elsewhere.test/ann/tools.git": None,
    "https://github.com.evil.test/ann/tools": None,
    "https://github.com/tools": None,
    "https://github.com/../ann/tools": None,
    "https://github.com/ann/..": None,
    "https://github.com/ann/tools?x=y": ("github.com", "ann/tools"),
    "/srv/git/tools.git": None,
    "file:///srv/git/tools.git": None,
    "": None,
    "https://[broken": None,
    "git@github.com:ann/to ols": None,
    "ext::sh -c evil": None,
}


@pytest.mark.parametrize("text", ORIGINS)
def test_the_repository_that_a_remote_leads_to(text):
    found = repository_of(plain_origin(text), FORGES)

    assert ORIGINS[text] == (found and (found.forge.host, found.path))


@pytest.mark.parametrize(
    "text",
    ["https://ann:secret@github.com/ann/tools", "https://secret@h/a/b", "ssh://ann:secret@h/a/b"],
)
def test_what_is_secret_in_an_address_is_left_out(text):
    assert "secret" not in plain_origin(text)


@given(st.text())
def test_no_text_makes_reading_an_address_fail(text):
    origin = plain_origin(text)

    assert plain_origin(origin) == origin or not origin
    repository_of(origin, FORGES)
    is_branch(text)


@given(
    st.sampled_from(RefreshOutcome),
    st.none() | st.floats(0, 1e9),
    st.floats(0, 1e9),
    st.booleans(),
)
def test_an_answer_is_good_for_some_time_and_never_for_ever(outcome, push, work, archived):
    seconds = fresh_seconds(
        outcome, seconds_since_push=push, seconds_since_work=work, is_archived=archived
    )

    assert archived == (seconds is None)
    assert seconds is None or 15 <= seconds <= REST_SECONDS_MAX


@given(
    st.sampled_from([200, 403, 429, 500]),
    st.dictionaries(
        st.sampled_from(
            ["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-reset"]
        ),
        st.sampled_from(["0", "1", "60", "-5", "1e999", "nan", "", "x", "99999999999"])
        | st.just("Wed, 21 Oct 2015 07:28:00 GMT"),
    ),
)
def test_a_limit_is_within_its_bounds_whatever_a_forge_says(status, headers):
    seconds = limit_seconds(ForgeAnswer(status, headers, b""), now=1_000.0)

    assert seconds is None or 1 <= seconds <= LIMIT_SECONDS_MAX
    assert status != 429 or seconds is not None
    assert status in (403, 429) or seconds is None


def test_a_date_says_how_long_to_wait():
    headers = {"retry-after": "Thu, 01 Jan 1970 00:10:00 GMT"}

    assert 100 == limit_seconds(ForgeAnswer(429, headers, b""), now=500.0)


def test_gitlabs_changes_of_files_are_one_diff_of_git():
    rows = [
        {"old_path": "a", "new_path": "a", "diff": "@@ -1 +1 @@\n-x\n+y\n"},
        {"old_path": "n", "new_path": "n", "new_file": True, "b_mode": "100644", "diff": "@@\n+z"},
        {"old_path": "d", "new_path": "d", "deleted_file": True, "a_mode": "100644", "diff": ""},
        {"old_path": "o", "new_path": "p", "renamed_file": True, "diff": ""},
    ]

    assert (
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n"
        "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@\n+z\n"
        "diff --git a/d b/d\ndeleted file mode 100644\n"
        "diff --git a/o b/p\nrename from o\nrename to p\n"
    ) == _joined(rows)


SETTINGS = {
    "github=https://github.com": [("github", "github.com", "https://api.github.com")],
    "github=https://git.corp.test/": [("github", "git.corp.test", "https://git.corp.test/api/v3")],
    "gitlab=https://gitlab.com": [("gitlab", "gitlab.com", "https://gitlab.com/api/v4")],
    "gitlab=http://h:81/lab|https://api.h": [("gitlab", "h:81", "https://api.h")],
    "none": [],
}


@pytest.mark.parametrize("text", SETTINGS)
def test_forges_as_they_are_set(text):
    assert SETTINGS[text] == [(f.kind, f.host, f.api) for f in Forges().read(text)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "github",
        "gitea=https://h",
        "github=h",
        "github=https://user:secret@h",
        "github=https://h|",
        "github=https://h|api",
        "github=https://h,gitlab=https://h",
        "github=https://h,",
    ],
)
def test_forges_that_cannot_be_set(text):
    with pytest.raises(InvalidValue):
        Forges().read(text)
