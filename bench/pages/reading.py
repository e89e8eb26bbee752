"""Reading a chat of ten thousand messages beside one of ten: opening it, and scrolling."""

import statistics

import trio

from adapters.web.serving.assets import own_assets
from bench.pages.tabs import late_percent, percentile, prose
from tests.web.house import CHATS
from tests.web.long_chats import lengthen

LONG = 10_000  # messages
OPENINGS = 9
# Bytes as they came, without headers, and without the module that is loaded when the page rests.
LOADED = """
performance.getEntries().filter(each => !each.name.endsWith("/in_advance.js"))
  .reduce((sum, each) => sum + (each.encodedBodySize ?? 0), 0)
"""
SCREENS = 60
REST_SECONDS = 2.0
# The page scrolls to the first message as fast as messages come, for THROUGH_SECONDS at most.
THROUGH_SECONDS, THROUGH_PIXELS = 40, 3_000
THROUGH = f"""
new Promise(resolve => {{
  const log = document.querySelector("[role=log]");
  const end = performance.now() + {1000 * THROUGH_SECONDS};
  let elements = 0;
  const step = () => {{
    log.scrollTop -= {THROUGH_PIXELS};
    elements = Math.max(elements, document.querySelectorAll("*").length);
    const isOver = log.scrollTop <= 0 && !log.querySelector(".tl-head p");
    if (isOver || performance.now() > end) resolve({{ elements, isOver }});
    else requestAnimationFrame(step);
  }};
  step();
}})
"""


async def chats(house, api):
    """Make a chat of ten messages and one of ten thousand, each of them edited once."""
    house.provider.behave(text=f"Answer number 0.\n\n{prose(600)}", delta_chars=40)
    made = []
    for copies in (4, LONG // 2 - 1):
        chat = await api.chat("Question number 0")
        [question, *_] = await api.messages(chat)
        content = [{"type": "text", "text": "Question number 0, asked again"}]
        path = f"{CHATS}/{chat}/messages/{question['id']}"
        await api.good("PATCH", path, {"content": content})
        await api.until(chat, "waiting")
        lengthen(house.database, chat, copies)
        made.append(chat)
    house.provider.behave()
    return made


async def first_load(at, chat):
    """Count the bytes and requests of a first chat in an empty cache."""
    assets = own_assets()
    first = sum(len(assets.find(name).compressed) for name in assets.preloaded)
    async with at.one() as page:
        await page.goto(f"/c/{chat}")
        await page.until("bench.ready")
        await trio.sleep(1)  # modules that come later are counted, too
        return {
            "first_picture_kb": first / 1024,
            "first_load_kb": await page.js(LOADED) / 1024,
            "first_load_requests": float(len(page.requests)),
        }


async def opening(at, short, long):
    """Measure how long a long chat takes to open beside a short one, with files in the cache."""
    async with at.one() as page:
        times = {short: [], long: []}
        ready, read = [], []
        await page.goto(f"/c/{short}")
        for _ in range(OPENINGS):
            for chat, taken in times.items():
                await page.goto("about:blank")
                before = page.received_bytes
                await page.goto(f"/c/{chat}")
                done = await page.until("bench.ready")
                taken.append(await page.js("bench.shown"))
                await trio.sleep(0.3)
                if chat == long:
                    read.append(page.received_bytes - before)
                    ready.append(done)
        ten, all_of_them = (statistics.median(taken) for taken in times.values())
        return {
            "open_ratio": all_of_them / ten,
            "open_ten_ms": ten,
            "open_long_ms": all_of_them,
            "open_ready_ms": statistics.median(ready),
            "open_kb": statistics.median(read) / 1000,
        }


async def scrolling(at, chat):
    """Scroll by the wheel as a person does, then to the first message as fast as possible."""
    async with at.one() as page:
        await page.goto(f"/c/{chat}")
        await page.until("bench.ready")
        await page.front()
        await page.js("bench.frames()")
        await trio.sleep(REST_SECONDS)
        rest = await page.js("bench.gaps")
        await page.js("bench.frames()")
        for _ in range(SCREENS):
            await page.wheel(720, 400, -900)
            await trio.sleep(0.1)
        gaps = await page.js("bench.gaps")
        await page.js("bench.frames()")
        through = await page.js(THROUGH)
        fast = await page.js("bench.gaps")
        most = await page.do("Runtime.getHeapUsage")
        await page.do("HeapProfiler.collectGarbage")
        heap = await page.do("Runtime.getHeapUsage")
        return {
            "scroll_gap_p99_ms": percentile(gaps, 99),
            "scroll_gap_ratio": percentile(gaps, 95) / percentile(rest, 95),
            "scroll_late_percent": late_percent(gaps),
            "scroll_elements": float(through["elements"]),
            "scroll_heap_mb": heap["usedSize"] / 1e6,
            "scroll_heap_with_garbage_mb": most["usedSize"] / 1e6,
            "scroll_came_to_the_first": float(through["isOver"]),
            "scroll_through_gap_p99_ms": percentile(fast, 99),
        }
