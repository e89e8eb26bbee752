"""`promptcorner housekeeping`: what is old goes now, or what would go is said."""

import argparse
import sys
from collections.abc import Sequence

from adapters.chats.housekeeping.schemas import (
    Housekeeping,
    HousekeepingChore,
    HousekeepingRun,
    RunHousekeeping,
)
from adapters.cli.admin.connection import DAEMON_HELP, add_daemon, connect, print_table
from adapters.cli.admin.users import minute_of
from adapters.cli.command_line import describe

HOUSEKEEPING = "/api/v2/housekeeping"
HEAD = ("chore", "count", "bytes", "note")

DESCRIPTION = """\
Keep house now: archive chats in which nothing was said for long, erase those that were archived
long ago, forget what has ended. The daemon does it every hour by itself, in one process of all.
docs/housekeeping.md has the rules.

  promptcorner housekeeping --dry-run        say how much would go; nothing goes
  promptcorner housekeeping                  one pass now, and what it removed
  promptcorner housekeeping --status         how long things are kept, and the last pass
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    describe(parser, DESCRIPTION, run=run, epilog=DAEMON_HELP)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="say how much would go")
    what.add_argument("--status", action="store_true", help="show the rules and the last pass")
    add_daemon(parser)


def run(options: argparse.Namespace) -> int:
    """Keep house, or say how it stands."""
    with connect(options) as daemon:
        if options.status:
            status, answer = daemon.get(HOUSEKEEPING, Housekeeping)
            chores = list(status.last.chores) if status.last else []
            code = print_table(options, answer, HEAD, map(_row, chores))
            note = _words_of(status)
        else:
            body = RunHousekeeping(dry_run=options.dry_run)
            done, answer = daemon.post(HOUSEKEEPING, body, HousekeepingRun)
            code = print_table(options, answer, HEAD, map(_row, done.chores))
            note = "" if done.ended else "it goes on; ask again with --status\n"
    if not options.json:
        sys.stdout.write(note)
    return code


def _words_of(status: Housekeeping) -> str:
    keep = status.keep
    lines = [
        f"chats in which nothing is said are archived: {_days(keep.auto_archive_days)}",
        f"archived chats are erased: {_days(keep.retention_days)}",
        f"records of model calls are deleted: {_days(keep.debug_retention_days)}",
    ]
    if status.kept_since_upgrade:
        lines.append("nothing is deleted since the upgrade, until an admin sets for how long")
    if status.last:
        lines.append(f"the last pass ended at {minute_of(status.last.ended_at)}")
    return "".join(f"{line}\n" for line in lines)


def _days(days: int) -> str:
    return f"after {days} days" if days else "never"


def _row(chore: HousekeepingChore) -> Sequence[str]:
    note = chore.error or ("there is more to do" if chore.left else "")
    return (chore.name, str(chore.count), str(chore.bytes), note)
