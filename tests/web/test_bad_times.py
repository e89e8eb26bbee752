"""Bad times: what a page shows while daemon and network fail, and that it goes on afterwards."""

from contextlib import asynccontextmanager

import psycopg
import pytest

from tests.e2e.conftest import a_database, home
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import free_ports
from tests.e2e.providers import a_provider
from tests.web.house import CHATS, SETTINGS, USER, House
from tests.web.line import Line
from tests.web.page import a_page
from tests.web.stories import FIELD, SLOWLY, agrees, has_begun, live, say

__all__ = ["home"]
LOST = r"ERR_|WebSocket|Failed to load resource|Failed to fetch"  # what a browser notes of it
LONG_LEASE = {"PROMPTCORNER_LEASE_SECONDS": "600"}
SILENT = "UPDATE workers SET heartbeat_at = heartbeat_at - interval '3 minutes'"
LONG = "[[deltas: 200]] [[delta-ms: 20]]"  # four seconds


@pytest.fixture
def replicas(server, home):
    """A function that starts a daemon, always at the same address and on the same database."""
    port = free_ports()
    with a_database(server, "web_restarts") as database, a_provider() as provider:
        settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}

        def start(**more):
            return a_daemon(home, listen=f"127.0.0.1:{port}", **{**settings, **more})

        start.house = lambda daemon: House(daemon, provider, database)
        yield start


@asynccontextmanager
async def a_streaming_chat(browser, house, words):
    """Open a chat in a tab and ask for an answer: the page, the chat's id, its user's token."""
    token, cookies = await house.person(USER)
    async with house.api(token) as api:
        chat = await api.chat()
    async with a_page(browser) as page:
        page.url = house.url
        page.allow(LOST)
        await page.cookies(cookies, house.url)
        await page.goto(f"/c/{chat}")
        await say(page, words)
        yield page, chat, token


async def test_a_daemon_killed_in_mid_word_comes_back_and_nothing_is_doubled(replicas, browser):
    with replicas() as first:
        house, words = replicas.house(first), f"{LONG} Say much."
        async with a_streaming_chat(browser, house, words) as (page, chat, token):
            await has_begun(page, 100, answer=2)

            first.kill()
            await page.until_text("econnecting")
            await page.write(FIELD, "not lost")
            with replicas() as second:
                async with replicas.house(second).api(token) as api:
                    await api.until(chat, "waiting")
                    await agrees(page, api, chat)
                    await page.until_no_text("econnecting")
                    assert "not lost" == await page.value(FIELD)


async def test_an_answer_that_broke_off_with_its_daemon_says_why_nothing_comes(replicas, browser):
    with replicas(**LONG_LEASE) as first:
        house, words = replicas.house(first), f"{SLOWLY} Say much."
        async with a_streaming_chat(browser, house, words) as (page, _, _):
            await live(page, 100)

            first.process.kill()
            with replicas(**LONG_LEASE) as second:
                second.wait_ready()
                await page.js("dispatchEvent(new Event('online'))")  # the page dials at once
                await page.until_text("The answer broke off when the connection did", ".now")
                with psycopg.connect(house.database) as connection:
                    connection.execute(SILENT)
                await page.until_text("The daemon stopped while it worked on this", ".now")
                await page.until_text("It goes on in about ", ".now")
                assert [] == await page.faults_of_access()


async def test_a_browser_without_network_goes_on_where_it_was(page, api):
    chat = await api.chat()
    page.allow(LOST)
    await page.goto(f"/c/{chat}")
    await say(page, f"{LONG} Say much.")
    await has_begun(page, 100, answer=2)

    async with page.offline():
        await page.until_text("Offline")
        await api.until(chat, "waiting")

    await agrees(page, api, chat)
    await page.until_no_text("Offline")


async def test_a_line_that_is_cut_in_mid_word_goes_on_in_the_word(house, person, api, browser):
    async with Line(house.url).open() as line, a_page(browser) as page:
        page.url = line.url
        page.allow(LOST)
        await page.cookies(person[1], line.url)
        chat = await api.chat()
        await page.goto(f"/c/{chat}")
        await say(page, f"{SLOWLY} Say much.")
        before = await live(page, 60)

        for _ in range(5):
            line.cut()
            line.mend()
            after = await live(page, len(before) + 20)
            assert after.startswith(before)
            before = after

        await api.good("POST", f"{CHATS}/{chat}/interrupt")
        await api.until(chat, "waiting")
        await agrees(page, api, chat)


async def test_what_is_sent_while_the_network_is_away_is_sent_once_when_it_is_back(page, api):
    chat = await api.chat()
    page.allow(LOST)
    await page.goto(f"/c/{chat}")
    await page.until_text("hello")
    async with page.offline():
        await say(page, "Are you there?")
        await page.until_text("cannot be reached", "[role=log]")

    await page.until_true(lambda: said(api, chat, "Are you there?"), "it is stored")
    await api.until(chat, "waiting")
    await agrees(page, api, chat)
    assert 1 == [text for _, text in await api.texts(chat)].count("Are you there?")


async def said(api, chat, words):
    return ("user", words) in await api.texts(chat)
