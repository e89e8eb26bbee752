"""Every view at three widths, by keyboard alone, and as a screen reader has it."""

import pytest

from tests.web.house import WORKSPACE
from tests.web.page import DESK, PHONE, TABLET
from tests.web.stories import FIELD, agrees, calls, comes_to_rest, say

SETTINGS = {"PROMPTCORNER_APPROVAL_RULES": "execute=ask"}
VIEWS = ("/", "/new", "/search?q=hello", "/settings", "/admin", "CHAT", "CHAT/read")


@pytest.mark.parametrize(
    ("size", "theme"), [(DESK, "dark"), (TABLET, "light"), (PHONE, "dark"), ((320, 640), "light")]
)
async def test_every_view_is_for_everybody(page, api, size, theme):
    chat = await api.chat("[[text: A *word*, `code` and [a link](/new).]] hello")
    await page.size(*size, phone=size[0] < 720)
    await page.media(theme=theme)
    faults = []
    for view in VIEWS:
        await page.goto(view.replace("CHAT", f"/c/{chat}"))
        await page.until("!!document.querySelector('h1')")
        faults += [f"{view}: {fault}" for fault in await page.faults_of_access()]
        if await page.js("document.documentElement.scrollWidth > innerWidth"):
            faults.append(f"{view}: wider than the page")
        if await page.js("document.querySelectorAll('h1').length") > 1:
            faults.append(f"{view}: several first headings")

    assert [] == faults


async def test_a_chat_is_begun_allowed_and_left_by_keys_alone(page, api):
    await page.goto("/")
    await page.until_focused("textbox", FIELD)
    await page.type(WORKSPACE)
    await page.press("Enter")
    await page.until("location.pathname.startsWith('/c/')")
    chat = (await page.js("location.pathname")).rpartition("/")[2]
    await page.until_text("here", "[role=log]")
    await comes_to_rest(page, api, chat)

    await page.press("F6", "Shift")
    await page.press("/")
    await page.until_focused("textbox", FIELD)
    await page.type(f"{calls('execute', command='echo it has run')} [[text: done]] Run it.")
    await page.press("Enter")
    await page.until("!!document.querySelector('[data-approval]')")
    await page.press("F6", "Shift")
    await page.press("y")
    await page.until_text("done", "[role=log]")
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)
    await page.press("c")

    await page.until("location.pathname === '/new'")
    await page.until_focused("textbox", FIELD)


async def test_what_a_screen_reader_has_of_a_chat(page, api):
    chat = await api.chat("[[text: The prompter whispers.]] What does the prompter do?")
    await page.goto(f"/c/{chat}")
    await page.until_text("The prompter whispers.")
    await page.find("complementary")  # it is loaded when the chat stands

    landmarks = {role: await page.names(role) for role in ("navigation", "main", "complementary")}
    assert all(len(names) == 1 for names in landmarks.values()), landmarks
    assert ["Conversation"] == await page.names("log")
    articles = await page.names("article")
    assert ["Your message", "Answer"] == [name.partition(",")[0] for name in articles]
    buttons = [*await page.names("button"), *await page.names("link"), *await page.names("textbox")]
    assert "" not in buttons


async def test_an_answer_is_told_in_sentences_and_not_word_by_word(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await page.until("!!document.querySelector('.sr[aria-live=polite]')")
    await page.js(
        """
        window.told = [];
        for (const region of document.querySelectorAll("[aria-live=polite], [role=status]"))
          new MutationObserver(() => { const text = region.textContent.trim();
            if (text && told.at(-1) !== text) told.push(text); })
            .observe(region, { childList: true, subtree: true, characterData: true });
        window.beganAt = performance.now(); 0
        """
    )
    await say(page, "[[deltas: 100]] [[delta-ms: 20]] Say much.")
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)

    await page.until("told.length > 0")
    pauses = await page.js("(performance.now() - beganAt) / 2000")  # PAUSE_MS of announcer.js
    assert 4 + pauses >= await page.js("told.length"), await page.js("told")
