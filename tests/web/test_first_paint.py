"""The first picture of a chat: its text is there before all else; what comes then moves nothing.

What the page loads after its first picture is held back here, as a slow network would.
"""

import pytest

from tests.web.page import DESK, PHONE
from tests.web.stories import FIELD

LATER = "*/after_paint.js"
ANSWER = "An answer that is read at once."
PLACES = """
['.tl article[data-role=assistant] .text', '.comp .box', '.comp .hint', '.stage .top', 'nav.side']
  .map(each => [each, document.querySelector(each)?.getBoundingClientRect().toJSON()])
"""
FIELDS = "document.querySelectorAll('textarea').length"


@pytest.fixture
async def chat(api):
    return await api.chat(f"[[text: {ANSWER}]] A question")


@pytest.mark.parametrize("size", [DESK, PHONE])
async def test_modules_that_are_loaded_later_move_nothing(page, chat, size):
    await page.size(*size, phone=size == PHONE)
    async with page.held(LATER):
        await page.begin(f"/c/{chat}")
        await page.until_text(ANSWER, "[role=log]")
        await page.until("document.querySelector('.top h1')?.innerText")
        assert 0 == await page.js(FIELDS)
        before = await page.js(PLACES)

    await page.find("textbox", FIELD)
    await page.until("!document.querySelector('[aria-busy=true]')")

    assert before == await page.js(PLACES)


async def test_keys_wait_until_their_commands_are_loaded(page, chat):
    async with page.held(LATER):
        await page.begin(f"/c/{chat}")
        await page.until_text(ANSWER, "[role=log]")
        for key in "/have":
            await page.press(key)
        assert 0 == await page.js(FIELDS)

    await page.find("textbox", FIELD)
    await page.until("document.querySelector('textarea').value === 'have'")
    await page.until_focused("textbox", FIELD)


async def test_a_key_that_means_nothing_here_is_forgotten(page, chat):
    async with page.held(LATER):
        await page.begin(f"/c/{chat}")
        await page.until_text(ANSWER, "[role=log]")
        await page.press("y")  # there is nothing to allow
        await page.press("?")

    await page.until("document.querySelector('dialog[open]')?.innerText.includes('All keys')")


async def test_a_button_of_the_first_picture_waits_as_well(page, chat):
    async with page.held(LATER):
        await page.begin(f"/c/{chat}")
        await page.until_text(ANSWER, "[role=log]")
        await page.click("button", "Copy as Markdown")

    await page.until("!!document.querySelector('.toast')")


async def test_a_rare_name_of_a_character_is_looked_up(page, api):
    chat = await api.chat("[[text: &copy; stands here, and &Dcaron;&ngE; there.]] Signs")

    await page.goto(f"/c/{chat}")

    await page.until_text("© stands here, and Ď≧̸ there.", "[role=log]")
