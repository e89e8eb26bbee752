"""The desktop in the side panel: looked at, then operated, by a real Xvnc and the browser."""

import json
import re

from tests.fakes.screens import needs_desktop
from tests.web.house import CHATS, WORKSPACE
from tests.web.stories import calls

pytestmark = needs_desktop

SETTINGS = {"PROMPTCORNER_EXPERIMENTS": "chat-virtual-desktop"}
CANVAS = "document.querySelector('.desk canvas')"


async def test_a_desktop_is_looked_at_operated_and_left(page, api):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Desktop"))
    await page.until_text("An agent of type computer_use", "aside.panel")
    assert [] == await page.faults_of_access()

    await page.click("button", "Show the desktop")
    await page.until_text("You only look.", "aside.panel")
    await page.until(f"{CANVAS}.width === 1920 && {CANVAS}.height === 1080")
    assert [] == await page.faults_of_access()
    await page.media(theme="dark")
    assert [] == await page.faults_of_access()

    await page.click("button", "Take control")
    await page.until_text("Your pointer and keys go to the desktop", "aside.panel")
    await page.click("button", "Fit")
    await page.until(f"{CANVAS}.getBoundingClientRect().width >= 1920")
    await page.click("button", "Fit")
    await page.until(f"{CANVAS}.getBoundingClientRect().width < 1920")

    await page.press("0", "Control")  # goes to the desktop
    await page.click("button", "Take control")
    await page.until_text("You only look.", "aside.panel")
    await page.press("1", "Control")
    await page.until(f"{CANVAS}.getBoundingClientRect().width >= 1920")
    await page.press("0", "Control")
    await page.until(f"{CANVAS}.getBoundingClientRect().width < 1920")

    await page.click("button", "Leave the desktop")
    await page.until_text("An agent of type computer_use", "aside.panel")


async def test_why_there_is_no_desktop_is_said(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Desktop"))

    await page.until_text("This chat has no workspace, and so no desktop.", "aside.panel")


async def test_a_desktop_has_a_window_of_its_own(page, api, tmp_path):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}?embed=1&view=desktop")
    await page.until_text("You only look.", ".desk-alone")
    await page.until(f"{CANVAS}.getBoundingClientRect().width > 600")
    assert [] == await page.faults_of_access()
    assert not await page.js("!!document.querySelector('nav.side, aside.panel, .comp')")
    await page.picture(str(tmp_path / "alone.png"))

    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Desktop"))
    await page.js("window.open = (...said) => void (window.opened = said)")
    await page.click("button", "Open in a window of its own")
    assert [f"/c/{chat}?embed=1&view=desktop", f"desktop-{chat}"] == await page.js(
        "window.opened.slice(0, 2)"
    )


async def test_the_provider_is_chosen_in_the_settings(page, api, tmp_path):
    setting = f"{CHATS}/config/computer-use-provider"
    await page.goto("/admin/desktop")
    await page.click("radio", re.compile("^OpenAI"))
    await page.click("button", "Save")

    async def is_saved():
        return await api.good("GET", setting) == {"provider": "openai"}

    await page.until_true(is_saved, "it is saved")
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()
        await page.picture(str(tmp_path / f"provider-{theme}.png"))
    await api.good("PUT", setting, {"provider": "anthropic"})


async def test_what_an_agent_did_is_said_shown_and_played(page, api, tmp_path):
    root = await api.chat(WORKSPACE)
    done = [
        {"action": "wait", "duration": 6},
        {"action": "left_click", "coordinate": [120, 300]},
        {"action": "type", "text": "hello"},
        {"action": "screenshot"},
    ]
    acts = " ".join(f"computer:{json.dumps(each)}" for each in done)
    prompt = f"[[tool-calls: {acts}]] [[text: it is written]]"
    spawn = json.dumps({"type": "computer_use", "title": "Fill in the form", "prompt": prompt})
    spelled = spawn.replace("[[", "\\u005b\\u005b").replace("]]", "\\u005d\\u005d")
    await api.say(root, f"[[tool-calls: spawn_agent:{spelled}]] [[text: begun]]", "waiting")
    [child] = (await api.good("GET", f"{CHATS}/{root}"))["children"]
    await api.say(root, f"{calls('wait_agent', chat_id=child['id'])} [[text: done]]", "waiting")

    await page.goto(f"/c/{root}")
    await page.click("button", "Watch the recording of Fill in the form")
    video = "document.querySelector('video.film')"
    await page.until(f"{video}?.src.startsWith('blob:')")
    assert "/api/" in await page.js(f"{video}.poster")
    await pictures(page, tmp_path, "film")

    await page.goto(f"/c/{child['id']}")
    await page.click("button", re.compile("^Used 4 tools"))
    await page.until_text("Waited for 6 s")
    await page.until_text("Clicked at 120, 300")
    await page.until_text("Typed “hello”")
    look = "[...document.querySelectorAll('details.work')].find(each => each.innerText.includes"
    for words in ("Looked at the screen", "Clicked at 120, 300"):
        await page.js(f"{look}('{words}')).open = true")
    await page.until(f"{look}('Looked'))?.querySelector('img.shot')?.naturalWidth === 1280")
    await page.until(f"{look}('Clicked'))?.querySelector('img.shot')?.naturalWidth === 1280")
    await pictures(page, tmp_path, "calls")


async def pictures(page, path, name):
    """Look for faults of access in light and dark, and take pictures, also on a phone."""
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()
        await page.picture(str(path / f"{name}-{theme}.png"))
    await page.size(390, 844, phone=True)
    await page.picture(str(path / f"{name}-phone.png"))
    await page.size(1440, 900)
