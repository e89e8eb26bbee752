"""What the stories of the terminal have in common: sizes, messages for the model, looks."""

import json
import re

SMALL, LARGE = {"columns": 80, "lines": 24}, {"columns": 200, "lines": 60}
LOOK = "[[tool-calls: list_templates:{}]] [[text: looked]] look"
CHAT_ID = re.compile(r"promptcorner chat\s+([0-9a-f-]{36})")
AT_WORK = ("thinking", "answering", "stopping")
ENDLESS = "[[deltas: 10000]] [[delta-ms: 50]] go on"


def calls(*wanted):
    """Calls of tools as the model is told of them: (name, arguments) each."""
    return " ".join(f"{name}:{json.dumps(arguments)}" for name, arguments in wanted)


def chat_of(terminal):
    """Leave a terminal; the id of its chat, as it says how to come back."""
    terminal.types("\x04")
    code = terminal.ends()
    found = CHAT_ID.findall(terminal.everything.replace("\n", ""))
    return code, found[-1]


def window_of(terminal):
    """The lines of the window below its rule: what is typed, and the line of state."""
    return terminal.shown.rstrip().split("──\n")[-1].splitlines()
