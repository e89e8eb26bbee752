"""An OAuth 2 authorization server, and a server of tools that trusts it: real HTTP, on loopback.

async with an_auth_server() as auth:
    auth.url, auth.asked; auth.next = {"error": "invalid_grant"}
"""

import json
from base64 import urlsafe_b64encode
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import parse_qsl, urlsplit

import h11
import trio

from tests.fakes.tool_server import Raw, request, respond


@dataclass
class AuthServer:
    url: str = ""
    asked: list = field(default_factory=list)  # (path, form or document, headers)
    answers: dict = field(default_factory=dict)  # path: Raw, in place of the usual answer
    challenge: str = ""  # of the login that is under way
    lives_seconds: int = 3600
    grants: int = 0
    spent: set = field(default_factory=set)  # refresh tokens: each is good for once
    pause: object = None  # awaited before a token is given
    says: dict = field(default_factory=dict)  # of itself, beside the usual
    registers: dict = field(default_factory=lambda: {"client_id": "we"})

    def of(self, path):
        return [form for asked, form, _ in self.asked if asked == path]

    async def serve(self, stream):
        connection = h11.Connection(h11.SERVER)
        async with stream:
            try:
                while True:
                    head, body = await request(stream, connection)
                    if head is None:
                        return
                    await respond(stream, connection, await self._answer(head, body))
                    connection.start_next_cycle()
            except (h11.RemoteProtocolError, h11.LocalProtocolError, trio.BrokenResourceError):
                pass

    async def _answer(self, head, body):
        path = urlsplit(head.target.decode()).path
        headers = {name.decode(): value.decode() for name, value in head.headers}
        is_json = headers.get("content-type") == "application/json"
        said = json.loads(body) if is_json else dict(parse_qsl(body.decode()))
        self.asked.append((path, said, headers))
        if path in self.answers:
            return self.answers[path]
        document = self._documents().get(path)
        if path == "/token":
            if self.pause is not None:
                await self.pause()
            document = self._granted(said)
        elif path == "/register":
            return Raw(json.dumps(self.registers).encode(), 201)
        elif path == "/revoke":
            return Raw(b"", 200)
        if document is None:
            return Raw(b"", 404)
        return Raw(json.dumps(document).encode(), 400 if "error" in document else 200)

    def _documents(self):
        return {
            "/.well-known/oauth-protected-resource/mcp": {
                "resource": f"{self.url}/mcp",
                "authorization_servers": [f"{self.url}/tenant"],
                "scopes_supported": ["read", "write"],
            },
            "/.well-known/oauth-authorization-server/tenant": {
                "issuer": f"{self.url}/tenant",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "revocation_endpoint": "https://h.example/revoke",
                **self.says,
            },
        }

    def _granted(self, form):
        verifier = form.get("code_verifier", "").encode()
        proof = urlsafe_b64encode(sha256(verifier).digest()).decode().rstrip("=")
        if form["grant_type"] == "authorization_code" and proof != self.challenge:
            return {"error": "invalid_grant", "error_description": "no proof"}
        if (spent := form.get("refresh_token")) is not None:
            if spent in self.spent:
                return {"error": "invalid_grant", "error_description": "used before"}
            self.spent.add(spent)
        self.grants += 1
        return {
            "access_token": f"access-{self.grants}",
            "refresh_token": f"refresh-{self.grants}",
            "token_type": "bearer",
            "expires_in": self.lives_seconds,
        }


@asynccontextmanager
async def an_auth_server():
    server = AuthServer()
    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        server.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        nursery.start_soon(trio.serve_listeners, server.serve, [listener])
        yield server
        nursery.cancel_scope.cancel()
