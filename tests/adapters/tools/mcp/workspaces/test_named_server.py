"""Consent to the start of a server that a workspace names: what it is bound to, who needs it."""

import json
from dataclasses import replace
from ipaddress import ip_network
from uuid import UUID

import pytest
import trio

from actors.tools.approval_rules import Policy, approval_name, read_rules
from actors.tools.approvals import ApprovalSettings, Consent
from adapters.tools.mcp.faults import ServerFault
from adapters.tools.mcp.workspaces.config_file import NamedAddress, NamedEntry, NamedProgram
from adapters.tools.mcp.workspaces.named_server import (
    NEVER_ALLOWED,
    NOT_ALLOWED_YET,
    start_of,
    start_tool,
)
from adapters.tools.mcp.workspaces.servers import consent_scope_of
from tests.adapters.tools.mcp.workspaces.test_servers import (
    ALL,
    File,
    at_home,
    look,
    names,
    processes_of,
    servers_of,
    shell,
)
from tests.fakes.tool_server import a_server

HERE, THERE = UUID(int=1), UUID(int=2)
PROGRAM = NamedProgram("npx", ("-y", "two words"), (("LEVEL", "s3cret"),))
ADDRESS = NamedAddress("https://user:pw@wiki.example/mcp?key=s3cret", (("X-Key", "s3cret"),))
ONE = NamedEntry("one", PROGRAM)
START = "one__start_server"


class Granted:
    """What people have allowed: in whole families, and to single chats."""

    def __init__(self):
        self.families, self.chats = {}, {}
        self.asked = 0

    async def of(self, root, chat):
        await trio.lowlevel.checkpoint()
        self.asked += 1
        return self.families.get(root, set()) | self.chats.get(chat, set())


def asking(policy=Policy.ASK, rules=""):
    return ApprovalSettings(Granted(), policy, read_rules(rules))


def allow(approving, chat, tools, *, once=False):
    """Somebody allows all starts that are among these tools."""
    starts = {approval_name(tool.local) for tool in tools if tool.local.start is not None}
    grants = approving.grants
    if once:
        grants.chats[chat.id] = starts
    else:
        grants.families[chat.root] = starts


def shown(named):
    return json.loads(start_of(HERE, named).shown)


def test_a_person_sees_what_would_be_run_and_no_value_that_may_be_secret():
    assert {
        "server": "one",
        "command": "npx -y 'two words'",
        "environment": ["LEVEL"],
    } == shown(ONE)
    assert {
        "server": "wiki",
        "address": "https://wiki.example/mcp?key=…",
        "headers": ["X-Key"],
    } == shown(NamedEntry("wiki", ADDRESS))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PATH", "./bin:/bin", "PATH=./bin:/bin"),
        ("NODE_OPTIONS", "--require ./x.js", "NODE_OPTIONS=--require ./x.js"),
        ("BASH_ENV", "x", "BASH_ENV=x"),
        ("LD_PRELOAD", "/x\x1b.so", r"LD_PRELOAD=/x\x1b.so"),
        ("YARN_REGISTRY", "http://evil.example", "YARN_REGISTRY=http://evil.example"),
        ("PIP_INDEX_URL", "https://me:s3cret@h/simple", "PIP_INDEX_URL=https://…@h/simple"),
        ("RUBYOPT", "-r./x", "RUBYOPT=-r./x"),
        ("API_KEY", "s3cret", "API_KEY"),
        ("PATH_TOKEN", "s3cret", "PATH_TOKEN"),
        ("DATABASE_URL", "postgres://me:s3cret@h", "DATABASE_URL"),
    ],
)
def test_a_person_sees_the_values_that_decide_which_code_is_run(name, value, says):
    program = NamedProgram("npx", ("-y", "search"), ((name, value),))

    assert [says] == shown(NamedEntry("one", program))["environment"]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (
            "https://me:s3cret@wiki.example:8443/mcp?key=s3cret#a",
            "https://wiki.example:8443/mcp?key=…",
        ),
        ("https://w\u0456ki.example/mcp", "https://xn--wki-jhd.example/mcp"),
        ("https://wiki.example\u3002evil.example/", "https://wiki.example.evil.example/"),
        ("https://" + "\u0456" * 80, "https://\\u0456"),
    ],
)
def test_a_person_sees_the_host_that_is_reached(url, says):
    assert shown(NamedEntry("one", NamedAddress(url)))["address"].startswith(says)


def test_nothing_in_a_command_rewrites_what_a_person_reads():
    hostile = NamedProgram("sh", ("-c", "evil\x1b[2K\rls \u202efdp.exe\nrm"))

    command = shown(NamedEntry("one", hostile))["command"]

    assert command.isprintable()
    assert r"evil\x1b[2K\rls \u202efdp.exe\nrm" in command


@pytest.mark.parametrize("unseen", "\u034f\u115f\u2800\u3164\ufe0f\uffa0\U000e0101\u00a0\u200b")
def test_what_leaves_nothing_to_see_is_shown_by_its_number(unseen):
    command = shown(NamedEntry("one", NamedProgram("sh", ("-c", f"ls{unseen}é 例"))))["command"]

    assert unseen not in command
    assert unseen.encode("unicode_escape").decode() in command
    assert "é 例" in command


@pytest.mark.parametrize("name", ["n" * 64, "kit"])
@pytest.mark.parametrize("rule", ["*__start_server", "workspace:*__start_server"])
def test_no_name_of_a_server_escapes_a_rule_about_all_starts(name, rule):
    start = start_tool(HERE, NamedEntry(name, PROGRAM)).renamed("kit__start_server_2").local

    consent = Consent(Policy.ASK, read_rules(f"{rule}=deny,execute=allow"))

    assert consent.to(start) is Policy.DENY


OTHERS = [
    (THERE, ONE),
    (HERE, NamedEntry("two", PROGRAM)),
    (HERE, NamedEntry("one", replace(PROGRAM, command="npm"))),
    (HERE, NamedEntry("one", replace(PROGRAM, args=("-y", "two", "words")))),
    (HERE, NamedEntry("one", replace(PROGRAM, env=(("LEVEL", "2"),)))),
    (HERE, NamedEntry("one", replace(PROGRAM, env=(("LEVER", "s3cret"),)))),
    (HERE, NamedEntry("one", ADDRESS)),
    (HERE, NamedEntry("one", replace(ADDRESS, is_sse=True))),
    (HERE, NamedEntry("one", replace(ADDRESS, headers=(("X-Key", "other"),)))),
    (HERE, NamedEntry("one", replace(ADDRESS, url=f"{ADDRESS.url}2"))),
]


def test_other_content_is_another_start():
    digests = [start_of(*each).digest for each in [(HERE, ONE), *OTHERS]]

    assert len(digests) == len(set(digests))
    assert digests[0] == start_of(HERE, NamedEntry("one", replace(PROGRAM))).digest


def test_a_start_is_known_by_a_name_that_no_other_tool_can_have():
    tool = start_tool(HERE, NamedEntry("a b/c", PROGRAM)).local

    assert approval_name(tool).startswith("start:a_b_c:")
    assert "a_b_c__start_server" == tool.tool.name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("approving", "why", "starts"),
    [
        (asking(), NOT_ALLOWED_YET, [START]),
        (asking(Policy.DENY), NEVER_ALLOWED, [START]),
        (asking(Policy.ALLOW, "execute=ask"), NOT_ALLOWED_YET, [START]),
        (asking(Policy.ALLOW, "execute=deny"), NEVER_ALLOWED, [START]),
        (asking(Policy.ALLOW, "mcp:*=deny"), NEVER_ALLOWED, [START]),
        (asking(Policy.ASK, "mcp:*=allow"), NOT_ALLOWED_YET, [START]),
        (asking(Policy.ASK, "workspace:*=allow"), NOT_ALLOWED_YET, [START]),
    ],
)
async def test_without_consent_nothing_is_started_and_why_is_said(
    daemon, chat, approving, why, starts
):
    home, chat = await at_home(daemon, chat)

    async with servers_of(daemon, File(one=shell()), approving=approving) as servers:
        assert starts == names(await servers.tools(chat))
        for use in (servers.call(chat, "one", "look", {}), servers.start(chat, "one")):
            with pytest.raises(ServerFault, match=why):
                await use
        texts = await File(one=shell()).settings(chat)
        [seen] = await servers.seen(consent_scope_of(chat), chat.workspace_id, texts)
        assert 0 == servers.statistics().running

    assert ([], False) == (processes_of(home), (home / "listed").exists())
    assert (why, False) == (seen.fault, seen.is_allowed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("approving", "is_asked"),
    [
        (asking(Policy.ALLOW), False),
        (asking(Policy.ASK, "execute=allow"), False),
        (asking(Policy.DENY, "*=allow"), False),
        (asking(Policy.ASK), True),
        (asking(Policy.DENY), True),
    ],
)
async def test_who_may_run_commands_unasked_may_start_servers(daemon, chat, approving, is_asked):
    _, chat = await at_home(daemon, chat)
    approving.grants.families[chat.root] = {"execute"}

    async with servers_of(daemon, File(one=shell()), approving=approving) as servers:
        tools = await servers.tools(chat)
        assert await look(servers, chat)

    assert "one__look" in names(tools)
    assert is_asked is bool(approving.grants.asked)
    assert all(tool.local.hidden for tool in tools if tool.local.start is not None)


@pytest.mark.slow
async def test_what_was_allowed_to_one_content_is_not_allowed_to_another(daemon, chat):
    home, chat = await at_home(daemon, chat)
    approving, file = asking(), File(one=shell(GREETING="hi"))

    async with servers_of(daemon, file, approving=approving) as servers:
        allow(approving, chat, await servers.tools(chat))
        file.servers = {"one": shell(GREETING="ho")}  # between the consent and the start
        with pytest.raises(ServerFault, match=NOT_ALLOWED_YET):
            await servers.start(chat, "one")
        assert [START] == names(await servers.tools(chat))
        assert [] == processes_of(home)
        file.servers = {"one": shell(GREETING="hi")}
        await servers.start(chat, "one")
        assert " hi " in await look(servers, chat)
        file.servers = {"one": shell(GREETING="ho")}  # and while it runs
        with pytest.raises(ServerFault, match=NOT_ALLOWED_YET):
            await look(servers, chat)


@pytest.mark.slow
async def test_a_server_that_runs_for_one_chat_is_not_used_by_another_without_consent(daemon, chat):
    _, chat = await at_home(daemon, chat)
    free = replace(chat, approval_policy="allow")
    approving = asking()

    async with servers_of(daemon, File(one=shell()), approving=approving) as servers:
        assert ["one__look"] == names(await servers.tools(free))
        assert await look(servers, free)
        assert [START] == names(await servers.tools(chat))
        with pytest.raises(ServerFault, match=NOT_ALLOWED_YET):
            await look(servers, chat)


@pytest.mark.slow
@pytest.mark.parametrize("once", [True, False])
async def test_consent_for_a_chat_is_none_for_its_agents_and_consent_for_good_is(
    daemon, chat, once
):
    _, chat = await at_home(daemon, chat)
    child = await daemon.chat(parent=chat, workspace_id=chat.workspace_id)
    approving = asking()

    async with servers_of(daemon, File(one=shell()), approving=approving) as servers:
        allow(approving, chat, await servers.tools(chat), once=once)
        own, its = [names(await servers.tools(each)) for each in (chat, child)]

    assert {START, "one__look"} == set(own)
    assert once is ("one__look" not in its)


@pytest.mark.slow
async def test_when_consent_is_taken_back_the_next_call_is_refused(daemon, chat):
    _, chat = await at_home(daemon, chat)
    approving = asking()

    async with servers_of(daemon, File(one=shell()), approving=approving) as servers:
        allow(approving, chat, await servers.tools(chat))
        await servers.start(chat, "one")
        assert await look(servers, chat)
        approving.grants.families.clear()
        before = servers.listing_number(chat)
        with pytest.raises(ServerFault, match=NOT_ALLOWED_YET):
            await look(servers, chat)
        assert before != servers.listing_number(chat), "the next step is told that it can ask"
        assert [START] == names(await servers.tools(chat))


@pytest.mark.slow
async def test_an_address_is_not_asked_without_consent(daemon, chat):
    _, chat = await at_home(daemon, chat)
    trust = replace(ALL, allowed=(ip_network("127.0.0.0/8"),))
    approving = asking()

    async with a_server() as wire:
        file = File(one={"type": "http", "url": wire.url, "headers": {"X-Stolen": "all of it"}})
        async with servers_of(daemon, file, trust, approving=approving) as servers:
            before = names(await servers.tools(chat))
            heard = wire.methods()
            allow(approving, chat, await servers.tools(chat))
            after = names(await servers.tools(chat))

    assert ([START], []) == (before, heard)
    assert {START, "one__echo"} == set(after)
