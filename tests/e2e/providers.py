"""The rehearsal model in a process of its own, and what it was asked."""

import contextlib
import http.client
import json
import signal
import subprocess
from collections import Counter
from urllib.parse import urlsplit

import trio

from tests.e2e.daemons import command, environment
from tests.e2e.processes import EVENTUALLY_SECONDS, POLL_SECONDS

KEY = "sk-of-the-rehearsal"


class Provider:
    """One `promptcorner fake-provider` on any free port."""

    def __init__(self, *flags):
        words, how = command("fake-provider", "--listen", "127.0.0.1:0", *flags)
        self.process = subprocess.Popen(
            words, env=environment(), stdout=subprocess.PIPE, text=True, **how
        )
        self.url = ""

    def wait_ready(self):
        said = self.process.stdout.readline()
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
        provider.process.kill()
        provider.process.wait()
        provider.process.stdout.close()
