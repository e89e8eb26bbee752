"""What does the page cost: a long chat beside a short one, a fast stream, and the daemon?

On paper: a chat is opened at its end, with the newest thirty messages in the page itself, so that
ten thousand cost what ten do. A delta joins the text of the last part; the text is shown once a
frame, and only its last block is made again: what a delta costs does not grow with the answer. A
key is heard in the next frame, whatever streams beside it. The list is read in pages of fifty and
built near the view; an event changes one row. The daemon serves files out of memory, and does
nothing for a page while a turn runs.

A real Chromium is driven over a pipe, as in `tests/web`, against a real daemon with a rehearsal
model. Opening is measured from the navigation to the first frame that shows what is meant, with the
files in the browser's cache. The main thread is asked by the browser's own counters. The budgets in
milliseconds are for a quiet machine with two cores, on which daemon, database, model and browser
run together.
"""

import json

import trio

from bench.pages import lists, reading, serving, streaming
from bench.pages.tabs import LATE_MS, Tabs
from bench.report import Target
from tests.web import browser as chromium
from tests.web.house import USER, a_house_alone

QUESTION = "what do a long chat and a fast stream cost the browser, and the pages the daemon?"
LONG_LIST_USER = "noor"
LONG, CHATS = reading.LONG, lists.CHATS_IN_ALL
TARGETS = (
    Target("first_picture_kb", "scripts before the first picture, gzip (of 1,024)", at_most=75),
    Target(
        "first_load_kb", "all that the first chat loads, compressed (of 1,024 bytes)", at_most=150
    ),
    Target("first_load_requests", "its requests", at_most=40),
    Target("open_long_ms", f"opening {LONG:,} messages, to the first text (ms)", at_most=200),
    Target("open_ready_ms", "the same, to field and list (ms)", at_most=400),
    Target("open_ratio", f"opening {LONG:,} messages : 10 messages", at_most=1.5),
    Target("open_kb", f"read for {LONG:,} messages, files in the cache", at_most=300),
    Target("long_tasks", "200 deltas/s for a minute, with code: tasks over 50 ms", at_most=0),
    Target("main_thread_percent", "the same: CPU of script, layout and style", at_most=20),
    Target("late_delta_ratio", "the same: cost of a delta in the last third : first", at_most=1.5),
    Target(
        "scroll_gap_p99_ms", f"{LONG:,} messages by the wheel: frames, p99 (ms)", at_most=LATE_MS
    ),
    Target("scroll_gap_ratio", "the same: between two frames, p95 : at rest", at_most=2),
    Target("scroll_elements", f"elements while {LONG:,} messages scroll by", at_most=6_000),
    Target("scroll_heap_mb", "the same: memory of the page", at_most=40),
    Target("key_p99_ms", "key to glyph beside 200 deltas/s, p99 (ms)", at_most=50),
    Target("columns_late_percent", "four columns stream: % of frames over 33 ms", at_most=1),
    Target("columns_long_tasks", "the same: tasks over 50 ms", at_most=0),
    Target("list_opens_ms", f"a list of {CHATS:,} chats opens (ms)", at_most=300),
    Target("list_ratio", f"a list of {CHATS:,} chats : of a few", at_most=1.5),
    Target("news_at_first_ms", "an event of the watch, as the list opens: CPU (ms)", at_most=2),
    Target("news_ms", f"the same, after going through all {CHATS:,} chats", at_most=2),
    Target("back_online_ms", "text moves on after the network is back, worst (ms)", at_most=500),
    Target("shell_cpu_ms", "the page without a chat: CPU of the daemon (ms)", at_most=1),
    Target("shell_ratio", "the page of a chat with its data : a small GET", at_most=4),
)


def measure() -> dict[str, float]:
    """Run it all against one daemon, in one browser."""
    with a_house_alone("bench") as house, chromium.a_browser() as process:
        return trio.run(_measured, house, process)


async def _measured(house, process):
    token, cookies = await house.person(USER)
    other_token, other_cookies = await house.person(LONG_LIST_USER)
    async with (
        house.api(token) as api,
        house.api(other_token) as other,
        chromium.connected(process) as browser,
    ):
        at = Tabs(browser, house.url, cookies)
        at_other = Tabs(browser, house.url, other_cookies)
        short, long = await reading.chats(house, api)
        await lists.ten_thousand(house, other)
        figures = await reading.first_load(at, short)
        figures |= await reading.opening(at, short, long)
        figures |= await lists.opening(at, at_other)
        figures |= await serving.pages(house, api, short)
        figures |= await reading.scrolling(at, long)
        figures |= await streaming.a_minute(at, api, house)
        figures |= await streaming.keys(at, api, house)
        figures |= await streaming.columns(at, api, house)
        figures |= await streaming.outages(at, api, house)
        figures |= await lists.news(at_other, other)
    return figures


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
