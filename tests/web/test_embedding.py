"""The web interface in a frame: the pages that may show it, and how it looks there."""

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.web.browser import BrowserFault

SETTINGS = {"PROMPTCORNER_EMBED_ORIGINS": "http://127.0.0.1:*"}


@pytest.fixture
def host():
    """A server whose page shows what its query names in a frame; its port."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            _, _, framed = self.path.partition("?")
            body = f'<!doctype html><title>host</title><iframe src="{framed}" width=900 height=700>'
            self.send_response(200 if framed else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode() if framed else b"")

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


async def inside(page, expression):
    """Evaluate an expression in the frame; None while there is nothing in it, or it changes."""
    tree = await page.do("Page.getFrameTree")
    [frame] = tree["frameTree"].get("childFrames", [None])
    if frame is None:
        return None
    with suppress(BrowserFault):  # what was there has just made room for what comes
        world = await page.do("Page.createIsolatedWorld", frameId=frame["frame"]["id"])
        how = {"contextId": world["executionContextId"], "returnByValue": True}
        found = await page.do("Runtime.evaluate", expression=expression, **how)
        return found["result"].get("value")


async def is_so(page, expression):
    """Wait until an expression is true in the frame."""

    async def check():
        return await inside(page, f"!!({expression})")

    await page.until_true(check, expression)


async def test_a_chat_is_shown_and_written_to_within_a_page_that_may(page, api, house, host):
    page.allow("favicon")
    chat = await api.chat("[[text: from within]] hello")
    page.url = f"http://127.0.0.1:{host}"
    await page.goto(f"/?{house.url}/c/{chat}?embed=1&amp;theme=dark")

    await is_so(page, "document.querySelector('.text')?.innerText.includes('from within')")
    await is_so(page, "document.documentElement.dataset.theme === 'dark'")
    await is_so(page, "!document.querySelector('nav.side')")
    await is_so(page, "document.querySelector('a[target=_blank][aria-label^=Open]')")
    field = "document.querySelector('textarea')"
    is_focused = "(it.focus(), document.hasFocus() && document.activeElement === it)"
    await is_so(page, f"(it => it && {is_focused})({field})")
    await page.type("[[text: and answered]] once more")
    await is_so(page, f"{field}.value.endsWith('once more')")
    await page.press("Enter")
    answer = "[...document.querySelectorAll('[data-role=assistant]')].at(-1)?.innerText"
    await is_so(page, f"{answer}?.includes('and answered')")


async def test_another_page_may_not(page, house, host):
    page.allow("frame-ancestors", "favicon")
    page.url = f"http://localhost:{host}"
    await page.goto(f"/?{house.url}/new?embed=1")

    async def is_refused():
        return (await inside(page, "location.protocol")) == "chrome-error:"

    await page.until_true(is_refused, "the frame shows that it was refused")
