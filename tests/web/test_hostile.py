"""Harmful texts in every field: they are to be seen, and they do nothing."""

import json

import pytest

from tests.web.hostile import FOREIGN, HARM, LINKS, SCRIPTS, SHORT, STRANGE, TEXTS
from tests.web.house import CHATS
from tests.web.stories import say

ALL = "\n\n".join(TEXTS)


async def is_harmless(page):
    assert [] == await page.js(HARM)
    assert not [url for _, url in page.requests if FOREIGN in url]
    assert not [url for _, url in page.requests if not url.startswith((page.url, "blob:", "data:"))]


async def test_in_messages_and_answers(page, api, house):
    house.provider.behave(text=ALL, delta_chars=40, reasoning=3)
    try:
        chat = await api.chat(ALL)
        await page.goto(f"/c/{chat}")
        await page.until_text("window.harmed", "article[data-role=assistant]")
        await is_harmless(page)
        assert SCRIPTS[0] in await page.text("article[data-role=assistant]")
        await say(page, "again")
        await page.until("document.querySelectorAll('article[data-role=assistant]').length > 1")
        await api.until(chat, "waiting")
        await is_harmless(page)
        await page.goto(f"/c/{chat}/read")
        await is_harmless(page)
        await page.goto(f"/c/{chat}/read?all=1")
        await is_harmless(page)
    finally:
        house.provider.behave()


@pytest.mark.parametrize("name", ["execute", "write_file", "propose_plan", "mystery__<b>", "spawn"])
async def test_in_tools_and_their_arguments(page, api, house, name):
    arguments = dict.fromkeys(("command", "path", "content", "plan", "url"), ALL[:2000])
    arguments |= {"<img src=x onerror=window.harmed=1>": {"__proto__": ALL[:500]}}
    house.provider.behave(tool_calls=f"{name}:{json.dumps(arguments)}", text="done")
    try:
        chat = await api.chat("go")
        await page.goto(f"/c/{chat}")
        await page.until_text("done", "[role=log]")
        await page.js("document.querySelectorAll('details').forEach(each => { each.open = true })")
        await is_harmless(page)
    finally:
        house.provider.behave()


async def test_in_titles_labels_and_the_search(page, api):
    chats = []
    for text in SHORT:
        chat = await api.chat("hello")
        changes = {"title": text, "labels": {"note": text[:60]}}
        await api.good("PATCH", f"{CHATS}/{chat}", changes)
        chats.append(chat)
    await page.goto(f"/c/{chats[0]}")
    await page.until_text(SHORT[0], "nav")
    await is_harmless(page)
    await page.until_text(SHORT[0], "header h1")
    await page.until(f"document.title.includes({json.dumps(SHORT[0])})")

    await page.press("k", "Control")
    await page.until_focused("combobox", "Search or do")
    await page.type("<script>")
    await page.until("document.querySelector('[role=listbox]')?.children.length > 0")
    await is_harmless(page)
    await page.goto("/search?q=%3Cimg%20src%3Dx%20onerror%3Dwindow.harmed%3D1%3E")
    await page.find("heading", "Search")
    await is_harmless(page)


@pytest.mark.parametrize("path", ["/c/%3Cscript%3E", "/nowhere/%22%3E%3Cimg", "/settings/%3Cb%3E"])
async def test_in_addresses(page, path):
    page.allow("404", "400")
    await page.goto(path)
    await is_harmless(page)


async def test_strange_signs_do_not_disturb_what_stands_beside_them(page, api, house):
    house.provider.behave(text="\n\n".join([*STRANGE, *LINKS[:3], "the end"]))
    try:
        chat = await api.chat("\n".join(STRANGE))
        await page.goto(f"/c/{chat}")
        await page.until_text("the end", "article[data-role=assistant]")
        assert await page.js("document.documentElement.scrollWidth <= innerWidth")
        await is_harmless(page)
    finally:
        house.provider.behave()
