"""Answers that stream: a fast one for a minute, keys beside it, four columns, a lost network."""

import itertools
import statistics
from contextlib import asynccontextmanager

import trio

from bench.pages.tabs import code, late_percent, percentile, prose, spent
from tests.web.house import CHATS
from tests.web.stories import FIELD, LIVE, say

STREAM_SECONDS, DELTAS_PER_SECOND, DELTA_CHARS = 60, 200, 4
TYPED, KEY_SECONDS = "the words of somebody who writes on ", 0.08
KEYS, KEYS_AT_REST = 300, 100
SHORTEST_EVENT_MS = 16.0  # the browser does not report shorter ones
COLUMNS, COLUMN_DELTAS_PER_SECOND, COLUMN_SECONDS = 4, 50, 12
OUTAGES, OUTAGE_SECONDS = 9, 0.7
# Notes how long after the browser's word that it is online again the text grows.
RETURNS = f"""
(() => {{
  bench.back = 0;
  addEventListener("online", () => {{
    const live = () => {LIVE}?.textContent.length ?? 0;
    const [began, before] = [performance.now(), live()];
    const watcher = new MutationObserver(() => {{
      if (live() <= before) return;
      bench.back = performance.now() - began;
      watcher.disconnect();
    }});
    watcher.observe(document.querySelector("[role=log]"),
      {{ childList: true, subtree: true, characterData: true }});
  }}, {{ once: true }});
}})()
"""


def an_answer(characters):
    """Return an answer that repeats the same text and code, so that its parts can be compared."""
    turn = prose(2_000) + code(1_500)
    return (turn * (characters // len(turn) + 1))[:characters]


@asynccontextmanager
async def _a_chat(at, api):
    """Open a new chat in a tab in front: the page and the chat's id."""
    chat = await api.chat()
    async with at.one() as page:
        await page.goto(f"/c/{chat}")
        await page.until("bench.ready")
        await page.front()
        yield page, chat


async def _ask(page):
    """Ask for the answer, and wait until it streams."""
    await say(page, "Say much.")
    await page.until(f"{LIVE}?.textContent.length > 100")


def _answer_for(house, seconds, deltas_per_second):
    """Let the model answer for so long."""
    characters = int(seconds * deltas_per_second * DELTA_CHARS)
    delta_ms = 1000 / deltas_per_second
    text = an_answer(characters)
    house.provider.behave(text=text, delta_ms=delta_ms, delta_chars=DELTA_CHARS)


async def a_minute(at, api, house):
    """Let an answer of some 40 KB stream for a minute."""
    async with _a_chat(at, api) as (page, chat):
        _answer_for(house, STREAM_SECONDS * 1.2, DELTAS_PER_SECOND)
        await _ask(page)
        await page.js("bench.long = []")
        thirds, lengths = [await spent(page)], [await page.js(f"{LIVE}.textContent.length")]
        for _ in range(3):
            await trio.sleep(STREAM_SECONDS / 3)
            thirds.append(await spent(page))
            lengths.append(await page.js(f"{LIVE}.textContent.length"))
        long = await page.js("bench.long")
        await _stop(house, api, chat)
    spans = [after.since(before) for before, after in itertools.pairwise(thirds)]
    said = [after - before for before, after in itertools.pairwise(lengths)]
    whole = thirds[-1].since(thirds[0])
    costs = [span.busy / characters for span, characters in zip(spans, said, strict=True)]
    return {
        "long_tasks": float(len(long)),
        "longest_task_ms": float(max(long, default=0)),
        "main_thread_percent": 100 * whole.busy / whole.at,
        "main_thread_tasks_percent": 100 * whole.all / whole.at,
        "late_delta_ratio": costs[-1] / costs[0],
        "delta_ms": 1000 * whole.busy / (whole.at * DELTAS_PER_SECOND),
        "streamed_kb": lengths[-1] / 1000,
    }


async def keys(at, api, house):
    """Type at rest, and beside an answer that streams."""
    async with _a_chat(at, api) as (page, chat):
        _answer_for(house, 2 * KEYS * KEY_SECONDS + 30, DELTAS_PER_SECOND)
        await trio.sleep(3)  # modules that are loaded in advance are there by now
        rest = await _type(page, KEYS_AT_REST)
        await _ask(page)
        streaming = await _type(page, KEYS)
        await _stop(house, api, chat)
    figures = {}
    for name, (frames, events) in {"key": streaming, "key_at_rest": rest}.items():
        for percent in (50, 95, 99):
            figures[f"{name}_p{percent}_ms"] = float(percentile(frames, percent))
        figures[f"{name}_event_p99_ms"] = float(percentile(events, 99))
    return figures


async def _type(page, count):
    """Type for a while, and return two lists of how long each key took.

    The first counts to the end of the first frame after the key, which has its glyph. The second is
    the browser's own event timing. Without a screen that is longer than a trace shows, because the
    browser reports a frame late while others follow it.
    """
    await (await page.find("textbox", FIELD)).focus()
    await page.js("bench.keys = []; bench.glyphs = []")
    for letter in itertools.islice(itertools.cycle(TYPED), count):
        await page.press(letter)
        await trio.sleep(KEY_SECONDS)
    await trio.sleep(0.5)  # the page reports them when it has time
    frames, events = await page.js("bench.glyphs"), await page.js("bench.keys")
    await page.press("a", "Control")
    await page.press("Backspace")
    return frames, events + [SHORTEST_EVENT_MS] * (count - len(events))


async def columns(at, api, house):
    """Let four chats stream beside each other."""
    chats = [await api.chat() for _ in range(COLUMNS)]
    async with at.one() as page:
        await page.goto(f"/c/{'+'.join(chats)}")
        await page.front()
        _answer_for(house, COLUMN_SECONDS + 60, COLUMN_DELTAS_PER_SECOND)
        for chat in chats:
            field = f".column[data-chat='{chat}'] textarea"
            await page.until(f'!!document.querySelector("{field}")')
            await page.js(f'document.querySelector("{field}").focus()')
            await page.type("Say much.")
            await page.press("Enter")
        lives = "[...document.querySelectorAll('article[data-message=live]')]"
        grown = f"{lives}.filter(each => each.textContent.length > 100).length === {COLUMNS}"
        await page.until(grown)
        await page.js("bench.long = []; bench.frames()")
        before = await spent(page)
        await trio.sleep(COLUMN_SECONDS)
        whole = (await spent(page)).since(before)
        gaps, long = await page.js("bench.gaps"), await page.js("bench.long")
        await _stop(house, api, *chats)
    return {
        "columns_late_percent": late_percent(gaps),
        "columns_long_tasks": float(len(long)),
        "columns_frames_per_second": 1000 * len(gaps) / sum(gaps),
        "columns_main_thread_percent": 100 * whole.busy / whole.at,
    }


async def outages(at, api, house):
    """Take the network away and give it back several times while an answer streams."""
    async with _a_chat(at, api) as (page, chat):
        _answer_for(house, 120, COLUMN_DELTAS_PER_SECOND)
        await _ask(page)
        taken = []
        for _ in range(OUTAGES):
            await page.js(RETURNS)
            async with page.offline():
                await page.until_text("Offline")
                await trio.sleep(OUTAGE_SECONDS)
            taken.append(await page.until("bench.back"))
            await trio.sleep(OUTAGE_SECONDS)
        await _stop(house, api, chat)
    return {"back_online_ms": max(taken), "back_online_p50_ms": statistics.median(taken)}


async def _stop(house, api, *chats):
    for chat in chats:
        await api.good("POST", f"{CHATS}/{chat}/interrupt")
        await api.until(chat, "waiting")
    house.provider.behave()
