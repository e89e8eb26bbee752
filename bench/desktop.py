"""How long does a model wait for its desktop: to begin, and for one action and its picture?

On paper, for an action at 1280x720: 40 ms for programs to react, what has changed (1 ms), 20 ms in
which nothing may move, a whole screen over the socket (7 ms, 8 MB), and 25 to scale and pack the
picture: some 95 ms, of which 60 are waited for on purpose. A screenshot alone is one screen and its
packing.

A desktop begins with Xvnc and its window manager, each some 100 ms; its socket is there only when
both are.
"""

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import trio

from actors.tools.desktop.actions import DesktopAction, steps_of
from actors.tools.desktop.geometry import size_for_anthropic
from adapters.workspaces.desktop.connection import DesktopConnection, dial_screen
from adapters.workspaces.desktop.pictures import as_png
from adapters.workspaces.desktop.programs import (
    CONFIGURATION,
    SOCKET,
    WINDOW_MANAGER_CONFIGURATION,
    missing_programs,
    start_script,
)
from bench.report import Target

QUESTION = "how long does a model wait for its desktop: to begin, for an action and its picture?"
TARGETS = (
    Target("cold_ms", "ms: from nothing to the first byte of the screen", at_most=1_500),
    Target("action_ms", "ms: a click, and a picture of 1280x720 behind it", at_most=150),
)
ROUNDS = 15
DISPLAY = f":{41_000 + os.getpid() % 1_000}"
START_SECONDS = 30.0


async def _rounds(connection: DesktopConnection) -> dict[str, float]:
    size = size_for_anthropic(connection.size)
    actions, pictures = list[float](), list[float]()
    for at in range(ROUNDS):
        began = time.monotonic()
        action = DesktopAction("left_click", (100 + 40 * at, 200))
        await connection.perform(steps_of(action, size, connection.size))
        await as_png(await connection.settled_picture(), size)
        actions.append(time.monotonic() - began)
        began = time.monotonic()
        await as_png(await connection.picture(), size)
        pictures.append(time.monotonic() - began)
    worst = max(actions)
    return {
        "action_ms": median(actions) * 1e3,
        "action_worst_ms": worst * 1e3,
        "screenshot_ms": median(pictures) * 1e3,
    }


async def _measured(directory: str, began: float) -> dict[str, float]:
    with trio.fail_after(START_SECONDS):
        while (stream := await dial_screen(directory, SOCKET)) is None:  # noqa: ASYNC110
            await trio.sleep(0.005)
        connection = DesktopConnection(stream)
        await connection.begin()
    cold = time.monotonic() - began
    found = await _rounds(connection)
    await connection.aclose()
    return {"cold_ms": cold * 1e3, **found}


def measure() -> dict[str, float]:
    missing = missing_programs(os.environ)
    if missing is not None:
        raise SystemExit(f"bench desktop: {missing.says}")
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as directory:
        (Path(directory) / CONFIGURATION).write_text(WINDOW_MANAGER_CONFIGURATION)
        script = start_script(directory, DISPLAY, is_private=False)
        environ = {**os.environ, "TMPDIR": directory}
        began = time.monotonic()
        with subprocess.Popen(["sh", "-c", script], env=environ, start_new_session=True) as desktop:
            try:
                return trio.run(_measured, directory, began)
            finally:
                os.killpg(desktop.pid, signal.SIGKILL)
