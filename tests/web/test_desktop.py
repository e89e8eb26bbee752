"""The desktop in the side panel: looked at, then operated, by a real Xvnc and the browser."""

import re

from tests.fakes.screens import needs_desktop
from tests.web.house import WORKSPACE

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

    await page.click("button", "Leave the desktop")
    await page.until_text("An agent of type computer_use", "aside.panel")


async def test_why_there_is_no_desktop_is_said(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await page.click("tab", re.compile("^Desktop"))

    await page.until_text("This chat has no workspace, and so no desktop.", "aside.panel")
