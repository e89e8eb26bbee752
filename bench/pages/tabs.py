"""A daemon, a browser that is driven over a pipe, its tabs, and what a tab counts."""

import tempfile
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.postgres import embedded
from tests.web import browser as chromium
from tests.web.house import a_house
from tests.web.page import a_page

LATE_MS = 34  # more than two frames of a screen that shows sixty in a second
# When what is on the screen is there, and how long frames, tasks and keys took.
WATCHES = """
(() => {
  const bench = window.bench =
    { shown: 0, ready: 0, listed: 0, long: [], gaps: [], keys: [], glyphs: [] };
  const isChat = location.pathname.startsWith("/c/");
  const is = {
    shown: () => document.querySelector("article[data-message] .text")?.innerText,
    listed: () => document.querySelector(".side .list .row"),
    ready: () => (bench.shown || !isChat) && bench.listed &&
      document.querySelector(".comp textarea"),
  };
  const look = () => {
    for (const name in is) if (!bench[name] && is[name]()) bench[name] = performance.now();
    if (!bench.ready) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  let last = 0;
  const frame = now => {
    if (last) bench.gaps.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  bench.frames = () => { bench.gaps = []; if (!last) requestAnimationFrame(frame) };
  new PerformanceObserver(list => { for (const { duration } of list.getEntries())
    bench.long.push(duration) }).observe({ type: "longtask" });
  new PerformanceObserver(list => { for (const { name, duration } of list.getEntries())
    if (name == "keydown") bench.keys.push(duration) })
    .observe({ type: "event", durationThreshold: 16 });
  addEventListener("keydown", event => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel(); // heard when the frame is made
    port1.onmessage = () => bench.glyphs.push(performance.now() - event.timeStamp);
    port2.postMessage(0);
  }), true);
})()
"""
BUSY = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")


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


@dataclass(frozen=True)
class Spent:
    """What the main thread has spent so far, and when that was; in seconds."""

    busy: float  # CPU of script, layout and style
    all: float  # CPU of all its tasks
    at: float

    def since(self, before):
        return Spent(self.busy - before.busy, self.all - before.all, self.at - before.at)


async def spent(page):
    said = (await page.do("Performance.getMetrics"))["metrics"]
    values = {each["name"]: each["value"] for each in said}
    return Spent(sum(values[name] for name in BUSY), values["TaskDuration"], values["Timestamp"])


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def late_percent(gaps):
    """Return the share of frames that came later than two frames after the one before."""
    return 100 * sum(gap > LATE_MS for gap in gaps) / len(gaps)


def prose(characters):
    """Return Markdown as models write it, in whole paragraphs: texts, lists and tables."""
    text = (Path(__file__).parents[2] / "docs" / "store.md").read_text()
    return text[: text.index("\n\n", characters)] + "\n\n"


def code(characters):
    """Return a fenced block of code, in whole lines."""
    text = (Path(__file__).parents[1] / "report.py").read_text()
    return f"```python\n{text[: text.index(chr(10), characters)]}\n```\n\n"
