"""A conversation in a browser: said, answered, stopped, queued, steered, edited, decided."""

import json
import re
from functools import partial

import psycopg
import pytest

from tests.web.house import CHATS, WORKSPACE
from tests.web.page import new_tab
from tests.web.stories import (
    FIELD,
    LIVE,
    QUEUE,
    SLOWLY,
    agrees,
    answers,
    calls,
    comes_to_rest,
    live,
    plain,
    say,
)

SETTINGS = {"PROMPTCORNER_APPROVAL_RULES": "execute=ask"}
WORDS = "the prompter whispers the line that somebody on the stage has lost"


async def test_a_chat_is_begun_by_its_first_message_and_answered(page, api):
    await page.goto("/")
    await say(page, f"[[text: {WORDS}.]] What does the prompter do?")

    await page.until("location.pathname.startsWith('/c/')")
    await page.until_focused("textbox", "Message")  # one writes on without a click
    await page.until_text(WORDS)
    assert not await page.js("document.querySelector('.late')")
    chat = (await page.js("location.pathname")).rpartition("/")[2]
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)
    assert [] == await page.faults_of_access()


async def test_an_answer_is_seen_while_it_is_said_and_stopped_in_the_middle(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await say(page, f"{SLOWLY} Say much.")
    first = await live(page, 100)
    longer = await live(page, len(first) + 20)
    assert longer.startswith(first)
    assert [] == await page.faults_of_access()

    await page.click("button", "Stop")

    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)


WATCHES = """
(() => {
  window.seen = [];
  new MutationObserver(() => {
    const live = document.querySelector("article[data-message=live]");
    if (!live) return;
    live.streamed = true;
    seen.push([live.querySelector(".text")?.innerText ?? "", live.getBoundingClientRect().top]);
  }).observe(document.querySelector("[role=log]"), { subtree: true, childList: true,
    characterData: true });
})()
"""


async def test_a_streamed_answer_becomes_the_stored_one_without_moving(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await page.find("button", "Edit")
    await page.js(WATCHES)
    await say(page, "[[deltas: 150]] [[delta-ms: 20]] Say much.")
    await page.until("window.seen.at(-1)?.[0].length > 100")  # also if it is over by now
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)

    *_, (_, stored) = await api.texts(chat)
    seen = await page.js("seen")
    assert len(seen) > 2
    assert all(plain(stored).startswith(plain(text)) for text, _ in seen)
    assert sorted(len(text) for text, _ in seen) == [len(text) for text, _ in seen]
    assert 1 >= max(top for _, top in seen) - min(top for _, top in seen)
    last = "[...document.querySelectorAll('article[data-role=assistant]')].at(-1)"
    assert await page.js(f"{last}.streamed"), "it was built a second time"


async def test_escape_twice_stops_and_once_only_asks(page, api):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await say(page, f"{SLOWLY} Say much.")
    await live(page, 50)

    await page.press("Escape")
    await page.until_no_text("again to stop")  # it asks for a moment only
    assert "running" == (await api.good("GET", f"{CHATS}/{chat}"))["status"]

    async def stops():  # however slowly the keys come through
        await page.press("Escape")
        await page.press("Escape")
        return "running" != (await api.good("GET", f"{CHATS}/{chat}"))["status"]

    await page.until_true(stops, "the chat is stopped")
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)


def queued(house, chat):
    """Return the texts that wait, in the order in which they will go in."""
    with psycopg.connect(house.database) as connection:
        rows = connection.execute(
            "SELECT content FROM queued_messages WHERE chat_id = %s ORDER BY position", (chat,)
        )
        return [re.search(r'"text": ?"([^"]*)"', json.dumps(content))[1] for (content,) in rows]


async def test_what_waits_can_be_edited_moved_sent_and_removed(page, api, house):
    chat = await api.chat()
    await page.goto(f"/c/{chat}")
    await say(page, f"{SLOWLY} Say much.")
    await page.find("button", "Stop")
    for text in ("first", "second", "third", "fourth"):
        await say(page, text)
        await page.until_text(text, QUEUE)
    await waits(page, house, chat, "first", "second", "third", "fourth")

    [_, second, *_] = await page.find_all(4, "button", re.compile("^Move"))
    await second.focus()
    await page.press("ArrowUp", "Alt")
    await waits(page, house, chat, "second", "first", "third", "fourth")
    await shows(page, "second", "first", "third", "fourth")
    [*_, last] = await page.find_all(4, "button", "Remove", QUEUE)
    await last.click()
    await waits(page, house, chat, "second", "first", "third")
    [_, edits, _] = await page.find_all(3, "button", "Edit", QUEUE)
    await edits.click()
    await page.until_focused("textbox", "Queued message")
    await page.press("End")
    await page.type(" of all")
    await page.press("Enter")
    await waits(page, house, chat, "second", "first of all", "third")
    await shows(page, "second", "first of all", "third")
    assert [] == await page.faults_of_access()

    [*_, now] = await page.find_all(3, "button", "Send now", QUEUE)
    await now.click()

    async def have_gone_in():
        texts = [text for role, text in await api.texts(chat) if role == "user"]
        return ["third", "second", "first of all"] == texts[-3:]

    await page.until_true(have_gone_in, "they have gone in")
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)


async def waits(page, house, chat, *wanted):
    """Wait until the queue is stored like this."""

    async def is_so():
        return list(wanted) == queued(house, chat)

    await page.until_true(is_so, f"the queue is {wanted}")


async def shows(page, *wanted):
    """Wait until the queue is seen like this."""
    texts = "[...document.querySelectorAll('[data-queued] .what')].map(row => row.title)"
    await page.until_is([*wanted], page.js, texts)


async def test_a_message_that_steers_enters_at_the_next_step(page, api):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}")
    await api.good("PATCH", f"{CHATS}/{chat}", {"approval_policy": "allow"})
    await say(page, f"{SLOWLY} Say much.")
    await page.find("button", "Stop")

    await say(page, "mind the gap", "Control")

    await page.until_text("mind the gap", QUEUE)

    async def steers():  # it is shown before it is stored
        rows = (await api.page_of(chat))["queued_messages"]
        return ["steer"] == [row["busy_behavior"] for row in rows]

    await page.until_true(steers, "the message is queued, and steers")
    await page.click("button", "Stop")
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)


@pytest.mark.parametrize("way", ["button", "key"])
async def test_a_call_is_allowed(page, api, way):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}")
    await say(page, f"{calls('execute', command='echo it has run')} [[text: done]] Run it.")
    await page.find("button", re.compile("^Allow once"))
    assert [] == await page.faults_of_access()

    if way == "button":
        await page.click("button", re.compile("^Allow once"))
    else:
        await page.js("document.activeElement.blur()")
        await page.press("y")

    await comes_to_rest(page, api, chat)
    await page.until_text("done")
    assert "it has run" in json.dumps(await api.messages(chat))
    await agrees(page, api, chat)


async def test_a_call_is_allowed_by_a_rule_and_the_next_like_it_is_not_asked_about(page, api):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}")
    await say(page, f"{calls('execute', command='git status -s')} [[text: one]] Look.")
    await page.click("button", re.compile("^By rule"))
    await page.find("textbox", "Rule")
    assert [] == await page.faults_of_access()

    await page.click("button", "Allow by this rule")
    await comes_to_rest(page, api, chat)
    await say(page, f"{calls('execute', command='git status --long')} [[text: two]] Again.")
    await answers(page, "two")

    shown = await api.good("GET", f"{CHATS}/{chat}/approvals")
    assert ["execute(git status *)"] == [grant["tool_name"] for grant in shown["always"]]
    await agrees(page, api, chat)


async def test_a_call_of_an_agent_is_allowed_where_its_root_is_open(page, api):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}")
    prompt = f"{calls('execute', command='echo it has run')} [[text: seen]] go"
    prompt = prompt.replace("[", "\\u005b").replace("]", "\\u005d")  # not for its parent's model
    spawn = json.dumps({"type": "general", "prompt": "PROMPT"}).replace("PROMPT", prompt)
    spawn = spawn.replace('"command"', '\\"command\\"').replace(
        '"echo it has run"', '\\"echo it has run\\"'
    )
    await say(page, f"[[tool-calls: spawn_agent:{spawn}]] [[text: I wait]] Delegate it.")

    await answers(page, "I wait")
    await page.click("button", re.compile("^Allow once"))

    await page.until_true(partial(ran_in_an_agent, api, chat), "the agent has run it")
    await page.until("!document.querySelector('[data-approval]')")
    assert [] == await page.faults_of_access()


async def ran_in_an_agent(api, chat):
    children = (await api.good("GET", f"{CHATS}/{chat}"))["children"]
    said = [json.dumps(await api.messages(child["id"])) for child in children]
    return any('"output": "it has run' in each for each in said)


async def test_a_call_is_denied_in_words(page, api, house):
    chat = await api.chat(WORKSPACE)
    await page.goto(f"/c/{chat}")
    await say(page, f"{calls('execute', command='rm x')} [[text: as you like]] Run it.")

    await page.click("button", re.compile("^Deny"))
    await page.until_focused("textbox", "Why not, or what to do instead")
    await page.type("use make instead")
    await page.press("Enter")

    await comes_to_rest(page, api, chat)
    assert "use make instead" in json.dumps(await api.messages(chat))
    asked = json.dumps([request["body"] for request in house.provider.requests(chat)])
    assert "use make instead" in asked


QUESTION = {
    "questions": [
        {
            "header": "Branch",
            "question": "Which branch shall get the fix?",
            "options": [
                {"label": "main", "description": "It is released on Friday"},
                {"label": "0.1 as well", "description": "Two conflicts, both in tests"},
            ],
        }
    ]
}


async def test_a_question_is_answered_by_its_number(page, api):
    chat = await api.chat(plan_mode="plan")
    await page.goto(f"/c/{chat}")
    await say(page, f"{calls('ask_user_question', **QUESTION)} [[text: I see]] Ask me.")
    await page.until("!!document.querySelector('[data-question=open]')")
    await comes_to_rest(page, api, chat)
    await page.until(f"!{LIVE} && !!document.querySelector('[data-question=open]')")
    assert [] == await page.faults_of_access()

    await page.js("document.activeElement.blur()")
    await page.press("2")
    await page.press("Enter")

    await page.until_true(partial(answered, api, chat, "0.1 as well"), "the question is answered")
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)


async def answered(api, chat, words):
    return ("user", words) in await api.texts(chat)


async def test_a_message_is_edited_and_what_followed_is_gone(page, api):
    chat = await api.chat("[[text: a first answer]] the first")
    await api.say(chat, "[[text: a second answer]] the second", "waiting")
    await page.goto(f"/c/{chat}")
    await page.until_text("a second answer")

    [first, _] = await page.find_all(2, "button", re.compile("^Edit"))
    await first.click()
    await page.until_text("You are changing a message.")
    await page.until_focused("textbox", FIELD)
    await page.press("a", "Control")
    await page.type("[[text: an other answer]] the first, said better")
    await page.press("Enter")

    await page.until_text("an other answer")
    await page.until_no_text("a second answer")
    await page.until_text("edited", "[data-role=user]")
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)

    await page.reload()
    await page.until_text("edited", "[data-role=user]")


async def test_the_rail_and_the_arrows_lead_to_the_messages(page, api):
    chat = await api.chat("[[text: yes]] number 0" + "\nand more" * 30)
    for number in (1, 2, 3):
        await api.say(chat, f"[[text: yes]] number {number}" + "\nand more" * 30, "waiting")
    await page.goto(f"/c/{chat}")
    await page.until("document.querySelectorAll('.rail i').length === 4")
    await page.until("document.querySelector('.tl').scrollTop > 1000")

    async def is_at_the_top(number):
        await page.until(
            "(() => { const top = (of) => document.querySelector(of).getBoundingClientRect().top;"
            f"const me = [...document.querySelectorAll('article.me')][{number}];"
            f"return me?.innerText.includes('number {number}')"
            " && Math.abs(me.getBoundingClientRect().top - top('.tl')) < 60; })()"
        )

    for number in (0, 2):
        mark = f"document.querySelectorAll('.rail i')[{number}]"
        assert f"[[text: yes]] number {number}" == await page.js(f"{mark}.title")
        await page.js(f"{mark}.click()")
        await is_at_the_top(number)

    [*_, third, _] = await page.all("button", "Previous message of mine")
    await third.click()
    await is_at_the_top(1)
    [_, second, *_] = await page.all("button", "Next message of mine")
    await second.click()
    await is_at_the_top(2)


async def test_two_tabs_show_the_same(page, api, browser):
    chat = await api.chat()
    other = await new_tab(browser, page.context)
    await page.goto(f"/c/{chat}")
    await other.goto(f"{page.url}/c/{chat}")
    await other.until_text("hello", "[role=log]")

    await say(page, f"[[text: {WORDS}]] What?")

    await other.until_text(WORDS)
    await page.until_text(WORDS)
    await comes_to_rest(page, api, chat)
    await agrees(page, api, chat)
    await agrees(other, api, chat)
    assert [] == other.unexpected
