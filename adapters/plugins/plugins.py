"""All plugins of this process: loaded as it starts, watched while it runs, ended with it.

A plugin that cannot be loaded is named in the log and in `doctor`, and the daemon starts without
it.
"""

import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution

import trio

from adapters.plugins.calls import PluginFault, PluginStatistics, words_of
from adapters.plugins.loading import (
    CannotLoad,
    PluginParts,
    canonical_name,
    clash,
    installed_plugins,
    load,
    modules_of,
)
from adapters.plugins.loop import LEAVE_SECONDS, PluginLoop
from runtime.children import Child, open_children
from runtime.clock import now
from runtime.restart import Restart
from runtime.scope import CausedScope

CHECK_SECONDS = 0.25  # between two looks at the loops of plugins
NO_PARTS = PluginParts()
NOT_INSTALLED = "is not installed: install it in the environment of promptcorner"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A plugin that was named in the settings; one that was not loaded brings nothing."""

    loop: PluginLoop
    parts: PluginParts

    @property
    def name(self) -> str:
        return self.loop.name


class Plugins:
    """All plugins that the settings name. Made by `open_plugins`."""

    def __init__(self, plugins: Sequence[Plugin] = ()) -> None:
        self.all = plugins

    def __iter__(self) -> Iterator[Plugin]:
        return iter(self.all)

    @property
    def all_loaded(self) -> bool:
        """Tell whether every plugin that was named has been loaded."""
        return all(plugin.parts is not NO_PARTS for plugin in self.all)

    def statistics(self) -> Mapping[str, PluginStatistics]:
        """Return the statistics of each plugin by its name."""
        return {plugin.name: plugin.loop.statistics() for plugin in self.all}


NO_PLUGINS = Plugins()


@asynccontextmanager
async def open_plugins(names: Sequence[str]) -> AsyncIterator[Plugins]:
    """Load the plugins of these names, and keep them as long as the block runs. A plugin that
    cannot be loaded is left out; nothing is raised for it."""
    if not names:
        yield NO_PLUGINS
        return
    found = installed_plugins()
    wanted = [
        (_loop(name, found.get(name)), found.get(name))
        for name in dict.fromkeys(map(canonical_name, names))
    ]
    try:
        plugins = await _loaded(wanted)
        async with open_children("plugins", capacity=1) as children:
            watch = partial(_watch, plugins)
            children.start(Child(name="watch", body=watch, restart=Restart()))
            yield Plugins(plugins)
    finally:
        with CausedScope(seconds=2 * LEAVE_SECONDS, shield=True):
            async with trio.open_nursery() as together:
                for loop, _ in wanted:
                    together.start_soon(loop.end)


def _loop(name: str, distribution: Distribution | None) -> PluginLoop:
    loop = PluginLoop(name, "" if distribution is None else distribution.version)
    if distribution is not None:
        loop.modules = modules_of(distribution)
    return loop


async def _loaded(wanted: Sequence[tuple[PluginLoop, Distribution | None]]) -> Sequence[Plugin]:
    """Load all at once: one that takes long does not hold up the others."""
    parts: dict[str, PluginParts] = {}

    async def load_one(loop: PluginLoop, distribution: Distribution) -> None:
        try:
            parts[loop.name] = await loop.load(partial(load, distribution))
        except (CannotLoad, PluginFault) as fault:
            loop.fail(str(fault))
        except Exception as error:  # noqa: BLE001  the plugin's own code raised it
            loop.fail(f"could not be imported: {words_of(error)}", error)

    async with trio.open_nursery() as together:
        for loop, distribution in wanted:
            if distribution is None:
                loop.fail(NOT_INSTALLED)
            else:
                together.start_soon(load_one, loop, distribution)
    plugins: list[Plugin] = []
    for loop, _ in wanted:
        brought = parts.get(loop.name, NO_PARTS)
        if why := clash(brought, [plugin.parts for plugin in plugins]):
            loop.fail(why)
            brought = NO_PARTS
        plugins.append(Plugin(loop, brought))
        if brought is not NO_PARTS:
            loop.begin_serving(str(brought))
    return plugins


async def _watch(plugins: Sequence[Plugin]) -> None:
    """Look at every plugin's loop, again and again, until cancelled."""
    computed = time.process_time()
    while True:
        began, before = now(), computed
        await trio.sleep(CHECK_SECONDS)
        late_seconds, computed = now() - began - CHECK_SECONDS, time.process_time()
        for plugin in plugins:
            plugin.loop.check(late_seconds, computed - before)


def unused_plugins(names: Sequence[str]) -> Mapping[str, str]:
    """Return the versions of the plugins that are installed and not among these names."""
    used = set(map(canonical_name, names))
    found = installed_plugins()
    return {name: found[name].version for name in sorted(found) if name not in used}
