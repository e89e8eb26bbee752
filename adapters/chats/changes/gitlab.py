"""Merge requests as GitLab's REST API tells of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from adapters.chats.changes.forge_client import (
    ForgeClient,
    ForgeFailed,
    ForgeRefused,
    fields,
    rows,
)
from adapters.chats.changes.pull_requests import (
    ForgeAccess,
    PullRequest,
    count,
    is_repository_path,
    web_address,
    words,
)

PAGE_MAX = 100
PAGES_MAX = 5  # of changed files and commits; those behind them are not counted
DIFF_CHARACTERS_MAX = 3 * 1024 * 1024  # of a whole diff; a longer one is refused
STATES = {"opened": "open", "locked": "open", "merged": "merged", "closed": "closed"}


class GitLab:
    """Fulfils `adapters.chats.changes.forge_apis.ForgeApi`."""

    def __init__(self, client: ForgeClient) -> None:
        self._client = client

    async def find(self, access: ForgeAccess, path: str, branch: str) -> PullRequest | None:
        """Return the merge request of a branch: in its project, or in the one that it is a fork of.
        ForgeRefused: the token shows no such project."""
        about = await self._about(access, path)
        found = await self._newest(access, path, branch, source=count(about.get("id")))
        if found is None:
            path = words(fields(about.get("forked_from_project")).get("path_with_namespace"))
            if not path or not is_repository_path(path):
                return None
            found = await self._newest(access, path, branch, source=count(about.get("id")))
        return None if found is None else await self._whole(access, path, count(found["iid"]))

    async def diff(self, access: ForgeAccess, found: PullRequest) -> str | None:
        at = f"{_project(found.repository)}/merge_requests/{found.number}"
        return _joined(await self._pages(access, f"{at}/diffs"))

    async def compare(self, access: ForgeAccess, path: str, branch: str) -> str | None:
        """Return how a branch differs from the project's main one; None: it is not there."""
        base = words((await self._about(access, path)).get("default_branch"))
        if not base:
            return None
        span = f"from={quote(base, safe='')}&to={quote(branch, safe='')}"
        at = f"{_project(path)}/repository/compare?{span}"
        found = await self._client.document(access, at)
        return None if found is None else _joined(rows(fields(found).get("diffs")))

    async def _about(self, access: ForgeAccess, path: str) -> Mapping[str, Any]:
        about = await self._client.document(access, _project(path))
        if about is None:
            raise ForgeRefused(f"the token shows no project {path} at {access.forge.host}")
        return fields(about)

    async def _newest(
        self, access: ForgeAccess, path: str, branch: str, *, source: int
    ) -> Mapping[str, Any] | None:
        """Return the merge request of a branch that is open, or else the one that was touched last.

        Other forks may have a branch of this name, so its project is looked at, too.
        """
        query = f"source_branch={quote(branch, safe='')}&order_by=updated_at&per_page=20"
        at = f"{_project(path)}/merge_requests?state=all&{query}"
        own = [
            row
            for row in rows(await self._client.document(access, at))
            if row.get("source_branch") == branch and row.get("source_project_id") == source
        ]
        return next((row for row in own if row.get("state") == "opened"), own[0] if own else None)

    async def _whole(self, access: ForgeAccess, path: str, number: int) -> PullRequest | None:
        at = f"{_project(path)}/merge_requests/{number}"
        found = await self._client.document(access, at)
        if found is None:
            return None
        approvals = fields(await self._client.document(access, f"{at}/approvals"))
        commits = await self._pages(access, f"{at}/commits")
        files = await self._pages(access, f"{at}/diffs")
        return merge_request_of(
            fields(found), approvals, commits=len(commits), files=files, repository=path
        )

    async def _pages(self, access: ForgeAccess, path: str) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = []
        for page in range(1, PAGES_MAX + 1):
            query = f"per_page={PAGE_MAX}&page={page}"
            found_here = rows(await self._client.document(access, f"{path}?{query}"))
            found += found_here
            if len(found_here) < PAGE_MAX:
                break
        return found


def merge_request_of(
    found: Mapping[str, Any],
    approvals: Mapping[str, Any],
    *,
    commits: int,
    files: Sequence[Mapping[str, Any]],
    repository: str,
) -> PullRequest:
    """Return the merge request that GitLab tells of. Pure.

    It is approved when GitLab says so *and* a person has approved it: without a rule GitLab calls
    every merge request approved. Lines are counted here, since GitLab does not count them.
    """
    author = fields(found.get("author"))
    given = rows(approvals.get("approved_by"))
    approvers = {words(fields(row.get("user")).get("username")) for row in given} - {""}
    reviewers = {words(row.get("username")) for row in rows(found.get("reviewers"))} - {""}
    refused = found.get("detailed_merge_status") == "requested_changes"
    added, deleted = _counted(words_of for row in files for words_of in _lines(row))
    return PullRequest(
        url=web_address(found.get("web_url")),
        repository=repository,
        number=count(found.get("iid")),
        title=words(found.get("title")),
        state=STATES.get(words(found.get("state")), "closed"),
        draft=found.get("draft") is True or found.get("work_in_progress") is True,
        changes_requested=refused,
        approved=not refused and bool(approvers) and approvals.get("approved") is not False,
        additions=added,
        deletions=deleted,
        changed_files=len(files),
        commits=commits,
        reviewer_count=len(reviewers | approvers),
        author_login=words(author.get("username")),
        author_avatar_url=web_address(author.get("avatar_url")),
        base_branch=words(found.get("target_branch")),
        head_branch=words(found.get("source_branch")),
    )


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    diff = row.get("diff")
    yield from diff.splitlines() if isinstance(diff, str) else ()


def _counted(lines: Iterable[str]) -> tuple[int, int]:
    added = deleted = 0
    for line in lines:
        added += line.startswith("+")
        deleted += line.startswith("-")
    return added, deleted


def _joined(files: Iterable[Mapping[str, Any]]) -> str:
    """Return the changes of files, which GitLab tells one by one, as one diff in git's form."""
    pieces: list[str] = []
    size = 0
    for row in files:
        pieces.append(_diff_of(row))
        size += len(pieces[-1])
        if size > DIFF_CHARACTERS_MAX:
            raise ForgeFailed(f"the diff has more than {DIFF_CHARACTERS_MAX} characters")
    return "".join(pieces)


def _diff_of(row: Mapping[str, Any]) -> str:
    old, new = words(row.get("old_path")), words(row.get("new_path"))
    head = [f"diff --git a/{old} b/{new}"]
    is_new, is_gone = row.get("new_file") is True, row.get("deleted_file") is True
    if is_new:
        head.append(f"new file mode {words(row.get('b_mode'))}")
    elif is_gone:
        head.append(f"deleted file mode {words(row.get('a_mode'))}")
    elif old != new:
        head += [f"rename from {old}", f"rename to {new}"]
    body = "\n".join(_lines(row))
    if body:
        head.append("--- /dev/null" if is_new else f"--- a/{old}")
        head.append("+++ /dev/null" if is_gone else f"+++ b/{new}")
    return "\n".join([*head, *([body] if body else [])]) + "\n"


def _project(path: str) -> str:
    return f"/projects/{quote(path, safe='')}"
