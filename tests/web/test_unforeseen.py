"""Surprises: a wrong clock, a long sleep, and things that other users have taken away."""

import re
from contextlib import suppress

import pytest

from tests.web.elements import NodeGone
from tests.web.house import CHATS
from tests.web.line import Line
from tests.web.page import a_page
from tests.web.stories import FIELD, QUEUE, SLOWLY, agrees, answers, calls

SETTINGS = {"PROMPTCORNER_APPROVAL_RULES": "execute=ask", "PROMPTCORNER_APPROVAL_DEADLINE": "3600"}
PROVIDERS = "/api/v2/ai/providers"
MODELS = f"{CHATS}/model-configs"
VALUE = "document.querySelector('#message').value"
CLOCK = """
(() => {
  const Right = Date, wrong = () => Right.now() + HOURS * 3_600_000;
  window.Date = class extends Right {
    constructor(...given) { given.length ? super(...given) : super(wrong()) }
    static now() { return wrong() }
  };
})()
"""


@pytest.mark.parametrize("hours", [-7, 7])
async def test_a_clock_that_is_wrong_by_hours_changes_no_age_and_no_deadline(page, api, hours):
    command = calls("execute", command="git push")
    asks = await api.chat(f"{command} Push it.", "requires_action")
    rests = await api.chat("[[text: Good evening.]]")
    await api.good("PATCH", f"{CHATS}/{rests}", {"title": "A moment ago"})
    script = CLOCK.replace("HOURS", str(hours))
    await page.do("Page.addScriptToEvaluateOnNewDocument", source=script)

    await page.goto(f"/c/{asks}")

    await page.until(
        "/5[0-9]:[0-9][0-9]/.test(document.querySelector('[data-approval]')?.innerText)"
    )
    await page.until_text("Today", ".side")
    row = f"document.querySelector('.row:has([href=\"/c/{rests}\"]) time')?.innerText"
    await page.until(f"/^(now|[0-9]+[sm])$/.test({row})")
    await page.goto("/settings/sessions")
    await page.until_text("Begun just now", "main")


@pytest.mark.parametrize("is_cut", [False, True])
async def test_after_a_sleep_the_page_shows_what_has_happened(house, person, api, browser, is_cut):
    async with Line(house.url).open() as line, a_page(browser) as page:
        page.url = line.url
        page.allow(r"ERR_|WebSocket|Failed to load resource")
        await page.cookies(person[1], line.url)
        chat = await api.chat()
        await page.goto(f"/c/{chat}")
        await page.write(FIELD, "not lost")

        await page.do("Page.setWebLifecycleState", state="frozen")
        if is_cut:
            line.cut()
            line.mend()
        await api.say(chat, "[[text: while it slept]] Say something.", "waiting")
        await page.do("Page.setWebLifecycleState", state="active")

        await agrees(page, api, chat)
        assert "not lost" == await page.js(VALUE)


async def test_a_chat_that_is_archived_elsewhere_says_so_and_keeps_the_draft(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await page.write(FIELD, "half a thought")

    await api.good("PATCH", f"{CHATS}/{chat}", {"archived": True})
    await page.until_text("This chat is archived.", "main")
    assert [] == await page.faults_of_access()
    await page.click("button", "Take out of the archive")

    await page.until(f"{VALUE} === 'half a thought'")
    assert not (await api.good("GET", f"{CHATS}/{chat}"))["archived"]


async def test_the_queue_that_has_changed_meanwhile_is_shown_as_it_is(page, api):
    chat = await api.chat(f"{SLOWLY} Say much.", "running")
    for text in ("first", "second", "third"):
        await api.say(chat, text)
    await page.goto(f"/c/{chat}")
    [queued, *_] = (await api.page_of(chat))["queued_messages"]
    page.allow("409")

    async with page.held("*/queue/order") as held:
        [*_, grip] = await page.find_all(3, "button", re.compile("^Move"), QUEUE)
        await grip.focus()
        await page.press("ArrowUp", "Alt")
        await page.until_true(is_any(held), "the order is asked for")
        await api.good("DELETE", f"{CHATS}/{chat}/queue/{queued['id']}")

    await page.until_text("The queue has changed meanwhile.", QUEUE)
    texts = "[...document.querySelectorAll('[data-queued] .what')].map(row => row.title)"
    await page.until_is(["second", "third"], page.js, texts)
    await api.good("POST", f"{CHATS}/{chat}/interrupt")


def is_any(things):
    async def check():
        return bool(things)

    return check


async def test_files_are_dropped_and_a_refused_one_says_why(page, api, tmp_path):
    chat = await api.chat()
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / "broken.pdf").write_bytes(b"no pdf at all")
    await page.goto(f"/c/{chat}")
    await page.write(FIELD, "look at these")
    page.allow("400", "415")
    box = await (await page.find("log", "Conversation")).still()

    await page.drop(box["x"], box["y"], tmp_path / "notes.md", tmp_path / "broken.pdf")

    await page.find("button", "Remove notes.md")
    await page.find("button", "Remove broken.pdf")
    await page.find("alert", None, ".goes")
    assert [] == await page.faults_of_access()
    await page.press("Enter")
    await page.until_text("A file could not be sent", "main")
    assert "look at these" == await page.js(VALUE)
    await page.click("button", "Remove broken.pdf")
    await page.until("!document.querySelector('.goes progress')")
    await page.click("button", "Send")
    await page.until(f"{VALUE} === ''")

    async def names():
        return [
            file["name"] for file in (await api.good("GET", f"{CHATS}/{chat}")).get("files", ())
        ]

    await page.until_is(["notes.md"], names)


async def test_a_file_that_could_not_go_out_is_sent_again(page, api, tmp_path):
    chat = await api.chat()
    (tmp_path / "notes.md").write_text("# Notes\n")
    page.allow(r"ERR_|WebSocket|Failed to load resource|Failed to fetch")
    await page.goto(f"/c/{chat}")
    box = await (await page.find("log", "Conversation")).still()
    async with page.offline():  # before what takes files has been loaded
        await page.drop(box["x"], box["y"], tmp_path / "notes.md")
        told = "document.querySelector('.comp').innerText.includes('taken as soon as it answers')"
        await page.until(f"{told} || !!document.querySelector('.goes .bad')")

    async def has_gone():
        for again in await page.all("button", "Try again", ".goes"):
            with suppress(NodeGone):
                await again.click()
        waits = "document.querySelector('.goes :is(progress, .bad)')"
        return await page.js(f"document.querySelectorAll('.goes .att').length === 1 && !{waits}")

    await page.until_true(has_gone, "the file is there")


async def test_a_model_that_is_gone_is_named_and_the_message_stays(page, api, house):
    new = {"type": "openai-compat", "name": "lab", "base_url": f"{house.provider.url}/v1"}
    made = {**new, "enabled": True, "api_keys": ["a key"]}
    provider = (await api.good("POST", PROVIDERS, made))["id"]
    limits = {"ai_provider_id": provider, "context_limit": 100_000, "enabled": True}
    kept, lost = [
        (await api.good("POST", MODELS, {**limits, "model": name, "display_name": name}))["id"]
        for name in ("understudy", "diva")
    ]
    chat = await api.chat("[[text: Good evening.]]", model_config_id=kept)
    await page.goto(f"/c/{chat}")
    page.allow("400")
    await page.click("button", re.compile("^understudy"))
    await page.click("option", re.compile("^diva"))
    await page.write(FIELD, "[[text: It is me.]] Who is there?")

    await api.good("DELETE", f"{MODELS}/{lost}")
    await page.press("Enter")

    await page.until_text("It was not sent", "main")
    await page.until(f"{VALUE}.includes('Who is there?')")
    await page.until_text("The model of this chat is gone.", "main")
    assert [] == await page.faults_of_access()
    await page.press("Enter")
    await answers(page, "It is me.")
    await agrees(page, api, chat)

    await api.good("DELETE", f"{MODELS}/{kept}")
    other = await api.chat()
    await page.goto(f"/c/{other}")
    await page.until_text("hello", "[role=log]")
    await page.goto(f"/c/{chat}")
    await page.until_text("The model of this chat is gone.", "main")
    await api.good("DELETE", f"{PROVIDERS}/{provider}")
