"""Tabs of a browser, what a tab counts while it is used, and texts for the answers."""

from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.web.page import a_page

LATE_MS = 34  # more than two frames at sixty frames a second
# Notes when each part of the page is on the screen, and how long frames, tasks and keys take.
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
    """CPU time that the main thread has spent until a moment, in seconds."""

    busy: float  # on script, layout and style
    all: float  # on all its tasks
    at: float  # the moment

    def since(self, before):
        return Spent(self.busy - before.busy, self.all - before.all, self.at - before.at)


async def spent(page):
    said = (await page.do("Performance.getMetrics"))["metrics"]
    values = {each["name"]: each["value"] for each in said}
    return Spent(sum(values[name] for name in BUSY), values["TaskDuration"], values["Timestamp"])


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def late_percent(gaps):
    """Return the percentage of frames that came later than two frames after the one before."""
    return 100 * sum(gap > LATE_MS for gap in gaps) / len(gaps)


def prose(characters):
    """Return whole paragraphs of Markdown, as models write it: texts, lists and tables."""
    text = (Path(__file__).parents[2] / "docs" / "store.md").read_text()
    return text[: text.index("\n\n", characters)] + "\n\n"


def code(characters):
    """Return a fenced block of code, in whole lines."""
    text = (Path(__file__).parents[1] / "report.py").read_text()
    return f"```python\n{text[: text.index(chr(10), characters)]}\n```\n\n"
