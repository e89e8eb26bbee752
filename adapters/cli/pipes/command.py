"""The commands of scripts: `promptcorner chat -m`, and `promptcorner watch`.

`chat.command` hands over to `run_in_pipe` where `is_for_pipe` says so.
"""

import argparse
import io
import os
import select
import stat
import sys
from functools import partial
from pathlib import Path

from adapters.cli.admin.connection import ENVIRONMENT_HELP, add_daemon
from adapters.cli.command_line import chat_id, describe
from adapters.cli.daemon_place import place_of
from adapters.cli.pipes.output_schema import read_schema
from adapters.cli.pipes.printing import FollowPrinter, JsonPrinter, RecordPrinter, TextPrinter
from adapters.cli.pipes.turn import PipedFile, PipeRequest, PipeTurn
from adapters.cli.pipes.watching import WatchRequest, watch
from adapters.settings import names
from adapters.settings.refusals import CannotStart

INLINE_BYTES_MAX = 128 * 1024  # of standard input in a message; more is attached as a file
FILE_BYTES_MAX = 10 * 1024 * 1024  # of an attached file; the daemon would refuse more
SILENT_SECONDS = 2.0  # of standard input beside -m, before a line says that it is read
STDIN = "standard input"

PIPE_CODES_HELP = """
exit codes: 0 done, 1 the turn or the request failed, 2 wrong usage, 3 it needs a person (consent,
a question), 4 the daemon cannot be reached, 5 the answer does not fit --output-schema, 130
interrupted, 141 nobody reads the output any more
"""

WATCH_DESCRIPTION = """\
Follow a chat that others talk to. Connections that break are made again, and nothing is lost or
told twice. Ctrl-C leaves; the chat goes on.

  promptcorner watch 4f9c0c7e-5a2b-4c1d-9e3f-0a1b2c3d4e5f
  promptcorner watch 4f9c0c7e-5a2b-4c1d-9e3f-0a1b2c3d4e5f --json --until-idle
  promptcorner watch 4f9c0c7e-5a2b-4c1d-9e3f-0a1b2c3d4e5f --json --after 41      go on after a break
"""


def add_pipe_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `chat` that only scripts use."""
    parser.add_argument(
        "--output-schema",
        metavar="FILE",
        type=Path,
        help="with -m: answer with one JSON document that fits the JSON Schema in this file",
    )


def is_for_pipe(options: argparse.Namespace) -> bool:
    """Tell whether a script wants one answer, and no person sits at a terminal."""
    is_between = sys.stdin.isatty() and sys.stdout.isatty()
    wants_form = options.json or options.output_schema is not None
    return bool(
        wants_form or not sys.stdin.isatty() or (options.message is not None and not is_between)
    )


def run_in_pipe(options: argparse.Namespace) -> int:
    """Send the message of the command line, or of standard input; print what comes of it."""
    schema = None if options.output_schema is None else read_schema(options.output_schema)
    text, file = _message(options.message)
    if not text and file is None:
        advice = "send a message with -m, or on standard input"
        raise CannotStart("chat", "there is no message", advice)
    request = PipeRequest(
        options.chat, text, file, options.model, options.effort, options.approve or "", schema
    )
    is_terminal = sys.stdout.isatty()
    printer: RecordPrinter = TextPrinter(is_terminal=is_terminal, wants_document=schema is not None)
    return names.run(partial(_turn, options, request, JsonPrinter() if options.json else printer))


async def _turn(options: argparse.Namespace, request: PipeRequest, printer: RecordPrinter) -> int:
    async with place_of(options).client() as client:
        end = await PipeTurn(client, request, printer).run()
    return end.outcome.exit_code


def _message(said: str | None) -> tuple[str, PipedFile | None]:
    """Return the text of the command line with standard input behind it, or that as a file."""
    piped = b"" if sys.stdin.isatty() else _standard_input(has_message=said is not None)
    try:
        text = piped.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and "\0" not in text and len(piped) <= INLINE_BYTES_MAX:
        return "\n\n".join(filter(None, (said, text.strip()))), None
    kind = "application/octet-stream" if text is None else "text/plain"
    name = "stdin" if text is None else "stdin.txt"
    return said or "", PipedFile(name, kind, piped)


def _standard_input(*, has_message: bool) -> bytes:
    """Read standard input to its end. A terminal, or nothing at all, is not read."""
    try:
        stream = sys.stdin.buffer
        kind = stat.S_IFMT(os.fstat(stream.fileno()).st_mode)
        if has_message and kind in (stat.S_IFIFO, stat.S_IFSOCK):
            _say_what_is_awaited(stream.fileno())
        data = stream.read(FILE_BYTES_MAX + 1)
    except (OSError, io.UnsupportedOperation) as error:
        raise CannotStart(STDIN, f"cannot be read ({error})") from None
    if len(data) > FILE_BYTES_MAX:
        raise CannotStart(STDIN, f"is longer than {FILE_BYTES_MAX // 1024 // 1024} MiB")
    return data


def _say_what_is_awaited(descriptor: int) -> None:
    """Say it if nothing comes: some programs pass a pipe on that nobody writes to or closes."""
    if not select.select([descriptor], [], [], SILENT_SECONDS)[0]:
        sys.stderr.write(
            "promptcorner: standard input is read to its end; without any: </dev/null\n"
        )


def add_watch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the chat, from where and until when it is followed, and the daemon."""
    describe(parser, WATCH_DESCRIPTION, run=run_watch, epilog=ENVIRONMENT_HELP + PIPE_CODES_HELP)
    parser.add_argument("chat", metavar="ID", type=chat_id, help="the chat")
    parser.add_argument("--until-idle", action="store_true", help="end when the chat rests")
    parser.add_argument(
        "--after",
        metavar="MESSAGE",
        type=int,
        help="begin behind this message, 0 for all; default: what comes from now on",
    )
    add_daemon(parser)


def run_watch(options: argparse.Namespace) -> int:
    """Follow a chat."""
    request = WatchRequest(options.chat, options.after, options.until_idle)
    printer: RecordPrinter = JsonPrinter() if options.json else FollowPrinter()
    return names.run(partial(_watch, options, request, printer))


async def _watch(options: argparse.Namespace, request: WatchRequest, printer: RecordPrinter) -> int:
    async with place_of(options).client() as client:
        return (await watch(client, request, printer)).outcome.exit_code
