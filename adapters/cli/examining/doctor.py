"""Everything that a daemon needs, looked at."""

import argparse
import os
import sys
from collections.abc import Sequence

from adapters import settings as config
from adapters.cli.examining import machine, network, stored
from adapters.cli.examining.finding import Finding, State, from_refusal, ok
from adapters.cli.tables import documented, plain
from adapters.settings import logs, names
from adapters.settings.refusals import CannotStart
from adapters.settings.table import default_config_file


def run(options: argparse.Namespace) -> int:
    findings = names.run(_examine, options)
    if options.json:
        listed = [
            {
                "subject": each.subject,
                "state": each.state.value.lower(),
                "fact": each.fact,
                "advice": each.advice,
            }
            for each in findings
        ]
        sys.stdout.write(documented(listed))
    return 1 if any(each.state is State.WRONG for each in findings) else 0


async def _examine(options: argparse.Namespace) -> Sequence[Finding]:
    """A line as soon as something is known: some of it takes a while."""
    found: list[Finding] = []

    def note(*findings: Finding) -> None:
        found.extend(findings)
        if not options.json:
            sys.stdout.write("".join(map(_line, findings)))
            sys.stdout.flush()

    note(machine.python(), *machine.packages(machine.requirements()))
    said = (vars(options), os.environ, default_config_file())
    try:
        settings, shown = config.read_config(*said), config.list_settings(*said)
    except CannotStart as refusal:
        note(from_refusal("config", refusal))
        return found
    logs.set_up(settings.log, "error")  # what is wrong is said here
    note(ok("config", f"settings that are set: {sum(row.origin != 'default' for row in shown)}"))
    note(*machine.files_of_secrets(shown), machine.descriptors(machine.descriptors_max()))
    note(*machine.data_dir(settings), machine.secret_key(settings))
    note(await machine.sandbox(settings))
    if settings.database_url is None:
        note(stored.binaries())
    note(*await stored.database(settings))
    note(*network.daemon(settings), *network.entrance(settings))
    note(await network.relay(settings))
    note(*network.strangers(settings), *network.proxies(settings.environ))
    note(*await network.providers(settings, online=options.online))
    return found


def _line(finding: Finding) -> str:
    advice = f"\n{'':20}{plain(finding.advice)}" if finding.advice else ""
    return f"{finding.state.value:<6}{finding.subject:<14}{plain(finding.fact)}{advice}\n"
