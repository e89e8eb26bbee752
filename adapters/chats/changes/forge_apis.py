"""The forges that are known: what is asked of each, and which kind speaks which API."""

from collections.abc import Mapping
from typing import Protocol

from adapters.chats.changes.forge_client import ForgeClient
from adapters.chats.changes.github import GitHub
from adapters.chats.changes.gitlab import GitLab
from adapters.chats.changes.pull_requests import ForgeAccess, PullRequest
from adapters.settings.forges import ForgeKind


class ForgeApi(Protocol):
    """The questions that forges are asked. Each may raise ForgeFailed, ForgeLimited and
    ForgeRefused."""

    async def find(self, access: ForgeAccess, path: str, branch: str) -> PullRequest | None:
        """Return the pull request of a branch, or None if it has none."""
        ...

    async def diff(self, access: ForgeAccess, found: PullRequest) -> str | None:
        """Return the changes of a pull request, or None if it is gone."""
        ...

    async def compare(self, access: ForgeAccess, path: str, branch: str) -> str | None:
        """Return how a branch differs from the main one, or None if it is not there."""
        ...


def forge_apis(client: ForgeClient) -> Mapping[ForgeKind, ForgeApi]:
    """Return the API of each kind of forges."""
    return {"github": GitHub(client), "gitlab": GitLab(client)}
