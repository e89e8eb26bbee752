"""Record what a real daemon tells the watchers of a chat, for the tests of the page's reducer.

    .venv/bin/python -m tests.web.record_frames [STORY …]

Each story becomes a file in tests/web/fixtures: the frames of one WebSocket that stays open from
the first message on, those of connections that come later with a cursor, and the history as
`GET messages` tells it at the end. Ids and times are numbered in the order in which they appear,
so that a new recording differs from the old one only where the daemon does.
"""

import contextlib
import json
import re
import sys
from pathlib import Path

import trio
from trio_websocket import ConnectionClosed, open_websocket_url

from tests.conftest import FAST
from tests.web.house import ADMIN_TOKEN, CHATS, HEADER, WORKSPACE, a_house_alone

FIXTURES = Path(__file__).parent / "fixtures"
QUIET_SECONDS = 0.4  # a chat at rest has said all when nothing more has come for so long
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"20\d\d-\d\d-\d\dT[0-9:.]+(?:Z|\+00:00)")
SLOW = "[[delta-ms: 25]] [[deltas: 40]]"
EXECUTE = '[[tool-calls: execute:{"command": "echo one; echo two >&2"}'
DYNAMIC = [{"name": "look_up", "description": "looks up", "input_schema": {"type": "object"}}]


class Recording:
    """The connections of one story."""

    def __init__(self, api, url, nursery):
        self.api, self.url, self.nursery = api, url, nursery
        self.connections = []
        self.chat = ""

    async def begin(self, text, status="running", **new):
        """Begin a chat, and watch it from the start."""
        self.chat = await self.api.chat(text, status, **new)
        await self.connect()

    async def connect(self, **query):
        """Open a connection that is recorded until it is closed or the story ends."""
        frames = []
        scope = trio.CancelScope()
        self.connections.append({"query": query, "frames": frames})
        await self.nursery.start(self._listen, frames, scope, query)
        return frames, scope

    async def _listen(self, frames, scope, query, task_status=trio.TASK_STATUS_IGNORED):
        path = f"{CHATS}/{self.chat}/stream?" + "&".join(f"{k}={v}" for k, v in query.items())
        address = self.url.replace("http", "ws") + path
        with scope, contextlib.suppress(ConnectionClosed):
            async with open_websocket_url(address, extra_headers=[(HEADER, ADMIN_TOKEN)]) as socket:
                task_status.started()
                while True:
                    frames.append(json.loads(await socket.get_message()))

    async def rest(self, *statuses):
        """Wait until the chat has one of these states, and everything has been told."""
        await self.api.until(self.chat, *(statuses or ("waiting", "error", "requires_action")))
        await self.quiet()

    async def quiet(self):
        count = -1
        while count != (count := sum(len(each["frames"]) for each in self.connections)):
            await trio.sleep(QUIET_SECONDS)

    async def pieces(self, count, connection=0):
        """Wait until so many pieces of an attempt have come; return the place of the last one."""
        while len(found := pieces_of(self.connections[connection]["frames"])) < count:
            await trio.sleep(0.01)
        last = found[-1]
        return "{history_version}.{generation_attempt}.{seq}".format(**last)

    async def post(self, path, document=None):
        return await self.api.good("POST", f"{CHATS}/{self.chat}/{path}", document)


def pieces_of(frames):
    return [e["message_part"] for frame in frames for e in frame if e["type"] == "message_part"]


async def turn(r):
    await r.begin("[[reasoning: 12]] [[delta-ms: 5]] [[deltas: 60]] hello")
    await r.rest()
    await r.api.say(r.chat, "[[text: A **second** answer.]] again")
    await r.rest()


async def tools(r):
    await r.begin(WORKSPACE)
    await r.rest()
    [made] = (await r.api.messages(r.chat))[2]["content"]
    path = json.dumps(made["result"]["path"] + "/a.txt")
    write = f'write_file:{{"path": {path}, "content": "one\\ntwo\\n"}}'
    edit = (
        f'[[tool-calls: edit_files:{{"files": [{{"path": {path}, "edits": '
        f'[{{"old_text": "one", "new_text": "three"}}]}}]}} read_file:{{"path": {path}}} '
        f'read_file:{{"path": "/missing.txt"}}]] [[text: edited]] [[preamble: 5]]'
    )
    await r.api.say(r.chat, f"{EXECUTE} {write}]] [[text: done]] [[reasoning: 3]] go on")
    await r.rest()
    await r.api.say(r.chat, edit)
    await r.rest()


async def interrupt(r):
    await r.begin(f"{SLOW} tell me")
    await r.pieces(8)
    await r.post("interrupt")
    await r.rest("waiting")
    sleeper = '[[tool-calls: execute:{"command": "sleep 60"}]]'
    await r.api.say(r.chat, WORKSPACE)
    await r.rest("waiting")
    await r.api.say(r.chat, sleeper, "running")
    await trio.sleep(1)
    await r.post("interrupt")
    await r.rest("waiting")


async def retry(r):
    await r.begin("[[fault: 529@1]] [[text: at last]] try")
    await r.rest()
    await r.api.say(r.chat, "[[fault: reset:6@1]] [[deltas: 12]] [[delta-ms: 10]] break", "running")
    await r.rest()
    await r.api.say(r.chat, "[[fault: 401]] fail")
    await r.rest("error")


async def edit(r):
    await r.begin("[[text: one]] first")
    await r.rest()
    await r.api.say(r.chat, "[[text: two]] second")
    await r.rest()
    third = (await r.api.messages(r.chat))[2]["id"]
    content = [{"type": "text", "text": "[[text: three]] second, edited"}]
    await r.api.good("PATCH", f"{CHATS}/{r.chat}/messages/{third}", {"content": content})
    await r.rest()
    await r.connect(after_id=third)
    await r.quiet()


async def reconnect(r):
    """Go on inside a word, with the cursor of a piece, and without one."""
    await r.begin(f"{SLOW} tell me")
    place = await r.pieces(10)
    [user] = await r.api.messages(r.chat)
    await r.connect(after_part=place, after_id=user["id"])
    await r.pieces(20)
    await r.connect(after_id=user["id"])
    await r.rest()
    last = (await r.api.messages(r.chat))[-1]["id"]
    await r.connect(after_part=place, after_id=last)
    await r.connect(after_part=place.split(".")[0] + ".0.0", after_id=user["id"])
    await r.quiet()


async def approvals(r):
    await r.begin(WORKSPACE)
    await r.rest()
    await r.api.good("PATCH", f"{CHATS}/{r.chat}", {"approval_policy": "ask"})
    read = 'read_file:{"path": "README.md"}'
    await r.api.say(r.chat, f"{EXECUTE} {read}]] [[text: allowed]] ask", "requires_action")
    await r.connect()
    await r.quiet()
    await decide(r, "allow_once")
    await r.rest("waiting")
    await r.api.say(r.chat, f"{EXECUTE}]] [[text: denied]] ask", "requires_action")
    await decide(r, "deny", words="not now")
    await r.rest("waiting")
    await r.connect()
    await r.quiet()


async def decide(r, decision, **more):
    [asked] = (await r.api.good("GET", f"{CHATS}/{r.chat}/approvals"))["approvals"]
    body = {"decision": decision, "requested_at": asked["requested_at"], **more}
    await r.post(f"approvals/{asked['tool_call_id']}", body)


async def queue(r):
    await r.begin(f"{SLOW} tell me")
    await r.pieces(3)
    for number in (1, 2, 3):
        await r.api.say(r.chat, f"[[text: answer {number}]] number {number}", busy_behavior="queue")
    rows = (await r.api.page_of(r.chat))["queued_messages"]
    ids = [row["id"] for row in rows]
    order = {"order": [ids[2], ids[0], ids[1]]}
    await r.api.good("PUT", f"{CHATS}/{r.chat}/queue/order", order)
    await r.connect()
    await r.api.good("DELETE", f"{CHATS}/{r.chat}/queue/{ids[1]}")
    await r.rest("waiting")


async def steer(r):
    await r.begin(WORKSPACE)
    await r.rest()
    sleep = '[[tool-calls: execute:{"command": "sleep 1"}]] [[text: slept]]'
    await r.api.say(r.chat, f"{sleep} work", "running")
    await r.api.say(r.chat, "[[text: steered]] this way", busy_behavior="steer")
    await r.rest("waiting")


async def agents(r):
    spawn = 'spawn_agent:{"type": "general", "prompt": "look around", "title": "A look"}'
    await r.begin(f"[[tool-calls: {spawn} list_agents:{{}}]] [[text: spawned]] go")
    await r.rest("waiting")


async def client_calls(r):
    call = '[[tool-calls: look_up:{"word": "cue"}]] [[text: found]] ask'
    await r.begin(call, "requires_action", unsafe_dynamic_tools=DYNAMIC)
    await r.quiet()
    await r.connect()
    await r.quiet()
    [asked] = [
        event["action_required"]["tool_calls"]
        for frame in r.connections[0]["frames"]
        for event in frame
        if event["type"] == "action_required"
    ]
    results = [{"tool_call_id": asked[0]["tool_call_id"], "output": {"says": "a light"}}]
    await r.post("tool-results", {"results": results})
    await r.rest("waiting")


async def compact(r):
    await r.begin("[[text: one]] first")
    await r.rest()
    await r.post("compact")
    await r.rest("waiting")


STORIES = {
    story.__name__: story
    for story in (
        turn,
        tools,
        interrupt,
        retry,
        edit,
        reconnect,
        approvals,
        queue,
        steer,
        agents,
        client_calls,
        compact,
    )
}


def numbered(document):
    """Return the document with ids and times in the order in which they appear."""
    ids, times = {}, {}

    def as_id(found):
        return ids.setdefault(found[0], f"00000000-0000-4000-8000-{len(ids) + 1:012}")

    def as_time(found):
        seconds = len(times) + 1
        name = f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
        return times.setdefault(found[0], name)

    text = json.dumps(document, ensure_ascii=False)
    text = re.sub(r"/tmp/[\w/-]+?(?=/workspaces/)", "/home", text)
    return json.loads(TIME.sub(as_time, UUID.sub(as_id, text)))


def lean(value):
    """Return JSON without the keys that every part has with nothing in them."""
    if isinstance(value, dict):
        is_part = "context_file_path" in value
        return {k: lean(v) for k, v in value.items() if not (is_part and v in ("", 0, None))}
    return [lean(each) for each in value] if isinstance(value, list) else value


async def record(house, name):
    async with house.api() as api, trio.open_nursery() as nursery:
        recording = Recording(api, house.url, nursery)
        with trio.fail_after(90):
            await STORIES[name](recording)
        history = await api.messages(recording.chat)
        shown = await api.good("GET", f"{CHATS}/{recording.chat}")
        nursery.cancel_scope.cancel()
    document = {"connections": recording.connections, "history": history, "status": shown["status"]}
    text = json.dumps(lean(numbered(document)), ensure_ascii=False, indent=0)
    (FIXTURES / f"{name}.json").write_text(text + "\n")


def main():
    names = sys.argv[1:] or list(STORIES)
    FIXTURES.mkdir(exist_ok=True)
    with a_house_alone("frames", server_settings=FAST) as house:
        for name in names:
            trio.run(record, house, name)
            print(name)


if __name__ == "__main__":
    main()
