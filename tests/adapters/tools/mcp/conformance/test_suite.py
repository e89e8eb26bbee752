"""The official conformance suite for clients of MCP, against our servers of tools.

The suite starts a server for each scenario, and a program as its client (`client.py`). That program
tells this test, which does what people do here: an administrator sets the server up, a user logs in
as often as they are asked to, and a turn lists the tools and calls them.
"""

import json
import re
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
import trio

from actors.law.ids import ChatId
from actors.law.parts.json_text import parsed
from adapters.tools.mcp import sessions, wiring
from adapters.tools.mcp.faults import ServerFault
from adapters.tools.mcp.oauth import discovery, token_endpoint
from tests.actors.law.chats import State, a_chat
from tests.adapters.edges import an_edge
from tests.adapters.tools.mcp.routes.ground import connected, held, new
from tests.patience import PATIENCE_SECONDS
from tests.web import npm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # httpcore2's
]

HERE = Path(__file__).parent
FETCH_AGAIN_SECONDS = 600
SUITE_SECONDS_MAX = 4 * PATIENCE_SECONDS  # less than one test may take
LOGINS_MAX = 5  # of a user who does whatever they are asked
OURS = "https://conformance-test.local/client-metadata.json"  # as the suite names such a document

# Servers that ask people something: that is not built, and the documents say so.
NOT_BUILT = {"elicitation-sep1034-client-defaults", "sep-2322-client-request-state"}
# Extensions of the protocol, which are for others to have: clients that log in by themselves, with
# keys, or by what an enterprise has set up.
EXTENSIONS = {
    "auth/client-credentials-basic",
    "auth/client-credentials-jwt",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/enterprise-managed-authorization",
    "auth/wif-jwt-bearer",
}
# How many milliseconds a client waits says how busy the machine is.
TIMED = {"client-sse-retry-timing"}
OAUTH_SCENARIOS = 27


class Refused(Exception):
    """Something of it was refused. The text says what."""


@pytest.fixture(scope="module")
def suite():
    """The program of the suite; skipped where it cannot be had."""
    try:
        made = npm.locked(HERE, "mcp-conformance", again_seconds=FETCH_AGAIN_SECONDS)
    except npm.Unavailable as why:
        pytest.skip(f"no suite: {why}")
    return made / "node_modules/@modelcontextprotocol/conformance/dist/index.js"


@pytest.fixture
async def patient_edge(fresh, monkeypatch):
    """As where strangers may lead into our own loopback, which is where the suite listens; and with
    time for it, however busy the machine is."""

    def guarded_client(allowed):
        client = guarded(allowed)
        client.timeout = httpx2.Timeout(PATIENCE_SECONDS)
        return client

    guarded = wiring.guarded_client
    monkeypatch.setattr(wiring, "guarded_client", guarded_client)
    for module in (wiring, sessions):
        monkeypatch.setattr(module, "CONNECT_SECONDS_MAX", PATIENCE_SECONDS)
    monkeypatch.setattr(discovery, "SECONDS_MAX", PATIENCE_SECONDS)
    monkeypatch.setattr(discovery, "AGAIN_SECONDS_MAX", PATIENCE_SECONDS)
    monkeypatch.setattr(token_endpoint, "ANSWER_SECONDS", PATIENCE_SECONDS)
    async with an_edge(fresh, private_networks="127.0.0.0/8,::1/128") as edge:
        yield edge


async def test_every_scenario_for_clients_is_passed_but_for_what_is_not_built(
    suite, patient_edge, tmp_path
):
    async with clients(patient_edge) as (port, refusals):
        await run(suite, "all", port, tmp_path)

    seen = told(tmp_path)
    asked = set(seen) - EXTENSIONS
    failed = {name: wrong for name in asked if (wrong := list(faults(seen[name])))}
    assert NOT_BUILT == set(failed), "\n".join(
        f"{name}: {wrong}, {refusals.get(name)}" for name, wrong in failed.items()
    )
    assert OAUTH_SCENARIOS == sum(name.startswith("auth/") for name in asked)


def faults(checks):
    for check in checks:
        if check["status"] in ("FAILURE", "WARNING") and check["id"] not in TIMED:
            yield check["id"], check.get("errorMessage") or check["description"]


async def run(suite, name, port, folder):
    """Run the scenarios of a suite, all at once, as it does."""
    client = f"{sys.executable} -I -S {HERE / 'client.py'} {port}"
    words = [npm.program(), suite, "client", "--command", client, "--suite", name]
    words += ["--timeout", str(1000 * SUITE_SECONDS_MAX), "-o", folder]
    with trio.fail_after(SUITE_SECONDS_MAX):
        await trio.run_process(
            list(map(str, words)), check=False, capture_stdout=True, capture_stderr=True
        )


def told(folder):
    """Return the checks that the suite has made, by scenario."""
    return {
        re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", str(path.parent.relative_to(folder))): json.loads(
            path.read_text()
        )
        for path in sorted(folder.rglob("checks.json"))
    }


@asynccontextmanager
async def clients(edge):
    """Listen for the clients that the suite starts, and serve them one after the other. Give the
    port, and what was refused, by scenario."""
    refusals, one_by_one = {}, trio.Lock()

    async def serve(stream):
        async with stream, one_by_one:
            asked = json.loads(await line(stream))
            try:
                await play(edge, **asked)
            except (Refused, ServerFault) as refused:
                refusals[asked["scenario"]] = str(refused)
            said = refusals.get(asked["scenario"], "")
            await stream.send_all(json.dumps(said).encode() + b"\n")

    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield listener.socket.getsockname()[1], refusals
        nursery.cancel_scope.cancel()


async def line(stream):
    found = b""
    while not found.endswith(b"\n"):
        found += await stream.receive_some()
    return found


async def play(edge, *, scenario, context, url):
    """Set the server up, use its tools, and log in whenever that is asked for."""
    servers = f"/api/v2/organizations/{edge.organization}/mcp-servers"
    slug = re.sub("[^a-z0-9]+", "-", scenario)[-32:].strip("-")
    made = await edge.admin.post(servers, new(slug=slug, url=url, **shown(scenario, context)))
    if made.status != 201:
        raise Refused(made.body.decode())
    chat = replace(a_chat(State.R0).chat, id=ChatId(uuid4()), owner_id=edge.member.id)
    for _ in range(LOGINS_MAX):
        if not await connected(edge, servers, made.document):
            await log_in(edge, f"{servers}/{made.document['id']}/oauth2/connect")
        why = await a_turn(edge, chat, await held(edge, made.document), context)
        if await connected(edge, servers, made.document):
            break
    if why:
        raise Refused(why)


async def a_turn(edge, chat, server, context):
    """List the tools, and call those that the scenario names, or each. Return what went wrong."""
    calls, why = edge.chats.mcp.calls, ""
    for name, arguments in wanted(await calls.tools(chat, server), context):
        try:
            await calls.call(chat, server, name, arguments)
        except ServerFault as fault:
            why = str(fault)
    calls.sessions.leave(chat.id)
    return why or calls.faults.get(server.id, "")


def wanted(tools, context):
    """The calls that a scenario names, or one of each tool."""
    if "toolCalls" in context:
        return [(call["name"], call["arguments"]) for call in context["toolCalls"]]
    schemas = {tool.name: parsed(tool.local.tool.schema) for tool in tools}
    arguments = {
        "add_numbers": {"a": 5, "b": 3},
        "json_schema_echo": {"schema": schemas.get("json_schema_2020_12_tool")},
    }
    return [(name, arguments.get(name, {})) for name in schemas]


def shown(scenario, context):
    """How a server knows who asks."""
    if not scenario.startswith("auth/"):
        return {}
    own = {"auth_type": "oauth2"}
    if "client_id" in context:
        own["oauth2_client_id"] = context["client_id"]
        own["oauth2_client_secret"] = context.get("client_secret", "")
    if scenario == "auth/basic-cimd":
        own["oauth2_client_id"] = OURS
    return own


async def log_in(edge, path):
    """Go where a browser is sent, and come back with what it is given."""
    token = {"coder-session-token": edge.member.token}
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS, trust_env=False) as browser:
        sent = await browser.get(edge.url + path, headers=token)
        if sent.status_code != 307:
            raise Refused(sent.text)
        asked = await browser.get(sent.headers["location"])
        if "location" not in asked.headers:
            raise Refused(f"the authorization server answered {asked.status_code}")
        back = await browser.get(asked.headers["location"], headers=token)
        if back.status_code != 200:
            raise Refused(back.text)
