"""words.json: all commands, verbs and flags, with the kinds of their values.

    python -m adapters.cli.completion.table adapters/cli/completion/words.json

A test holds that it is made of the parsers as they are.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from adapters.cli.completion.candidates import DIRECTORY, FILE
from adapters.cli.main import parser
from adapters.cli.suggestions import verbs_of

HELP_CHARACTERS_MAX = 60  # of a flag; the rest is cut

# Values that only the daemon knows, by the command and the placeholder.
ASKED = {
    ("chat", "ID"): "chat",
    ("watch", "ID"): "chat",
    ("chat", "--model"): "model_id",
    ("default", "MODEL"): "model_name",
    ("disable", "--default"): "model_name",
    ("key", "NAME"): "provider",
    ("enable", "NAME"): "provider",
    ("disable", "NAME"): "provider",
    ("remove", "NAME"): "provider",
}
PATHS = {"FILE": FILE, "DIR": DIRECTORY, "PATH": FILE}


def describe_command(name: str, of: argparse.ArgumentParser, help: str = "") -> dict[str, Any]:
    """Return a command with its flags, its verbs, and the kinds of its other words."""
    flags: dict[str, list[str | None]] = {}
    positionals: list[str] = []
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            continue
        if not action.option_strings:
            positionals.append(_kind(name, action) or "")
        for flag in action.option_strings:
            flags[flag] = [_short(action.help or ""), _kind(name, action)]
    verbs = verbs_of(of) or {}
    return {
        "help": _short(help),
        "flags": flags,
        "positionals": positionals,
        "verbs": {
            each: describe_command(each, verb, _help_of(of, each)) for each, verb in verbs.items()
        },
    }


def _kind(command: str, action: argparse.Action) -> str | None:
    """Return the kind of a value: "" if nothing is known of it, None if there is none."""
    if action.nargs == 0:
        return None
    if action.choices:
        return "=" + "|".join(map(str, action.choices))
    places = [*action.option_strings, str(action.metavar)]
    asked = next((ASKED[command, each] for each in places if (command, each) in ASKED), None)
    return asked or PATHS.get(str(action.metavar), "")


def _help_of(of: argparse.ArgumentParser, verb: str) -> str:
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for each in action._choices_actions:
                if each.dest == verb:
                    return each.help or ""
    return ""


def _short(help: str) -> str:
    first = help.replace("%%", "%").partition(" [")[0]
    return first if len(first) <= HELP_CHARACTERS_MAX else first[: HELP_CHARACTERS_MAX - 1] + "…"


def table_text() -> str:
    """Return words.json as it is to be."""
    made = describe_command("", parser())
    return json.dumps(made, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(table_text())
