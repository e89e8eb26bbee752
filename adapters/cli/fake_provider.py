"""`promptcorner fake-provider`: the rehearsal model as a process of its own."""

import argparse
import json
import random
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import trio

from adapters.cli.command_line import describe
from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.server import serve
from adapters.rehearsal.settings import SEED_MAX, SETTINGS, InvalidSetting, read
from adapters.settings import names
from adapters.settings.refusals import CannotStart

NAME = "fake-provider"
LISTEN = "127.0.0.1:7391"
PORT_MAX = 65535
SCRIPT_BYTES_MAX = 16 * 1024 * 1024  # a longer script is refused

DESCRIPTION = """\
A model provider for tests, benchmarks and demonstrations: it needs no key and costs nothing.
It answers as Anthropic (/v1/messages), OpenAI (/v1/chat/completions, /v1/responses) and Google
(/v1beta/models/NAME:streamGenerateContent and :generateContent) do, streaming or not, to any
model name and any key, and lists /v1/models.

  promptcorner fake-provider --first-token-ms 300 --delta-ms 20 --deltas 100
  promptcorner fake-provider --tool-calls 'weather:{"city":"Rome"}' --reasoning 10
  promptcorner fake-provider --faults '429:2@1-2,529@5%,reset:10@1%' --seed 7
"""

EPILOG = """\
faults: KIND[:N][@WHEN], separated by commas; the first that fits wins
  429 529 500 401 ...   that status in the vendor's words; N: seconds of Retry-After
  overflow              400, the prompt is longer than the context
  refusal filter        the answer is withheld, after N deltas (0)
  length                the answer ends at the limit of tokens, after N deltas (half)
  pause                 the answer pauses after N deltas (half), to go on when it is sent back;
                        in Anthropic's form only, in the others it ends there
  reset hangup          the connection is reset, or closed, after N deltas (half)
  truncate              the body ends, the terminal event is missing, after N deltas (half)
  silence               nothing more is said, and nothing is closed, after N deltas (half)
  garbage               one event is cut in two and is no JSON, after N deltas (half)
  error                 an event reports an error, and the stream ends, after N deltas (half)
  @3 @3-5 @10%          that request, those requests, a tenth of them by chance; else always

markers: any setting, in the last message of the user, for the answer to that message
  [[deltas: 10]] [[delta-ms: 200]] [[fault: 529@1]]
  A fault of a marker counts the attempts at that point of the conversation: @1 fails once.

script: a JSON list of objects of settings, one for each request; after the last, the flags hold.
  Titles, labels and summaries of lists, which a daemon asks for beside turns, take none of them.
  [{"text": "Good evening"}, {"faults": "529"}, {"tool_calls": "weather:{}", "delta_ms": 5}]

while it runs:
  curl -X PUT http://HOST:PORT/_fake/behaviour -d '{"deltas": 5, "faults": "500@1"}'
                        the flags with these over them; requests are counted from 1 again
  curl http://HOST:PORT/_fake/behaviour          what holds now
  curl http://HOST:PORT/_fake/requests           the last 256 requests, and how their answers ended

exit codes: 0 stopped by SIGTERM or ctrl-C, 1 cannot start (a line says why), 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the address, and the flags of all settings of the rehearsal model."""
    describe(parser, DESCRIPTION, run=run, epilog=EPILOG)
    parser.add_argument("--listen", metavar="HOST:PORT", default=LISTEN, help=f"default {LISTEN}")
    defaults = Behaviour()
    for setting in SETTINGS:
        default = getattr(defaults, setting.name)
        shown = ",".join(default) if isinstance(default, tuple) else default
        help = f"{setting.help} (default {shown})" if shown else setting.help
        parser.add_argument(_flag(setting.name), metavar=setting.shape, help=help)
    parser.add_argument("--script", metavar="FILE", help="a list of answers, see below")


def run(options: argparse.Namespace) -> int:
    """Answer as a provider until SIGTERM or ctrl-C."""
    host, port = _address(options.listen)
    behaviour = _behaviour(options)
    _allow_many_connections()
    try:
        names.run(_serve, behaviour, host, port)
    except OSError as error:
        fact = f"cannot listen at {options.listen} ({error.strerror or error})"
        raise CannotStart(NAME, fact, "choose another with --listen HOST:PORT") from None
    return 0


async def _serve(behaviour: Behaviour, host: str, port: int) -> None:
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async with serve(behaviour, host, port) as running:
            sys.stdout.write(f"{NAME}: listening at {running.url} (seed {behaviour.seed})\n")
            sys.stdout.flush()
            await anext(aiter(signals))


def _behaviour(options: argparse.Namespace) -> Behaviour:
    given = vars(options)
    said: dict[str, Any] = {
        setting.name: given[setting.name] for setting in SETTINGS if given[setting.name] is not None
    }
    said.setdefault("seed", random.SystemRandom().randint(0, SEED_MAX))
    if options.script is not None:
        said["script"] = _script(options.script)
    try:
        return read(Behaviour(), said)
    except InvalidSetting as unfit:
        name, _, why = str(unfit).partition(": ")
        raise CannotStart(NAME, f"{_flag(name)}: {why}") from None


def _script(name: str) -> object:
    try:
        with Path(name).open("rb") as file:
            text = file.read(SCRIPT_BYTES_MAX + 1)
        if len(text) > SCRIPT_BYTES_MAX:
            raise CannotStart(NAME, f"--script {name} has over {SCRIPT_BYTES_MAX} bytes")
        return json.loads(text)
    except OSError as error:
        raise CannotStart(NAME, f"--script {name}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise CannotStart(NAME, f"--script {name} is no JSON ({error})") from None


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and int(port) <= PORT_MAX):
        fact = f"--listen={text}, must be HOST:PORT with a port of 0..{PORT_MAX}"
        raise CannotStart(NAME, fact)
    return host, int(port)


def _allow_many_connections() -> None:
    """Raise the limit of open files as far as allowed: the default is meant for other programs."""
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
