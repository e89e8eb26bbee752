"""A chat without a script: 50 messages a page, a form to send one, or all of it in one file.

/c/{chat}/read              the newest messages; while the chat works it loads itself anew
/c/{chat}/read?before=ID    older ones; ?after=ID: newer ones
/c/{chat}/read?all=1        everything with its style, to be kept or sent as a file
/c/{chat}/read?write=1      the form, while the chat works: nothing loads itself anew
"""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from uuid import UUID

import msgspec

from adapters.http.endpoints import Call, Endpoint, HttpResponse, Parameter, number
from adapters.http.refusals import HttpError
from adapters.people.auth.signing import Signing
from adapters.people.routes.forms import NOT_OUR_FORM, form_fields
from adapters.web.inner import ApiCaller
from adapters.web.pages import CHATS, HTML, head
from adapters.web.policy import page_headers
from adapters.web.readable import ReadMessage, messages_html
from adapters.web.serving.asset_routes import AssetSource
from adapters.web.serving.assets import STYLES, Assets
from runtime.threads import ThreadLimits, read

PAGE = 50  # messages
ALL_PAGE = 200  # likewise, where the whole chat is asked for
ALL_MESSAGES_MAX = 20_000  # of the newest ones; a longer chat says that there are more
AGAIN_SECONDS = 5  # until a page of a chat that works loads itself anew
BODY_BYTES_MAX = 1024 * 1024
WORKING = ("pending", "running", "interrupting")

RENDERING = ThreadLimits("pages of chats", threads_max=2)


class ReadChat(msgspec.Struct, frozen=True):
    """A chat, as far as its page shows it."""

    id: UUID
    title: str
    status: str
    archived: bool


class ReadMessages(msgspec.Struct, frozen=True):
    """A page of messages, in whichever order the API has them."""

    messages: Sequence[ReadMessage]
    has_more: bool


@dataclass(frozen=True, slots=True)
class ReadPage:
    """The content of one page."""

    chat: ReadChat
    messages: Sequence[ReadMessage]  # the oldest first
    older: bool  # whether there are messages before them
    newer: bool  # whether there may be messages after them
    csrf: str  # of the form; "": there is none
    fault: str = ""
    text: str = ""  # that was not sent

    @property
    def is_working(self) -> bool:
        return self.chat.status in WORKING


class ReadingPages:
    """Serves chats as pages without a script."""

    def __init__(self, source: AssetSource, api: ApiCaller, signing: Signing) -> None:
        self._source = source
        self._api = api
        self._signing = signing

    def endpoints(self) -> Sequence[Endpoint]:
        path = "/c/{chat}/read"
        return (
            Endpoint(
                method="GET",
                path=path,
                handle=self.show,
                summary=f"A chat to be read without a script, {PAGE} messages a page",
                tag="pages",
                parameters=(
                    Parameter(name="before", type=int, help="messages before this one"),
                    Parameter(name="after", type=int, help="messages after this one"),
                    Parameter(name="all", type=int, help="1: the whole chat as one file"),
                    Parameter(name="write", type=int, help="1: with the form, also while it works"),
                ),
                answers={200: str},
                is_page=True,
            ),
            Endpoint(
                method="POST",
                path=path,
                handle=self.send,
                summary="Send a message with the form of this page: text",
                tag="pages",
                body_bytes_max=BODY_BYTES_MAX,
                answers={303: None, 400: str},
                refusals=(409,),
                is_page=True,
                takes_form=True,
            ),
        )

    async def show(self, call: Call) -> HttpResponse:
        if call.one("all"):
            return await self._whole(call)
        page = await self._page(call, "")
        return await self._respond(200, page, is_writing=bool(call.one("write")))

    async def send(self, call: Call) -> HttpResponse:
        form = form_fields(call)
        text = form.get("text", "")
        if not self._signing.is_csrf(form.get("csrf", ""), call.user.token):
            return await self._respond(400, await self._page(call, NOT_OUR_FORM, text))
        body = msgspec.json.encode({"content": [{"type": "text", "text": text}]})
        try:
            await self._api.post(call, f"{CHATS}/{call.path['chat']}/messages", body)
        except HttpError as refused:
            if refused.status in (403, 404):
                raise
            said = " ".join(filter(None, (refused.body.message, refused.body.detail)))
            return await self._respond(refused.status, await self._page(call, said, text))
        where = f"/c/{call.path['chat']}/read#end"
        return HttpResponse(303, headers=(("location", where), ("cache-control", "no-store")))

    async def _page(self, call: Call, fault: str, text: str = "") -> ReadPage:
        chat = await self._chat(call)
        before, after = number(call, "before"), number(call, "after")
        place = f"&before_id={before}" if before else f"&after_id={after}" if after else ""
        found = await self._messages(call, f"limit={PAGE}{place}")
        older = bool(after) or found.has_more
        newer = bool(before) or (bool(after) and found.has_more)
        csrf = "" if chat.archived else self._signing.csrf_of(call.user.token)
        messages = sorted(found.messages, key=lambda message: message.id)
        return ReadPage(chat, messages, older, newer, csrf, fault, text)

    async def _chat(self, call: Call) -> ReadChat:
        body = await self._api.get(call, f"{CHATS}/{call.uuid('chat')}")
        return msgspec.json.decode(body, type=ReadChat)

    async def _messages(self, call: Call, query: str) -> ReadMessages:
        body = await self._api.get(call, f"{CHATS}/{call.path['chat']}/messages?{query}")
        return await read(RENDERING, lambda: msgspec.json.decode(body, type=ReadMessages))

    async def _respond(
        self, status: int, page: ReadPage, *, is_writing: bool = False
    ) -> HttpResponse:
        assets = await self._source.now()
        html = await read(RENDERING, lambda: read_page(assets, page, is_writing=is_writing))
        return HttpResponse(status, html, HTML, page_headers())

    async def _whole(self, call: Call) -> HttpResponse:
        chat, messages = await self._chat(call), list[ReadMessage]()
        has_more = True
        while has_more and len(messages) < ALL_MESSAGES_MAX:
            place = f"&before_id={messages[-1].id}" if messages else ""
            found = await self._messages(call, f"limit={ALL_PAGE}{place}")
            messages += found.messages
            has_more = found.has_more
        page = ReadPage(chat, messages[::-1], has_more, newer=False, csrf="")
        assets = await self._source.now()
        html, style = await read(RENDERING, lambda: whole_page(assets, page))
        return HttpResponse(200, html, HTML, page_headers(style))


def read_page(assets: Assets, page: ReadPage, *, is_writing: bool = False) -> bytes:
    """Return one page of a chat."""
    id = page.chat.id
    follows = page.is_working and not page.newer and not is_writing and not page.fault
    again = f'<meta http-equiv="refresh" content="{AGAIN_SECONDS}">' if follows else ""
    pages = []
    if page.older and page.messages:
        pages.append(f'<a href="?before={page.messages[0].id}" rel="prev">Older messages</a>')
    if page.newer and page.messages:
        pages.append(f'<a href="?after={page.messages[-1].id}" rel="next">Newer messages</a>')
        pages.append(f'<a href="/c/{id}/read">Newest messages</a>')
    links = f'<nav class="pages" aria-label="Pages">{" ".join(pages)}</nav>' if pages else ""
    form = _form(page) if page.csrf and not follows and not page.newer else ""
    if follows and page.csrf:
        form = (
            f'<p class="now"><i class="cue go"></i>It works. This page is loaded anew every'
            f' {AGAIN_SECONDS} s. <a href="/c/{id}/read?write=1#end">Write a message</a></p>'
        )
    elsewhere = (
        f'<a href="/c/{id}">With a script</a> <a href="/c/{id}/read?all=1"'
        f' download="chat-{id}.html">All as one file</a>'
    )
    return _document(
        f"{head(assets, f'{page.chat.title} · promptcorner')}{again}",
        page,
        f"{links}{messages_html(page.messages)}{links}",
        elsewhere,
        form,
    )


def whole_page(assets: Assets, page: ReadPage) -> tuple[bytes, str]:
    """Return the whole chat as one file that needs no other, and the hash of the style in it."""
    found = assets.find(STYLES)
    style = found.body.decode() if found else ""
    meta = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(page.chat.title)}</title><style>{style}</style>"
    )
    more = "<p>There are older messages, which are not in this file.</p>" if page.older else ""
    html = _document(meta, page, more + messages_html(page.messages))
    return html, f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"


def _document(meta: str, page: ReadPage, inside: str, elsewhere: str = "", foot: str = "") -> bytes:
    title = escape(page.chat.title or "Untitled")
    return f"""<!doctype html>
<html lang="en">
<head>
{meta}
</head>
<body class="read">
<header class="top"><h1>{title}</h1><span class="sp"></span>{elsewhere}</header>
<main class="tl">
{inside}
<div id="end">{foot}</div>
</main>
</body>
</html>
""".encode()


def _form(page: ReadPage) -> str:
    alert = f'<p class="fault" role="alert">{escape(page.fault)}</p>' if page.fault else ""
    return f"""{alert}<form method="post" action="/c/{page.chat.id}/read">
<input type="hidden" name="csrf" value="{escape(page.csrf)}">
<label class="field">Message
<textarea class="input" name="text" rows="5" required>{escape(page.text)}</textarea></label>
<button class="btn main">Send</button>
</form>"""
