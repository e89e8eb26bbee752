"""How a turn goes on that did not just end: a pause, a failure, a plan, a summary."""

from tests.web.house import CHATS
from tests.web.stories import agrees, answers, calls, comes_to_rest, say

PLAN = "## Lock, then take\n\n1. Lock the row of the chat."


async def test_a_pause_before_the_next_attempt_is_ended_by_a_click(page, api):
    """The provider asks for ten minutes; the second attempt is answered."""
    chat = await api.chat()
    await page.goto(f"/c/{chat}")

    await say(page, "[[fault: 529:600@1]] [[text: At last.]] Try it.")

    await page.until_text("Attempt 2", "main")
    assert [] == await page.faults_of_access()
    await page.click("button", "Try now", within="main")
    await answers(page, "At last.")
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)


async def test_a_turn_that_failed_is_tried_again_from_where_it_says_so(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")

    await say(page, "[[fault: 401@1]] [[text: The key fits now.]] Try it.")

    await page.until_text("The key was refused", "main")
    await comes_to_rest(page, api, chat, status="error")
    assert [] == await page.faults_of_access()
    await page.click("button", "Try again", within="main")
    await answers(page, "The key fits now.")
    await comes_to_rest(page, api, chat)
    await page.until_no_text("The key was refused", "main")
    await agrees(page, api, chat)


async def test_a_plan_is_read_and_carried_out(page, api):
    chat = await api.chat(plan_mode="plan")
    await page.goto(f"/c/{chat}")
    await say(page, f"{calls('propose_plan', plan=PLAN)} [[text: That is it.]] Plan it.")
    await page.until_text("Lock the row of the chat.", "main")
    await comes_to_rest(page, api, chat)
    assert [] == await page.faults_of_access()

    await page.click("button", "Carry it out", within="main")

    async def is_carried_out():
        texts = await api.texts(chat)
        return ("user", "Carry out the plan.") in texts

    await page.until_true(is_carried_out, "the plan is carried out")
    await comes_to_rest(page, api, chat)
    assert not (await api.good("GET", f"{CHATS}/{chat}")).get("plan_mode")


async def test_a_chat_is_summarised_by_a_command(page, api):
    chat = await api.chat("[[text: one]] first")
    await page.goto(f"/c/{chat}")
    await page.until_text("one", "[role=log]")

    await say(page, "/compact")

    await page.until_text("ummarised", "[role=log]")
    await comes_to_rest(page, api, chat)
    assert [] == await page.faults_of_access()
