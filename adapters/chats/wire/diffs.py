"""Pull requests and branches of chats as their clients see them. Pure."""

from datetime import datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType, structs

from adapters.chats.overview_rows import DiffState


class ChatDiffStatus(Struct, frozen=True, kw_only=True):
    """The pull request of the branch that a chat works on, as far as its forge has told of it."""

    chat_id: UUID
    url: str | UnsetType = UNSET
    pull_request_state: str | UnsetType = UNSET  # open, closed or merged
    pull_request_title: str = ""
    pull_request_draft: bool = False
    changes_requested: bool = False
    additions: int = 0
    deletions: int = 0
    changed_files: int = 0
    author_login: str | UnsetType = UNSET
    author_avatar_url: str | UnsetType = UNSET
    base_branch: str | UnsetType = UNSET
    head_branch: str | UnsetType = UNSET
    pr_number: int | UnsetType = UNSET
    commits: int | UnsetType = UNSET
    approved: bool | UnsetType = UNSET
    reviewer_count: int | UnsetType = UNSET
    refreshed_at: datetime | UnsetType = UNSET
    stale_at: datetime | UnsetType = UNSET


class ChatDiffContents(Struct, frozen=True, kw_only=True):
    """The changes of a chat's pull request, or of its branch if there is none."""

    chat_id: UUID
    provider: str | UnsetType = UNSET  # github or gitlab
    remote_origin: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    pull_request_url: str | UnsetType = UNSET
    diff: str | UnsetType = UNSET  # as git writes it


def diff_status_of(chat: UUID, diff: DiffState | None) -> ChatDiffStatus:
    """Return the diff status of a chat; one with nothing in it if nothing is known."""
    if diff is None:
        return ChatDiffStatus(chat_id=chat)
    found = diff.pull_request
    status = ChatDiffStatus(
        chat_id=chat,
        head_branch=diff.branch,
        refreshed_at=diff.refreshed_at or UNSET,
        stale_at=diff.stale_at or UNSET,
    )
    if found is None:
        return status
    return structs.replace(
        status,
        url=found.url or UNSET,
        pull_request_state=found.state,
        pull_request_title=found.title,
        pull_request_draft=found.draft,
        changes_requested=found.changes_requested,
        additions=found.additions,
        deletions=found.deletions,
        changed_files=found.changed_files,
        author_login=found.author_login or UNSET,
        author_avatar_url=found.author_avatar_url or UNSET,
        base_branch=found.base_branch or UNSET,
        head_branch=found.head_branch or diff.branch,
        pr_number=found.number,
        commits=found.commits,
        approved=found.approved,
        reviewer_count=found.reviewer_count,
    )
