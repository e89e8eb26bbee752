"""One request of git on its way to a forge: who may send it, and what comes back."""

import hmac
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

import h11
import trio

from actors.law.ids import ChatId, UserId
from adapters.chats.changes.branches import BranchFinder
from adapters.chats.changes.git_gate.git_http import (
    COMMANDS_BYTES_MAX,
    GitRequest,
    forge_headers,
    forge_target,
    git_request,
    pushed_branches,
    redirected,
)
from adapters.chats.changes.store import BranchNote, ForgeTokenStore, forge_token_subject
from adapters.models.providers.dial import Dial, open_connection, split_url
from adapters.models.providers.faults import CallFailed
from adapters.settings import Forge
from adapters.settings.secrets import CannotOpen, Vault
from adapters.tools.mcp.oauth.guard import AddressRefused

CONNECTIONS_MAX = 8  # of one gate at once; a further one is closed at once
WORD_BYTES_MAX = 64  # of the word before a request
READ_BYTES = 64 * 1024
IDLE_SECONDS_MAX = 60.0  # for either side to go on; then the request is cut
HEAD_BYTES_MAX = 32 * 1024
PASSED_BYTES_MAX = 4 * 1024 * 1024 * 1024  # each way; then the request is cut


class PassedRequest(Enum):
    """The end of a request of git."""

    PASSED = "passed"
    PUSHED = "pushes"
    REFUSED = "refused"
    FAILED = "failed"


class GateRefused(Exception):
    """The request is not passed on. The message is for git's user."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True)
class GitConnection:
    """A connection with its h11; every wait for the other side has a bound."""

    stream: trio.abc.Stream
    wire: h11.Connection

    async def next(self) -> object:
        """Return the next event. trio.TooSlowError: none came within IDLE_SECONDS_MAX."""
        while True:
            event = self.wire.next_event()
            if isinstance(event, h11.InformationalResponse):
                continue
            if event is not h11.NEED_DATA:
                return event
            if self.wire.they_are_waiting_for_100_continue:
                await self.send(h11.InformationalResponse(status_code=100, headers=[]))
            with trio.fail_after(IDLE_SECONDS_MAX):
                self.wire.receive_data(bytes(await self.stream.receive_some(READ_BYTES)))

    async def send(self, event: h11.Event) -> None:
        data = self.wire.send(event)
        if data:
            with trio.fail_after(IDLE_SECONDS_MAX):
                await self.stream.send_all(data)


async def _pass_body(client: GitConnection, server: GitConnection) -> bytes:
    """Pass the body of a request on. Return its begin. A forge that has heard enough answers
    before the end, and its answer is read then."""
    begin, size = bytearray(), 0
    with suppress(trio.BrokenResourceError):
        while isinstance(event := await client.next(), h11.Data):
            begin += event.data[: COMMANDS_BYTES_MAX - len(begin)]
            size += len(event.data)
            if size > PASSED_BYTES_MAX:
                raise GateRefused(413, f"more than {PASSED_BYTES_MAX} bytes are not passed on")
            await server.send(h11.Data(data=bytes(event.data)))
        await server.send(h11.EndOfMessage())
    return bytes(begin)


async def _say(client: GitConnection, status: int, why: str, *, location: str = "") -> None:
    """Answer with words that git shows its user."""
    if client.wire.our_state is not h11.SEND_RESPONSE and client.wire.our_state is not h11.IDLE:
        return
    body = f"promptcorner: {why}\n".encode() if why else b""
    fields = [("content-type", "text/plain"), ("content-length", str(len(body)))]
    fields += [("connection", "close"), *([("location", location)] if location else [])]
    await client.send(h11.Response(status_code=status, headers=fields))
    await client.send(h11.Data(data=body))
    await client.send(h11.EndOfMessage())


async def _word(stream: trio.SocketStream) -> tuple[bytes, bytes]:
    """Return the word that announces a request, and what came behind it."""
    data = b""
    with trio.fail_after(IDLE_SECONDS_MAX):
        while b"\n" not in data and len(data) <= WORD_BYTES_MAX:
            piece = await stream.receive_some(READ_BYTES)
            if not piece:
                break
            data += piece
    word, _, rest = data.partition(b"\n")
    return word, rest


class GitPassing:
    """Passes requests of git to the forges that are set up, with tokens of users."""

    def __init__(
        self,
        tokens: ForgeTokenStore,
        finder: BranchFinder,
        vault: Vault,
        forges: Sequence[Forge],
        *,
        dial: Dial,
    ) -> None:
        self._tokens = tokens
        self._finder = finder
        self._vault = vault
        self._forges = {forge.host: forge for forge in forges}
        self._dial = dial

    async def answer(self, owner: UserId, stream: trio.SocketStream) -> PassedRequest:
        """Answer the one request of a connection. It may raise what a broken connection raises."""
        word, rest = await _word(stream)
        client = GitConnection(
            stream, h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
        )
        if rest:  # to h11 nothing means that the other side has closed
            client.wire.receive_data(rest)
        try:
            head = await client.next()
            if not isinstance(head, h11.Request):
                return PassedRequest.REFUSED
            asked, forge, token = await self._admitted(owner, word, head)
            return await self._pass(owner, client, head, asked, forge, token)
        except GateRefused as refused:
            end, status, why = PassedRequest.REFUSED, refused.status, str(refused)
        except (CallFailed, AddressRefused, h11.ProtocolError) as failed:
            end, status, why = PassedRequest.FAILED, 502, f"the forge cannot be reached: {failed}"
        await _say(client, status, why)
        return end

    async def _admitted(
        self, owner: UserId, word: bytes, head: h11.Request
    ) -> tuple[GitRequest, Forge, str]:
        """Return what is asked of which forge, and the token to show. GateRefused: it may not."""
        shown = dict(head.headers).get(b"x-promptcorner-gate", b"")
        if not word or not hmac.compare_digest(bytes(shown), word):
            raise GateRefused(403, "this is not the git of this workspace")
        asked = git_request(head.method.decode(), head.target.decode("latin-1"))
        if asked is None:
            raise GateRefused(403, "only git's own requests pass here")
        forge = self._forges.get(asked.host)
        row = None if forge is None else (await self._tokens.of(owner)).get(asked.host)
        if forge is None or row is None:
            raise GateRefused(
                403, f"the owner of this chat has no token for {asked.host}; they can bring one"
            )
        try:
            return asked, forge, self._vault.open(row.sealed, forge_token_subject(owner, row.host))
        except CannotOpen as closed:
            raise GateRefused(403, str(closed)) from closed

    async def _pass(
        self,
        owner: UserId,
        client: GitConnection,
        head: h11.Request,
        asked: GitRequest,
        forge: Forge,
        token: str,
    ) -> PassedRequest:
        origin, _ = split_url(forge.url)
        upstream = await open_connection(self._dial, origin)
        async with upstream:
            server = GitConnection(upstream, h11.Connection(h11.CLIENT))
            given = dict(head.headers)
            size = given.get(b"content-length")
            framing = (
                [("content-length", size.decode())]
                if size is not None
                else [("transfer-encoding", "chunked")]
                if b"transfer-encoding" in given
                else []
            )
            fields = [("host", origin.host_header), ("connection", "close")]
            fields += [*framing, *forge_headers(forge, token, list(head.headers))]
            target = forge_target(forge, asked)
            await server.send(
                h11.Request(method=head.method.decode(), target=target, headers=fields)
            )
            begin = await _pass_body(client, server)
            answer = await server.next()
            if not isinstance(answer, h11.Response):
                raise GateRefused(502, f"{forge.host} gave no answer")
            await self._pass_answer(client, server, answer, asked, forge)
        if asked.is_push and answer.status_code == 200:
            await self._note_push(owner, given, begin, asked, forge)
            return PassedRequest.PUSHED
        return PassedRequest.PASSED

    async def _pass_answer(
        self,
        client: GitConnection,
        server: GitConnection,
        answer: h11.Response,
        asked: GitRequest,
        forge: Forge,
    ) -> None:
        given, status = dict(answer.headers), answer.status_code
        if status in (301, 302, 307, 308):
            there = redirected(forge, asked, given.get(b"location", b"").decode("latin-1"))
            if there is None:
                raise GateRefused(502, f"{forge.host} redirects elsewhere, which is not followed")
            await _say(client, status, "", location=there)
            return
        kind = given.get(b"content-type", b"")
        if status in (401, 403, 404):
            raise GateRefused(
                403 if status != 404 else 404,
                f"{forge.host} answered {status}: the token may lack the right, or there is no"
                f" repository {asked.path}",
            )
        if status != 200 or not kind.startswith(b"application/x-git-"):
            raise GateRefused(502, f"{forge.host} answered {status}, and nothing of git")
        passed = [
            (b"content-type", kind),
            (b"connection", b"close"),
            (b"cache-control", b"no-cache"),
        ]
        if b"content-encoding" in given:
            passed.append((b"content-encoding", given[b"content-encoding"]))
        await client.send(h11.Response(status_code=200, headers=passed))
        size = 0
        while isinstance(event := await server.next(), h11.Data):
            size += len(event.data)
            if size > PASSED_BYTES_MAX:
                raise trio.BrokenResourceError("the answer is too long")
            await client.send(h11.Data(data=bytes(event.data)))
        await client.send(h11.EndOfMessage())

    async def _note_push(
        self,
        owner: UserId,
        given: Mapping[bytes, bytes],
        begin: bytes,
        asked: GitRequest,
        forge: Forge,
    ) -> None:
        """Note the branch that was pushed, for the chat that the request names. It may name a chat
        of this owner only, and nothing but its diff status follows from it."""
        branch = next(pushed_branches(begin), None)
        try:
            chat = ChatId(UUID(given.get(b"x-promptcorner-chat", b"").decode("latin-1")))
        except ValueError:
            return
        if branch is not None:
            origin = f"{forge.url}/{asked.path}{asked.suffix}"
            note = BranchNote(
                chat=chat, remote_origin=origin, branch=branch, is_push=True, owner=owner
            )
            await self._finder.note(note)
