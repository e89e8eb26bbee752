"""The checks for authors of plugins, passed by tools, providers and callers of the daemon's own."""

import pytest

from actors.chat.turn.ports import ToolInvocation
from actors.law.parts.message import ToolCallPart
from actors.tools.call_checks import refusals
from adapters.http.refusals import HttpError
from adapters.http.requests import ClientConnection, HttpRequest
from adapters.models.connecting import connect
from adapters.models.provider_config import models_of_environment
from adapters.models.providers.dial import direct_dial, tls_context
from adapters.models.providers.http import HttpClient
from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.server import serve
from adapters.tools.built_in import advisor, agent_schemas, lifecycle, skills, workspace_schemas
from adapters.tools.built_in.planning import ASK, PROPOSE, PlanningTools
from promptcorner.ext import CallResult, Identity, IdentityRequest
from promptcorner.ext.testing import check_identity, check_schema, check_stream, check_tool, hello
from tests.adapters.people.auth.stage import a_door
from tests.adapters.postgres.stores import empty, migrated_database
from tests.adapters.tools.built_in.test_planning import PLACE, QUESTION, Disk, Shelf, planning

# tools

OURS = (
    *workspace_schemas.TOOLS,
    *agent_schemas.TOOLS,
    *lifecycle.TOOLS,
    *(skills.READING, skills.READING_FILE, advisor.TOOL),
)


@pytest.mark.parametrize("tool", OURS, ids=lambda tool: tool.tool.name)
def test_the_schemas_of_our_tools(tool):
    assert tool.tool.description
    check_schema(tool.tool.name, tool.tool.schema)


class OurTool:
    """One of our tools, called as a turn calls it: what cannot be served is refused before."""

    def __init__(self, source, local):
        self._source = source
        self._local = local
        self.name = local.tool.name
        self.description = local.tool.description
        self.schema = local.tool.schema

    async def call(self, context, arguments):
        call = ToolCallPart(context.call_id, self.name, arguments)
        for why in refusals([call], {self.name: self._local}).values():
            return CallResult(f'{{"error": "{why[:20]}"}}', is_error=True)
        output = await self._source.run(ToolInvocation(planning(), call, (), print), self.name)
        return CallResult(output.result, is_error=output.is_error)


WORKS = {ASK: [{"questions": [QUESTION]}], PROPOSE: [{"path": PLACE}]}


@pytest.mark.parametrize("name", WORKS)
async def test_tools_of_ours(name):
    source = PlanningTools(Shelf(), Disk(b"# A plan"))
    [local] = [each for each in await source.offered(planning(), ()) if each.tool.name == name]

    await check_tool(
        OurTool(source, local), works=WORKS[name], refused=[{"path": 5, "questions": 1}]
    )


# providers


async def test_providers_of_ours_on_every_wire():
    behaviour = Behaviour(text="hello", delta_chars=2, delta_ms=1)
    async with serve(behaviour) as running:
        models = models_of_environment(
            {
                "ANTHROPIC_API_KEY": "k",
                "ANTHROPIC_BASE_URL": running.url,
                "OPENAI_API_KEY": "k",
                "OPENAI_BASE_URL": f"{running.url}/v1",
                "OPENAI_COMPAT_BASE_URL": f"{running.url}/v1",
                "GEMINI_API_KEY": "k",
                "GEMINI_BASE_URL": f"{running.url}/v1beta",
            }
        )
        for model in models:
            client = HttpClient(direct_dial(tls_context()))
            await check_stream(str(model), deltas_of(connect(model, client)), hello(model.model))
            await client.aclose()

    assert {"anthropic", "openai", "google", "openai-compat"} == {
        model.provider.type for model in models
    }


def deltas_of(provider):
    """The deltas of a provider of ours, one by one."""

    async def stream(prompt):
        async with provider.stream(prompt) as batches:
            async for batch in batches:
                for delta in batch:
                    yield delta

    return stream


# who asks


class OurCallers:
    """The tokens of users, asked like an identity source."""

    def __init__(self, callers):
        self._callers = callers

    async def identify(self, request):
        asked = HttpRequest(
            request.method, request.path, "", request.headers, ClientConnection(request.peer)
        )
        try:
            caller = await self._callers.of(asked)
        except HttpError:
            return None
        return None if caller is None else Identity(caller.username, tuple(caller.scopes))


@pytest.fixture
def people(server):
    conninfo = migrated_database(server)
    empty(conninfo)
    return conninfo


async def test_tokens_of_ours(people):
    async with a_door(people) as door:
        ann, bob = await door.joins("ann"), await door.joins("bob", scopes=["chats:read"])

        def showing(token):
            return IdentityRequest("GET", "/", {"coder-session-token": token}, "192.0.2.1", False)

        await check_identity(
            OurCallers(door.auth.callers),
            known={"ann": showing(ann.token), "bob": showing(bob.token)},
            unknown=[showing("unknown"), showing(ann.token[:-1]), showing("x" * 10_000)],
        )
