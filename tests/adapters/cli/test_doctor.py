"""`promptcorner doctor`: what is looked at, what is said of it, and when it counts as wrong."""

import socket
from dataclasses import replace
from functools import partial
from resource import RLIM_INFINITY
from uuid import uuid4

import psycopg
import pytest
import trio
from psycopg.conninfo import make_conninfo

from adapters import settings as config
from adapters.cli.doctor import database as stored
from adapters.cli.doctor import machine, network
from adapters.cli.doctor.findings import Finding, FindingState, from_refusal
from adapters.cli.doctor.providers import ExaminedProvider, check_provider
from adapters.models.store.providers import key_subject
from adapters.plugins.plugins import NO_PLUGINS
from adapters.postgres.database import migrate, open_database
from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.server import serve
from adapters.rehearsal.settings import read as behaving
from adapters.settings import ShownSetting
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import Vault

OK, WARNING, WRONG = FindingState.OK, FindingState.WARNING, FindingState.WRONG


def told(data_dir="/none", **said):
    return config.read_config({"data_dir": str(data_dir), **said}, {})


def states(findings):
    return {finding.subject: finding.state for finding in findings}


@pytest.fixture
def free():
    """A port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return f"127.0.0.1:{port}"


def test_a_refusal_of_the_daemon_is_split_into_fact_and_advice():
    refusal = CannotStart("config", "it is so", "do this; or that")

    assert Finding("x", WRONG, "config: it is so", "do this; or that") == from_refusal("x", refusal)


# this machine


def test_this_machine_is_fit_to_run_its_tests():
    findings = [machine.check_python(), *machine.check_packages(machine.requirements())]

    assert {"python": OK, "packages": OK} == states(findings)


def test_a_package_of_another_version_than_the_one_that_was_proved_is_wrong():
    requires = ["psycopg[binary]==1.2.3", "trio>=0.35", "h11<99", "other==1; extra == 'dev'"]

    _, psycopg, other = machine.check_packages(requires)

    assert (WRONG, "pip install psycopg==1.2.3") == (psycopg.state, psycopg.advice)
    assert psycopg.fact.endswith(", must be 1.2.3")
    assert "other is missing, must be 1" == other.fact


def test_a_directory_that_can_be_made_is_as_good_as_one_that_is_there(tmp_path):
    there, to_be = told(tmp_path), told(tmp_path / "a" / "b")

    assert f"{tmp_path} is there" == next(machine.check_data_dir(there)).fact
    assert (
        f"{tmp_path}/a/b will be made at the first start"
        == next(machine.check_data_dir(to_be)).fact
    )


def test_a_file_is_no_directory(tmp_path):
    (tmp_path / "file").write_text("")

    [finding] = machine.check_data_dir(told(tmp_path / "file" / "deeper"))

    assert (WRONG, f"{tmp_path}/file is not a directory") == (finding.state, finding.fact)


@pytest.mark.parametrize(
    ("free", "state"),
    [(machine.ROOM_BYTES_MIN - 1, WRONG), (machine.ROOM_BYTES - 1, WARNING), (1 << 50, OK)],
)
def test_room_is_a_matter_of_degree(free, state, tmp_path):
    assert state is machine.check_disk_space(tmp_path, free).state


@pytest.mark.parametrize(("most", "state"), [(1024, WARNING), (20_000, OK), (RLIM_INFINITY, OK)])
def test_a_limit_on_open_files_is_warned_of(most, state):
    assert state is machine.check_file_limit(most).state


def test_a_secret_key_that_others_may_read_is_wrong(tmp_path):
    before = machine.check_secret_key(told(tmp_path))
    key = tmp_path / "secret.key"
    key.write_text("k" * 64)
    key.chmod(0o644)
    open_to_all = machine.check_secret_key(told(tmp_path))
    key.chmod(0o600)
    kept = machine.check_secret_key(told(tmp_path))

    assert (OK, WRONG, OK) == (before.state, open_to_all.state, kept.state)
    assert f"chmod 600 {key}" == open_to_all.advice
    assert "k" * 64 not in str((before, open_to_all, kept))


@pytest.mark.parametrize(
    ("said", "script", "state", "fact"),
    [
        ("bubblewrap", "exit 0", OK, "{}/bwrap, without a network"),
        ("bubblewrap", "echo no namespaces; exit 1", WARNING, "{}/bwrap does not work: no namesp"),
        ("none", "exit 0", WARNING, "none: commands of chats can do all that we can"),
    ],
)
async def test_what_commands_of_chats_run_in_is_tried_out(said, script, state, fact, tmp_path):
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    settings = config.read_config({"sandbox": said}, {"PATH": str(tmp_path)})

    found = await machine.check_sandbox(settings)

    assert ("sandbox", state) == (found.subject, found.state)
    assert found.fact.startswith(fact.format(tmp_path))


def test_what_desktops_need_is_looked_for_where_they_are_switched_on(tmp_path):
    nowhere = {"PATH": str(tmp_path)}
    off = config.read_config({}, nowhere)
    on = config.read_config({"experiments": "chat-virtual-desktop"}, nowhere)

    [found] = machine.check_desktops(on)

    assert [] == list(machine.check_desktops(off))
    assert ("desktops", WARNING) == (found.subject, found.state)
    assert "Xvnc and openbox are not installed" in found.fact
    assert "apt-get install tigervnc-standalone-server openbox" in found.advice


@pytest.mark.parametrize(("mode", "count"), [(0o600, 0), (0o640, 1), (0o644, 1)])
def test_a_file_with_a_secret_in_it_is_for_nobody_else(mode, count, tmp_path):
    file = tmp_path / "promptcorner.toml"
    file.write_text('openai_api_key = "k"\nlog = "json"\n')
    file.chmod(mode)
    shown = config.list_settings({"config": str(file)}, {})

    found = list(machine.check_secret_files(shown))

    assert [f"others may read openai_api_key in {file}"] * count == [each.fact for each in found]


def test_what_systemd_hands_over_is_as_it_wants_it(tmp_path):
    shown = [ShownSetting("openai_api_key", "(set)", f"credential openai_api_key {tmp_path}/k")]
    (tmp_path / "k").touch(0o644)

    assert [] == list(machine.check_secret_files(shown))


# the database


async def test_a_database_that_is_not_there_yet_is_not_made(tmp_path):
    [finding] = await stored.check_database(told(tmp_path / "home"))

    assert OK is finding.state
    assert not (tmp_path / "home").exists()


async def test_a_server_is_looked_at_from_all_sides(database):
    settings = config.read_config({}, {"DATABASE_URL": database})

    found = await stored.check_database(settings)

    expected = {"database": OK, "schema": OK, "clock": OK, "connections": OK}
    assert expected == states(found)
    assert "at step 0 of " in next(each.fact for each in found if each.subject == "schema")


@pytest.mark.parametrize(
    ("changes", "state", "says"),
    [
        ({}, OK, "claude (anthropic) in the database: 1 key, 2 models"),
        ({"enabled": False}, OK, "is disabled; `promptcorner providers enable claude`"),
        ({"models_count": 0}, WARNING, "offers no model"),
        ({"keys_count": 0, "key_id": None, "sealed": None}, WARNING, "cannot be asked"),
        (
            {"keys_count": 0, "key_id": None, "sealed": None, "users_count": 3},
            OK,
            "no key but those of 3 users, 2 models",
        ),
        ({"type": "openai-compat", "keys_count": 0, "key_id": None}, OK, "no key, 2 models"),
        ({"sealed": Vault(b"o" * 32).seal("sk", "x")}, WRONG, "its key cannot be opened (sealed"),
    ],
)
def test_a_provider_in_the_database_is_said_with_its_keys(changes, state, says):
    vault, id, key = Vault(b"k" * 32), uuid4(), uuid4()
    sealed = vault.seal("sk", key_subject(id, key))
    provider = ExaminedProvider(id, "claude", "anthropic", True, key, sealed, 1, 2, 0)

    finding = check_provider(replace(provider, **changes), vault)

    assert (state, True) == (finding.state, says in finding.fact), finding


async def test_the_keys_of_the_database_are_looked_at_and_not_guessed(database, tmp_path):
    vault, provider, key = Vault(b"k" * 32), uuid4(), uuid4()
    said = {"DATABASE_URL": database, "PROMPTCORNER_SECRET_KEY": "k" * 32}
    settings = config.read_config({"data_dir": str(tmp_path)}, said)
    async with open_database(settings) as opened:
        await migrate(opened)
    sealed = vault.seal("sk", key_subject(provider, key))
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO ai_providers (id, type, name, enabled, base_url)"
            " VALUES (%s, 'anthropic', 'claude', true, 'https://x')",
            (provider,),
        )
        connection.execute(
            "INSERT INTO ai_provider_keys (id, provider_id, sealed, masked, position)"
            " VALUES (%s, %s, %s, 'sk', 1)",
            (key, provider, sealed),
        )

    [finding] = [each for each in await stored.check_database(settings) if "claude" in each.fact]

    assert (WARNING, "claude (anthropic) in the database offers no model") == (
        finding.state,
        finding.fact,
    )


async def test_a_server_that_is_away_is_wrong():
    away = make_conninfo(host="127.0.0.1", port=9, password="secret", connect_timeout=2)

    [finding] = await stored.check_database(config.read_config({}, {"DATABASE_URL": away}))

    assert (WRONG, True) == (finding.state, "cannot be reached" in finding.fact)
    assert "secret" not in str(finding)


@pytest.mark.parametrize(
    ("places", "state"), [(31, WRONG), (32, WARNING), (63, WARNING), (64, OK), (100, OK)]
)
def test_the_server_has_to_let_in_a_process_and_better_two(places, state):
    [finding] = stored.check_connections(told(), places)  # which needs 24 and 8

    assert state is finding.state


@pytest.mark.parametrize(("skew", "state"), [(1.9, OK), (-2.1, WARNING), (3600, WARNING)])
def test_clocks_that_differ_are_warned_of(skew, state):
    assert state is stored.check_clock(skew).state


@pytest.mark.parametrize(
    ("address", "count"),
    [
        ("postgresql://db.example/x", 1),
        ("postgresql://db.example/x?sslmode=require", 0),
        ("postgresql://127.0.0.1/x", 0),
        ("host=/run/postgresql", 0),
        ("", 0),
    ],
)
def test_words_of_chats_on_a_wire_are_warned_of(address, count):
    settings = config.read_config({}, {"DATABASE_URL": address})

    assert count == len(list(stored.check_encryption(settings)))


def test_a_user_who_may_make_no_tables_is_wrong_only_if_some_are_missing():
    [missing] = stored.check_privileges(missing=1, may_create=False)
    [complete] = stored.check_privileges(missing=0, may_create=False)

    assert (WRONG, WARNING) == (missing.state, complete.state)
    assert [] == list(stored.check_privileges(missing=1, may_create=True))


# the network


def test_a_port_is_free_or_somebody_elses(free):
    [finding] = network.check_daemon(told(listen=free))
    assert (OK, f"{free} is free, no daemon runs there") == (finding.state, finding.fact)

    host, port = free.split(":")
    with socket.create_server((host, int(port))):
        taken = network.check_port(told(listen=free))

    assert (WRONG, f"cannot listen at {free} (address already in use)") == (taken.state, taken.fact)


async def test_a_server_of_hooks_is_reached_or_not(free):
    def told_of(url):
        said = {"PROMPTCORNER_HOOK_URL": url, "PROMPTCORNER_HOOK_SECRET": "s" * 32}
        return config.read_config({"data_dir": "/none"}, said)

    assert [] == list(network.check_hooks(told()))
    [away] = network.check_hooks(told_of(f"http://{free}/hook"))
    async with serve(Behaviour()) as running:
        there = told_of(f"{running.url}/hook")
        [reached] = await trio.to_thread.run_sync(lambda: list(network.check_hooks(there)))

    assert (WRONG, OK) == (away.state, reached.state)
    assert "prompts are refused" in away.fact


async def test_somebody_else_who_speaks_http_is_no_daemon_of_ours():
    async with serve(Behaviour()) as running:
        address = running.url.removeprefix("http://")
        here = told(listen=address)
        [finding] = await trio.to_thread.run_sync(lambda: list(network.check_daemon(here)))

    assert f"another program listens at {address}" == finding.fact


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ({}, 0),
        ({"listen": "0.0.0.0:7390"}, 1),
        ({"listen": "0.0.0.0:7390", "access_url": "http://a"}, 1),
        ({"listen": "0.0.0.0:7390", "access_url": "https://a"}, 0),
    ],
)
def test_who_listens_for_others_without_encryption_is_warned(said, count):
    found = list(network.check_tls(told(**said)))

    assert [WARNING] * count == [each.state for each in found]


def test_a_certificate_that_is_none_is_wrong(tmp_path):
    (tmp_path / "pem").write_text("x")
    pem = str(tmp_path / "pem")

    [finding] = network.check_tls(told(tls_cert=pem, tls_key=pem))

    assert ("tls", WRONG) == (finding.subject, finding.state)


@pytest.mark.parametrize(
    ("said", "state"),
    [("none", None), ("10.1.0.0/16", "ok"), ("127.0.0.0/8", "warn"), ("::/0", "warn")],
)
def test_networks_that_strangers_may_send_us_to_are_said(said, state):
    findings = list(
        network.check_private_networks(config.read_config({"private_networks": said}, {}))
    )

    assert ([state] if state else []) == [each.state.value for each in findings]


def test_a_proxy_is_named_or_refused():
    [used] = network.check_proxy(
        {"HTTPS_PROXY": "http://me:secret@proxy.test:3128", "NO_PROXY": "a.b"}
    )
    [odd] = network.check_proxy({"HTTPS_PROXY": "socks5://proxy.test"})

    assert "providers are reached over proxy.test:3128, but not to a.b" == used.fact
    assert (OK, WRONG) == (used.state, odd.state)
    assert [] == list(network.check_proxy({}))


async def test_providers_are_named_and_only_asked_if_one_wants_it():
    settings = config.read_config(
        {}, {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9"}
    )

    [named] = await network.check_providers(settings, NO_PLUGINS, online=False)
    [none] = await network.check_providers(
        config.read_config({}, {"HOME": "/none"}), NO_PLUGINS, online=False
    )
    odd = config.read_config({}, {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "nonsense"})
    [misnamed] = await network.check_providers(odd, NO_PLUGINS, online=False)

    assert (OK, "openai/gpt-5 is set up; --online asks it") == (named.state, named.fact)
    assert (WARNING, WRONG) == (none.state, misnamed.state)


@pytest.mark.parametrize(
    ("faults", "state"), [("", OK), ("401", WRONG), ("529", WRONG), ("hangup:0", WRONG)]
)
async def test_a_provider_that_is_asked_says_how_it_is(faults, state):
    said = {"deltas": "1", "faults": faults} if faults else {"deltas": "1"}
    async with serve(behaving(Behaviour(), said)) as running:
        environ = {"ANTHROPIC_API_KEY": "sk-secret", "ANTHROPIC_BASE_URL": running.url}
        [finding] = await network.check_providers(
            config.read_config({}, environ), NO_PLUGINS, online=True
        )

    assert state is finding.state, finding
    assert "sk-secret" not in str(finding)


async def test_a_server_that_answers_with_any_json_is_no_provider(nursery):
    async def serve_json(stream):
        async for data in stream:
            if data.endswith(b"}"):
                await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    [listener] = await nursery.start(partial(trio.serve_tcp, serve_json, 0, host="127.0.0.1"))
    port = listener.socket.getsockname()[1]
    environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}

    [finding] = await network.check_providers(
        config.read_config({}, environ), NO_PLUGINS, online=True
    )

    assert WRONG is finding.state, finding
