"""What the help of commands and the documents tell people to type, and whether it is understood."""

import argparse
import re
import shlex

from adapters.cli.main import parser

WORD = re.compile(
    r"^\s*(?:sudo -u \w+ |export \w+=\$\()?((?:[A-Z_]+=\S+ )*)(?:\S+/)?promptcorner( .*)?$"
)
ASIDE = re.compile(r"\s{2,}.*$")  # what an example does, behind it
# A command in a line of several, without what comes behind it. What is quoted is its own.
COMMAND = re.compile(r"""(?:'[^']*'|"[^"]*"|[^'"&|)\\])*""")
NEXT = re.compile(r"&& (?=(?:[^']*'[^']*')*[^']*$)")


def all_commands(of=None, path=("promptcorner",)):
    """(words, parser) of every command and every verb."""
    of = of or parser()
    yield path, of
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, one in action.choices.items():
                yield from all_commands(one, (*path, name))


def examples(text):
    """The commands of ours in a text, each as its words."""
    joined = re.sub(r"(?<=\S)\$\([^)]*\)", "X", text.replace("\\\n", " "))
    for line in joined.splitlines():
        for part in NEXT.split(line.strip()):
            if found := WORD.match(part):
                rest = ASIDE.sub("", re.sub(r"\s{6,}--", " --", found[2] or ""))
                yield shlex.split(COMMAND.match(rest)[0], comments=True)


def is_understood(words):
    try:
        parser().parse_args(words)
    except SystemExit as ended:
        return ended.code == 0
    return True
