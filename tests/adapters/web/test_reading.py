"""A chat without a script: pages of it, the form, the whole as one file."""

import re
from base64 import b64encode
from hashlib import sha256
from urllib.parse import urlencode

import pytest

from tests.adapters.edges import eventually
from tests.adapters.web.test_pages import CHATS, a_chat

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def page_of(asker, chat, query=""):
    answer = await asker.get(f"/c/{chat}/read{query}")
    assert 200 == answer.status
    return answer.body.decode()


async def send(asker, chat, fields, headers=FORM):
    return await asker.ask(
        "POST", f"/c/{chat}/read", body=urlencode(fields).encode(), headers=headers
    )


def csrf_in(page):
    return re.search(r'name="csrf" value="(\w+)"', page)[1]


async def grows_to(edge, chat, count):
    """Wait until the chat rests and has so many messages."""

    async def enough():
        there = (await edge.member.get(f"{CHATS}/{chat}/messages?limit=200")).document
        state = (await edge.member.get(f"{CHATS}/{chat}")).document["status"]
        return state == "waiting" and len(there["messages"]) >= count and there["messages"]

    return await eventually(enough)


async def test_what_was_said_is_read_and_answered_by_a_form(edge):
    chat = await a_chat(edge, "first <b>words</b>")
    page = await page_of(edge.member, chat)
    assert "first &lt;b&gt;words&lt;/b&gt;" in page
    assert "<script" not in page

    sent = await send(edge.member, chat, {"text": "and more", "csrf": csrf_in(page)})

    assert (303, f"/c/{chat}/read#end") == (sent.status, sent.headers["location"])
    await grows_to(edge, chat, 4)
    assert "and more" in await page_of(edge.member, chat)


@pytest.mark.parametrize("csrf", ["", "0" * 64])
async def test_a_form_that_is_not_ours_sends_nothing_and_keeps_the_text(edge, csrf):
    chat = await a_chat(edge)

    answer = await send(edge.member, chat, {"text": "not <sent>", "csrf": csrf})

    page = answer.body.decode()
    assert 400 == answer.status
    assert "This form was not sent by the page in this browser" in page
    assert "not &lt;sent&gt;</textarea>" in page
    assert 2 == len((await edge.member.get(f"{CHATS}/{chat}/messages")).document["messages"])


async def test_a_page_of_another_site_sends_nothing(edge):
    chat = await a_chat(edge)
    user = {"username": "ann", "password": "battery staple"}
    await edge.admin.post("/api/v2/users", user)
    json = {"content-type": "application/json"}
    login = await edge.nobody.post("/api/v2/users/login", user, headers=json)
    session = login.document["session_token"]
    edge.nobody.client.cookies.clear()

    headers = {**FORM, "cookie": f"coder_session_token={session}", "origin": "https://evil.test"}
    answer = await send(edge.nobody, chat, {"text": "x", "csrf": "x"}, headers)

    assert 403 == answer.status


async def test_a_refused_message_says_why_and_is_not_lost(edge):
    chat = await a_chat(edge)
    page = await page_of(edge.member, chat)

    answer = await send(edge.member, chat, {"text": "", "csrf": csrf_in(page)})

    assert 400 == answer.status
    assert 'role="alert"' in answer.body.decode()


async def test_an_archived_chat_is_read_and_not_written(edge):
    chat = await a_chat(edge)
    await edge.member.patch(f"{CHATS}/{chat}", {"archived": True})

    assert "<form" not in await page_of(edge.member, chat)


async def test_pages_lead_to_older_and_newer_ones_and_none_is_left_out(edge, monkeypatch):
    monkeypatch.setattr("adapters.web.reading.PAGE", 2)
    chat = await a_chat(edge, "number 0")
    for number in range(1, 4):
        await edge.member.post(
            f"{CHATS}/{chat}/messages", {"content": [{"type": "text", "text": f"number {number}"}]}
        )
        await grows_to(edge, chat, 2 * number + 2)
    newest = await page_of(edge.member, chat)

    pages, page = [newest], newest
    while older := re.search(r'href="(\?before=\d+)"', page):
        page = await page_of(edge.member, chat, older[1])
        pages.append(page)
    forward = [page]
    while newer := re.search(r'href="(\?after=\d+)"', page):
        page = await page_of(edge.member, chat, newer[1])
        forward.append(page)

    assert [f"number {n}" for n in (3, 2, 1, 0)] == [re.search(r"number \d", p)[0] for p in pages]
    assert [f"number {n}" for n in (0, 1, 2, 3)] == [re.search(r"number \d", p)[0] for p in forward]
    assert "<form" in newest
    assert "<form" not in pages[1]


async def test_while_a_chat_works_its_page_comes_anew_and_the_form_is_a_link_away(edge):
    chat = await a_chat(edge)
    await edge.execute("UPDATE chats SET status = 'running' WHERE id = %s", (chat,))

    page = await page_of(edge.member, chat)
    writing = await page_of(edge.member, chat, "?write=1")

    assert '<meta http-equiv="refresh" content="5">' in page
    assert "<form" not in page
    assert "refresh" not in writing
    assert "<form" in writing


async def test_a_call_stands_with_its_result_and_can_be_opened(edge):
    chat = await a_chat(edge, '[[tool-calls: list_templates:{"page": 1}]] [[text: **done**]]')

    page = await page_of(edge.member, chat)

    [inside] = re.findall(r'<details class="w">(.*?)</details>', page, re.DOTALL)
    assert "list_templates" in inside
    assert "recommended_template_id" in inside
    assert "<strong>done</strong>" in page


async def test_the_whole_chat_is_one_file_that_needs_no_other(edge):
    chat = await a_chat(edge, "everything")

    answer = await edge.member.get(f"/c/{chat}/read?all=1")

    page = answer.body.decode()
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in answer.headers["content-security-policy"]
    assert "everything" in page
    assert not re.search(r"<(link|script|form|img)\b", page)


async def test_a_chat_of_somebody_else_cannot_be_read(edge):
    chat = await a_chat(edge, "a secret")

    answer = await edge.stranger.get(f"/c/{chat}/read")

    assert 404 == answer.status
    assert b"a secret" not in answer.body
