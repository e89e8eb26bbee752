"""A laptop that slept: the program stood still, and its connections are dead without a word."""

import os
import signal
import time

import httpx2
import pytest

from adapters.cli.chat.deciding.pace import SLEEP_SECONDS
from promptcorner_client.http_messages import SILENCE_SECONDS
from tests.e2e.processes import eventually
from tests.e2e.terminal.dead_lines import DeadlyLine
from tests.e2e.terminal.stories import AT_WORK

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("flags", [(), ("--plain",)], ids=["window", "plain"])
def test_a_laptop_that_slept_goes_on_at_once(opened, place, token, flags):
    line = DeadlyLine(place["PROMPTCORNER_URL"])
    try:
        waits_for = "/help lists" if flags else "new chat"
        terminal = opened(*flags, waits_for=waits_for, PROMPTCORNER_URL=line.url)
        words = "[[text: the beginning of it and then its very end]]"
        terminal.types(f"{words} [[delta-chars: 2]] [[delta-ms: 200]] talk\r")
        terminal.until("Working." if flags else "answering")
        terminal.types("kept")
        terminal.until("kept")
        os.kill(terminal.process.pid, signal.SIGSTOP)
        slept_at = time.time()
        line.die()
        eventually(lambda: at_rest(place, token), "the daemon has gone on with the chat")
        eventually(lambda: time.time() - slept_at > SLEEP_SECONDS, "it has slept for long enough")
        os.kill(terminal.process.pid, signal.SIGCONT)
        woke_at = time.monotonic()
        if flags:
            terminal.until("its very end", "Done.")
        else:
            terminal.until("its very end\n", "> kept", "● connected", gone=AT_WORK)
        assert time.monotonic() - woke_at < SILENCE_SECONDS, "it waited for a line that was dead"
    finally:
        line.close()


def at_rest(place, token):
    """Whether the chat that changed last is at rest."""
    headers = {"Coder-Session-Token": token, "X-Coder-Bypass-Ratelimit": "true"}
    url = f"{place['PROMPTCORNER_URL']}/api/experimental/chats"
    chat, *_ = httpx2.get(url, headers=headers, timeout=60).json()
    return chat["status"] == "waiting"
