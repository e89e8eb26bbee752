"""The page where one logs in, without a script: the form, who may send it, and where it leads."""

import re
from urllib.parse import quote, urlencode

import pytest

from tests.adapters.edges import eventually

USERS = "/api/v2/users"
PASSWORD = "battery staple"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
async def ann(edge):
    """A user with a password; the browser that the tests are has no cookies yet."""
    made = await edge.admin.post(USERS, {"username": "ann", "password": PASSWORD})
    edge.nobody.client.cookies.clear()
    return made.document


async def form_of(edge, query=""):
    """What the page gives its form: the hidden fields, and the cookie beside them."""
    page = await edge.nobody.get(f"/login{query}")
    fields = dict(re.findall(r'name="(csrf|next)" value="([^"]*)"', page.body.decode()))
    cookie = page.headers["set-cookie"].partition(";")[0]
    edge.nobody.client.cookies.clear()
    return fields, cookie


async def send(edge, fields, cookie, headers=None):
    answer = await edge.nobody.ask(
        "POST",
        "/login",
        body=urlencode(fields).encode(),
        headers={"cookie": cookie, "content-type": FORM, **(headers or {})},
    )
    edge.nobody.client.cookies.clear()
    return answer


async def logs_in(edge, *, query="", name="ann", password=PASSWORD, **changes):
    fields, cookie = await form_of(edge, query)
    return await send(edge, {**fields, "login": name, "password": password, **changes}, cookie)


async def test_who_logs_in_gets_a_session_and_what_they_wanted(edge, ann):
    answer = await logs_in(edge, query=f"?next={quote('/c/1?m=2')}")

    assert (303, "/c/1?m=2") == (answer.status, answer.headers["location"])
    [session] = [
        each
        for each in answer.headers.get_list("set-cookie")
        if each.startswith("coder_session_token=")
    ]
    assert "HttpOnly" in session
    assert "SameSite=Lax" in session
    me = await edge.nobody.get(f"{USERS}/me", headers={"cookie": session.partition(";")[0]})
    assert "ann" == me.document["username"]


async def test_a_wrong_password_is_said_and_the_name_stays(edge, ann):
    answer = await logs_in(edge, name='ann"><b>', password="wrong")

    page = answer.body.decode()
    assert 401 == answer.status
    assert "Incorrect username, email or password." in page
    assert 'value="ann&quot;&gt;&lt;b&gt;"' in page
    assert "<b>" not in page


async def test_who_guesses_is_slowed_down_and_told_so(edge, ann):
    async def too_many():
        answer = await logs_in(edge, password="wrong")
        return answer if answer.status == 429 else None

    answer = await eventually(too_many)

    assert "Too many attempts to log in." in answer.body.decode()
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize("change", [{"csrf": ""}, {"csrf": "0" * 64}])
async def test_a_form_that_is_not_ours_logs_nobody_in(edge, ann, change):
    answer = await logs_in(edge, **change)

    assert 403 == answer.status
    assert "This form was not sent by the page in this browser" in answer.body.decode()
    assert "coder_session_token" not in str(answer.headers)


async def test_a_page_of_another_site_logs_nobody_in(edge, ann):
    fields, cookie = await form_of(edge)
    whole = {**fields, "login": "ann", "password": PASSWORD}

    answer = await send(edge, whole, cookie, {"origin": "https://elsewhere.test"})

    assert 403 == answer.status
    assert "Origin not allowed." == answer.document["message"]


@pytest.mark.parametrize(
    "wanted",
    ["https://evil.test/", "//evil.test/", "/\\evil.test", "evil", "", "/a b", "/\r\nx: y"],
)
async def test_a_login_leads_nowhere_else(edge, ann, wanted):
    answer = await logs_in(edge, next=wanted)

    assert (303, "/") == (answer.status, answer.headers["location"])


async def test_who_is_logged_in_is_not_asked_again(edge):
    answer = await edge.member.get("/login?next=/new")

    assert (303, "/new") == (answer.status, answer.headers["location"])


async def test_a_page_without_a_session_leads_to_the_login_and_back(edge):
    edge.nobody.client.cookies.clear()
    answer = await edge.nobody.get("/c/1+2?m=3&x=%20")

    expected = f"/login?next={quote('/c/1+2?m=3&x=%20', safe='')}"
    assert (303, expected) == (answer.status, answer.headers["location"])
    assert "no-store" == answer.headers["cache-control"]
    assert 401 == (await edge.nobody.get(f"{USERS}/me")).status
