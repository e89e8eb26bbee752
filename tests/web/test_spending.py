"""Limits of spending, from the administrator who sets one to the user whose chat meets it."""

import json
import os

LIMITS, PRICES = "/api/v2/ai/limits", "/api/experimental/ai/model-prices"


async def fill(page, name, text, role="textbox"):
    field = await page.find(role, name)
    await field.js("function () { this.focus() }")  # the buttons of a form may lie over it
    await page.until_focused(role, name)
    await page.press("a", "Control")
    await page.type(text)


async def looks_well(page, name):
    """Axe finds nothing, in light and in dark; pictures are kept where a person looks for them."""
    for theme in ("light", "dark"):
        await page.media(theme=theme)
        assert [] == await page.faults_of_access()
        if folder := os.environ.get("PROMPTCORNER_PICTURES"):
            await page.picture(f"{folder}/{name}-{theme}.png")


async def test_a_limit_is_set_met_and_raised(page, api):
    await page.goto("/admin/spending")
    await fill(page, "Input", "1000", "spinbutton")
    await fill(page, "Output", "100000", "spinbutton")
    await page.click("button", "State the price")
    await page.until_text("All other models")
    chat = await api.chat()
    await fill(page, "At most", "0", "spinbutton")
    await page.click("button", "Set the limit")
    await page.until_text("at most $0.00 in a month")
    await looks_well(page, "spending")

    await api.say(chat, "once more", "error")
    await page.goto(f"/c/{chat}")
    await page.until_text("used up", ".budget")
    await looks_well(page, "meter")
    await page.until_text("The monthly limit of this deployment of $0.00 is used up.")
    await page.click("button", "Look at what was used")
    await page.until_text("This month, all users together")
    await page.until_text("used up")
    await looks_well(page, "usage")

    await page.goto("/admin/spending")
    await page.click("button", "Remove the limit: All users together, month")
    await page.until_text("There is no limit.")
    await api.say(chat, "once more", "waiting")


async def test_a_meter_at_the_foot_of_the_list_follows_what_is_spent(page, api):
    price = {"input": "1000", "output": "100000"}
    await api.good("PUT", PRICES, {"prices": {}, "default_price": price})
    limit = {
        "scope": "deployment",
        "period": "day",
        "limit_micros": None,
        "soft_limit_micros": None,
    }
    await api.good("PUT", LIMITS, {**limit, "limit_micros": 10**11})
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await page.until_text("of $100,000.00", ".budget")
    before = await page.js("document.querySelector('.budget b').innerText")
    await looks_well(page, "meter-used")

    await api.say(chat, "once more", "waiting")
    await page.until(f"document.querySelector('.budget b').innerText !== {json.dumps(before)}")

    await api.good("PUT", LIMITS, limit)
    await api.say(chat, "once more", "waiting")
    await page.until("!document.querySelector('.budget')")
