"""A client that does what the public load generator for this API does, call for call.

    run = LoadGenerator(url, token, llm_url)
    model = await run.prepare()             phase A
    await run.converse(model, turns=4)      phase B, for each chat, all at once
    await run.clean_up()                    phase C

It sends the headers, bodies and query strings that the generator's Go client sends, reads answers
as strictly as Go decodes them, and acts on events by the generator's own rules. Whatever that
client would stop at is a `Stopped` here.
"""

import json
import re
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import httpx2
import trio
from trio_websocket import ConnectionClosed, open_websocket_url

NAME, DISPLAY_NAME, KEY = "coder-scaletest-mock", "Scaletest LLM Mock", "coder-scaletest"
MODEL, MODEL_NAME = "scaletest-model", "Scaletest Model"
PROMPT = "Reply with one short sentence."
NIL = "00000000-0000-0000-0000-000000000000"
CHATS = "/api/experimental/chats"

FRAME_BYTES_MAX = 4 * 1024 * 1024  # the client closes with 1009 above it
EVENTS_MAX = 256
JOB_SECONDS_MAX = 240.0
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")


class Stopped(Exception):
    """The generator would report this and end with an error."""


@dataclass
class Turn:
    """What the runner knows of the turn under way. A new one begins with nothing."""

    saw_running: bool = False
    saw_output: bool = False
    last_status: str = ""


@dataclass
class Conversation:
    """How one chat went."""

    chat: str
    frames: list[bytes] = field(default_factory=list)
    completed: int = 0
    error: str = ""
    turn: Turn = field(default_factory=Turn)

    def take(self, event):
        """Whether this event ended the turn."""
        match event["type"]:
            case "message_part":
                self.turn.saw_output = True
            case "message":
                self.turn.saw_output |= event["message"]["role"] == "assistant"
            case "error":
                self.error = event["error"]["message"]
            case "status":
                return self._take_status(event["status"]["status"])
        return False

    def _take_status(self, status):
        turn = self.turn
        if status == turn.last_status:
            return False
        if status == "waiting" and not turn.saw_output and (turn.saw_running or self.completed):
            return False
        turn.last_status = status
        turn.saw_running |= status == "running"
        if status == "error":
            raise Stopped(f"status_error: {self.error}")
        if status != "waiting":
            return False
        if not turn.saw_output:
            raise Stopped("the first turn was over before it had begun")
        self.completed += 1
        self.turn = Turn()
        return True


@dataclass
class Barrier:
    """Opens for all when so many wait before it."""

    parties: int
    opened: trio.Event = field(default_factory=trio.Event)

    async def wait(self):
        self.parties -= 1
        if self.parties == 0:
            self.opened.set()
        await self.opened.wait()


@dataclass
class LoadGenerator:
    url: str
    token: str
    llm_url: str
    conversations: list[Conversation] = field(default_factory=list)
    organization: str = ""
    provider_was: str = ""  # created, updated or reused

    async def prepare(self):
        """Phase A: the model that all chats use."""
        async with self._client(bypass=False) as client:
            await self._owner(client)
        async with self._client() as client:
            me = await self._owner(client)
            self.organization = me["organization_ids"][0]
            deployment = await _asked(client, "GET", "/api/v2/deployment/config", 200)
            assert not deployment["config"].get("disable_owner_workspace_exec", False)
            assert "options" not in deployment
            await self._no_workspaces(client)
            provider = await self._provider(client)
            return await self._model(client, provider)

    async def converse(self, model, *, turns, prompt=PROMPT, barrier=None):
        """Phase B, of one chat, on connections of its own. At the barrier chats wait for each other
        after their first turns."""
        content = [{"type": "text", "text": prompt, "file_id": NIL}]
        follow_up = {"content": content, "model_config_id": model}
        create = {"organization_id": self.organization, **follow_up}
        with trio.fail_after(JOB_SECONDS_MAX):
            async with self._client() as client:
                created = await _asked(client, "POST", CHATS, 201, create)
                check_chat(created)
                going = Conversation(created["id"])
                self.conversations.append(going)
                async with self._stream(going) as events:
                    async for event in events:
                        if not going.take(event):
                            continue
                        if going.completed == turns:
                            return going
                        if going.completed == 1 and barrier is not None:
                            await barrier.wait()
                        path = f"{CHATS}/{going.chat}/messages"
                        await _asked(client, "POST", path, 200, follow_up)
            raise Stopped("stream_ended_early")

    async def clean_up(self):
        """Phase C: one after the other, and at once."""
        async with self._client() as client:
            for going in self.conversations:
                await _asked(client, "PATCH", f"{CHATS}/{going.chat}", 204, {"archived": True})

    def _client(self, *, bypass=True):
        headers = {
            "user-agent": "Go-http-client/1.1",
            "coder-session-token": self.token,
            **({"x-coder-bypass-ratelimit": "true"} if bypass else {}),
        }
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=JOB_SECONDS_MAX)

    async def _owner(self, client):
        me = await _asked(client, "GET", "/api/v2/users/me", 200)
        check(me, id=UUID, username=str, email=str, created_at=datetime, updated_at=datetime)
        check(me, last_seen_at=datetime, status=str, login_type=str, organization_ids=list)
        if "owner" not in [role["name"] for role in me["roles"]]:
            raise Stopped("the user is no owner")
        return me

    async def _no_workspaces(self, client):
        asked = "/api/v2/workspaces?limit=100&q=name%3A%22scaletest-%22"
        page = await _asked(client, "GET", asked, 200)
        assert {"workspaces": [], "count": 0} == page

    async def _provider(self, client):
        path = f"/api/v2/ai/providers/{NAME}"
        found = await client.get(path)
        if found.status_code == 404:
            assert json.loads(found.content)["message"]
            self.provider_was = "created"
            wanted = {
                "type": "openai-compat",
                "name": NAME,
                "display_name": DISPLAY_NAME,
                "enabled": True,
                "base_url": self.llm_url,
                "api_keys": [KEY],
            }
            return _provider(await _asked(client, "POST", "/api/v2/ai/providers", 201, wanted))
        provider = _provider(_document(found, 200))
        meant = ("openai-compat", DISPLAY_NAME, True)
        assert meant == (provider["type"], provider["display_name"], provider["enabled"])
        patch = {}
        if provider["base_url"] != self.llm_url:
            patch["base_url"] = self.llm_url
        if not provider["api_keys"]:
            patch["api_keys"] = [{"api_key": KEY}]
        self.provider_was = "updated" if patch else "reused"
        return _provider(await _asked(client, "PATCH", path, 200, patch)) if patch else provider

    async def _model(self, client, provider):
        path = f"{CHATS}/model-configs"
        for config in await _asked(client, "GET", path, 200):
            check_model(config)
            if (config["ai_provider_id"], config["model"]) == (provider["id"], MODEL):
                assert config["enabled"]
                return config["id"]
        wanted = {
            "ai_provider_id": provider["id"],
            "model": MODEL,
            "display_name": MODEL_NAME,
            "enabled": True,
            "is_default": False,
            "context_limit": 4096,
        }
        config = await _asked(client, "POST", path, 201, wanted)
        check_model(config)
        return config["id"]

    @asynccontextmanager
    async def _stream(self, going):
        """Its events, from frames read as the client reads them."""
        url = f"{self.url.replace('http', 'ws', 1)}{CHATS}/{going.chat}/stream"
        headers = [
            (b"coder-session-token", self.token.encode()),
            (b"x-coder-bypass-ratelimit", b"true"),
            (b"user-agent", b"Go-http-client/1.1"),
        ]
        async with (
            open_websocket_url(
                url, extra_headers=headers, max_message_size=FRAME_BYTES_MAX
            ) as socket,
            aclosing(_events(socket, going)) as events,
        ):
            yield events


async def _events(socket, going):
    while True:
        try:
            frame = await socket.get_message()
        except ConnectionClosed:
            return
        assert isinstance(frame, str), "frames are text"
        going.frames.append(frame.encode())
        for event in _batch(frame):
            yield check_event(event, going.chat)


def _batch(frame):
    assert frame.endswith("\n"), "a frame is one JSON value and a newline"
    events = json.loads(frame)
    assert isinstance(events, list), "a frame is an array"
    assert 1 <= len(events) <= EVENTS_MAX
    return events


async def _asked(client, method, path, status, document=None):
    if document is None:
        return _document(await client.request(method, path), status)
    headers = {"content-type": "application/json"}
    body = json.dumps(document, separators=(",", ":")).encode() + b"\n"
    answer = await client.request(method, path, content=body, headers=headers)
    return _document(answer, status)


def _document(answer, status):
    if answer.status_code != status:
        raise Stopped(f"{answer.request.method} {answer.url}: {answer.status_code} {answer.text}")
    if status == 204:
        assert b"" == answer.content
        return None
    assert "application/json; charset=utf-8" == answer.headers["content-type"]
    assert answer.content.endswith(b"\n")
    assert "x-coder-build-version" not in answer.headers
    return json.loads(answer.content)


# what Go decodes into, and what of it is always there


def check(document, **wanted):
    for key, kind in wanted.items():
        assert key in document, f"{key} is missing in {document}"
        _check_value(key, document[key], kind)


def check_if_there(document, **wanted):
    check(document, **{key: kind for key, kind in wanted.items() if key in document})


def _check_value(key, value, kind):
    if kind is UUID:
        assert str(UUID(value)) == value, f"{key}: {value!r} is no uuid of the wire"
    elif kind is datetime:
        assert _RFC3339.fullmatch(value), f"{key}: {value!r} is no time with a zone"
    elif kind is int:
        assert type(value) is int, f"{key}: {value!r}"
    else:
        assert isinstance(value, kind), f"{key}: {value!r}"


def check_chat(chat):
    check(chat, id=UUID, organization_id=UUID, owner_id=UUID, root_chat_id=UUID)
    check(chat, last_model_config_id=UUID, title=str, status=str, client_type=str)
    check(chat, created_at=datetime, updated_at=datetime, archived=bool, shared=bool)
    check(chat, pin_order=int, mcp_server_ids=list, labels=dict, has_unread=bool, children=list)
    check_if_there(chat, owner_username=str, owner_name=str, last_reasoning_effort=str)
    assert "running" == chat["status"], "a chat is at work from its creation on"
    assert (None, None) == (chat["summary"], chat["last_turn_summary"])
    assert "diff_status" not in chat


def _provider(provider):
    check(provider, id=UUID, type=str, name=str, display_name=str, enabled=bool, base_url=str)
    check(provider, icon=str, created_at=datetime, updated_at=datetime, api_keys=list)
    assert provider["settings"] is None
    for key in provider["api_keys"]:
        check(key, id=UUID, masked=str, created_at=datetime)
        assert KEY not in key["masked"]
    return provider


def check_model(config):
    check(config, id=UUID, ai_provider_id=UUID, model=str, display_name=str, enabled=bool)
    check(config, is_default=bool, context_limit=int, compression_threshold=int)
    check(config, created_at=datetime, updated_at=datetime)
    assert config.get("model_config") != {}


def check_event(event, chat):
    check(event, type=str)
    assert chat == event["chat_id"]
    payload = {
        "message": "message",
        "message_part": "message_part",
        "status": "status",
        "error": "error",
        "retry": "retry",
        "action_required": "action_required",
    }.get(event["type"])
    assert payload is None or payload in event, event
    assert {"type", "chat_id", payload, "queued_messages"} >= event.keys(), event
    if payload == "message":
        check_message(event["message"], chat)
    elif payload == "message_part":
        check(event["message_part"], part=dict)
        check_if_there(
            event["message_part"], role=str, history_version=int, generation_attempt=int, seq=int
        )
        check_part(event["message_part"]["part"])
    return event


def check_message(message, chat):
    check(message, id=int, chat_id=UUID, created_at=datetime, role=str, content=list)
    check_if_there(message, created_by=UUID, model_config_id=UUID, usage=dict)
    assert chat == message["chat_id"]
    assert message["role"] in ("user", "assistant", "tool")
    for part in message["content"]:
        check_part(part)


def check_part(part):
    check(part, type=str, text=str, url=str, media_type=str, file_name=str, start_line=int)
    check(part, end_line=int, content=str, context_file_path=str, skill_name=str)
    for nullable in ("mcp_server_config_id", "file_id", "context_file_agent_id"):
        assert nullable in part
        assert part[nullable] is None or str(UUID(part[nullable])) == part[nullable]
