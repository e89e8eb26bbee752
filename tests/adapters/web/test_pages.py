"""The shell: what it says to the browser, which data it carries, and for whom."""

import json
import re

import pytest

from adapters.web.pages import PATHS, shell
from adapters.web.policy import PAGE_HEADERS, framed_by, page_headers
from adapters.web.serving.assets import Assets
from tests.adapters.edges import eventually

CHATS = "/api/experimental/chats"
DATA = re.compile(r'<script type="application/json" id="shell">(.*?)</script>', re.DOTALL)


async def a_chat(edge, text="hello"):
    content = [{"type": "text", "text": text}]
    new = {"organization_id": edge.organization, "content": content}
    chat = (await edge.member.post(CHATS, new)).document["id"]

    async def rests_and_is_titled():
        found = (await edge.member.get(f"{CHATS}/{chat}")).document
        return ("waiting", "Rehearsal") == (found["status"], found["title"])

    await eventually(rests_and_is_titled)
    return chat


async def answers_in(asker, path):
    page = await asker.get(path)
    assert 200 == page.status
    return json.loads(DATA.search(page.body.decode())[1])["answers"]


async def test_the_shell_of_a_chat_carries_what_it_shows_first(edge):
    chat = await a_chat(edge)

    found = await answers_in(edge.member, f"/c/{chat}?m=1")

    for path, answer in found.items():
        assert answer == (await edge.member.get(path)).document, path
    assert "member" == found["/api/v2/users/me"]["username"]
    assert chat == found[f"{CHATS}/{chat}"]["id"]
    messages = found[f"{CHATS}/{chat}/messages?limit=30&results=cut&costs=true"]["messages"]
    assert ["assistant", "user"] == [message["role"] for message in messages]


async def test_nobody_gets_data_of_a_chat_that_is_not_theirs(edge):
    chat = await a_chat(edge, "a secret")

    page = await edge.stranger.get(f"/c/{chat}")

    assert 200 == page.status
    assert b"a secret" not in page.body
    assert f"{CHATS}/{chat}" not in await answers_in(edge.stranger, f"/c/{chat}")


async def test_several_chats_and_nonsense_are_pages_without_data_of_chats(edge):
    for path in ("/c/one+two", "/c/nonsense", "/settings/a/b", "/admin/users"):
        found = await answers_in(edge.member, path)
        assert not [name for name in found if re.match(rf"{CHATS}/(?!model-configs)", name)], path


async def test_a_token_that_may_not_read_chats_gets_none(edge):
    made = await edge.member.post("/api/v2/users/me/keys/tokens", {"scopes": ["users:read"]})
    token = {"Coder-Session-Token": made.document["key"]}

    page = await edge.nobody.get("/", headers=token)

    found = json.loads(DATA.search(page.body.decode())[1])["answers"]
    assert ["/api/v2/users/me"] == [*found]


async def test_a_page_is_compressed_for_a_client_that_accepts_it(edge):
    chat = await a_chat(edge, "much to read " * 1_000)

    small = await edge.member.get(f"/c/{chat}", headers={"accept-encoding": "gzip"})

    assert "gzip" == small.headers["content-encoding"]
    assert "accept-encoding" == small.headers["vary"]
    assert int(small.headers["content-length"]) < len(small.body) / 2
    assert b"much to read" in small.body


async def test_modules_after_the_first_picture_are_fetched_with_low_priority(edge):
    head = (await edge.member.get("/c/one+two")).body.decode().partition("</head>")[0]

    first = re.findall(r'<link rel="modulepreload" href="[^"]*/([\w.-]+)">', head)
    then = re.findall(
        r'<link rel="modulepreload" fetchpriority="low" href="[^"]*/([\w.-]+)">', head
    )
    assert "app.js" in first
    assert ["after_paint.js"] == then


async def test_no_text_ends_the_data_of_a_page(edge):
    chat = await a_chat(edge, "</script><script>alert(1)</script><!--")

    page = (await edge.member.get(f"/c/{chat}")).body.decode()

    assert page.count("</script>") == 3
    assert "<script>alert" not in page
    assert "</script><script>alert(1)</script><!--" in str(
        await answers_in(edge.member, f"/c/{chat}")
    )


@pytest.mark.parametrize("path", [path for path in PATHS if "{" not in path])
async def test_every_page_bounds_what_it_may_do(edge, path):
    page = await edge.member.get(path)

    policy = page.headers["content-security-policy"]
    for rule in (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "trusted-types promptcorner-worker",
        "require-trusted-types-for 'script'",
    ):
        assert rule in policy
    assert "unsafe" not in policy
    assert "no-store" == page.headers["cache-control"]
    assert "same-origin" == page.headers["cross-origin-opener-policy"]
    assert "same-origin" == page.headers["referrer-policy"]


def test_pages_of_named_origins_may_show_ours_in_a_frame_and_nothing_else_changes():
    origins = ("https://portal.test", "http://[::1]:*")

    framed = framed_by(origins, (*PAGE_HEADERS, ("location", "/")))

    policy = dict(framed)["content-security-policy"]
    assert "frame-ancestors https://portal.test http://[::1]:*; " in policy
    before = dict(PAGE_HEADERS)["content-security-policy"]
    assert before == policy.replace(" ".join(origins), "'none'")
    assert [("location", "/"), *PAGE_HEADERS[1:]] == [framed[-1], *framed[1:-1]]


def test_a_style_of_a_page_is_allowed_by_its_hash_alone():
    policy = dict(page_headers("'sha256-abc'"))["content-security-policy"]

    assert "style-src 'sha256-abc';" in policy


def test_a_page_names_its_files_by_their_version():
    assets = Assets({"app.js": b'import "./ui.js";\n', "ui.js": b"", "all.css": b""})

    page = shell(assets, {}).decode()

    assert f'<script type="module" src="/web/{assets.digest}/app.js">' in page
    assert f'<link rel="modulepreload" href="/web/{assets.digest}/ui.js">' in page
    assert not re.search(r"(src|href)=\"(?!/web/)", page)
    assert not re.search(r"\son\w+=|\sstyle=|<style", page)


async def test_a_refusal_of_a_page_is_a_page(edge):
    missing = "/c/00000000-0000-0000-0000-000000000000/read"

    answer = await edge.member.get(missing)

    assert 404 == answer.status
    assert "text/html; charset=utf-8" == answer.headers["content-type"]
    assert "Resource not found" in answer.body.decode()
    assert 404 == (await edge.member.get("/no-such-page")).status
