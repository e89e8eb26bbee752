"""Legal holds and erasing, as people see them: what goes is named, and the receipt is shown."""

from tests.web.house import CHATS
from tests.web.stories import at_new

LIST = ".side"
PREFERENCES = "/api/v2/users/me/notifications/preferences"


async def by_menu(page, title, name):
    await page.click("link", title, within=LIST, button="right")
    await page.click("menuitem", name)


async def looks_right(page, tmp_path, name):
    """Look for faults of access in light and dark, and take a picture of each."""
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()
        await page.picture(tmp_path / f"{name}-{theme}.png")


async def hold(page, api, chat, title):
    await by_menu(page, title, "Legal hold…")
    await page.find("textbox", "Reason")
    await page.until_focused("textbox", "Reason")
    await page.type("case 7 of 2026")
    await page.click("button", "Put on hold")
    await page.until_text("is on legal hold", ".toasts")
    [held] = (await api.good("GET", f"/api/v2/chats/{chat}/legal-hold"))["holds"]
    assert "case 7 of 2026" == held["reason"]


async def test_a_chat_on_hold_is_kept_and_without_one_erased_with_a_receipt(page, api, tmp_path):
    page.allow("409")
    chat = await api.chat("[[text: so be it]]")
    await api.good("PATCH", f"{CHATS}/{chat}", {"title": "A case"})
    await at_new(page)
    await hold(page, api, chat, "A case")

    await by_menu(page, "A case", "Erase for good…")
    await page.until_text("It cannot be brought back", "dialog")
    await page.until_text("The chat “A case”, with all messages", "dialog")
    await looks_right(page, tmp_path, "question")
    await page.click("button", "Erase for good")
    await page.until_text("Nothing was erased", "dialog")
    await page.until_text("legal hold", "dialog")
    await page.click("button", "Cancel")
    # To erase archives first, which a hold does not keep it from.
    assert (await api.good("GET", f"{CHATS}/{chat}"))["archived"]

    await page.goto("/admin/lifecycle")
    await page.until_text("case 7 of 2026")
    await looks_right(page, tmp_path, "lifecycle")
    await page.click("button", "Lift the hold on A case")
    await page.click("button", "Lift")
    await page.until_no_text("case 7 of 2026")

    await page.goto(f"/c/{chat}")
    await page.click("button", "Menu of the chat")
    await page.click("menuitem", "Erase for good…")
    await page.click("button", "Erase for good")
    await page.until_text("It is erased", "dialog")
    await looks_right(page, tmp_path, "receipt")
    receipt = await page.js("document.querySelector('dialog .mono').textContent")
    shown = await api.good("GET", f"/api/v2/erasures/{receipt}")
    assert (chat, 1) == (shown["chat_id"], shown["chats"])
    await page.click("button", "Close")
    page.allow("404")
    await page.goto("/admin/lifecycle")
    await page.until_text(receipt)


async def test_all_that_a_user_has_is_erased_from_their_page(page, house, api):
    token, _ = await house.person("kim")
    async with house.api(token) as kim:
        chat = await kim.chat("[[text: so be it]]")
        user = await kim.good("GET", "/api/v2/users/me")

    await page.goto(f"/admin/users/{user['id']}")
    await page.click("button", "Erase chats and files…")
    await page.until_text("All chats that kim has now", "dialog")
    await page.click("button", "Erase for good")
    await page.until_text("It is erased", "dialog")

    told = (await api.good("GET", "/api/v2/erasures"))["erasures"]
    assert ("user", user["id"], 1) == tuple(told[0][of] for of in ("why", "owner_id", "chats"))
    async with house.api(token) as kim:
        assert 404 == (await kim.client.get(f"{CHATS}/{chat}")).status_code


async def test_kinds_of_notices_are_switched(page, api, tmp_path):
    await page.goto("/settings/notifications")

    await page.click("button", "Off: A turn has ended")

    await page.find("button", "On: A turn has ended")
    off = [each["kind"] for each in await api.good("GET", PREFERENCES) if each["disabled"]]
    assert ["ended"] == off
    await looks_right(page, tmp_path, "kinds")
    await page.click("button", "On: A turn has ended")
    await page.find("button", "Off: A turn has ended")
