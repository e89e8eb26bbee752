"""A list of ten thousand chats beside a short one: opening it, and news of one of its chats."""

import statistics

import psycopg
import trio

from bench.pages.tabs import spent
from tests.web.house import CHATS

CHATS_IN_ALL = 10_000
OPENINGS = 9
NEWS, NEWS_SECONDS = 40, 0.1
COPIES = """
INSERT INTO chats SELECT (jsonb_populate_record(c, jsonb_build_object(
    'id', gen_random_uuid(), 'title', 'Number ' || n,
    'updated_at', now() - n * interval '20 minutes'))).*
  FROM chats c, generate_series(1, %(copies)s) n WHERE c.id = %(chat)s
"""
TO_THE_END = f"""
(list => {{
  list.scrollTop = list.scrollHeight;
  return list.innerText.includes("Number {CHATS_IN_ALL - 1}");
}})(document.querySelector(".side .list"))
"""
TO_THE_TOP = "document.querySelector('.side .list').scrollTop = 0"


async def ten_thousand(house, api):
    """Make ten thousand chats for the user of this API."""
    chat = await api.chat("The model of all")
    with psycopg.connect(house.database) as connection:
        connection.execute(COPIES, {"chat": chat, "copies": CHATS_IN_ALL - 1})


async def opening(at_short, at_long):
    """Measure how long a list of ten thousand chats takes to open, and a list of a few."""
    async with at_short.one() as short, at_long.one() as long:
        times = {short: [], long: []}
        for page in times:
            await page.goto("/new")
            await page.until("bench.listed")
        for _ in range(OPENINGS):
            for page, taken in times.items():
                await page.front()
                await page.goto("about:blank")
                await page.goto("/new")
                taken.append(await page.until("bench.listed"))
                await trio.sleep(0.3)
        few, many = (statistics.median(taken) for taken in times.values())
        return {"list_opens_ms": many, "list_ratio": many / few}


async def news(at, api):
    """Measure the cost of news in the page: with one page of the list, and with all of it read."""
    async with at.one() as page:
        await page.goto("/new")
        await page.until("bench.listed")
        await page.front()
        await trio.sleep(3)  # modules that are loaded in advance are there by now
        at_first = await _cost_of_news(page, api, "once")
        await page.until(TO_THE_END)
        await page.js(TO_THE_TOP)
        await trio.sleep(1)
        all_read = await _cost_of_news(page, api, "again")
        return {"news_ms": all_read, "news_at_first_ms": at_first}


async def _cost_of_news(page, api, word):
    """Return the CPU time of the main thread for one event, less its CPU time at rest."""
    chats = [chat["id"] for chat in await api.good("GET", CHATS, limit=NEWS)]
    before = await spent(page)
    await trio.sleep(NEWS * NEWS_SECONDS / 2)
    rest = (await spent(page)).since(before)
    before = await spent(page)
    for number, chat in enumerate(chats):
        await api.good("PATCH", f"{CHATS}/{chat}", {"title": f"Title {number} {word}"})
        await trio.sleep(NEWS_SECONDS)
    cost = (await spent(page)).since(before)
    await page.until_text(f"Title 0 {word}", ".side .list")
    return 1000 * (cost.busy - rest.busy * cost.at / rest.at) / len(chats)
