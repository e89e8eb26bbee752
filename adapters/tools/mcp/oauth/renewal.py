"""A user's token, renewed before it runs out.

A renewal goes on when nobody waits for it any more, and when this process is stopping: the
authorization server may have taken the old refresh token back already. Two processes may renew at
once; one of them is refused, and reads what the other has got.
"""

from dataclasses import dataclass, field
from uuid import UUID

import msgspec
import trio

from actors.law.ids import UserId
from adapters.settings.secrets import Vault
from adapters.tools.mcp.oauth.token_endpoint import ANSWER_SECONDS, Clients, renewed
from adapters.tools.mcp.registry import HeldToken, Known
from adapters.tools.mcp.servers import Denied, Server, Token, about_token, is_expiring
from adapters.tools.mcp.store import Servers
from runtime.clock import wall
from runtime.log import emit

# For a renewal that has begun, and for what came of it to be kept; then the old one is shown.
RENEWAL_SECONDS = 2 * ANSWER_SECONDS + 5.0
REFUSED = "the server does not take the token that it was given"


@dataclass(frozen=True, slots=True)
class Renewing:
    known: Known
    stored: Servers
    vault: Vault
    clients: Clients
    nursery: trio.Nursery
    _under_way: dict[tuple[UserId, UUID], trio.Event] = field(default_factory=dict)

    async def token(self, server: Server, user: UserId) -> Token | None:
        """What is to be shown there; None: nothing is."""
        held = (await self.known.tokens(user)).get(server.id)
        if held is None or held.stored.failure or held.token is None:
            return None
        if not is_expiring(held.stored, wall()):
            return held.token
        if held.token.refresh_token:
            await self._renewed(server, user, held)
            held = (await self.known.tokens(user)).get(server.id)
        if held is None or held.stored.failure:
            return None
        if is_expiring(held.stored, wall()):
            emit("mcp.token_old", "warning", server=server.config.slug, user=str(user))
        return held.token

    async def another(self, server: Server, user: UserId, *, refused: str, is_new: bool) -> bool:
        """Whether there is another token than the one that the server has just `refused`. If that
        was new, or cannot be renewed, its user has to log in there again, and is shown so."""
        held = (await self.known.tokens(user)).get(server.id)
        if held is None or held.token is None or held.stored.failure:
            return False
        if held.token.access_token != refused:
            return True
        if held.token.refresh_token and not is_new:
            await self._renewed(server, user, held)
            found = await self.token(server, user)
            return found is not None and found.access_token != refused
        await self.stored.spoil_token(user, server.id, seen=held.stored, failure=REFUSED)
        self.known.forget_tokens(user)
        return False

    async def _renewed(self, server: Server, user: UserId, held: HeldToken) -> None:
        key = user, server.id
        done = self._under_way.get(key)
        if done is None:
            done = self._under_way[key] = trio.Event()
            self.nursery.start_soon(self._renew, server, user, held)
        await done.wait()

    async def _renew(self, server: Server, user: UserId, held: HeldToken) -> None:
        assert held.token is not None, "only a token that was opened is renewed"
        try:
            with trio.fail_after(RENEWAL_SECONDS, shield=True):
                await self._ask_and_keep(server, user, held, held.token)
        except Exception as error:  # noqa: BLE001  the old one is shown, for what it is worth
            emit("mcp.token_kept", "warning", server=server.config.slug, error=error)
        finally:
            self.known.forget_tokens(user)
            self._under_way.pop((user, server.id)).set()

    async def _ask_and_keep(
        self, server: Server, user: UserId, held: HeldToken, token: Token
    ) -> None:
        got = await renewed(self.clients, server, token)
        if isinstance(got, Denied):
            emit("mcp.token_kept", "warning", server=server.config.slug, error=got.why)
            if got.is_permanent:
                await self.stored.spoil_token(user, server.id, seen=held.stored, failure=got.why)
            return
        text = msgspec.json.encode(got.token).decode()
        sealed = self.vault.seal(text, about_token(user, server.id))
        await self.stored.renew_token(
            user, server.id, seen=held.stored, sealed=sealed, expires_at=got.expires_at
        )
