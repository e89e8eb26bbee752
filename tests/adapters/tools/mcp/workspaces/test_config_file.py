"""What stands in `.mcp.json`, and what does not belong there."""

import json

import pytest

from adapters.tools.mcp.workspaces.config_file import (
    FILLED_CHARACTERS_MAX,
    SERVERS_MAX,
    InvalidEntry,
    NamedAddress,
    NamedEntry,
    NamedProgram,
    read_config_file,
)
from adapters.tools.mcp.workspaces.servers import command_of

VARIABLES = {"HOME": "/w/home", "EMPTY": "", "TWICE": "${HOME}", "LONG": "x" * 1000}


def read(**servers):
    return read_config_file(json.dumps({"mcpServers": servers}).encode(), VARIABLES)


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"command": "serve"}, NamedProgram("serve")),
        (
            {"type": "stdio", "command": "serve", "args": ["-y", "a b"], "env": {"A": "1"}},
            NamedProgram("serve", ("-y", "a b"), (("A", "1"),)),
        ),
        ({"url": "https://h/mcp"}, NamedAddress("https://h/mcp")),
        (
            {"type": "http", "url": "http://h:1/", "headers": {"X-A": "1"}},
            NamedAddress("http://h:1/", (("X-A", "1"),)),
        ),
        ({"type": "sse", "url": "https://h/sse"}, NamedAddress("https://h/sse", is_sse=True)),
        ({"command": "serve", "unheard": {"of": 1}}, NamedProgram("serve")),
    ],
)
def test_a_server_is_a_program_or_stands_elsewhere(entry, place):
    assert [NamedEntry("a", place)] == list(read(a=entry))


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({}, "a command or a url"),
        ({"command": "a", "url": "http://h"}, "a command or a url"),
        ({"command": " "}, "command is empty"),
        ({"command": "a\0b"}, "zero byte"),
        ({"command": "a", "args": "b"}, "Expected `array`, got `str` - at `$.args`"),
        ({"command": "a", "env": {"A=B": "1"}}, "'A=B' is not the name of a variable"),
        ({"command": "a", "env": {"$(x)": "1"}}, "is not the name of a variable"),
        ({"command": "a", "env": {"A": 1}}, "Expected `str`, got `int`"),
        ({"type": "http", "command": "a"}, "its type is 'http', not stdio"),
        ({"type": "magic", "url": "http://h"}, "its type is 'magic', not http or"),
        ({"url": "file:///etc/passwd"}, "no http or https address"),
        ({"url": "http://h:99999/"}, "no http or https address"),
        ({"url": "http://h/\r\nX: 1"}, "no http or https address"),
        ({"url": "http://h", "headers": {"Host": "x"}}, "'Host' cannot be set"),
        ({"url": "http://h", "headers": {"a b": "x"}}, "'a b' cannot be set"),
        ({"url": "http://h", "headers": {"A": "x\r\ny"}}, "a value that no header can have"),
        ("a", "Expected `object`, got `str`"),
        ({"command": "sh", "args": [" " * 4095]}, "it has 4097 characters to be shown"),
        ({"command": "sh", "env": {"A" * 4095: "1"}}, "it has 4097 characters to be shown"),
        ({"command": "sh", "env": {"PATH": "a" * 4091}}, "it has 4097 characters to be shown"),
        ({"url": f"https://h/{'a' * 4087}"}, "it has 4097 characters to be shown"),
    ],
)
def test_what_makes_no_sense_is_told_of_and_its_neighbour_counts(entry, why):
    unfit, fit = read(a=entry, b={"command": "serve"})

    assert "a" == unfit.name
    assert why in unfit.why
    assert NamedEntry("b", NamedProgram("serve")) == fit


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"mcpServers": 7}', b"\xff", b"[" * 100_000]
)
def test_a_file_that_makes_no_sense_is_told_of(content):
    [unfit] = read_config_file(content, {})

    assert isinstance(unfit, InvalidEntry)
    assert "" == unfit.name


@pytest.mark.parametrize("content", [b"{}", b'{"mcpServers": {}}', b'{"other": 1}'])
def test_a_file_may_name_nobody(content):
    assert [] == read_config_file(content, {})


@pytest.mark.parametrize("command", ["serve", "${NOBODY}"])
def test_what_is_switched_off_is_not_there(command):
    assert [] == read(a={"command": command, "disabled": True})


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("${HOME}/bin:${HOME}", "/w/home/bin:/w/home"),
        ("a${EMPTY}b", "ab"),
        ("${HOME:-/other}", "/w/home"),
        ("${EMPTY:-some} ${NOBODY:-a b}", "some a b"),
        ("a${NOBODY:-}b", "ab"),
        ("${TWICE}", "${HOME}"),
        ("${NOBODY:-$HOME", "${NOBODY:-$HOME"),
        ("$HOME ${1} ${a-b} ${} ${input:key}", "$HOME ${1} ${a-b} ${} ${input:key}"),
    ],
)
def test_variables_are_filled_in_and_nothing_else_is(text, meant):
    [named] = read(a={"command": text, "args": [text], "env": {"A": text}})

    assert NamedProgram(meant, (meant,), (("A", meant),)) == named.target


def test_an_address_is_looked_at_with_its_variables():
    entry = {"url": "${URL:-https://h}/mcp", "headers": {"X-Home": "${HOME}"}}

    fit, unfit = read(a=entry, b={**entry, "url": "${HOME}/mcp"})

    assert NamedEntry("a", NamedAddress("https://h/mcp", (("X-Home", "/w/home"),))) == fit
    assert InvalidEntry("b", "its url is no http or https address") == unfit


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "${API_KEY}"},
        {"command": "a", "args": ["b", "${HOME}${API_KEY}"]},
        {"command": "a", "env": {"KEY": "${API_KEY}"}},
        {"url": "http://h/${API_KEY}"},
        {"url": "http://h", "headers": {"Authorization": "Bearer ${API_KEY}"}},
    ],
)
def test_a_variable_that_is_not_set_is_named_and_its_neighbour_counts(entry):
    unfit, fit = read(a=entry, b={"command": "serve"})

    assert unfit.why.startswith("the variable API_KEY is not set for commands of the workspace")
    assert NamedEntry("b", NamedProgram("serve")) == fit


def test_what_becomes_too_long_is_refused():
    [unfit] = read(a={"command": "${LONG}" * 66})

    assert f"more than {FILLED_CHARACTERS_MAX} characters" in unfit.why


def test_of_too_many_the_first_by_name_count():
    found = read(**{f"s{at:02}": {"command": "serve"} for at in range(SERVERS_MAX + 1)})

    assert SERVERS_MAX == sum(isinstance(each, NamedEntry) for each in found)
    assert f"s{SERVERS_MAX}" == found[-1].name


def test_its_environment_stands_under_names_of_ours_until_it_is_inside():
    program = NamedProgram("run it", ("$HOME",), (("LD_PRELOAD", "evil.so"), ("A", "'")))

    text, given = command_of(program)

    assert {"PROMPTCORNER_GIVEN_0": "evil.so", "PROMPTCORNER_GIVEN_1": "'"} == given
    assert text.endswith("exec 'run it' '$HOME'")
    assert 'export LD_PRELOAD="$PROMPTCORNER_GIVEN_0" A="$PROMPTCORNER_GIVEN_1"; ' in text


def test_no_secret_is_in_its_repr():
    found = repr(
        read(
            a={"url": "http://h/?k=s3cret", "headers": {"A": "s3cret"}},
            b={"command": "b", "env": {"K": "s3cret"}},
        )
    )

    assert "s3cret" not in found
