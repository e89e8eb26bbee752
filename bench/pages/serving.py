"""The daemon's share of the cost of pages: CPU of its processes, and times beside a small GET."""

import os
import statistics
import time
from pathlib import Path

from adapters.web.serving.assets import own_assets
from tests.web.house import CHATS

ROUNDS = 300


async def pages(house, api, chat):
    """Measure an empty page, the page of a chat with its data, a file, and a small document."""
    assets = own_assets()
    paths = {
        "shell": "/new",
        "shell_of_a_chat": f"/c/{chat}",
        "asset": assets.url(next(iter(assets.preloaded))),
        "small_get": f"{CHATS}/{chat}",
    }
    figures = {}
    for name, path in paths.items():
        await _ask(api, path)  # the first request also makes what is made only once
        taken = []
        before = _cpu_seconds(house.daemon.process.pid)
        for _ in range(ROUNDS):
            began = time.perf_counter()
            await _ask(api, path)
            taken.append(time.perf_counter() - began)
        cpu = _cpu_seconds(house.daemon.process.pid) - before
        figures[f"{name}_cpu_ms"] = 1000 * cpu / ROUNDS
        figures[f"{name}_ms"] = 1000 * statistics.median(taken)
    return figures | {"shell_ratio": figures["shell_of_a_chat_ms"] / figures["small_get_ms"]}


async def _ask(api, path):
    answer = await api.client.get(path)
    assert answer.status_code == 200, f"{path}: {answer.status_code}"


def _cpu_seconds(pid):
    """Return the CPU time of a process and of all its descendants that still run."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(_cpu_seconds(child) for child in children)
