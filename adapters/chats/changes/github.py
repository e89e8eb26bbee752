"""Pull requests as GitHub's REST API tells of them."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from adapters.chats.changes.forge_client import ForgeClient, ForgeRefused, fields, rows
from adapters.chats.changes.pull_requests import (
    ForgeAccess,
    PullRequest,
    count,
    is_repository_path,
    web_address,
    words,
)

PAGE_MAX = 100
REVIEW_PAGES_MAX = 3  # the reviews behind them are not counted
DIFF_BYTES_MAX = 3 * 1024 * 1024
DIFF = "application/vnd.github.diff"


class GitHub:
    """Fulfils `adapters.chats.changes.forge_apis.ForgeApi`."""

    def __init__(self, client: ForgeClient) -> None:
        self._client = client

    async def find(self, access: ForgeAccess, path: str, branch: str) -> PullRequest | None:
        """Return the pull request of a branch: in its repository, or in the one that it is a fork
        of. ForgeRefused: the token shows no such repository."""
        owner = path.partition("/")[0]
        found = await self._newest(access, path, owner, branch)
        if found is None:
            about = await self._about(access, path)
            parent = words(fields(about.get("parent")).get("full_name"))
            if not parent or not is_repository_path(parent):
                return None
            path = parent
            found = await self._newest(access, path, owner, branch)
        return None if found is None else await self._whole(access, path, count(found["number"]))

    async def diff(self, access: ForgeAccess, found: PullRequest) -> str | None:
        return await self._diff(access, f"/repos/{found.repository}/pulls/{found.number}")

    async def compare(self, access: ForgeAccess, path: str, branch: str) -> str | None:
        """Return how a branch differs from the repository's main one; None: it is not there."""
        base = words((await self._about(access, path)).get("default_branch"))
        span = f"{quote(base, safe='')}...{quote(branch, safe='')}"
        return await self._diff(access, f"/repos/{path}/compare/{span}") if base else None

    async def _diff(self, access: ForgeAccess, path: str) -> str | None:
        answer = await self._client.get(access, path, accept=DIFF, bytes_max=DIFF_BYTES_MAX)
        return None if answer is None else answer.body.decode(errors="replace")

    async def _about(self, access: ForgeAccess, path: str) -> Mapping[str, Any]:
        about = await self._client.document(access, f"/repos/{path}")
        if about is None:
            raise ForgeRefused(f"the token shows no repository {path} at {access.forge.host}")
        return fields(about)

    async def _newest(
        self, access: ForgeAccess, path: str, owner: str, branch: str
    ) -> Mapping[str, Any] | None:
        """Return the pull request of a branch that is open, or else the one that was touched
        last."""
        head = quote(f"{owner}:{branch}", safe="")
        query = f"head={head}&state=all&sort=updated&direction=desc&per_page=10"
        listed = rows(await self._client.document(access, f"/repos/{path}/pulls?{query}"))
        # A server that does not know the filter lists them all.
        own = [row for row in listed if fields(row.get("head")).get("ref") == branch]
        return next((row for row in own if row.get("state") == "open"), own[0] if own else None)

    async def _whole(self, access: ForgeAccess, path: str, number: int) -> PullRequest | None:
        at = f"/repos/{path}/pulls/{number}"
        found = await self._client.document(access, at)
        if found is None:
            return None
        reviews: list[Mapping[str, Any]] = []
        for page in range(1, REVIEW_PAGES_MAX + 1):
            query = f"per_page={PAGE_MAX}&page={page}"
            found_here = rows(await self._client.document(access, f"{at}/reviews?{query}"))
            reviews += found_here
            if len(found_here) < PAGE_MAX:
                break
        return pull_request_of(fields(found), reviews, repository=path)


def pull_request_of(
    found: Mapping[str, Any], reviews: Sequence[Mapping[str, Any]], *, repository: str
) -> PullRequest:
    """Return the pull request that GitHub tells of. Pure.

    The last verdict of each reviewer counts. One that asks for changes outweighs all approvals.
    """
    author, verdicts = fields(found.get("user")), dict[str, str]()
    for review in reviews:
        who, state = words(fields(review.get("user")).get("login")), words(review.get("state"))
        if who and who != author.get("login"):
            verdicts.setdefault(who, "")
            if state in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
                verdicts[who] = state
    is_merged = found.get("merged") is True or found.get("merged_at") is not None
    refused = "CHANGES_REQUESTED" in verdicts.values()
    return PullRequest(
        url=web_address(found.get("html_url")),
        repository=repository,
        number=count(found.get("number")),
        title=words(found.get("title")),
        state="merged" if is_merged else "open" if found.get("state") == "open" else "closed",
        draft=found.get("draft") is True,
        changes_requested=refused,
        approved=not refused and "APPROVED" in verdicts.values(),
        additions=count(found.get("additions")),
        deletions=count(found.get("deletions")),
        changed_files=count(found.get("changed_files")),
        commits=count(found.get("commits")),
        reviewer_count=len(verdicts),
        author_login=words(author.get("login")),
        author_avatar_url=web_address(author.get("avatar_url")),
        base_branch=words(fields(found.get("base")).get("ref")),
        head_branch=words(fields(found.get("head")).get("ref")),
    )
