"""The wiring of what forges tell: the client, the refresher, the finder of branches."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from actors.law.store.ports import Bus
from adapters.chats.changes.branches import BranchFinder
from adapters.chats.changes.forge_apis import ForgeApi, forge_apis
from adapters.chats.changes.forge_client import ForgeClient
from adapters.chats.changes.git_gate.gates import GitGates, open_gates
from adapters.chats.changes.refresher import Refresher
from adapters.chats.changes.store import BranchStore, ForgeTokenStore
from adapters.models.providers.http import HttpClient
from adapters.postgres.driver.pool import Pool
from adapters.settings import Config, Forge
from adapters.settings.forges import ForgeKind
from adapters.settings.secrets import Vault
from adapters.tools.mcp.oauth.guard import guarded_dial
from adapters.workspaces.local import LocalWorkspaces
from runtime.children import Child, open_children
from runtime.restart import Restart

GATES = "gates"  # a directory in the data directory


@dataclass(frozen=True, slots=True)
class ForgeParts:
    """The parts that know forges, as routes use them."""

    forges: Sequence[Forge]
    apis: Mapping[ForgeKind, ForgeApi]
    branches: BranchStore
    tokens: ForgeTokenStore
    refresher: Refresher
    finder: BranchFinder
    client: HttpClient
    gates: GitGates

    def statistics(self) -> Mapping[str, Any]:
        return {
            "git_gates": self.gates.statistics(),
            "pull_requests": self.refresher.statistics(),
            "branches": self.finder.statistics(),
        }


@asynccontextmanager
async def open_forges(
    config: Config, pool: Pool, bus: Bus, vault: Vault, workspaces: LocalWorkspaces
) -> AsyncIterator[ForgeParts]:
    """Follow the branches of chats at their forges for the length of the block. Where no forge is
    set up, nothing runs."""
    dial = guarded_dial(tuple(config.private_networks))
    client = HttpClient(dial)
    apis = forge_apis(ForgeClient(client))
    branches = BranchStore(pool, tell=bus.tell)
    refresher = Refresher(branches, apis, vault, config.forges)
    finder = BranchFinder(workspaces, branches, config.forges)
    tokens = ForgeTokenStore(pool, tell=bus.tell)
    top = workspaces.directory.parent / GATES
    try:
        async with (
            open_gates(top, tokens, finder, vault, config.forges, dial=dial, bus=bus) as gates,
            open_children("forges", capacity=2) as children,
        ):
            parts = ForgeParts(
                config.forges, apis, branches, tokens, refresher, finder, client, gates
            )
            if not config.forges:
                yield parts
                return
            children.start(Child(name="pull requests", body=refresher.run, restart=Restart()))
            children.start(Child(name="branches", body=finder.run, restart=Restart()))
            with workspaces.table.follow_ends(finder.note_end):
                workspaces.gates = gates
                yield parts
    finally:
        await client.aclose()
