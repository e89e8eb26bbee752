"""What watches over chats: recorded calls in the side panel, and what policy hooks have done."""

import json
import re
import socket

import pytest
import trio

from tests.adapters.tools.hooks.hook_server import SECRET, HookServer, deny, override
from tests.web.house import CHATS
from tests.web.stories import calls

CONFIG = f"{CHATS}/config"


@pytest.fixture(scope="module")
def listening():
    """The daemon is told of the server of hooks before that is there; it listens from now on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture(scope="module")
def hook_url(listening):
    return f"http://127.0.0.1:{listening.getsockname()[1]}/hook"


@pytest.fixture(scope="module")
def settings(hook_url):
    return {"PROMPTCORNER_HOOK_URL": hook_url, "PROMPTCORNER_HOOK_SECRET": SECRET}


@pytest.fixture
async def hooks(hook_url, listening):
    async with trio.open_nursery() as nursery:
        server = HookServer(hook_url)
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(listening.dup()))
        nursery.start_soon(trio.serve_listeners, server.serve, [listener])
        yield server
        nursery.cancel_scope.cancel()


async def test_a_user_has_their_calls_recorded_and_reads_them(page, api, hooks):
    await page.goto("/admin/records")
    await page.click("switch", "Users may have their calls recorded")
    await page.click("button", "Save")
    await page.until_text("Saved")
    assert [] == await page.faults_of_access()
    await page.goto("/settings/records")
    await page.click("switch", "Record my calls")
    await page.click("button", "Save")
    await page.until_text("Saved")
    assert [] == await page.faults_of_access()

    chat = await api.chat("[[text: all is well]] how are you")
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Calls"))
    await unfold(page, "Turn ")
    await page.until_text("Step 1", "aside.panel")
    await page.until_text("Save as JSON", "aside.panel")
    for name in ("Asked", "Answered", "Exchange 1: 200"):
        await unfold(page, name)
    await page.until_text('"finish_reason": "stop"', "aside.panel")
    await page.until_text("content_block_delta", "aside.panel")
    assert [] == await page.faults_of_access()


async def unfold(page, begin):
    """Click the summary in the panel that begins like this, as soon as it is there."""
    await page.until(
        "(it => it && (it.click(), true))([...document.querySelectorAll('aside.panel summary')]"
        f".find(each => each.textContent.trim().startsWith({begin.strip()!r})))"
    )


async def test_a_chat_without_records_says_how_to_have_them(page, api, hooks):
    await api.good("PUT", f"{CONFIG}/debug-logging", {"allow_users": False})
    chat = await api.chat("hello")
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Calls"))
    await page.until_text("No calls of models are recorded", "aside.panel")


async def test_what_a_hook_has_done_is_seen(page, api, hooks):
    def decide(question):
        given = question["data"]["tool_input"]
        return deny("not on a friday") if "deny" in json.dumps(given) else override({"name": "a"})

    hooks.says["pre_tool_use"] = decide
    hooks.says["user_prompt_submit"] = {"user_message": "Someone reads along."}
    denied = calls("list_templates", deny="x")
    changed = calls("list_templates", change="y")
    chat = await api.chat(f"{denied} [[text: well]]")
    await api.say(chat, f"{changed} [[text: well]]", "waiting")
    await page.goto(f"/c/{chat}")
    await page.until_text("Someone reads along.")
    await page.until(
        "document.querySelectorAll('.stretch, details').forEach(d => (d.open = true)),"
        "['refused by a rule', 'changed by a rule', 'not on a friday'].every(words =>"
        " document.body.innerText.includes(words))"
    )
    assert [] == await page.faults_of_access()


async def test_a_prompt_that_a_hook_has_changed_says_so(page, api, hooks):
    hooks.says["user_prompt_submit"] = override({"prompt": "[[text: good]] without the secret"})
    chat = await api.chat("with the secret")
    await page.goto(f"/c/{chat}")
    await page.until_text("without the secret", "article.me")
    await page.until_text("changed by a rule", "article.me")
    assert "with the secret" not in await page.text("article.me")
    assert [] == await page.faults_of_access()
