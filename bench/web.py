"""What does the page cost: a long chat beside a short one, a fast stream, and the daemon?

On paper: a chat is opened at its end, with the newest thirty messages in the page itself, so that
ten thousand cost what ten do. A delta joins the text of the last part; the text is shown once a
frame, and only its last block is made again: what a delta costs does not grow with the answer. The
daemon serves files out of memory, and does nothing for a page while a turn runs.

A real Chromium is driven over a pipe, as in `tests/web`, against a real daemon with a rehearsal
model. Opening is measured from the navigation to the first frame that shows the newest message,
with the files in the browser's cache. The main thread is asked by the browser's own counters.
"""

import itertools
import json
import statistics
import tempfile
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import trio

from adapters.postgres import embedded
from bench.report import Target
from tests.web import browser as chromium
from tests.web.house import USER, a_house
from tests.web.long_chats import lengthen
from tests.web.page import a_page
from tests.web.stories import FIELD, LIVE, say

QUESTION = "what do a long chat and a fast stream cost the browser, and the pages the daemon?"
LONG = 10_000  # messages
TARGETS = (
    Target("open_ratio", f"opening {LONG:,} messages : 10 messages", at_most=1.5),
    Target("open_kb", f"read for {LONG:,} messages, files in the cache", at_most=300),
    Target(
        "first_load_kb", "all that the first chat loads, compressed (of 1,024 bytes)", at_most=150
    ),
    Target("first_load_requests", "its requests", at_most=40),
    Target("main_thread_percent", "200 deltas/s: CPU of script, layout and style", at_most=20),
    Target("late_delta_ratio", "the same: cost of a delta in the last third : first", at_most=1.5),
    Target("scroll_elements", f"elements while {LONG:,} messages scroll by", at_most=6_000),
    Target("scroll_heap_mb", "the same: memory of the page", at_most=40),
    Target("scroll_gap_ratio", "the same: between two frames, p95 : at rest", at_most=2),
    Target("shell_ratio", "the page of a chat with its data : a small GET", at_most=4),
)
OPENINGS = 9
STREAM_SECONDS, DELTAS_PER_SECOND, DELTA_CHARS = 60, 200, 4
SCREENS = 60
KEYS, KEY_SECONDS = 20, 0.1
SHORTEST_EVENT_MS = 16.0  # what is shorter the browser does not report
REST_SECONDS = 2.0
SHELLS = 200

# When the newest message is on the screen, and how long the frames and the tasks took.
WATCHES = """
(() => {
  const bench = window.bench = { shown: 0, long: 0, gaps: [], keys: [] };
  const look = () => {
    const at = document.querySelector("article[data-message] .text");
    if (at && at.innerText) bench.shown = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  let last = 0;
  const frame = now => { if (last) bench.gaps.push(now - last); last = now;
    requestAnimationFrame(frame) };
  bench.frames = () => { bench.gaps = []; requestAnimationFrame(frame) };
  new PerformanceObserver(list => { bench.long += list.getEntries().length })
    .observe({ type: "longtask" });
  new PerformanceObserver(list => { for (const { name, duration } of list.getEntries())
    if (name == "keydown") bench.keys.push(duration) })
    .observe({ type: "event", durationThreshold: 16 });
})()
"""
BUSY = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


def measure() -> dict[str, float]:
    """Run it all against one daemon, in one browser."""
    with a_daemon() as house, a_browser() as process:
        return trio.run(_measured, house, process)


@contextmanager
def a_daemon():
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as top:
        Path(top).chmod(0o711)
        wanted = embedded.ClusterOptions(Path(top) / "server")
        home = Path(top) / "home"
        with embedded.using(wanted) as cluster, a_house(cluster.conninfo, "web", home) as house:
            yield house


@contextmanager
def a_browser():
    program = chromium.look_up()
    if isinstance(program, str):
        raise SystemExit(program)
    process = chromium.BrowserProcess(program)
    try:
        yield process
    finally:
        process.close()


async def _measured(house, process):
    token, cookies = await house.person(USER)
    async with house.api(token) as api, chromium.connected(process) as browser:
        short, long = await _chats(house, api)
        at = Tabs(browser, house.url, cookies)
        figures = await _first_load(at, short)
        figures |= await _opening(at, short, long)
        figures |= await _scrolling(at, long)
        figures |= await _streaming(at, api, house)
        figures |= await _shell(api, short)
    return figures


class Tabs:
    """Tabs of one logged-in user, each with a cache of its own."""

    def __init__(self, browser, url, cookies):
        self._browser, self._url, self._cookies = browser, url, cookies

    @asynccontextmanager
    async def one(self):
        async with a_page(self._browser) as page:
            page.url = self._url
            await page.cookies(self._cookies, self._url)
            await page.do("Page.addScriptToEvaluateOnNewDocument", source=WATCHES)
            await page.do("Performance.setTimeDomain", timeDomain="threadTicks")
            await page.do("Performance.enable")
            yield page


async def _chats(house, api):
    """Make a chat of ten messages and one of ten thousand, which has been edited once."""
    house.provider.behave(text=f"Answer number 0.\n\n{_prose()[:600]}", delta_chars=40)
    made = []
    for copies in (4, LONG // 2 - 1):
        chat = await api.chat("Question number 0")
        [question, *_] = await api.messages(chat)
        path = f"/api/experimental/chats/{chat}/messages/{question['id']}"
        content = [{"type": "text", "text": "Question number 0, asked again"}]
        await api.good("PATCH", path, {"content": content})
        await api.until(chat, "waiting")
        lengthen(house.database, chat, copies)
        made.append(chat)
    house.provider.behave()
    return made


async def _first_load(at, chat):
    async with at.one() as page:
        await page.goto(f"/c/{chat}")
        await page.until("bench.shown")
        await trio.sleep(1)  # what comes later is loaded, too
        return {
            "first_load_kb": page.received_bytes / 1024,
            "first_load_requests": float(len(page.requests)),
        }


async def _opening(at, short, long):
    async with at.one() as page:
        times = {short: [], long: []}
        read = []
        await page.goto(f"/c/{short}")
        for _ in range(OPENINGS):
            for chat, taken in times.items():
                await page.goto("about:blank")
                before = page.received_bytes
                await page.goto(f"/c/{chat}")
                taken.append(await page.until("bench.shown"))
                await trio.sleep(0.3)
                if chat == long:
                    read.append(page.received_bytes - before)
        ten, all_of_them = (statistics.median(taken) for taken in times.values())
        return {
            "open_ratio": all_of_them / ten,
            "open_kb": statistics.median(read) / 1000,
            "open_ten_ms": ten,
            "open_long_ms": all_of_them,
        }


async def _scrolling(at, chat):
    async with at.one() as page:
        await page.goto(f"/c/{chat}")
        await page.until("bench.shown")
        await page.front()
        await page.js("bench.frames()")
        await trio.sleep(REST_SECONDS)
        rest = await page.js("bench.gaps")
        await page.js("bench.frames()")
        elements = 0
        for _ in range(SCREENS):
            await page.wheel(720, 400, -900)
            await trio.sleep(0.1)
            elements = max(elements, await page.js("document.querySelectorAll('*').length"))
        gaps = await page.js("bench.gaps")
        heap = await page.do("Runtime.getHeapUsage")
        return {
            "scroll_elements": float(elements),
            "scroll_heap_mb": heap["usedSize"] / 1e6,
            "scroll_gap_ratio": _percentile(gaps, 95) / _percentile(rest, 95),
            "scroll_gap_p95_ms": _percentile(gaps, 95),
        }


async def _streaming(at, api, house):
    deltas = STREAM_SECONDS * DELTAS_PER_SECOND
    chat = await api.chat()
    async with at.one() as page:
        await page.goto(f"/c/{chat}")
        await page.until("bench.shown")
        await page.front()
        text = (_prose() * (deltas * DELTA_CHARS // len(_prose()) + 1))[: deltas * DELTA_CHARS]
        house.provider.behave(text=text, delta_ms=1000 / DELTAS_PER_SECOND, delta_chars=DELTA_CHARS)
        rest = await _keys(page)
        await say(page, "Say much.")
        await page.until(f"{LIVE}?.innerText.length > 100")
        await page.js("bench.long = 0")
        thirds = [await _counters(page)]
        keys = []
        for _ in range(3):
            keys += await _keys(page)
            await trio.sleep(STREAM_SECONDS / 3 - KEYS * KEY_SECONDS - 1)
            thirds.append(await _counters(page))
        said = await page.js(f"{LIVE}?.innerText.length ?? 0")
        long_tasks = await page.js("bench.long")
        await api.good("POST", f"/api/experimental/chats/{chat}/interrupt")
        house.provider.behave()
    costs = [after[0] - before[0] for before, after in itertools.pairwise(thirds)]
    seconds = thirds[-1][1] - thirds[0][1]
    return {
        "main_thread_percent": 100 * sum(costs) / seconds,
        "long_tasks": float(long_tasks),
        "late_delta_ratio": costs[-1] / costs[0],
        "key_ratio": _percentile(keys, 95) / _percentile(rest, 95),
        "key_p95_ms": _percentile(keys, 95),
        "streamed_kb": said / 1000,
    }


async def _keys(page):
    """Type for a while, delete it, and return how long each key took to its glyph."""
    await (await page.find("textbox", FIELD)).focus()
    await page.js("bench.keys = []")
    for _ in range(KEYS):
        await page.press("x")
        await trio.sleep(KEY_SECONDS)
    await page.press("a", "Control")
    await page.press("Backspace")
    return await page.js("bench.keys") or [SHORTEST_EVENT_MS]


async def _counters(page):
    said = (await page.do("Performance.getMetrics"))["metrics"]
    values = {each["name"]: each["value"] for each in said}
    return sum(values[name] for name in BUSY), values["Timestamp"]


async def _shell(api, chat):
    """Ask for the page of a chat and for a small document, one after the other."""
    times = {f"/c/{chat}": [], f"/api/experimental/chats/{chat}": []}
    for _ in range(SHELLS):
        for path, taken in times.items():
            began = time.perf_counter()
            answer = await api.client.get(path)
            taken.append(time.perf_counter() - began)
            assert answer.status_code == 200, f"{path}: {answer.status_code}"
    shell, small = (statistics.median(taken) for taken in times.values())
    return {"shell_ratio": shell / small, "shell_ms": 1000 * shell}


def _prose():
    """Return Markdown as models write it: paragraphs, lists, tables and code."""
    return (Path(__file__).parents[1] / "docs" / "store.md").read_text() + "\n\n"


def _percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
