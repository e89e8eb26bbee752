"""The frame of the pages: regions, keys, palette, title, phones, and life without a script."""

import json
import re

from tests.web.long_chats import lengthen
from tests.web.page import PHONE, TABLET
from tests.web.stories import FIELD, SLOWLY

CUT_LIGHTS = """
[...document.querySelectorAll(".top .st")].filter(state => {
  const boxes = [state, state.querySelector(".cue")].map(each => each.getBoundingClientRect());
  const [whole, light] = boxes;
  return light.width && (light.left < whole.left || light.right > whole.right);
}).map(state => state.outerHTML)
"""
LONG_ANSWER = "The house is open, the lamps are lit and nobody has come. " * 60
HIDDEN_PIXELS = """\
[...document.querySelectorAll(".tl-gap")].reduce((sum, gap) => sum + gap.offsetHeight, 0)
"""
APP = "document.querySelector('.app')"


async def width(page, selector):
    return await page.js(f"document.querySelector({selector!r}).getBoundingClientRect().width")


async def is_wide(page, selector, pixels):
    """Wait until a region has this width."""

    async def is_so():
        return abs(await width(page, selector) - pixels) <= 2

    await page.until_true(is_so, f"{selector} is {pixels} wide")


async def say_in(page, chat, text):
    """Say something in one of several chats beside each other."""
    field = f"document.querySelector('.column[data-chat=\"{chat}\"] textarea')"
    await page.until(f"(it => it && (it.focus(), document.activeElement === it))({field})")
    await page.type(text)
    await page.press("Enter")
    await page.until_text(text, f'.column[data-chat="{chat}"] [role=log]')


async def test_the_regions_are_folded_and_drawn_and_stay_so(page, api):
    chat = await api.chat("[[text: Good evening.]]")
    await page.goto(f"/c/{chat}")
    await page.until_text("Good evening.", "[role=log]")
    assert [] == await page.faults_of_access()
    before = await width(page, "nav.side")

    edge = await page.find("separator", "Width of the list")
    box = await edge.still()
    at = (box["x"], 400)
    await page.drag(at, (at[0] + 60, 400))
    await is_wide(page, "nav.side", before + 60)
    await edge.focus()
    await page.press("ArrowLeft")
    await is_wide(page, "nav.side", before + 44)
    await page.js("document.activeElement.blur()")
    await page.until("!!document.querySelector('aside.panel')")
    await page.press("]")
    await page.until("!document.querySelector('aside.panel')")
    await page.press("[")
    await page.until("getComputedStyle(document.querySelector('nav.side')).display === 'none'")

    await page.reload()
    await page.until_text("Good evening.", "[role=log]")
    await page.until(f"[{APP}.dataset.list, {APP}.dataset.panel].join() === 'folded,folded'")
    await page.press("[")
    await page.press("]")
    await page.until("!!document.querySelector('aside.panel')")
    await is_wide(page, "nav.side", before + 44)


async def test_f6_goes_through_the_regions_and_back(page, api):
    chat = await api.chat("[[text: Good evening.]]")
    await page.goto(f"/c/{chat}")
    await page.until_text("Good evening.", "[role=log]")
    await page.until("!!document.querySelector('aside.panel')")
    found = []
    for keys in [("F6",)] * 3 + [("F6", "Shift")] * 2:
        await page.press(*keys)
        before = json.dumps(found[-1] if found else "")
        focus = "document.activeElement.className.split(' ')[0]"
        found.append(await page.until(f"{focus} !== {before} && {focus}"))

    begin = found.index("side")
    circle = ["side", "column", "panel"]
    assert [circle[(n - begin) % 3] for n in range(3)] == found[:3]
    assert [found[1], found[0]] == found[3:]


async def test_the_palette_finds_chats_and_commands_and_gives_the_focus_back(page, api):
    chat = await api.chat("Hello")
    title = {"title": "The wonderful title of a chat"}
    await api.good("PATCH", f"/api/experimental/chats/{chat}", title)
    await page.goto("/")
    await page.until_focused("textbox", FIELD)
    await page.press("k", "Control")
    await page.until_focused("combobox", "Search or do")
    await page.type("wonderful")
    await page.until_text("The wonderful title", "[role=listbox]")
    assert [] == await page.faults_of_access()
    await page.press("Escape")
    await page.until_focused("textbox", FIELD)

    await page.press("k", "Control")
    await page.until_focused("combobox", "Search or do")
    await page.type("dark")
    await page.until_text("Theme: Dark", "[role=listbox] [aria-selected=true]")
    await page.press("Enter")
    await page.until("document.documentElement.dataset.theme === 'dark'")
    assert "dark" == await page.js("getComputedStyle(document.documentElement).colorScheme")

    await (await page.find("link", "The wonderful title of a chat", ".side")).focus()
    await page.press("k", "Control")
    await page.until_focused("combobox", "Search or do")
    await page.type("The wonderful")
    await page.until_text("The wonderful title", "[role=listbox] [aria-selected=true]")
    await page.press("Enter")
    await page.until(f"location.pathname === '/c/{chat}'")
    await page.until("document.title.includes('The wonderful title')")
    await page.until_focused("textbox", FIELD)
    await (await page.find("link", "The wonderful title of a chat", ".side")).focus()
    await page.press("k", "Control")
    await page.until_focused("combobox", "Search or do")
    await page.type("The wonderful")
    await page.until_text("The wonderful title", "[role=listbox] [aria-selected=true]")
    await page.press("Enter")
    await page.until_focused("textbox", FIELD)  # of the chat that was open already

    await page.press("k", "Control")
    await page.until_focused("combobox", "Search or do")
    await page.type("nothing is called so")
    await page.until_text("Search all chats for", "[role=listbox] [aria-selected=true]")
    await page.press("Enter")
    await page.until(
        "location.pathname + location.search === '/search?q=nothing%20is%20called%20so'"
    )


VERSIONS = """(async () => {
  const whole = fetch;
  window.version = (await (await whole("/web/version")).json()).digest;
  window.asked = 0;
  window.fetch = async (path, how) => {
    if (path !== "/web/version") return whole(path, how);
    window.asked += 1;
    return new Response(JSON.stringify({ digest: window.version }));
  };
})()"""


async def test_a_page_that_is_older_than_its_daemon_says_so(page):
    await page.goto("/")
    await page.find("textbox", FIELD)
    await page.js(VERSIONS)
    await page.js("dispatchEvent(new CustomEvent('module-missing'))")
    await page.until("window.asked === 1")
    assert "new version" not in await page.text()
    await page.js("window.version = 'other'; dispatchEvent(new CustomEvent('module-missing'))")
    await page.until_text("There is a new version.", "nav")
    assert [] == await page.faults_of_access()
    await page.js("window.isOld = true")

    await page.click("button", "Reload")

    await page.until("!window.isOld && !!document.querySelector('.app')")
    await page.until_no_text("There is a new version.")


async def test_all_keys_are_listed_and_letters_do_nothing_in_a_text(page, api):
    await page.goto("/")
    await page.write(FIELD, "c?")
    assert "c?" == await page.value(FIELD)
    assert "/" == await page.js("location.pathname")

    await page.js("document.activeElement.blur()")
    await page.press("?")
    await page.find("dialog", "Keys")
    assert [] == await page.faults_of_access()
    await page.press("c")  # of the page behind: not heard
    await page.press("Escape")
    await page.until("!document.querySelector('dialog')")
    assert "/" == await page.js("location.pathname")
    await page.press("c")
    await page.until("location.pathname === '/new'")


async def test_a_phone_shows_one_thing_at_a_time(page, api):
    chat = await api.chat("[[text: Good evening.]]")
    await page.size(*PHONE, phone=True)
    await page.goto("/")
    seen = """["nav.side", "main.stage", "aside.panel"].filter((each) =>
      document.querySelector(each)?.checkVisibility())"""
    await page.until(f"{seen}.join() === 'nav.side'")
    assert [] == await page.faults_of_access()
    await page.tap(f'nav a[href="/c/{chat}"]')
    await page.until_text("Good evening.", "[role=log]")
    await page.until(f"{seen}.join() === 'main.stage'")
    assert [] == await page.faults_of_access()
    await page.tap("main .top button[aria-label*='anel']")
    await page.until(f"{seen}.join() === 'aside.panel'")
    assert await page.js("document.documentElement.scrollWidth <= innerWidth")
    await page.js("history.back()")
    await page.until(f"{seen}.join() === 'nav.side'")


async def test_between_the_panel_lies_over_and_goes_with_escape(page, api):
    chat = await api.chat("[[text: Good evening.]]")
    await page.size(*TABLET)
    await page.goto(f"/c/{chat}")
    await page.until_text("Good evening.", "[role=log]")
    assert await page.js("!document.querySelector('aside.panel')")
    stage = await width(page, "main.stage")
    await page.js("document.activeElement.blur()")
    await page.press("]")
    await page.until("!!document.querySelector('aside.panel')")
    assert stage == await width(page, "main.stage")
    assert [] == await page.faults_of_access()
    await page.press("Escape")
    await page.until("!document.querySelector('aside.panel')")


async def test_the_first_thing_that_is_drawn_has_the_theme_of_its_user(page):
    await page.goto("/settings")
    await page.js("localStorage.setItem('preferences', JSON.stringify({theme: 'dark'}))")
    await page.do("Network.setBlockedURLs", urls=["*/join/*"])
    page.allow("ERR_BLOCKED_BY_CLIENT", "Failed to load")

    await page.reload()

    assert "rgb(20, 21, 25)" == await page.js("getComputedStyle(document.body).backgroundColor")
    await page.until_text("The page does not begin in this browser.")
    await page.until("getComputedStyle(document.querySelector('.late')).visibility === 'visible'")


async def test_the_tab_says_what_needs_its_user(page, api):
    chat = await api.chat(f"{SLOWLY} Work for a while", status="running")
    await page.goto(f"/c/{chat}")
    icon = "document.querySelector('link[rel=icon]').href"
    await page.until(f"{icon}.endsWith('/go.svg')")
    await api.good("POST", f"/api/experimental/chats/{chat}/interrupt")
    await page.until(f"{icon}.endsWith('/off.svg')")


async def test_several_chats_stand_beside_each_other_and_keys_are_about_one(page, api):
    page.allow("WebSocket")
    one, two = await api.chat("[[text: First.]] one"), await api.chat("[[text: Second.]] two")
    for chat in (one, two):
        title = {"title": "A title that is longer than there is room for in one column of two"}
        await api.good("PATCH", f"/api/experimental/chats/{chat}", title)
    await page.goto(f"/c/{one}")
    await page.until_text("First.", "[role=log]")
    await (await page.css(f'nav a[href="/c/{two}"]')).click(button="right")
    await page.click("menuitem", "Open to the side")
    await page.until(f"location.pathname === '/c/{one}+{two}'")
    await page.until_text("Second.", f'.column[data-chat="{two}"]')
    assert await page.js("document.documentElement.scrollWidth <= innerWidth")
    assert [] == await page.faults_of_access()
    assert [] == await page.js(CUT_LIGHTS)

    for chat, text in ((one, "To the first"), (two, "To the second")):
        await say_in(page, chat, text)
    await page.js("document.activeElement.blur()")
    await page.press("<")
    await page.until(f"document.activeElement.closest('.column')?.dataset.chat === '{one}'")
    await page.click("button", re.compile("^Close "), within=f'.column[data-chat="{one}"]')
    await page.until(f"location.pathname === '/c/{two}'")
    await page.until("document.querySelectorAll('.column').length === 1")


async def test_an_address_that_leads_nowhere_says_so(page):
    page.allow("404")
    await page.goto("/settings")
    await page.until("!!document.querySelector('h1')")
    await page.js(
        "history.pushState(null, '', '/nonsense'); dispatchEvent(new PopStateEvent('popstate'))"
    )
    await page.until_text("There is nothing at this address", "main")
    await page.js("history.back()")
    await page.until("location.pathname === '/settings'")


async def test_a_chat_that_is_not_there_says_so(page):
    page.allow("404")
    await page.goto("/c/00000000-0000-4000-8000-000000000000")

    await page.until_text("This chat is not here", "main")
    assert not await page.js("document.querySelector('#message')")


async def test_without_a_script_a_chat_is_read_and_written(page, api):
    chat = await api.chat("[[text: Good **evening**.]] Say good evening.")
    await page.goto(f"/c/{chat}/read")
    await page.until_text("Good evening.", "main")
    assert [] == await page.faults_of_access()
    await page.do("Emulation.setScriptExecutionDisabled", value=True)
    await page.goto(f"/c/{chat}")  # leads to the page without a script
    await page.find("button", "Send")
    await page.write(FIELD, "And good night.")
    await page.click("button", "Send")

    async def is_said():
        return "And good night." in [text for _, text in await api.texts(chat)][2:3]

    await page.until_true(is_said, "the message is stored")


async def test_a_long_chat_is_printed_as_far_as_it_was_read_and_says_where_all_of_it_is(
    page, api, house
):
    chat = await api.chat(f"[[text: {LONG_ANSWER}]] number 0")
    lengthen(house.database, chat, 60)
    await page.goto(f"/c/{chat}")
    await page.until(f"{HIDDEN_PIXELS} > 1000")  # what is far from the view is not built

    await page.js("dispatchEvent(new Event('beforeprint'))")
    await page.until(f"{HIDDEN_PIXELS} === 0")
    await page.do("Emulation.setEmulatedMedia", media="print", features=[])
    await page.until_text(f"/c/{chat}/read?all=1", "[role=log]")
    await page.do("Emulation.setEmulatedMedia", media="", features=[])
    await page.js("dispatchEvent(new Event('afterprint'))")

    await page.until(f"{HIDDEN_PIXELS} > 1000")
    await page.until_no_text("/read?all=1", "[role=log]")


async def test_a_chat_is_printed_dark_on_light_without_the_frame(page, api):
    chat = await api.chat("[[text: Good evening.]]")
    await page.goto(f"/c/{chat}")
    await page.until_text("Good evening.", "[role=log]")
    await page.do("Emulation.setEmulatedMedia", media="print", features=[])

    seen = """["nav.side", ".comp", "aside.panel"].filter((each) =>
      document.querySelector(each)?.checkVisibility())"""
    assert [] == await page.js(seen)
    assert "rgb(255, 255, 255)" == await page.js("getComputedStyle(document.body).backgroundColor")
    assert "visible" == await page.js("getComputedStyle(document.querySelector('.tl')).overflowY")


async def test_four_chats_stream_beside_each_other_and_each_shows_its_own(page, api):
    texts = [f"[[deltas: 60]] [[delta-ms: 20]] Question {number}." for number in range(4)]
    chats = [await api.chat(f"[[text: Answer {number}.]] hello") for number in range(4)]
    await page.goto(f"/c/{'+'.join(chats)}")
    for number, chat in enumerate(chats):
        await page.until_text(f"Answer {number}.", f'.column[data-chat="{chat}"] [role=log]')
    for chat, text in zip(chats, texts, strict=True):
        await say_in(page, chat, text)

    for chat in chats:
        stored = await api.answer(chat, number=2)
        column = f"document.querySelector('.column[data-chat=\"{chat}\"]')"
        answer = f"[...{column}.querySelectorAll('article[data-role=assistant] .text')].at(-1)"
        await page.until(f"{answer}.innerText.trim() === {json.dumps(stored.strip())}")
        await page.until(f"{column}.querySelectorAll('article[data-role=user]').length === 2")
    assert await page.js("document.documentElement.scrollWidth <= innerWidth")
    assert [] == await page.faults_of_access()
