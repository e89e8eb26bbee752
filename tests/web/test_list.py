"""The list of chats: sections, menu, keys, filters in the address, search, and sharing."""

import re

import psycopg

from tests.web.house import CHATS, WORKSPACE
from tests.web.page import PHONE, a_page
from tests.web.stories import FIELD, SLOWLY, at_new, calls

SETTINGS = {"PROMPTCORNER_APPROVAL_RULES": "execute=ask", "PROMPTCORNER_APPROVAL_DEADLINE": "0"}
LIST = ".side"
SECTIONS = """
[...document.querySelectorAll(".side .list :is(h2 button, .row b)")]
  .map(each => each.closest("h2") ? [each.textContent] : each.textContent)
"""
TOASTS = ".toasts"
FOCUSED = "document.activeElement.closest('article')?.innerText ?? ''"


async def titled(api, title, text="[[text: so be it]]", status="waiting", **new):
    """Begin a chat of this title."""
    chat = await api.chat(text, status, **new)
    await api.good("PATCH", f"{CHATS}/{chat}", {"title": title})
    return chat


async def sections(page):
    """Return {heading: titles} as they stand; chats without a heading, as filters show them, are
    left out."""
    found, titles = {}, []
    for each in await page.js(SECTIONS):
        if isinstance(each, list):
            titles = found.setdefault(each[0], [])
        else:
            titles.append(each)
    return found


async def stands(page, heading, *titles):
    """Wait until these chats stand under a heading."""

    async def now():
        return (await sections(page)).get(heading, [])

    await page.until_is([*titles], now)


async def is_stored(page, api, chat, **wanted):
    """Wait until a chat is stored with these values."""

    async def now():
        shown = await api.good("GET", f"{CHATS}/{chat}")
        return {name: shown[name] for name in wanted}

    await page.until_is(wanted, now)


async def only(api, *chats):
    """Archive everything but these chats: stories of one file share their daemon."""
    for chat in await api.good("GET", CHATS, limit=100):
        if chat["id"] not in chats:
            if chat["status"] not in ("waiting", "error"):
                stopped = await api.client.post(f"{CHATS}/{chat['id']}/interrupt")
                assert stopped.status_code in (200, 409), stopped.text  # 409: it rests by now
                await api.until(chat["id"], "waiting", "error")
            await api.good("PATCH", f"{CHATS}/{chat['id']}", {"archived": True})


async def act(page, title, name):
    """Do something by the menu of a row."""
    await page.click("link", title, within=LIST, button="right")
    await page.click("menuitem", name)


async def test_what_needs_me_stands_first_and_in_one_place(page, api):
    await only(api)
    await titled(api, "At rest")
    await titled(api, "At work", SLOWLY, "running")
    await titled(api, "Broken", "[[faults: 401]]", "error")
    await titled(api, "Asks", calls("execute", command="git push"), "requires_action")
    pinned = await titled(api, "Pinned one")
    await api.good("PATCH", f"{CHATS}/{pinned}", {"pin_order": 1})

    await at_new(page)

    wanted = {
        "Pinned": ["Pinned one"],
        "Needs you": ["Asks", "Broken"],
        "Working": ["At work"],
        "Today": ["At rest"],
    }
    await page.until_is(wanted, sections, page)
    await page.until_text("asks: run git push?", LIST)
    await page.until_text("The key was refused (401)", LIST)
    await page.until("document.title.startsWith('(2) ')")
    assert [] == await page.faults_of_access()


async def test_the_list_hears_of_everything_that_happens(page, api):
    await only(api)
    await at_new(page)
    await page.until_text("No chats yet.", LIST)

    chat = await titled(api, "From elsewhere", f"{SLOWLY} Talk.", "running")
    await stands(page, "Working", "From elsewhere")
    await api.good("POST", f"{CHATS}/{chat}/interrupt")
    await stands(page, "Today", "From elsewhere")
    await api.good("PATCH", f"{CHATS}/{chat}", {"title": "Called otherwise"})
    await stands(page, "Today", "Called otherwise")
    await api.good("PATCH", f"{CHATS}/{chat}", {"archived": True})
    await page.until_text("No chats yet.", LIST)


async def test_a_chat_is_renamed_pinned_labelled_and_archived_from_its_menu(page, api):
    await only(api)
    chat = await titled(api, "One")
    await titled(api, "Two")
    await at_new(page)

    await act(page, "One", "Rename… r")
    await page.click("button", "Propose a title")
    await page.until("document.querySelector('dialog input').value !== 'One'")
    await page.js("document.querySelector('dialog input').select()")
    await page.type("The first")
    assert [] == await page.faults_of_access()
    await page.click("button", "Rename")
    await stands(page, "Today", "Two", "The first")

    await act(page, "The first", "Pin")
    await stands(page, "Pinned", "The first")
    await act(page, "The first", "Labels… l")
    await page.write("Another one", "area: web", "combobox")
    await page.click("button", "Save")
    await page.until("!document.querySelector('dialog')")
    await is_stored(page, api, chat, title="The first", pin_order=1, labels={"area": "web"})

    await act(page, "The first", "Archive e")
    await page.click("button", "Undo")  # of the words that it is archived, and is so
    await stands(page, "Today", "The first", "Two")
    await is_stored(page, api, chat, archived=False)


async def test_where_no_chat_needs_its_user_the_key_says_so(page, api):
    await only(api)
    await titled(api, "At rest")
    await page.goto("/")
    await stands(page, "Today", "At rest")
    await page.until("document.activeElement.matches('textarea')")
    await page.js("document.activeElement.blur()")

    await page.press("g")
    await page.press("i")

    await page.until_text("No chat needs you.", TOASTS)


async def test_a_chat_at_work_is_not_archived_and_the_menu_says_why(page, api):
    await only(api)
    await titled(api, "Busy", SLOWLY, "running")
    await at_new(page)
    await page.click("link", "Busy", within=LIST, button="right")

    item = await page.find("menuitem", "Archive It works: stop it first e")

    assert "true" == await item.attribute("aria-disabled")


async def test_a_chat_is_archived_together_with_its_workspace_after_a_question(page, api):
    await only(api)
    chat = await titled(api, "With files", WORKSPACE)
    await at_new(page)

    await act(page, "With files", "Archive, and remove its workspace…")
    await page.until_text("gone for good", "dialog")
    assert [] == await page.faults_of_access()
    await page.click("button", "Archive and remove")

    await page.until_text("its workspace is gone", TOASTS)
    assert (await api.good("GET", f"{CHATS}/{chat}"))["archived"]
    assert 0 == (await api.good("GET", "/api/v2/workspaces"))["count"]


async def test_the_keyboard_goes_through_the_list_and_the_focus_is_never_lost(page, api):
    await only(api)
    for title in ("Four", "Three", "Two", "One"):
        await titled(api, title)
    await at_new(page)
    await stands(page, "Today", "One", "Two", "Three", "Four")

    await (await page.find("link", "One", LIST)).focus()
    await page.press("ArrowDown")
    await page.until_focused("link", "Two")
    await page.press("e")
    await stands(page, "Today", "One", "Three", "Four")
    await page.until_focused("link", "Three")

    await page.press("x")
    await page.press("ArrowDown", "Shift")
    await page.until_text("2 chosen", LIST)
    assert [] == await page.faults_of_access()
    await page.click("button", "Archive")
    await stands(page, "Today", "One")

    await page.press("J")
    await page.until("document.querySelector('.top h1').textContent === 'One'")


async def test_pinned_chats_are_put_in_order_by_mouse_and_keys(page, api):
    await only(api)
    for title in ("A", "B", "C"):
        chat = await titled(api, title)
        await api.good("PATCH", f"{CHATS}/{chat}", {"pin_order": 1})
    await at_new(page)
    await stands(page, "Pinned", "A", "B", "C")

    boxes = [await (await page.find("link", title, LIST)).still() for title in ("A", "C")]
    start, end = ((box["x"], box["y"]) for box in boxes)
    await page.drag(start, (end[0], end[1] + 20))
    await stands(page, "Pinned", "B", "C", "A")
    await (await page.find("link", "A", LIST)).focus()
    await page.press("ArrowUp", "Alt")
    await stands(page, "Pinned", "B", "A", "C")

    await page.until_focused("link", "A")

    async def order():
        return [chat["title"] for chat in await api.good("GET", CHATS)]

    await page.until_is(["B", "A", "C"], order)
    assert "/new" == await page.js("location.pathname")


async def test_agents_stand_below_their_root_while_one_works_or_is_open(page, api):
    await only(api)
    agent = {"title": "The helper", "prompt": "help", "type": "general"}
    root = await titled(api, "The root", calls("spawn_agent", **agent))
    [child] = (await api.good("GET", f"{CHATS}/{root}"))["children"]
    await api.until(child["id"], "waiting")
    await at_new(page)
    await stands(page, "Today", "The root")

    await page.click("button", "1 agent of The root")
    await stands(page, "Today", "The root", "The helper")
    await page.click("button", "1 agent of The root")
    await stands(page, "Today", "The root")
    await page.goto(f"/c/{child['id']}")
    await stands(page, "Today", "The root")
    await page.find("link", re.compile("The root"), within=".top")
    await page.press("u")
    await page.until(f"location.pathname === '/c/{root}'")


async def test_filters_stand_in_the_address_and_come_back_with_it(page, api):
    await only(api)
    labelled = await titled(api, "Labelled")
    await api.good("PATCH", f"{CHATS}/{labelled}", {"labels": {"area": "web"}})
    await titled(api, "Broken", "[[faults: 401]]", "error")
    await at_new(page)
    await stands(page, "Needs you", "Broken")

    await page.click("button", "Needs me 1")
    await page.until("location.search === '?needs=1'")
    await page.until_no_text("Labelled", LIST)
    await page.click("button", "Needs me 1")
    await stands(page, "Today", "Labelled")
    await page.click("button", "Label…")
    await page.click("menuitem", "area: web")
    await page.until("location.search === '?label=area%3Aweb'")
    await page.until_no_text("Broken", LIST)

    await page.reload()
    await stands(page, "Today", "Labelled")
    await page.click("button", "area: web: remove this filter")
    await stands(page, "Needs you", "Broken")
    await page.js("history.back()")
    await page.until_no_text("Broken", LIST)


async def test_the_search_finds_words_and_titles_and_opens_a_hit_by_keys(page, api):
    await only(api)
    found = await titled(api, "A plain name", "[[text: the understudy knows every line]] hello")
    await titled(api, "About understudies", "hello")
    await page.goto("/search")

    await page.write("Search all chats", "understud", "combobox")
    await page.until("document.querySelector('.found-words').textContent === '1 chat'")
    await page.until_text("About understudies", ".hits")
    await page.type("y")
    await page.until_text("A plain name", ".hits")
    await page.until("location.search === '?q=understudy'")
    await page.until_text("the understudy knows every line", ".hits")
    assert [] == await page.faults_of_access()
    await page.press("Enter")

    await page.until(f"location.pathname === '/c/{found}'")
    await page.until_text("the understudy knows every line", "[role=log]")
    await page.until(f"{FOCUSED}.includes('the understudy knows every line')")


async def test_a_chat_that_a_search_finds_by_its_title_is_opened_to_write_in(page, api):
    await only(api)
    found = await titled(api, "About understudies")
    await page.goto("/search?q=understudies")
    await page.until_text("About understudies", ".hits")

    await page.until_focused("combobox", "Search all chats")
    await page.press("Enter")

    await page.until(f"location.pathname === '/c/{found}'")
    await page.until_focused("textbox", FIELD)


async def test_a_shared_chat_can_be_read_and_not_changed(page, api, house, browser):
    await only(api)
    chat = await titled(api, "For two", "[[text: read me]] hello")
    _, cookies = await house.person("ines")
    await page.goto(f"/c/{chat}")

    await page.click("button", "Share")
    await page.write("Add a person", "ines", "searchbox")
    await page.click("button", "ines", within=".sharing ul")
    await page.find("button", "ines may no longer read it")
    assert [] == await page.faults_of_access()

    async with a_page(browser) as other:
        other.url = house.url
        await other.cookies(cookies, house.url)
        await at_new(other)
        await stands(other, "Today", "For two")
        await other.until_text("Shared by mara", LIST)
        await other.click("link", "For two", within=LIST)
        await other.until_text("read me", "[role=log]")
        await other.until_text("read only", ".top")
        assert [] == await other.all("textbox", FIELD)
        await api.good("PATCH", f"{CHATS}/{chat}", {"title": "Still for two"})
        await stands(other, "Today", "Still for two")
        assert [] == await other.all("button", "Share")
        assert [] == await other.faults_of_access()
        assert [] == other.unexpected


async def test_a_chat_enters_the_list_when_it_is_shared_and_leaves_it_when_it_is_not_any_more(
    page, api, house, browser
):
    await only(api)
    chat = await titled(api, "For ines for now")
    token, cookies = await house.person("ines")
    async with house.api(token) as own:
        ines = (await own.good("GET", "/api/v2/users/me"))["id"]

    async with a_page(browser) as other:
        other.url = house.url
        await other.cookies(cookies, house.url)
        await at_new(other)
        await other.until_text("No chats yet.", LIST)

        for role, titles in (("read", ["For ines for now"]), ("", [])) * 2:
            await api.good("PATCH", f"{CHATS}/{chat}/acl", {"user_roles": {ines: role}})
            await stands(other, "Today", *titles)
        assert [] == other.unexpected


async def test_an_open_chat_that_is_marked_as_unread_stays_so_when_the_tab_is_closed(
    page, api, browser, person
):
    await only(api)
    chat = await titled(api, "To be read later")

    async def is_unread():
        unread = await api.good("GET", CHATS, q="has_unread:true")
        return chat in [each["id"] for each in unread]

    async with a_page(browser) as other:
        other.url = page.url
        await other.cookies(person[1], page.url)
        await other.goto(f"/c/{chat}")
        await other.until_text("so be it", "[role=log]")

        async def is_read():
            return not await is_unread()

        await other.until_true(is_read, "it is read")
        await act(other, "To be read later", "Mark as unread")
        await other.until_true(is_unread, "it is unread")
    await at_new(page)  # the other tab is closed, and what it said at its end has come
    await page.until_text("To be read later", LIST)

    assert await is_unread()


async def test_thousands_of_chats_are_gone_through_and_few_are_built(page, api, house):
    await only(api)
    await titled(api, "The model of all")
    with psycopg.connect(house.database) as connection:
        connection.execute("""
            INSERT INTO chats SELECT (jsonb_populate_record(c, jsonb_build_object(
                'id', gen_random_uuid(), 'title', 'Number ' || n,
                'updated_at', now() - n * interval '20 minutes'))).*
              FROM chats c, generate_series(1, 2000) n WHERE c.title = 'The model of all'
        """)
    await at_new(page)
    await page.until_text("Number 1", LIST)

    await (await page.find("link", "The model of all", LIST)).focus()
    most = 0

    async def is_at_the_end():
        nonlocal most
        await page.press("End")
        most = max(most, await page.js("document.querySelectorAll('.list *').length"))
        return "Number 2000" == (await page.focused())[1]

    await page.until_true(is_at_the_end, "the focus is on the last chat")
    assert 0 < most < 3000
    await page.press("Home")
    await page.until_focused("link", "The model of all")
    with psycopg.connect(house.database) as connection:  # the next story archives what is left
        connection.execute("SET session_replication_role = replica")
        connection.execute("DELETE FROM chats WHERE title LIKE 'Number %'")


async def test_on_a_phone_a_pinned_chat_is_moved_by_a_finger_that_rested_on_it(page, api):
    await only(api)
    for title in ("A", "B", "C"):
        chat = await titled(api, title)
        await api.good("PATCH", f"{CHATS}/{chat}", {"pin_order": 1})
    await page.size(*PHONE, phone=True)
    await page.goto("/")
    await stands(page, "Pinned", "A", "B", "C")
    start, end = [await (await page.find("link", title, LIST)).still() for title in ("A", "C")]

    async with page.finger(start["x"], start["y"]) as move:
        await page.until("document.querySelector('.row[data-lifted]')")
        for step in range(1, 5):
            await move(start["x"], start["y"] + (end["y"] + 20 - start["y"]) * step / 4)
    await stands(page, "Pinned", "B", "C", "A")

    async def order():
        return [chat["title"] for chat in await api.good("GET", CHATS)]

    await page.until_is(["B", "C", "A"], order)
    assert "/" == await page.js("location.pathname")

    box = await (await page.find("link", "B", LIST)).still()
    async with page.finger(box["x"], box["y"]):
        await page.until("document.querySelector('.row[data-lifted]')")
    await page.find("menuitem", "Unpin")


async def test_on_a_phone_the_list_scrolls_where_a_lifted_row_is_held_at_its_end(page, api):
    await only(api)
    titles = [f"Pin {number:02}" for number in range(20)]
    for title in titles:
        chat = await titled(api, title)
        await api.good("PATCH", f"{CHATS}/{chat}", {"pin_order": 1})
    await page.size(*PHONE, phone=True)
    await page.goto("/")
    await stands(page, "Pinned", *titles)
    start = await (await page.find("link", titles[0], LIST)).still()
    end = await page.js("document.querySelector('.list').getBoundingClientRect().bottom - 5")

    async with page.finger(start["x"], start["y"]) as move:
        await page.until("document.querySelector('.row[data-lifted]')")
        await move(start["x"], (start["y"] + end) / 2)
        await move(start["x"], end)
        left = "list.scrollHeight - list.clientHeight - list.scrollTop"
        is_at_the_end = f"(list => list.scrollTop > 100 && {left} < 2)"
        await page.until(f"{is_at_the_end}(document.querySelector('.list'))")
        await page.until("document.querySelector('.row.drop-after')")

    await stands(page, "Pinned", *titles[1:], titles[0])


async def test_on_a_phone_a_long_press_opens_the_menu_and_a_tap_the_chat(page, api):
    await only(api)
    chat = await titled(api, "Pressed")
    await page.size(*PHONE, phone=True)
    await page.goto("/")
    await stands(page, "Today", "Pressed")
    assert [] == await page.faults_of_access()

    box = await (await page.find("link", "Pressed", LIST)).still()
    async with page.finger(box["x"], box["y"]):
        await page.find("menuitem", "Pin")
    assert "/" == await page.js("location.pathname")
    await page.tap(f".side a[href='/c/{chat}']")
    await page.until("location.pathname.startsWith('/c/')")
    await page.click("button", "Back to the list")
    await page.until("location.pathname === '/'")


async def test_on_a_phone_a_key_closes_the_menu_of_a_long_press(page, api):
    await only(api)
    await titled(api, "Pressed")
    await page.size(*PHONE, phone=True)
    await page.goto("/")
    await stands(page, "Today", "Pressed")
    box = await (await page.find("link", "Pressed", LIST)).still()
    await page.js("window.ups = 0; addEventListener('mouseup', () => window.ups += 1); 0")

    async with page.finger(box["x"], box["y"]):
        await page.until_focused("menuitem", "Pin")
    await page.until("window.ups === 1")  # the browser says the press once more, as of a mouse
    await page.press("Escape")

    await page.until("!document.querySelector('[role=menuitem]')")
    assert "/" == await page.js("location.pathname")
