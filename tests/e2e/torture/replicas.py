"""Daemons that share a directory and its embedded database: killed, frozen, restarted, stopped.

Every process is ours and known by its number; none is looked for by name.
"""

import contextlib
import os
import signal
from pathlib import Path

import trio

from tests.e2e.daemons import Daemon
from tests.e2e.processes import EVENTUALLY_SECONDS, postmaster
from tests.e2e.torture.plan import DATABASE, LEASE_SECONDS

START_SECONDS_MAX = 2 * EVENTUALLY_SECONDS
STARTS_MAX = 20  # in a row, of a daemon that finds its database away; then the test is red
STOP_SECONDS_MAX = 60.0
POLL_SECONDS = 0.1
STOPS = {"fast stop": signal.SIGINT, "immediate stop": signal.SIGQUIT}
SETTINGS = {
    "PROMPTCORNER_LEASE_SECONDS": str(LEASE_SECONDS),
    "PROMPTCORNER_DRAIN_SECONDS": "2",
    "PROMPTCORNER_SANDBOX": "none",
    "PROMPTCORNER_APPROVAL_POLICY": "allow",
    "PROMPTCORNER_POOL_SIZE": "8",
}


class Replica:
    """One place for a daemon: its lives follow each other at one address."""

    def __init__(self, number, home, **settings):
        self.number = number
        self.url = ""
        self.lives = []
        self.is_ready = False
        self._home = home
        self._settings = {**SETTINGS, **settings}

    @property
    def process(self):
        return self.lives[-1].process

    async def start(self):
        """Begin a life, and wait until it is ready."""
        for _ in range(STARTS_MAX):
            self._begin()
            if await self._begun():
                self.is_ready = True
                return
            await trio.sleep(0.5)
        raise AssertionError(f"daemon {self.number} does not start:\n{self.lives[-1].text}")

    def _begin(self):
        log = self._home.parent / f"daemon-{self.number}.{len(self.lives) + 1}.log"
        listen = self.url.removeprefix("http://") or "127.0.0.1:0"
        self.lives.append(Life(self._home, log, listen=listen, **self._settings))

    async def _begun(self):
        """Return whether it became ready; if not, it has refused to start, in words."""
        life = self.lives[-1]
        with trio.fail_after(START_SECONDS_MAX):
            while (ready := life.entry("daemon.ready")) is None:
                if life.process.poll() is not None:
                    life.is_refused = True
                    return False
                await trio.sleep(POLL_SECONDS)
        self.url = "http://" + ready["listen"]
        return True

    async def strike(self, strike):
        self.is_ready = strike.kind == "freeze"
        match strike.kind:
            case "kill":
                self.process.kill()
                await self._end(strike.seconds)
            case "restart":
                self.lives[-1].exit_code = await self.stop()
                await self._end(strike.seconds)
            case "freeze":
                self.process.send_signal(signal.SIGSTOP)
                await trio.sleep(strike.seconds)
                self.process.send_signal(signal.SIGCONT)

    async def _end(self, seconds):
        await self._wait_end()
        await trio.sleep(seconds)
        await self.start()

    async def stop(self):
        """Tell it to stop in good order; its exit code."""
        self.process.terminate()
        return await self._wait_end()

    async def _wait_end(self):
        with trio.fail_after(STOP_SECONDS_MAX):
            while (code := self.process.poll()) is None:
                await trio.sleep(POLL_SECONDS)
        return code

    def end(self):
        """Kill what is left of it; no process of it is there when this returns."""
        for life in self.lives:
            if life.process.poll() is None:
                life.process.kill()
            life.process.wait()


class Life(Daemon):
    """One process, what it logged, and how it ended."""

    def __init__(self, home, log, **how):
        super().__init__(home, log, **how)
        self.log = log
        self.is_refused = False  # it would not start
        self.exit_code = None  # of one that was told to stop

    @property
    def text(self):
        return self.log.read_text()


class Site:
    """All replicas and their database."""

    def __init__(self, home, *, count, **settings):
        self.home = Path(home)
        self.replicas = [Replica(number, home, **settings) for number in range(1, count + 1)]

    @property
    def urls(self):
        return [replica.url for replica in self.replicas]

    async def start(self):
        async with trio.open_nursery() as nursery:
            for replica in self.replicas:
                nursery.start_soon(replica.start)

    async def strike(self, strike):
        if strike.target == DATABASE:
            # Daemons refuse to start while it is away: on a slow machine none would ever begin.
            while not any(replica.is_ready for replica in self.replicas):
                await trio.sleep(POLL_SECONDS)
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it is away already
                os.kill(postmaster(self.home), STOPS[strike.kind])  # its keeper starts it again
        else:
            await self.replicas[strike.target - 1].strike(strike)

    def end(self):
        for replica in self.replicas:
            replica.end()
