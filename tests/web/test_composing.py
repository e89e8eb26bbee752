"""What happens at the field before a message goes out: drafts, files, commands, refusals."""

import re
import struct
import zlib

import trio

from tests.web.house import CHATS
from tests.web.page import new_tab
from tests.web.stories import FIELD, SLOWLY, WRITTEN, say

VALUE = "document.querySelector('#message').value"
PASTE = """(text => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
  document.querySelector("#message").dispatchEvent(event);
})"""
QUEUE_MAX = 20
DRAFT_SECONDS = 0.3  # PAUSE_MS of desk.js


async def test_a_draft_outlives_the_page_and_is_seen_in_the_next_tab(page, api, browser):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await page.write(FIELD, "half a thought")
    await page.until(f"{WRITTEN}.then(drafts => drafts.includes('half a thought'))")

    await page.goto(f"/c/{await api.chat()}")
    await page.until(f"{VALUE} === ''")
    await page.goto(f"/c/{chat}")
    await page.until(f"{VALUE} === 'half a thought'")
    other = await new_tab(browser, page.context)
    other.url, other.name = page.url, page.name
    await other.goto(f"/c/{chat}")
    await other.until(f"{VALUE} === 'half a thought'")
    await other.press("Tab")

    await page.press("/")
    await page.until_focused("textbox", FIELD)
    await page.until(f"{VALUE}.length === document.querySelector('#message').selectionStart")
    await page.type(", and the rest")
    await other.until(f"{VALUE} === 'half a thought, and the rest'")
    assert [] == other.unexpected


async def test_a_draft_is_kept_though_the_page_is_left_at_once(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await (await page.find("textbox", FIELD)).type("one")
    await page.until(f"{WRITTEN}.then(drafts => drafts.includes('one'))")
    for word in (" two", " three"):
        await (await page.find("textbox", FIELD)).focus()
        await page.type(word)
        await page.reload()
        await page.until(f"{VALUE}.endsWith({word!r})")

    assert "one two three" == await page.js(VALUE)


async def test_a_message_that_was_written_and_sent_at_once_does_not_come_back_as_a_draft(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")

    await say(page, "[[text: Yes.]] Quickly.")
    await page.until_text("Yes.", ".tl")
    await page.until(f"{VALUE} === ''")
    await page.until(f"{WRITTEN}.then(drafts => !drafts.includes('Quickly'))")
    await trio.sleep(2 * DRAFT_SECONDS)  # in which it was written once more

    await page.reload()
    await page.until_text("Yes.", ".tl")
    await page.find("textbox", FIELD)
    assert await page.js(f"{VALUE} === ''")
    assert "Quickly" not in await page.js(WRITTEN)


async def test_earlier_messages_come_back_by_the_arrow_keys(page, api):
    chat = await api.chat("the first")
    await api.say(chat, "the second", "waiting")
    await page.goto(f"/c/{chat}")
    await page.click("textbox", FIELD)
    await page.until_focused("textbox", FIELD)

    for key, text in (
        ("ArrowUp", "the second"),
        ("ArrowUp", "the first"),
        ("ArrowDown", "the second"),
        ("Escape", ""),
    ):
        await page.press(key)
        await page.until(f"{VALUE} === '{text}'")


async def test_a_slash_offers_commands_and_an_at_sign_chats(page, api):
    other = await api.chat("the other chat")
    await api.good("PATCH", f"{CHATS}/{other}", {"title": "The prompter's box"})
    chat = await api.chat()
    await page.goto(f"/c/{chat}")

    await page.write(FIELD, "/pl")
    await page.find("option", re.compile("^/plan"))
    assert [] == await page.faults_of_access()
    await page.press("Enter")
    await page.until_text("Plan first")

    async def plans():
        return "plan" == (await api.good("GET", f"{CHATS}/{chat}"))["plan_mode"]

    await page.until_true(plans, "the chat plans first")
    await page.until(f"{VALUE} === ''")

    await page.write(FIELD, "as in @prompter's")
    await page.find("option", re.compile("The prompter's box"))
    await page.press("Tab")
    await page.find("button", re.compile("^Remove chat: The prompter's box"))
    await page.press("Enter")
    await page.until(f"{VALUE} === ''")

    async def is_sent():
        parts = [part for m in await api.messages(chat) for part in m["content"]]
        named = [part["file_name"] for part in parts if part["type"] == "file-reference"]
        return [f"chat: The prompter's box (/c/{other})"] == named

    await page.until_true(is_sent, "the reference has gone along")


async def test_files_are_taken_refused_shrunk_and_sent(page, api, tmp_path):
    chat = await api.chat()
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / "stage.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    (tmp_path / "large.png").write_bytes(a_picture(2400, 300))
    await page.goto(f"/c/{chat}")
    await page.until("document.querySelector('.comp input[type=file]')?.hidden === true")
    node = (await page.do("DOM.getDocument"))["root"]["nodeId"]
    found = await page.do("DOM.querySelector", nodeId=node, selector=".comp input[type=file]")
    files = [str(tmp_path / name) for name in ("notes.md", "stage.zip", "large.png")]
    await page.do("DOM.setFileInputFiles", files=files, nodeId=found["nodeId"])
    await page.js(PASTE + "('line\\n'.repeat(12))")
    await page.until_text("Files of this kind are not taken")
    await page.until("document.querySelectorAll('.goes .att').length === 4")
    await page.until("!document.querySelector('.goes progress')")
    assert [] == await page.faults_of_access()

    await say(page, "look")
    await page.until_text("A file could not be sent")  # nothing goes out half
    await page.click("button", "Remove stage.zip")
    await say(page, " at these")
    await page.until(f"{VALUE} === ''")

    async def files():
        shown = await api.good("GET", f"{CHATS}/{chat}")
        return {file["name"]: file["id"] for file in shown.get("files", ())}

    async def are_there():
        return {"notes.md", "large.png", "pasted-1.txt"} == set(await files())

    await page.until_true(are_there, "the files have gone along")
    picture = (await files())["large.png"]
    stored = (await api.client.get(f"{CHATS}/files/{picture}")).content
    assert (2000, 250) == struct.unpack(">II", stored[16:24])


async def test_a_message_that_is_refused_goes_back_to_the_field(page, api):
    chat = await api.chat(f"{SLOWLY} Say much.", "running")
    for number in range(QUEUE_MAX):
        await api.say(chat, f"number {number}")
    await page.goto(f"/c/{chat}")
    page.allow("429")

    await say(page, "one too many")

    await page.until_text("It was not sent")
    await page.until(f"{VALUE} === 'one too many'")
    await page.click("button", "Stop")


def a_picture(width, height):
    """Return a grey PNG."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
