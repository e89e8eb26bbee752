"""Long chats, and budgets as counts and ratios: ten thousand messages cost what ten cost."""

import pytest

from tests.web.house import CHATS
from tests.web.long_chats import lengthen
from tests.web.stories import FIELD, agrees, say

ELEMENTS_MAX = 6_000
FIRST_LOAD_BYTES_MAX = 150 * 1024  # as they come over the network, without headers
REQUESTS_MAX = 40
OPENINGS = 5
RATIO_MAX = 1.5
TEXT = "[[text: The answer number 0 is **yes**, because of `this`.]] Question number 0"


@pytest.fixture
async def chats(house, api):
    """A chat of ten messages and one of ten thousand; both have been edited once."""
    made = []
    for copies in (4, 4_999):
        chat = await api.chat(TEXT)
        [question, *_] = await api.messages(chat)
        content = [{"type": "text", "text": f"{TEXT}, asked again"}]
        await api.good("PATCH", f"{CHATS}/{chat}/messages/{question['id']}", {"content": content})
        await api.until(chat, "waiting")
        lengthen(house.database, chat, copies)
        made.append(chat)
    return made


async def elements(page):
    return await page.js("document.querySelectorAll('*').length")


async def test_ten_thousand_messages_cost_what_ten_cost(page, chats):
    costs = []
    for chat, last in zip(chats, (4, 4999), strict=True):
        await page.goto("about:blank")
        requests = len(page.requests)
        await page.goto(f"/c/{chat}")
        await page.until_text(f"The answer number {last}", "[role=log]")
        await page.until("!!document.querySelector('aside.panel [role=tab]')")
        await page.until(f"!!document.querySelector('nav a[href=\"/c/{chat}\"]')")
        # The side panel reads the whole chat meanwhile, page by page, and without costs.
        asked = [url for _, url in page.requests[requests:] if "costs=true" in url]
        costs.append((len(asked), await elements(page)))
    [ten, all_of_them] = costs

    assert all_of_them[0] <= ten[0] + 1  # a page ahead of who scrolls
    assert all_of_them[1] <= min(ELEMENTS_MAX, 4 * ten[1])


async def test_reading_upwards_comes_to_the_first_message_and_keeps_its_place(page, chats):
    chat = chats[1]
    await page.goto(f"/c/{chat}")
    await page.until_text("The answer number 4999", "[role=log]")
    log = "document.querySelector('[role=log]')"
    most = 0
    for _ in range(40):
        await page.js(f"{log}.scrollTop -= 2000")
        await page.until(f"{log}.scrollTop > 0 || {log}.querySelector('.tl-head p') === null")
        most = max(most, await elements(page))

    assert most <= ELEMENTS_MAX
    assert not await page.js(f"{log}.innerText.includes('number 4999')")
    await page.press("G", "Shift")
    await page.until_text("The answer number 4999", "[role=log]")


async def test_a_link_opens_a_message_in_the_middle(page, chats, api):
    chat = chats[1]
    newest = (await api.page_of(chat))["messages"][0]["id"]
    [wanted, *_] = (await api.page_of(chat, before_id=newest - 5_000))["messages"]
    [part] = [part["text"] for part in wanted["content"] if part["type"] == "text"]

    await page.goto(f"/c/{chat}?m={wanted['id']}")

    at = f"document.querySelector('[data-message=\"{wanted['id']}\"]')"
    await page.until(f"{at}?.innerText.includes('number')")
    await page.until(f"(top => 0 < top && top < 900)({at}.getBoundingClientRect().top)")
    assert "number" in part
    assert await elements(page) <= ELEMENTS_MAX


async def test_the_first_chat_loads_little(page, chats):
    await page.goto(f"/c/{chats[0]}")
    await page.find("textbox", FIELD)
    await page.until_text("The answer number 4", "[role=log]")
    await page.find("tab", "Changes")  # of the side panel, which comes last
    await page.until("!!document.querySelector('.list .row')")
    await page.until("!!document.querySelector('.bar button')")

    assert len(page.requests) <= REQUESTS_MAX, page.requests
    sizes = """(entries => {  // what comes when all is at rest, and what that loads, is not meant
          const rest = entries.find(each => each.name.endsWith("/in_advance.js"))?.startTime;
          return entries.filter(each => each.startTime < (rest ?? Infinity))
            .map(each => each.encodedBodySize ?? 0);
        })(performance.getEntries())"""
    assert sum(await page.js(sizes)) <= FIRST_LOAD_BYTES_MAX
    assert {page.url} == {"/".join(url.split("/")[:3]) for _, url in page.requests}


async def test_what_is_left_is_given_back(page, api):
    """Open and leave two hundred chats: listeners and nodes come back."""
    chats = [await api.chat(f"[[text: answer {number}]] question {number}") for number in range(4)]
    await page.goto("/")

    async def open_and_leave():
        for number, chat in enumerate(chats):
            await page.js(f"document.querySelector('a[href=\"/c/{chat}\"]').click()")
            await page.until_text(f"answer {number}", "[role=log]")
        await page.js(
            "history.pushState({}, '', '/'); dispatchEvent(new PopStateEvent('popstate'))"
        )
        await page.until("!document.querySelector('[role=log]')")

    await page.until(f"!!document.querySelector('a[href=\"/c/{chats[-1]}\"]')")
    for _ in range(3):
        await open_and_leave()
    before = await page.counts()
    for _ in range(50):
        await open_and_leave()

    async def are_back():
        after = await page.counts()
        listeners = after["jsEventListeners"] <= before["jsEventListeners"] + 10
        return listeners and after["nodes"] <= before["nodes"] * 1.2

    await page.until_true(are_back, f"nodes and listeners are back at {before}")


async def test_long_code_is_coloured_piece_by_piece_and_stays_what_it_is(page, api, house):
    code = "".join(f"def light_{n}():\n    return {n}  # said once\n\n" for n in range(300))
    house.provider.behave(text=f"Here it is:\n\n```python\n{code}```\n", delta_chars=400)
    try:
        chat = await api.chat("Write code.")
    finally:
        house.provider.behave()

    await page.goto(f"/c/{chat}")

    shown = "document.querySelector('[role=log] pre.source code')"
    await page.until(f"{shown}?.querySelectorAll('.c').length === 133")  # in its first 400 lines
    assert code.startswith(await page.js(f"{shown}.textContent"))


async def test_a_long_table_and_a_long_list_begin_short(page, api, house, chats):
    """What a table or a list of thousands costs is paid by those who ask for all of it."""
    table = "| number | light |\n|---|---|\n" + "".join(f"| {n} | red |\n" for n in range(3_000))
    items = "".join(f"- cue {n}\n" for n in range(700))
    house.provider.behave(text=f"{table}\nand\n\n{items}", delta_chars=4_000)
    try:
        await api.say(chats[1], "Write much.", "waiting")
    finally:
        house.provider.behave()

    await page.goto(f"/c/{chats[1]}")
    await page.until_text("cue 199", "[role=log]")

    rows = "document.querySelectorAll('[role=log] tbody tr').length"
    assert 200 == await page.js(rows)
    assert await elements(page) <= ELEMENTS_MAX
    await page.click("button", "Show 1600 of 3000 rows")
    await page.until(f"{rows} === 1600")
    await page.click("button", "Show all 3000 rows")
    await page.until(f"{rows} === 3000")
    await page.click("button", "Show all 700 items")
    await page.until_text("cue 699", "[role=log]")
    assert [] == await page.names("button", ".text")


async def test_a_stream_builds_each_block_once(page, api, house):
    """While an answer grows, what is complete in it stays the same nodes."""
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    text = "\n\n".join(f"Paragraph {number} of the answer." for number in range(200))
    await page.js(
        """
        window.added = 0;
        new MutationObserver(changes => {
          for (const { addedNodes } of changes)
            for (const node of addedNodes) if (node.nodeName === "P") window.added += 1;
        }).observe(document.querySelector("[role=log]"), { childList: true, subtree: true }); 0
        """
    )
    house.provider.behave(text=text, delta_chars=7, delta_ms=2)
    try:
        await say(page, "Say much.")
        await page.until_text("Paragraph 199")
        await api.until(chat, "waiting")
        await agrees(page, api, chat)
    finally:
        house.provider.behave()

    assert await page.js("window.added") <= 2 * 200 + 10
