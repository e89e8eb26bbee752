"""Repositories, pull requests, and how long what a forge has said of one is good for. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from adapters.settings import Forge

FRESH_SECONDS = 120.0  # that an answer is good for, at least
REST_SECONDS_MAX = 3_600.0  # likewise, at most: of a branch on which nothing has happened for long
REST_SHARE = 0.1  # of the time since something happened; so a branch of an hour ago rests 6 minutes
SEARCH_SECONDS = 15.0  # between two looks for the pull request of a branch that was just pushed
SEARCHED_SECONDS = 120.0  # after the push; then the forge is asked as seldom as for the others
WITHOUT_TOKEN_SECONDS = 600.0  # until it is seen whether there is one now
FAILED_SECONDS = 300.0  # after an answer that made no sense, or none

ORIGIN_CHARACTERS_MAX = 2_000
BRANCH_CHARACTERS_MAX = 500
WORDS_CHARACTERS_MAX = 1_000  # of each text that a forge tells

_SCP = re.compile(r"(?:[\w.-]+@)?([\w.-]+|\[[0-9a-fA-F:]+\]):(?!//)(.+)")
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+){1,20}", re.ASCII)


class PullRequest(Struct, frozen=True, kw_only=True):
    """A pull request, or a merge request, as it is stored."""

    url: str
    repository: str  # in which it is: not the branch's own if that is in a fork
    number: int
    title: str
    state: str  # open, closed or merged
    draft: bool
    changes_requested: bool
    approved: bool
    additions: int
    deletions: int
    changed_files: int
    commits: int
    reviewer_count: int
    author_login: str
    author_avatar_url: str
    base_branch: str
    head_branch: str


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository at a forge, by its path there: `owner/name`, with more in between at GitLab."""

    forge: Forge
    path: str


@dataclass(frozen=True, slots=True)
class ForgeAccess:
    """A forge as one user reaches it. It is also the group that a rate limit delays."""

    forge: Forge
    token: str = field(repr=False)


class RefreshOutcome(Enum):
    """The result of asking a forge for the pull request of a branch."""

    FOUND = auto()
    NOT_FOUND = auto()
    WITHOUT_TOKEN = auto()  # the owner has none, or the forge does not take it
    FAILED = auto()


def fresh_seconds(
    outcome: RefreshOutcome,
    *,
    seconds_since_push: float | None,
    seconds_since_work: float,
    is_archived: bool,
) -> float | None:
    """Return when to ask the forge again; None: not before the chat works on the branch again.

    The more time has passed since anything happened on the branch, the longer it rests: a user with
    hundreds of chats would else spend all that a forge allows on branches that have been left.
    """
    if is_archived:
        return None
    match outcome:
        case RefreshOutcome.WITHOUT_TOKEN:
            return WITHOUT_TOKEN_SECONDS
        case RefreshOutcome.FAILED:
            return FAILED_SECONDS
        case RefreshOutcome.NOT_FOUND if (
            seconds_since_push is not None and seconds_since_push < SEARCHED_SECONDS
        ):
            return SEARCH_SECONDS
    return min(REST_SECONDS_MAX, max(FRESH_SECONDS, seconds_since_work * REST_SHARE))


def plain_origin(text: str) -> str:
    """Return the address of a remote without the user and password that it may hold. "": it is
    none, or too long to be one."""
    text = text.strip()
    if len(text) > ORIGIN_CHARACTERS_MAX or not text.isprintable() or "\\" in text:
        return ""
    if "://" not in text:
        return text if _SCP.fullmatch(text) else ""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if not host or parts.scheme not in ("http", "https", "ssh", "git"):
        return ""
    host = f"[{host}]" if ":" in host else host
    place = host if port is None else f"{host}:{port}"
    user = "git@" if parts.scheme == "ssh" and parts.username == "git" else ""
    return f"{parts.scheme}://{user}{place}{parts.path}"


def repository_of(origin: str, forges: Sequence[Forge]) -> Repository | None:
    """Return the repository that a remote's address leads to, if it is at one of these forges.

    Over ssh a forge has another port than its pages, so there only the name of the host counts.
    """
    if "://" in origin:
        parts = urlsplit(origin)
        is_web = parts.scheme in ("http", "https")
        place, path = parts.netloc.lower() if is_web else parts.hostname or "", parts.path
    elif match := _SCP.fullmatch(origin):
        is_web, place, path = False, match[1].lower(), f"/{match[2].lstrip('/')}"
    else:
        return None
    for forge in forges:
        where = urlsplit(forge.url)
        below = where.path if is_web else ""
        if place == (forge.host if is_web else where.hostname) and path.startswith(f"{below}/"):
            found = path.removeprefix(f"{below}/").rstrip("/").removesuffix(".git")
            return Repository(forge, found) if is_repository_path(found) else None
    return None


def is_repository_path(path: str) -> bool:
    """Return whether this can be the path of a repository: two names or more, none of them dots."""
    return bool(_PATH.fullmatch(path)) and not any(name in (".", "..") for name in path.split("/"))


def is_branch(name: str) -> bool:
    return 0 < len(name) <= BRANCH_CHARACTERS_MAX and name.isprintable() and " " not in name


def words(value: Any) -> str:
    """Return a text that a forge has told, as it can be stored; "" for anything else."""
    if not isinstance(value, str):
        return ""
    return "".join(filter(str.isprintable, value[:WORDS_CHARACTERS_MAX]))


def count(value: Any) -> int:
    """Return a number that a forge has told; 0 for anything else."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return min(value, 2**31 - 1) if is_number and value > 0 else 0


def web_address(value: Any) -> str:
    """Return an address of a page or a picture, which browsers will follow; "" for another one."""
    text = words(value)
    return text if text.startswith(("https://", "http://")) else ""
