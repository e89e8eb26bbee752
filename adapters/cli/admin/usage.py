"""`promptcorner usage`: what was spent on models, and what is left of the limits."""

import argparse
from collections.abc import Sequence

from adapters.cli.admin.connection import DAEMON_HELP, add_daemon, connect, path_of, print_table
from adapters.cli.command_line import describe
from adapters.models.spend.schemas import LimitUse, Usage, UserSpend
from adapters.models.spend.usage import UsageRow

KINDS = ("day", "user", "model", "what")
MICROS = 1_000_000
LIMITS_HEAD = ("limit", "of", "per", "spent", "running", "soft", "hard", "until")

DESCRIPTION = """\
Show what was spent, in US dollars: by all for administrators, else by yourself.

  promptcorner usage                                  this month, by day and model
  promptcorner usage --by user,model --from 2026-10-01 --to 2026-10-31
  promptcorner usage --by user --label team           by the label `team` of chats, too
  promptcorner usage --limits                         your limits, and what is used of them
  promptcorner usage --limits --user ann              another's, for administrators

`+ 3 ?` behind a sum: of so many calls nobody knows what they cost.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    describe(parser, DESCRIPTION, run=run, epilog=DAEMON_HELP)
    parser.add_argument("--from", dest="since", metavar="DAY", help="YYYY-MM-DD, of UTC")
    parser.add_argument("--to", dest="until", metavar="DAY", help="the last day; default: today")
    parser.add_argument(
        "--by", metavar="WHAT", type=_kinds, default="day,model", help=f"of {','.join(KINDS)}"
    )
    parser.add_argument("--label", metavar="NAME", help="a label of chats, to group by its values")
    parser.add_argument("--user", metavar="NAME", help="of one user; `me` for yourself")
    parser.add_argument("--limits", action="store_true", help="limits, and what is used of them")
    add_daemon(parser)


def run(options: argparse.Namespace) -> int:
    return _limits(options) if options.limits else _usage(options)


def _usage(options: argparse.Namespace) -> int:
    asked = {
        "from": options.since,
        "to": options.until,
        "by": options.by,
        "label": options.label,
        "user": options.user,
    }
    query = {name: value for name, value in asked.items() if value}
    with connect(options) as daemon:
        usage, answer = daemon.get("/api/v2/ai/usage", Usage, query)
    kinds = [kind for kind in KINDS if kind in options.by.split(",")]
    labels = [options.label] if options.label else []
    head = (*kinds, *labels, "calls", "input", "output", "cached", "dollars")
    rows = [_row(row, kinds, with_label=bool(labels)) for row in usage.rows]
    return print_table(options, answer, head, rows)


def _row(row: UsageRow, kinds: Sequence[str], *, with_label: bool) -> tuple[str, ...]:
    shown = {
        "day": str(row.day),
        "user": row.username or str(row.user_id),
        "model": row.model or str(row.model_config_id or "-"),
        "what": row.what or "-",
    }
    unknown = f" + {row.unpriced_request_count} ?" if row.unpriced_request_count else ""
    return (
        *(shown[kind] for kind in kinds),
        *([row.label or "-"] if with_label else []),
        str(row.request_count),
        str(row.input_tokens),
        str(row.output_tokens),
        str(row.cache_read_tokens + row.cache_creation_tokens),
        _dollars(row.cost_micros) + unknown,
    )


def _limits(options: argparse.Namespace) -> int:
    path = f"/api/v2/users/{path_of(options.user or 'me')}/ai/spend"
    with connect(options) as daemon:
        spend, answer = daemon.get(path, UserSpend)
    return print_table(options, answer, LIMITS_HEAD, [_limit_row(each) for each in spend.limits])


def _limit_row(limit: LimitUse) -> tuple[str, ...]:
    return (
        "reached" if limit.is_reached else "holds",
        limit.name or limit.scope,
        limit.period,
        _dollars(limit.spent_micros),
        _dollars(limit.reserved_micros),
        "-" if limit.soft_limit_micros is None else _dollars(limit.soft_limit_micros),
        "-" if limit.limit_micros is None else _dollars(limit.limit_micros),
        f"{limit.period_end:%Y-%m-%d}",
    )


def _dollars(micros: int) -> str:
    return f"{micros / MICROS:.4f}"


def _kinds(text: str) -> str:
    if wrong := [each for each in text.split(",") if each not in KINDS]:
        raise argparse.ArgumentTypeError(f"{wrong[0]!r} is none of {', '.join(KINDS)}")
    return text
