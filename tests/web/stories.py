"""What the stories of the pages share: what a person does again and again, and what must hold."""

import json
import re

from tests.web.house import CHATS

FIELD = "Message"
QUEUE = "[aria-label=Queue]"
SLOWLY = "[[deltas: 6000]] [[delta-ms: 50]]"  # five minutes of answer: more than any test waits
LIVE = "document.querySelector('article[data-message=live]')"
SHOWN = """
[...document.querySelectorAll("article[data-message]")]
  .map(each => [each.dataset.role,
    [...each.querySelectorAll(".text")].map(text => text.innerText.trim()).join(" ")])
  .filter(([, text]) => text)
"""
# What the browser keeps of what was written and not sent.
WRITTEN = """new Promise(resolve => {
  const request = indexedDB.open("promptcorner-drafts");
  request.onsuccess = () => {
    const drafts = request.result.transaction("drafts").objectStore("drafts").getAll();
    drafts.onsuccess = () => (request.result.close(), resolve(JSON.stringify(drafts.result)));
  };
})"""


def calls(name, **arguments):
    """What makes the model call a tool."""
    return f"[[tool-calls: {name}:{json.dumps(arguments)}]]"


async def at_new(page):
    """Open the page of a new chat, and wait for its field, which takes the focus when it comes."""
    await page.goto("/new")
    await page.until_focused("textbox", FIELD)


async def say(page, text, *modifiers):
    """Type a message and send it by the key."""
    await page.write(FIELD, text)
    await page.press("Enter", *modifiers)


async def live(page, characters):
    """Wait until so much of an answer is to be seen that is not over; return it."""
    await page.until(f"{LIVE}?.innerText.length > {characters}")
    return await page.js(f"{LIVE}.innerText")


async def has_begun(page, characters, *, answer):
    """Wait until so much of the answer of this number is to be seen, or all of it."""
    over = "document.querySelectorAll('article[data-role=assistant]:not([data-message=live])')"
    await page.until(f"{LIVE}?.innerText.length > {characters} || {over}.length >= {answer}")


async def answers(page, words):
    """Wait until these words stand in an answer."""
    texts = "[...document.querySelectorAll('article[data-role=assistant] .text')]"
    await page.until(f"{texts}.some(each => each.innerText.includes({json.dumps(words)}))")


async def agrees(page, api, chat):
    """The page shows what is stored, once and in order."""

    async def is_shown():
        stored = [[role, plain(text)] for role, text in await api.texts(chat)]
        seen = [[role, plain(text)] for role, text in await page.js(SHOWN)]
        return stored == seen and not await page.js(f"!!{LIVE}")

    await page.until_true(is_shown, "it shows what is stored")


async def comes_to_rest(page, api, chat, *, status="waiting"):
    """Wait until a chat has this state."""

    async def is_so():
        return status == (await api.good("GET", f"{CHATS}/{chat}"))["status"]

    await page.until_true(is_so, f"the chat is {status}")


def plain(text):
    return re.sub(r"\s+", " ", text).strip()
