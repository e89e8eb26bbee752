"""Checks of plugins: if they can be loaded, and how they fare in a daemon that runs here."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from adapters.cli.admin.connection import DaemonClient, local_token_for
from adapters.cli.doctor.findings import Finding, ok, warning, wrong
from adapters.daemon.listening.daemons import daemon_here
from adapters.plugins.plugins import Plugins, unused_plugins
from adapters.settings import Config
from adapters.settings.refusals import CannotStart

SUBJECT = "plugin"
ADVICE = "mend or update it, or leave its name out of the setting plugins"
AGAIN = "mend or update it, and start the daemon again"


class PluginReport(Struct, frozen=True):
    """A plugin in a daemon, as `/debug/actors` shows it."""

    version: str = ""
    state: str = ""
    why: str = ""
    running: bool = False
    lingering: int = 0
    blocked_count: int = 0
    failed_count: int = 0


class DaemonReport(Struct, frozen=True):
    """The part of `/debug/actors` that is about plugins."""

    plugin: Mapping[str, PluginReport] = {}


def check_loaded(plugins: Plugins) -> Iterator[Finding]:
    """Look at what each plugin brings. They are loaded as a daemon would do it."""
    for name, found in plugins.statistics().items():
        named = f"{name} {found.version}".strip()
        if found.running:
            yield ok(SUBJECT, f"{named} can be loaded: {found.brings}")
        else:
            yield wrong(SUBJECT, f"{named} cannot be loaded: {found.why}", ADVICE)


def check_unused(names: Sequence[str]) -> Iterator[Finding]:
    """Name the plugins that are installed and that no setting names: nothing of them runs."""
    for name, version in unused_plugins(names).items():
        yield ok(
            SUBJECT, f"{name} {version} is installed; without its name in plugins it is not used"
        )


def check_running(config: Config) -> Iterator[Finding]:
    """Ask a daemon of this machine how its plugins fare, if there is one that answers us."""
    if not config.plugins:
        return
    try:
        here = daemon_here(config)
        token = local_token_for(config, here.url)
        with DaemonClient(here.url, token, certificate=here.certificate) as daemon:
            report, _ = daemon.get("/debug/actors", DaemonReport)
    except CannotStart:
        return  # none runs, or none that we may ask; other checks say which
    for name, found in report.plugin.items():
        yield _running(name, found)


def _running(name: str, found: PluginReport) -> Finding:
    named = f"{name} {found.version}".strip()
    if not found.running:
        return wrong(SUBJECT, f"{named} is {found.state} in the daemon: {found.why}", AGAIN)
    troubles = [
        words
        for count, words in (
            (found.blocked_count, f"blocked its event loop {found.blocked_count} times"),
            (found.lingering, f"has {found.lingering} calls that do not end"),
            (found.failed_count, f"failed {found.failed_count} calls"),
        )
        if count
    ]
    if troubles:
        fact = f"{named} runs in the daemon, but {', '.join(troubles)}"
        return warning(SUBJECT, fact, "the log of the daemon says where")
    return ok(SUBJECT, f"{named} runs in the daemon")
