"""The catalogue's rows, asked without a door before them."""

import json
from uuid import uuid4

import msgspec

from adapters.http.endpoints import Call, Caller, TokenSource
from adapters.http.refusals import HttpError
from adapters.models.routes.all_routes import catalogue_routes
from adapters.models.routes.settings import DaemonFeatures
from tests.actors.law.chats import ANN


class Asking:
    """By an administrator; the rows of a deployment with these features."""

    def __init__(self, ground, feature=None):
        subjects = catalogue_routes(
            ground.catalogue,
            ground.vault,
            pool=ground.pool,
            tell=ground.bus.tell,
            people=None,
            organization=uuid4(),
            feature=feature or DaemonFeatures(),
        )
        self.rows = [row for subject in subjects for row in subject.endpoints()]
        self._by_path = {(row.method, path): row for row in self.rows for path in row.addresses}
        self._caller = Caller(ANN, "ann", True, frozenset({"all"}), "token", TokenSource.HEADER)

    async def get(self, path, **segments):
        return await self.ask("GET", path, None, **segments)

    async def put(self, path, document, **segments):
        return await self.ask("PUT", path, document, **segments)

    async def ask(self, method, path, document, **segments):
        """The status, and the document if there is one. The path is that of the row."""
        body = b"" if document is None else json.dumps(document).encode()
        call = Call(self._caller, segments, (), {}, body)
        try:
            answer = await self._by_path[method, path].handle(call)
        except HttpError as refused:
            return refused.status, msgspec.to_builtins(refused.body)
        return answer.status, json.loads(answer.body) if answer.body else None
