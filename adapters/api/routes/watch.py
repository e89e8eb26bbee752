"""What becomes of all chats of the caller: for a list that is kept up to date."""

from collections.abc import Sequence
from functools import partial

from actors.ids import UserId
from actors.subscribers.owners import Owners
from adapters.api.endpoints import Call, Endpoint, Socket, Upgrade
from adapters.api.streams.serving import serve_owner
from adapters.api.wire.streams import ChatWatchEvent


class Watch:
    def __init__(self, owners: Owners) -> None:
        self._owners = owners

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path="/api/experimental/chats/watch",
                handle=self.watch,
                says="What becomes of your chats from now on; one event each.",
                tag="streams",
                answers={101: ChatWatchEvent},
                refusals=(426,),
                is_socket=True,
            ),
        )

    async def watch(self, call: Call) -> Upgrade:
        return Upgrade(partial(self._serve, call.user.id))

    async def _serve(self, owner: UserId, socket: Socket) -> None:
        await serve_owner(socket, self._owners, owner)
