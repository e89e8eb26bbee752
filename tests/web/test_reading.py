"""What is done beside reading a chat: logins, pictures, links to messages, another model."""

import base64
import re

import pytest
import trio

from tests.web.house import CHATS, WORKSPACE
from tests.web.stories import FIELD, agrees, answers, calls, say

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MODELS = f"{CHATS}/model-configs"
PROVIDERS = "/api/v2/ai/providers"
# What an iPhone has where a page is on its home screen, and no browser of a desk.
HOME_SCREEN = """
navigator.standalone = true;
navigator.canShare = ({files}) => files.length === 1;
navigator.share = async ({files: [file]}) => {
  window.shared = [file.name, file.type, file.size];
};
"""


async def test_a_command_that_waits_for_a_login_leads_there(page, api):
    chat = await api.chat(WORKSPACE)
    [space, *_] = (await api.good("GET", "/api/v2/workspaces"))["workspaces"]
    await page.goto(f"/c/{chat}")
    told = "Your one-time code: AB12-CD34. Open this URL in your browser:"
    command = (
        f"echo '{told}'; echo https://forge.example.org/login/device;"
        " until [ -e go-on ]; do sleep 0.05; done"
    )
    await say(page, f"{calls('execute', command=command, timeout='50s')} [[text: in]] Log in.")

    link = await page.find("link", "Log in at forge.example.org")
    assert "https://forge.example.org/login/device" == await link.attribute("href")
    assert "noopener noreferrer" == await link.attribute("rel")
    await page.until_text("AB12-CD34", ".login-note code")
    await page.until_text("login needed", "[role=log]")
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()

    await (trio.Path(space["path"]) / "go-on").touch()
    await answers(page, "in")
    await agrees(page, api, chat)
    await page.until("!document.querySelector('.login-note')")


@pytest.mark.parametrize("is_on_home_screen", [False, True], ids=("desk", "home-screen"))
async def test_a_picture_is_shown_large_and_given_to_its_user(
    page, api, tmp_path, is_on_home_screen
):
    if is_on_home_screen:
        await page.do("Page.addScriptToEvaluateOnNewDocument", source=HOME_SCREEN)
    (tmp_path / "lamp.png").write_bytes(DOT)
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    box = await (await page.find("log", "Conversation")).still()
    await page.drop(box["x"], box["y"], tmp_path / "lamp.png")
    await page.find("button", "Remove lamp.png")
    await page.until("!document.querySelector('.goes progress')")
    await say(page, "[[text: A lamp.]] What is this?")
    await answers(page, "A lamp.")

    await page.click("button", "Show lamp.png", within="[role=log]")
    await page.find("dialog", "lamp.png")
    await page.until("document.querySelector('.lightbox img').naturalWidth === 1")
    assert [] == await page.faults_of_access()
    if is_on_home_screen:
        await page.click("link", "Download", within=".lightbox")
        await page.until("window.shared?.join() === 'lamp.png,image/png,70'")
    else:
        link = await page.find("link", "Download", within=".lightbox")
        assert "lamp.png" == await link.attribute("download")
    await page.press("Escape")
    await page.until("!document.querySelector('.lightbox')")
    await page.until_focused("button", "Show lamp.png")


async def test_a_link_to_a_message_is_copied_and_leads_there(page, api):
    chat = await api.chat("[[text: The first answer.]] The first question")
    await api.say(chat, "[[text: The last answer.]] The last question", "waiting")
    [first, *_] = [each for each in await api.messages(chat) if each["role"] == "user"]
    await page.goto(f"/c/{chat}")
    await page.until_text("The last answer.", "[role=log]")
    await page.js(
        "void (navigator.clipboard.writeText = async text => void (window.copied = text))"
    )

    own = f"[data-message='{first['id']}']"
    await page.click("button", "Copy a link to this message", within=own)
    await page.until("!!window.copied")
    link = await page.js("window.copied")
    assert link.endswith(f"/c/{chat}?m={first['id']}")
    await page.click("button", "Menu of the chat")
    await page.click("menuitem", "Copy link")
    await page.until(f"window.copied.endsWith('/c/{chat}')")

    await page.goto(link)
    await page.until(f'document.querySelector("{own}")?.getBoundingClientRect().top > 0')


async def test_another_model_is_chosen_for_a_failed_turn_and_for_a_message(page, api, house):
    new = {"type": "openai-compat", "name": "lab", "base_url": f"{house.provider.url}/v1"}
    made = {**new, "enabled": True, "api_keys": ["a key"]}
    provider = (await api.good("POST", PROVIDERS, made))["id"]
    limits = {"ai_provider_id": provider, "context_limit": 100_000, "enabled": True}
    new = {**limits, "model": "understudy", "display_name": "Understudy"}
    model = (await api.good("POST", MODELS, new))["id"]
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await say(page, "[[fault: 401@1]] [[text: I know the lines.]] Who speaks?")
    await page.until_text("The key was refused", "main")

    await page.click("button", "Another model…", within="main")
    await page.until("!!document.querySelector('.menu svg.vendor[data-vendor=openai-compat]')")
    assert [] == await page.faults_of_access()
    await page.click("menuitem", "Understudy")
    await page.until_text("openai-compat", "main")  # whose first attempt fails as well
    await page.click("button", "Try again", within="main")
    await answers(page, "I know the lines.")
    assert model == (await api.good("GET", f"{CHATS}/{chat}"))["last_model_config_id"]

    await page.click("button", re.compile("^Understudy"))
    await page.until_text("lab", ".models")
    await page.until("!!document.querySelector('.models svg.vendor[data-vendor=openai-compat]')")
    assert [] == await page.faults_of_access()
    await page.press("Escape")
    await page.write(FIELD, "")
    again = "Send again with another model…"
    await (await page.all("button", again, within="[role=log]"))[-1].click()
    await page.find("menuitem", "Understudy")
