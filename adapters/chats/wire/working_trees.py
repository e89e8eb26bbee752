"""The messages of the stream about a workspace's repositories, as clients see them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from adapters.workspaces.git.looking import RepositoryGone, TreeNews, WorkingTree


class GitRepository(Struct, frozen=True, kw_only=True):
    """A repository that has changed. Without a diff nothing differs from the last commit."""

    repo_root: str
    branch: str
    remote_origin: str | UnsetType = UNSET
    unified_diff: str | UnsetType = UNSET
    removed: bool | UnsetType = UNSET


class GitWatchMessage(Struct, frozen=True, kw_only=True):
    """The news of one look: repositories that differ from what was told before, or nothing new."""

    type: Literal["changes", "error"]
    scanned_at: datetime | UnsetType = UNSET
    repositories: tuple[GitRepository, ...] | UnsetType = UNSET
    message: str | UnsetType = UNSET


class GitWatchRequest(Struct, frozen=True):
    """A client's message: "refresh" is a wish for a look now. Other types say nothing here."""

    type: str


def messages_of(news: TreeNews) -> Iterator[GitWatchMessage]:
    """Yield the messages of one look. If it has found nothing new, one without repositories."""
    told = tuple(_repository(root, found) for root, found in sorted(news.repositories.items()))
    if told or not news.troubles:
        yield GitWatchMessage(
            type="changes", scanned_at=news.scanned_at, repositories=told or UNSET
        )
    for trouble in news.troubles:
        yield GitWatchMessage(type="error", scanned_at=news.scanned_at, message=trouble)


def _repository(root: str, found: WorkingTree | RepositoryGone) -> GitRepository:
    if isinstance(found, RepositoryGone):
        return GitRepository(repo_root=root, branch="", removed=True)
    return GitRepository(
        repo_root=root,
        branch=found.branch,
        remote_origin=found.remote_origin or UNSET,
        unified_diff=found.unified_diff or UNSET,
    )


encode_message = msgspec.json.Encoder().encode
read_request = msgspec.json.Decoder(GitWatchRequest).decode
