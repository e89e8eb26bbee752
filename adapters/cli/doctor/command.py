"""`promptcorner doctor`: everything that a daemon needs, looked at."""

import argparse
import os
import sys
from collections.abc import Sequence

from adapters import settings as config
from adapters.cli.command_line import (
    ALL_SUBJECTS,
    add_settings,
    describe,
    json_text,
    printable,
    secrets_help,
)
from adapters.cli.doctor import database, machine, network, plugins, providers
from adapters.cli.doctor.findings import Finding, FindingState, from_refusal, ok
from adapters.plugins.plugins import open_plugins
from adapters.settings import logs, names
from adapters.settings.refusals import CannotStart
from adapters.settings.table import default_config_file

DESCRIPTION = """\
Look at everything that a daemon needs, one line each, with what to do where something is wrong.
Give it the same flags and variables as `serve`. It changes nothing; a daemon may run.

  promptcorner doctor
  promptcorner doctor --online                    also asks each provider for one word
  DATABASE_URL=postgresql://... promptcorner doctor --json

exit codes: 0 nothing is wrong (warnings may be), 1 something is, 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --online, --json, and the flags of all settings."""
    usage = "doctor [--online] [--json] [SETTINGS]"
    describe(parser, DESCRIPTION, run=run, epilog=secrets_help(ALL_SUBJECTS), usage=usage)
    parser.add_argument(
        "--online",
        action="store_true",
        help="ask each provider for one word; costs next to nothing",
    )
    parser.add_argument("--json", action="store_true", help="as JSON, for programs")
    add_settings(parser, ALL_SUBJECTS)


def run(options: argparse.Namespace) -> int:
    """Print the findings; return 1 if something is wrong."""
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
        sys.stdout.write(json_text(listed))
    return 1 if any(each.state is FindingState.WRONG for each in findings) else 0


async def _examine(options: argparse.Namespace) -> Sequence[Finding]:
    """Look at everything, and print each finding at once: some checks take a while."""
    findings: list[Finding] = []

    def note(*new: Finding) -> None:
        findings.extend(new)
        if not options.json:
            sys.stdout.write("".join(map(_line, new)))
            sys.stdout.flush()

    note(machine.check_python(), *machine.check_packages(machine.requirements()))
    sources = (vars(options), os.environ, default_config_file())
    try:
        settings, listed = config.read_config(*sources), config.list_settings(*sources)
    except CannotStart as refusal:
        note(from_refusal("config", refusal))
        return findings
    logs.set_up(settings.log, "error")  # what is wrong becomes a finding
    note(ok("config", f"settings that are set: {sum(row.origin != 'default' for row in listed)}"))
    note(*machine.check_secret_files(listed), machine.check_file_limit(machine.open_files_max()))
    note(*machine.check_data_dir(settings), machine.check_secret_key(settings))
    note(await machine.check_sandbox(settings), *machine.check_desktops(settings))
    if settings.database_url is None:
        note(database.check_programs())
    stored = await database.check_database(settings)
    note(*stored)
    note(*network.check_daemon(settings), *network.check_tls(settings))
    note(await network.check_relay(settings), *network.check_hooks(settings))
    note(*network.check_private_networks(settings), *network.check_proxy(settings.environ))
    note(*plugins.check_running(settings), *plugins.check_unused(settings.plugins))
    async with open_plugins(settings.plugins) as loaded:
        note(*plugins.check_loaded(loaded))
        has_stored = any(each.subject == providers.SUBJECT for each in stored)
        note(
            *await network.check_providers(
                settings, loaded, online=options.online, has_stored=has_stored
            )
        )
    return findings


def _line(finding: Finding) -> str:
    advice = f"\n{'':20}{printable(finding.advice)}" if finding.advice else ""
    return f"{finding.state.value:<6}{finding.subject:<14}{printable(finding.fact)}{advice}\n"
