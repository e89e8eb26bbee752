"""Distributions that bring plugins, and what is loaded of them.

A plugin is a distribution with entry points in our groups. Nothing of it is imported before its
name stands in the setting `plugins`. What an entry point names is one object or several of the kind
that its group says; of a provider and an identity source it may also be the class.
"""

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Any

from actors.law.parts.json_text import is_object
from actors.law.parts.vendors import PLUGIN, VENDORS
from actors.tools.gating import KINDS_BY_TOOL
from promptcorner.ext import (
    API_VERSION,
    IdentitySource,
    ModelProvider,
    PluginModel,
    PluginTool,
)
from promptcorner.ext.arguments import UnreadableSignature
from promptcorner.ext.providers import COUNT_MAX, NAME_CHARACTERS_MAX, PROVIDER_NAME
from promptcorner.ext.tools import check_facts
from runtime.log import emit

GROUPS: Mapping[str, type] = {
    "promptcorner.tools": PluginTool,
    "promptcorner.providers": ModelProvider,
    "promptcorner.identity": IdentitySource,
}
API_VERSIONS_SERVED = (API_VERSION,)
VERSION_NAME = "PROMPTCORNER_API"
OWN_PROVIDERS = frozenset({"rehearsal", *(vendor.type for vendor in (*VENDORS, PLUGIN))})
# Of one plugin; one that brings more is not loaded.
TOOLS_MAX = 128
PROVIDERS_MAX = 16
MODELS_MAX = 128  # of one provider
SOURCES_MAX = 8


class CannotLoad(Exception):
    """Says why a plugin is not loaded, and what can be done about it."""


@dataclass(frozen=True, slots=True)
class PluginParts:
    """The objects that a plugin brings."""

    tools: tuple[PluginTool, ...] = ()
    providers: tuple[ModelProvider, ...] = ()
    sources: tuple[IdentitySource, ...] = ()

    def __str__(self) -> str:
        tools = ", ".join(tool.name for tool in self.tools)
        models = ", ".join(f"{p.name}/{m.name}" for p in self.providers for m in p.models)
        named = (("tools", tools), ("models", models))
        words = [f"{kind} {names}" for kind, names in named if names]
        if self.sources:
            words.append("an identity source" if len(self.sources) == 1 else "identity sources")
        return "; ".join(words)


def canonical_name(name: str) -> str:
    """Return the name of a distribution as every tool compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_plugins() -> dict[str, Distribution]:
    """Return the installed distributions with entry points in our groups, by canonical name. One
    whose files cannot be read is passed over: mostly it is no plugin at all."""
    found: dict[str, Distribution] = {}
    for distribution in distributions():
        try:
            if not any(point.group in GROUPS for point in distribution.entry_points):
                continue
            name = canonical_name(distribution.metadata["Name"] or "")
        except Exception as error:  # noqa: BLE001  of whatever kind its files call for
            emit("plugin.unreadable", "warning", distribution=_place(distribution), error=error)
            continue
        found.setdefault(name, distribution)  # the first on the path is what is imported
    return found


def _place(distribution: Distribution) -> str:
    """Return where a distribution whose name may be unreadable lies, as far as that is told."""
    return str(getattr(distribution, "_path", "unknown"))


def modules_of(distribution: Distribution) -> frozenset[str]:
    """Return the top-level packages in which the entry points of a plugin lie."""
    return frozenset(point.module.partition(".")[0] for point in _points(distribution))


def load(distribution: Distribution) -> PluginParts:
    """Import a plugin and check what it brings. To be called in the plugin's own thread. Beside
    `CannotLoad`, anything may be raised that the plugin's own code raises."""
    found: dict[type, list[Any]] = {kind: [] for kind in GROUPS.values()}
    for point in _points(distribution):
        kind = GROUPS[point.group]
        module = importlib.import_module(point.module)
        _check_version(module)
        found[kind].extend(_objects(point, kind))
    parts = PluginParts(
        tuple(found[PluginTool]), tuple(found[ModelProvider]), tuple(found[IdentitySource])
    )
    if fault := next(_faults(parts), None):
        raise CannotLoad(fault)
    return parts


def clash(parts: PluginParts, others: Sequence[PluginParts]) -> str | None:
    """Return why a plugin cannot be used beside those that were loaded before it, or None."""
    tools = {tool.name for each in others for tool in each.tools}
    providers = {provider.name for each in others for provider in each.providers}
    for tool in parts.tools:
        if tool.name in tools:
            return f"another plugin has a tool {tool.name}, too"
    for provider in parts.providers:
        if provider.name in providers:
            return f"another plugin has a provider {provider.name}, too"
    return None


def _points(distribution: Distribution) -> Sequence[EntryPoint]:
    return [point for point in distribution.entry_points if point.group in GROUPS]


def _check_version(module: object) -> None:
    name = getattr(module, "__name__", "?")
    version = getattr(module, VERSION_NAME, None)
    if version in API_VERSIONS_SERVED:
        return
    served = ", ".join(map(str, API_VERSIONS_SERVED))
    if version is None:
        raise CannotLoad(
            f"{name} does not say for which version of promptcorner.ext it was written; it needs"
            f" a line {VERSION_NAME} = {API_VERSION}"
        )
    raise CannotLoad(
        f"{name} was written for version {version!r:.20} of promptcorner.ext, and this daemon has"
        f" {served}; install a release of the plugin for it"
    )


def _objects(point: EntryPoint, kind: type) -> Iterator[object]:
    value = point.load()
    values = value if isinstance(value, list | tuple) else [value]
    for each in values:
        if isinstance(each, type) and issubclass(each, kind):
            each = each()
        if not isinstance(each, kind):
            raise CannotLoad(
                f"{point.value} ({point.group}) is a {type(each).__name__}, must be a"
                f" {kind.__name__} of promptcorner.ext, or a list of them"
            )
        yield each


def _faults(parts: PluginParts) -> Iterator[str]:
    if not (parts.tools or parts.providers or parts.sources):
        yield "brings nothing"
    for what, count, most in (
        ("tools", len(parts.tools), TOOLS_MAX),
        ("providers", len(parts.providers), PROVIDERS_MAX),
        ("identity sources", len(parts.sources), SOURCES_MAX),
    ):
        if count > most:
            yield f"brings {count} {what}, there can be {most}"
    for tool in parts.tools:  # which may be made by hand, too
        yield from _faults_of_tool(tool)
    names = [tool.name for tool in parts.tools]
    for name in names:
        if name in KINDS_BY_TOOL:
            yield f"its tool {name} is called like one of the daemon's own; give it another name"
        if names.count(name) > 1:
            yield f"brings two tools called {name}"
    for provider in parts.providers:
        yield from _faults_of_provider(provider)
    if len({provider.name for provider in parts.providers}) < len(parts.providers):
        yield "brings two providers of one name"


def _faults_of_tool(tool: PluginTool) -> Iterator[str]:
    try:
        check_facts(tool.name, tool.description, tool.consent, tool.seconds)
    except UnreadableSignature as fault:
        yield str(fault)
    if not (isinstance(tool.schema, str) and is_object(tool.schema)):
        yield f"tool {tool.name}: its schema is no JSON object"


def _faults_of_provider(provider: ModelProvider) -> Iterator[str]:
    name, models = getattr(provider, "name", None), getattr(provider, "models", None)
    if not (isinstance(name, str) and PROVIDER_NAME.fullmatch(name)):
        yield f"the name of a provider has lower-case letters, digits and -, not {name!r:.64}"
        return
    if name in OWN_PROVIDERS:
        yield f"its provider {name} is called like one of the daemon's own; give it another name"
    if len(name) > NAME_CHARACTERS_MAX:
        yield f"the name of a provider has up to {NAME_CHARACTERS_MAX} characters, not {len(name)}"
    if not (isinstance(models, list | tuple) and all(isinstance(m, PluginModel) for m in models)):
        yield f"the models of provider {name} are no list of PluginModel"
        return
    if not 0 < len(models) <= MODELS_MAX:
        yield f"provider {name} has {len(models)} models, must have 1 to {MODELS_MAX}"
    if len({model.name for model in models}) < len(models):
        yield f"provider {name} has two models of one name"
    for model in models:
        if not (isinstance(model.name, str) and 0 < len(model.name) <= NAME_CHARACTERS_MAX * 2):
            yield f"provider {name} has a model without a usable name: {model.name!r:.64}"
        limit = model.context_limit
        if limit is not None and not (isinstance(limit, int) and 0 < limit <= COUNT_MAX):
            yield (
                f"the context limit of {name}/{model.name} is {limit!r:.20}, must be above 0 and up"
                f" to {COUNT_MAX}"
            )
