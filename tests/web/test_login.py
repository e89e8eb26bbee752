"""Who may see the pages: the form, a session that ends in the middle, and the way out."""

from contextlib import asynccontextmanager

import pytest

from tests.web.house import CHATS, PASSWORD
from tests.web.stories import FIELD, agrees

ENDED = "Your session has ended"


async def log_in(page, name, password=PASSWORD):
    await page.click("textbox", "Name or email")
    await page.until_focused("textbox", "Name or email")
    await page.press("a", "Control")
    await page.type(name)
    await page.write("Password", password)
    await page.press("Enter")


async def test_a_page_asks_who_one_is_and_leads_to_where_one_wanted_to_go(stranger, house, api):
    chat = await api.chat("[[text: Good evening.]] Say good evening.")
    stranger.allow("401")

    await stranger.goto(f"/c/{chat}")
    await stranger.until("location.pathname === '/login'")
    assert [] == await stranger.faults_of_access()
    await log_in(stranger, "mara", "wrong")
    await stranger.until_text("password", "[role=alert]")
    assert [] == await stranger.faults_of_access()
    await log_in(stranger, "mara")

    await stranger.until(f"location.pathname === '/c/{chat}'")
    await stranger.until_text("Good evening.")


@pytest.mark.parametrize("wanted", ["//evil.example/", "/\\evil.example", "https://evil.example"])
async def test_the_login_leads_to_no_other_place(stranger, house, wanted):
    await house.person("mara")
    await stranger.goto(f"/login?next={wanted}")

    await log_in(stranger, "mara")

    await stranger.until("location.pathname === '/'")
    assert house.url == await stranger.js("location.origin")


async def test_a_session_that_ends_in_the_middle_costs_nothing(stranger, house):
    stranger.allow("401", "WebSocket")
    async with a_chat_of(stranger, house, "ines") as (api, _):
        await stranger.write(FIELD, "Are you still there?")
        await api.good("POST", "/api/v2/users/logout")
        await stranger.until_text(ENDED)
        await stranger.until_focused("textbox", "Password")
        assert [] == await stranger.faults_of_access()

    await log_in(stranger, "ines")

    await stranger.until_no_text(ENDED)
    await stranger.until_focused("textbox", FIELD)
    assert "Are you still there?" == await stranger.value(FIELD)


async def test_what_was_being_done_goes_on_after_the_login(stranger, house):
    stranger.allow("401")
    async with a_chat_of(stranger, house, "nora") as (api, chat):
        messages = ("POST", f"{house.url}{CHATS}/{chat}/messages")

        async def is_asked():
            return messages in stranger.requests

        await stranger.write(FIELD, "Are you still there?")
        async with stranger.held("*/api/*"):  # what asks by itself does not hear of it sooner
            for name, _ in (await house.person("nora"))[1]:
                await stranger.do("Network.deleteCookies", name=name, url=house.url)
            await stranger.press("Enter")
            await stranger.until_true(is_asked, "the message is on its way")
        await stranger.until_text(ENDED)

        await log_in(stranger, "nora")

        await stranger.until_no_text(ENDED)
        await stranger.until_text("Are you still there?", "[role=log]")
        await agrees(stranger, api, chat)


async def test_another_user_who_logs_in_there_sees_nothing_of_the_first(stranger, house):
    await house.person("paul")
    stranger.allow("401", "404", "WebSocket")
    async with a_chat_of(stranger, house, "otto", "The secret of Otto") as (api, _):
        await stranger.write(FIELD, "Are you still there?")
        await api.good("POST", "/api/v2/users/logout")

    await stranger.until_text(ENDED)
    await log_in(stranger, "paul")

    await stranger.until_no_text("The secret of Otto")
    await stranger.until_text("This chat is not here", "main")
    assert "still there" not in await stranger.js("document.documentElement.outerHTML")


@asynccontextmanager
async def a_chat_of(page, house, name, text="Say good evening."):
    """Log a user in and open a chat of theirs: the API as they have it, and its id."""
    token, cookies = await house.person(name)
    async with house.api(token) as api:
        chat = await api.chat(text)
        await page.cookies(cookies, house.url)
        await page.goto(f"/c/{chat}")
        await page.until_text(text, "[role=log]")
        yield api, chat
