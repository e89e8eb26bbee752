"""The policy hooks, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from actors.tools.hooks.port import NO_HOOKS, NoHooks
from adapters.models.providers.dial import Dial
from adapters.people.store.deployment import read_deployment
from adapters.postgres.driver.pool import Pool
from adapters.settings import Config
from adapters.tools.hooks.dispatcher import HookDispatcher, HookEndpoint, HookFigures


@asynccontextmanager
async def open_hooks(
    config: Config, dial: Dial, pool: Pool, figures: HookFigures
) -> AsyncIterator[HookDispatcher | NoHooks]:
    """Open the policy hooks for the length of the block, if a server of them is set."""
    if config.hook_url is None or config.hook_secret is None:
        yield NO_HOOKS
        return

    async def deployment() -> UUID:
        return (await read_deployment(pool)).id

    endpoint = HookEndpoint(config.hook_url, config.hook_secret, config.hook_timeout)
    hooks = HookDispatcher(endpoint, dial, deployment=deployment, figures=figures)
    try:
        yield hooks
    finally:
        await hooks.aclose()
