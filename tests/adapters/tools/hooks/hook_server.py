"""A server of policy hooks for tests. It checks each token as such a server has to.

async with a_hook_server() as server:
    server.says["pre_tool_use"] = {"permission": {"decision": "deny", "reason": "no"}}
    server.asked  # every question that came, oldest first

What it says is a document, a function of the question that returns one, bytes, a number (a status),
or one of `HANGS`, `DROPS` (hangs up), `DROPS_ONCE`, `REDIRECTS`, `HUGE`.
"""

import base64
import hmac
import json
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256

import h11
import trio

SECRET = "0123456789abcdef0123456789abcdef"
HANGS, DROPS, DROPS_ONCE, REDIRECTS, HUGE = "hangs", "drops", "drops once", "redirects", "huge"


@dataclass
class HookServer:
    url: str = ""
    says: dict = field(default_factory=dict)  # by event
    asked: list = field(default_factory=list)
    claims: list = field(default_factory=list)
    at_once: int = 0
    at_once_peak: int = 0
    dropped: set = field(default_factory=set)
    let_go: trio.Event = field(default_factory=trio.Event)  # what hangs hangs up

    def events(self):
        return [question["type"] for question in self.asked]

    def of(self, event):
        return [question for question in self.asked if question["type"] == event]

    def read(self, headers, body):
        """Take a question, and check its token."""
        scheme, _, token = headers["authorization"].partition(" ")
        assert "Bearer" == scheme
        signed, _, signature = token.rpartition(".")
        good = hmac.new(SECRET.encode(), signed.encode(), sha256).digest()
        assert hmac.compare_digest(good, _decoded(signature))
        head, claims = (json.loads(_decoded(part)) for part in signed.split("."))
        question = json.loads(body)
        assert {"alg": "HS256", "typ": "JWT"} == head
        assert claims["aud"] == self.url
        assert claims["nbf"] <= time.time() < claims["exp"]
        assert claims["body_sha256"] == sha256(body).hexdigest()
        assert claims["type"] == question["type"]
        assert claims["jti"] == question["meta"]["dispatch_id"]
        assert claims["sub"].endswith(f":chat:{question['meta']['chat_id']}")
        assert 1 == question["meta"]["schema_version"]
        self.asked.append(question)
        self.claims.append(claims)
        return question

    async def serve(self, stream):
        wire = h11.Connection(h11.SERVER)
        body = b""
        async with stream:
            while True:
                event = wire.next_event()
                if event is h11.NEED_DATA:
                    try:
                        data = await stream.receive_some(65_536)
                    except trio.BrokenResourceError:  # hung up in the middle
                        return
                    if not data:
                        return
                    wire.receive_data(data)
                elif isinstance(event, h11.Request):
                    headers = {n.decode().lower(): v.decode() for n, v in event.headers}
                elif isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    self.at_once += 1
                    self.at_once_peak = max(self.at_once_peak, self.at_once)
                    try:
                        if not await self.answer(stream, wire, self.read(headers, body)):
                            return
                    finally:
                        self.at_once -= 1
                    wire.start_next_cycle()
                    body = b""
                else:
                    return

    async def answer(self, stream, wire, question):
        said = self.says.get(question["type"], b"")
        said = said(question) if callable(said) else said
        status, headers, body = 200, [], b""
        match said:
            case "hangs":
                await self.let_go.wait()
                return False
            case "drops":
                return False
            case "drops once" if question["type"] not in self.dropped:
                self.dropped.add(question["type"])
                return False
            case "drops once":
                pass
            case "redirects":
                status, headers = 307, [("location", self.url)]
            case "huge":
                body = b'{"model_context": "' + b"x" * (2 << 20) + b'"}'
            case bytes():
                body = said
            case int():
                status = said
            case _:
                body = json.dumps(said).encode()
        sent = wire.send(
            h11.Response(status_code=status, headers=[("content-length", str(len(body))), *headers])
        )
        sent += wire.send(h11.Data(data=body)) + wire.send(h11.EndOfMessage())
        try:
            await stream.send_all(sent)
        except trio.BrokenResourceError:  # a long answer is not read to its end
            return False
        return True


def _decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def deny(reason="not here", **more):
    return {"permission": {"decision": "deny", "reason": reason}, **more}


def override(value, **more):
    return {"permission": {"decision": "allow", "input_override": value}, **more}


@asynccontextmanager
async def a_hook_server():
    async with trio.open_nursery() as nursery:
        server = HookServer()
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, server.serve, [listener])
        server.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/hook?for=us"
        yield server
        nursery.cancel_scope.cancel()
