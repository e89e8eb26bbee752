"""The page of a one-time link, as a browser meets it."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
import trio

from adapters.people.routes import passwords as pages
from tests.adapters.people.auth.stage import ADMIN_TOKEN

GOOD = "battery staple"
ME = "/api/v2/users/me"


async def link(door, name="ann"):
    user = await door.auth.users.add(name)
    return f"/join/{(await door.auth.invitations.add(user.id)).code}"


VALUE = re.compile(rb'name="csrf" value="([0-9a-f]+)"')


async def shown(door, path, nonce=""):
    """The cookie and the value with which a browser sends the form that it was shown."""
    page = await door.asks("GET", path, headers={"cookie": f"form_nonce={nonce}"})
    found = VALUE.search(page.body)
    return page.cookies.get("form_nonce", ""), found[1].decode() if found else ""


async def send(door, path, password=GOOD, again=GOOD, **headers):
    nonce, value = await shown(door, path)
    form = urlencode({"username": "x", "password": password, "again": again, "csrf": value})
    sent = {"cookie": f"other=1; form_nonce={nonce}", **headers}
    return await door.asks("POST", path, body=form.encode(), headers=sent)


async def test_looking_at_a_link_does_not_use_it_up(door):
    path = await link(door)

    answers = [await door.asks("GET", path) for _ in range(2)]

    assert [200, 200] == [answer.status for answer in answers]
    assert b"Welcome, ann" in answers[0].body
    assert 200 == (await send(door, path)).status


async def test_with_a_password_one_is_logged_in(door):
    path = await link(door)

    answer = await send(door, path)

    assert 200 == answer.status
    cookie = f"coder_session_token={answer.cookies['coder_session_token']}"
    me = await door.asks("GET", ME, headers={"cookie": cookie})
    assert ("ann", "active") == (me.json["username"], me.json["status"])
    login = {"username": "ann", "password": GOOD}
    assert 201 == (await door.asks("POST", "/api/v2/users/login", json=login)).status


BAD = {
    "short": ("short", "short", "must have 10 characters or more"),
    "two": (GOOD, GOOD + "s", "is not the same both times"),
    "none": ("", "", "must have 10 characters or more"),
}


@pytest.mark.parametrize(("password", "again", "fault"), BAD.values(), ids=BAD)
async def test_a_password_that_is_none_does_not_use_the_link_up(door, password, again, fault):
    path = await link(door)

    answer = await send(door, path, password, again)

    assert 400 == answer.status
    assert f"The password {fault}.".encode() in answer.body
    assert ["form_nonce"] == list(answer.cookies)
    assert 200 == (await send(door, path)).status


async def test_a_link_works_once_even_for_many_at_once(door):
    path, statuses = await link(door), []

    async def take(number):
        password = f"battery staple {number}"
        statuses.append((await send(door, path, password, password)).status)

    async with trio.open_nursery() as nursery:  # all have a connection, or the first is alone
        for _ in range(4):
            nursery.start_soon(door.asks, "GET", path)
    async with trio.open_nursery() as nursery:
        for number in range(4):
            nursery.start_soon(take, number)

    assert [200, 404, 404, 404] == sorted(statuses)
    assert 404 == (await door.asks("GET", path)).status


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"a" * 5_000, b"&" * 5_000, b"password"])
async def test_any_form_can_be_sent(door, body):
    path = await link(door)

    assert 403 == (await door.asks("POST", path, body=body)).status


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"referer": "https://evil.example/page"},
    ],
)
async def test_a_page_of_somebody_else_cannot_send_the_form(door, headers):
    path = await link(door)

    answer = await send(door, path, **headers)

    assert 403 == answer.status
    assert "Origin not allowed." == answer.json["message"]
    assert 200 == (await send(door, path, origin="http://corner.example")).status


async def test_a_form_that_this_browser_was_not_shown_is_shown_anew(door):
    path, other = await link(door), await link(door, "bob")
    nonce, value = await shown(door, path)
    form = {"password": GOOD, "again": GOOD}
    attempts = [
        ("", {}),
        ("", {"csrf": value}),
        (nonce, {}),
        (nonce, {"csrf": value[:-1]}),
        (nonce, {"csrf": (await shown(door, path))[1]}),
        (nonce, {"csrf": (await shown(door, other, nonce))[1]}),
        ("", {"csrf": door.auth.signing.form_value("", path.rpartition("/")[2])}),
        ("x" * 22, {"csrf": value}),
    ]

    for given, more in attempts:
        answer = await door.asks(
            "POST",
            path,
            body=urlencode(form | more).encode(),
            headers={"cookie": f"form_nonce={given}"},
        )

        assert 403 == answer.status
        assert b"Send it again." in answer.body
        assert ["form_nonce"] == list(answer.cookies)
    assert 200 == (await send(door, path)).status


async def test_two_windows_of_one_browser_may_show_the_same_form(door):
    path = await link(door)
    nonce, value = await shown(door, path)
    other = await door.asks("GET", path, headers={"cookie": f"form_nonce={nonce}"})
    form = urlencode({"password": GOOD, "again": GOOD, "csrf": value})

    answer = await door.asks(
        "POST", path, body=form.encode(), headers={"cookie": f"form_nonce={nonce}"}
    )

    assert nonce == other.cookies["form_nonce"]
    assert 200 == answer.status


async def test_a_link_that_nobody_made_is_of_no_use_and_costs_no_work(door):
    runs = door.auth.passwords.runs_count

    looked, sent = await door.asks("GET", "/join/nobodys"), await send(door, "/join/nobodys")

    assert (404, 404) == (looked.status, sent.status)
    assert looked.body == sent.body
    assert runs == door.auth.passwords.runs_count


async def test_who_sets_a_password_by_link_ends_the_sessions_of_who_had_the_old_one(door):
    ann = await door.joins("ann")
    session = await door.auth.tokens.add_session(ann.user.id)
    assert 200 == (await door.asks("GET", ME, token=session)).status
    made = await door.asks("POST", "/api/v2/users/ann/one-time-link", token=ADMIN_TOKEN)

    await send(door, "/join/" + made.json["url"].rpartition("/")[2])

    assert 401 == (await door.asks("GET", ME, token=session)).status


class Reader(HTMLParser):
    """What a browser would run or load."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses, self.style, self._in_style = [], [], "", False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [v for k, v in attrs if k in ("src", "href", "action", "formaction")]
        assert not [k for k, _ in attrs if k.startswith("on") or k == "style"]
        self._in_style = tag == "style"

    def handle_data(self, data):
        self.style += data if self._in_style else ""
        self._in_style = False


PAGES = [
    pages.password_page("<script>ann</script>", '"><b>', "<b>"),
    pages.welcome_page("<script>"),
    pages.expired_page(),
]


@pytest.mark.parametrize("page", PAGES, ids=["asking", "welcome", "gone"])
def test_a_page_is_all_there_is_and_its_style_is_the_one_allowed(page):
    read = Reader(page)

    assert not {"script", "img", "link", "iframe", "b"} & set(read.tags)
    assert {"/"} >= set(read.addresses)
    allowed = b64encode(sha256(read.style.encode()).digest()).decode()
    [policy] = [value for name, value in pages.HEADERS if name == "content-security-policy"]
    assert f"style-src 'sha256-{allowed}'" in policy


async def test_a_browser_tells_nobody_of_the_link(door):
    answer = await door.asks("GET", await link(door))

    assert ["same-origin"] == answer.header("referrer-policy")
    assert ["no-store"] == answer.header("cache-control")
