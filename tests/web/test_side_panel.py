"""The side panel: changes with remarks, agents, commands, the summary."""

import re

from tests.web.house import CHATS, WORKSPACE
from tests.web.stories import WRITTEN, calls

BEFORE = "def promote(queue):\n    return queue.pop()\n"


async def changed(api):
    """Begin a chat that has written a file, changed it, and run a command; its id."""
    chat = await api.chat(WORKSPACE)
    [space, *_] = (await api.good("GET", "/api/v2/workspaces"))["workspaces"]
    path = f"{space['path']}/queue.py"
    for call in (
        calls("write_file", path=path, content=BEFORE),
        calls(
            "edit_files",
            files=[{"path": path, "edits": [{"old_text": "pop()", "new_text": "first()"}]}],
        ),
        calls("execute", command=r"printf '\033[31mred\033[0m ink\n'; exit 3"),
    ):
        await api.say(chat, f"{call} [[text: done]]", "waiting")
    return chat


async def test_remarks_on_what_was_changed_become_one_message(page, api):
    chat = await changed(api)
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Changes"))
    await page.until_text("first()", "aside.panel")
    assert [] == await page.faults_of_access()

    await (await page.css("aside.panel .diff")).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        await page.press(key)
    await page.until("document.activeElement.ariaLabel === 'Remark'")
    await page.type("Who takes it out, then?")
    await page.click("button", "Add to message")
    await page.until_text("1 remark not sent")
    await page.until(f"{WRITTEN}.then(drafts => drafts.includes('Who takes it out'))")
    await page.goto(f"/c/{chat}")
    await page.click("button", "Send remarks")
    await page.until_no_text("1 remark not sent")

    async def is_sent():
        return "Who takes it out" in (await last(api, chat))[-1].get("text", "")

    await page.until_true(is_sent, "the remark has gone out")
    reference, text = await last(api, chat)
    assert (2, 2, "+    return queue.first()") == (
        reference["start_line"],
        reference["end_line"],
        reference["content"],
    )
    assert "`queue.py:2`: Who takes it out, then?" in text["text"]


async def last(api, chat):
    """Return the parts of the user's newest message."""
    return [m["content"] for m in await api.messages(chat) if m["role"] == "user"][-1]


async def test_the_panel_shows_commands_and_a_summary(page, api):
    chat = await changed(api)
    await page.goto(f"/c/{chat}")

    await page.click("tab", re.compile("^Terminal"))
    await page.until_text("red ink", "aside.panel")
    await page.until_text("exit 3", "aside.panel")
    assert "red" == await page.js("document.querySelector('aside.panel .fg1').textContent")
    assert [] == await page.faults_of_access()

    await page.press("ArrowRight")
    await page.until_text("Tokens by model", "aside.panel")
    await page.until_text("This chat", "aside.panel")
    assert [] == await page.faults_of_access()


async def test_an_agent_is_interrupted_from_the_panel(page, api):
    slowly = r"\u005b\u005bdeltas: 6000\u005d\u005d \u005b\u005bdelta-ms: 50\u005d\u005d"
    prompt = f'{{"type": "general", "title": "The understudy", "prompt": "{slowly}"}}'
    chat = await api.chat(f"[[tool-calls: spawn_agent:{prompt}]] [[text: begun]]")
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Agents"))
    await page.until_text("The understudy", "aside.panel")
    assert [] == await page.faults_of_access()

    await page.click("button", "Interrupt The understudy")

    [child] = (await api.good("GET", f"{CHATS}/{chat}"))["children"]
    await api.until(child["id"], "waiting")
    await page.until("!document.querySelector('[aria-label=\"Interrupt The understudy\"]')")
