"""The rehearsal model in a process of its own, and what it was asked."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
from collections import Counter
from urllib.parse import urlsplit

import trio

from tests.e2e.daemons import a_copy, command, environment, is_forked
from tests.e2e.processes import EVENTUALLY_SECONDS, POLL_SECONDS

KEY = "sk-of-the-rehearsal"


class Provider:
    """One `promptcorner fake-provider` on any free port."""

    def __init__(self, *flags):
        arguments = ["fake-provider", "--listen", "127.0.0.1:0", *flags]
        reading, writing = os.pipe()
        self._said = open(reading)  # noqa: SIM115  # closed by `close`
        with open(os.devnull, "rb") as nothing, open(writing, "wb") as stdout:
            if is_forked({}):
                with open(os.dup(2), "wb") as stderr:
                    self.process = a_copy(arguments, environment(), nothing, stdout, stderr)
            else:
                words, how = command(*arguments)
                self.process = subprocess.Popen(
                    words, env=environment(), stdin=nothing, stdout=stdout, **how
                )
        self.url = ""

    def close(self):
        self.process.kill()
        self.process.wait()
        self._said.close()

    def wait_ready(self):
        said = self._said.readline()
        assert "listening at" in said, f"the model says {said!r}"
        self.url = said.split()[3]

    @property
    def settings(self):
        """The environment of a daemon for which this is every vendor."""
        return {
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": self.url,
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "OPENAI_COMPAT_BASE_URL": f"{self.url}/v1",
            "GEMINI_API_KEY": KEY,
            "GEMINI_BASE_URL": f"{self.url}/v1beta",
        }

    def requests(self, chat=None):
        """The last ones, oldest first; of one chat, or of all."""
        address = urlsplit(self.url)
        with contextlib.closing(
            http.client.HTTPConnection(address.netloc, timeout=EVENTUALLY_SECONDS)
        ) as http_:
            http_.request("GET", "/_fake/requests")
            heard = json.loads(http_.getresponse().read())["requests"]
        return [one for one in heard if chat is None or asker(one) == str(chat)]

    async def asked(self, chat, times=1):
        """Wait until it has been asked so often for a chat; the newest request."""
        with trio.fail_after(EVENTUALLY_SECONDS):
            while len(found := self.requests(chat)) < times:
                await trio.sleep(POLL_SECONDS)
        return found[-1]

    def behave(self, **settings):
        """Answer like this from now on; what has begun goes on as it was."""
        address = urlsplit(self.url)
        asking = http.client.HTTPConnection(address.netloc, timeout=EVENTUALLY_SECONDS)
        with contextlib.closing(asking) as http_:
            http_.request("PUT", "/_fake/behaviour", json.dumps(settings))
            answer = http_.getresponse()
            assert 200 == answer.status, answer.read()

    @contextlib.contextmanager
    def frozen(self):
        """Nothing is answered in the block, and everything that was asked in it behind it."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def by_chat(self):
        return Counter(asker(one) for one in self.requests())


def asker(request):
    return request["headers"].get("x-promptcorner-chat-id")


@contextlib.contextmanager
def a_provider(*flags):
    provider = Provider(*flags)
    try:
        provider.wait_ready()
        yield provider
    finally:
        provider.close()
