"""Tokens at forges and pull requests, by a forge that runs in the test."""

import socket

import pytest
import trio

from tests.fakes.forge import TOKEN, FakeForge, a_review
from tests.web.house import CHATS, WORKSPACE
from tests.web.stories import calls

TOKENS = "/api/v2/users/me/forge-tokens"


@pytest.fixture(scope="module")
def listening():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture(scope="module")
def host(listening):
    return f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture(scope="module")
def settings(host):
    return {
        "PROMPTCORNER_FORGES": f"github=http://{host}",
        "PROMPTCORNER_PRIVATE_NETWORKS": "127.0.0.0/8",
    }


@pytest.fixture
async def forge(tmp_path, host, listening):
    """The forge of the settings, for one test."""
    forge = FakeForge(tmp_path, url=f"http://{host}")
    forge.add("ann/tools")
    listener = trio.SocketListener(trio.socket.from_stdlib_socket(listening.dup()))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, forge.serve, [listener])
        yield forge
        nursery.cancel_scope.cancel()


async def bring(page, host, words, token):
    await page.goto("/settings/forges")
    await page.click("button", f"{words} the token of {host}")
    await page.click("textbox", "Token")
    await page.type(token)
    await page.click("button", "Save the token")


async def both_looks(page, path, name):
    """Look for faults of access in light and dark, and take a picture of each."""
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()
        await page.picture(str(path / f"{name}-{theme}.png"))


async def test_a_token_is_brought_and_the_pull_request_is_shown(page, api, forge, host, tmp_path):
    pull = {"title": "Raise the <b>curtain</b>", "reviews": [a_review("bob", "APPROVED")]}
    forge.add_pull("ann/tools", "work", **pull)
    chat = await api.chat(WORKSPACE)
    command = (
        "git init -q -b work r && cd r && git -c user.name=a -c user.email=a@b commit -q"
        f" --allow-empty -m first && git remote add origin http://{host}/ann/tools.git"
    )
    await api.say(chat, f"{calls('execute', command=command)} [[text: done]]", "waiting")

    async def is_known():
        return "diff_status" in await api.good("GET", f"{CHATS}/{chat}")

    await page.until_true(is_known, "the branch has been looked at")
    await page.goto(f"/c/{chat}")
    await page.click("tab", "Changes")
    await page.until_text(f"You have no token at {host}.", "aside.panel .pr")
    await both_looks(page, tmp_path, "unknown")

    await bring(page, host, "Set", "a-token-that-is-refused-0123456789")

    async def is_refused():
        return "failure" in (await api.good("GET", TOKENS))[0]

    await page.until_true(is_refused, "the forge has refused the token")
    await page.until_text("refused", ".items .tag")
    await both_looks(page, tmp_path, "refused")
    await bring(page, host, "Replace", TOKEN)
    await page.until_text("your token", ".items .tag")

    await page.goto(f"/c/{chat}")
    await page.until_text("#1 Raise the <b>curtain</b>", "aside.panel .pr a")
    await page.until_text("approved", "aside.panel .pr")
    await page.until_text("+2", "aside.panel .pr .p")
    link = "document.querySelector('aside.panel .pr a')"
    assert [f"http://{host}/x/pull/1", "noopener noreferrer"] == await page.js(
        f"[{link}.href, {link}.rel]"
    )
    await page.until_text("#1 open", ".top a.pr-chip")
    await page.until_text("approved", ".top a.pr-chip")
    await page.until_text("#1 open", ".row .pr-chip")
    await both_looks(page, tmp_path, "found")
    await page.click("button", "More…", within=".chips")
    await page.click("menuitem", "Pull request: merged")
    await page.until_text("No chat is like that.", "nav.side")
    await page.click("button", "Pull request: merged: remove this filter")
    await page.click("button", "More…", within=".chips")
    await page.click("menuitem", "Pull request: open")
    await page.until("location.search === '?pr=open'")
    await page.until_text("#1 open", ".row .pr-chip")
    assert [] == await page.faults_of_access()
    await page.size(390, 844, phone=True)
    await page.picture(str(tmp_path / "found-phone.png"))
    await page.size(1440, 900)

    await page.goto("/settings/forges")
    await page.click("button", f"Remove the token of {host}")
    await (await page.css("dialog .btn.bad")).click()
    await page.until_text("no token", ".items .tag")
    assert not (await api.good("GET", TOKENS))[0]["has_token"]
