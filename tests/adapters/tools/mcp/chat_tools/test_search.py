"""Too many tools to be told of: the catalogue, the search, what is remembered of it."""

import json

import pytest

from actors.law.chat import Body, Message, Role, Visibility
from actors.law.parts.message import JsonText, TextPart, ToolResultPart
from adapters.tools.mcp.chat_tools.search import (
    CATALOGUE_TOKENS_MAX,
    MATCHES_MAX,
    SEARCHED_CHARACTERS,
    DeferredTool,
    activated,
    are_too_many,
    catalogue,
    find,
)
from tests.adapters.tools.mcp.given import (
    AT,
    HISTORY,
    calling,
    configured,
    names,
    said,
    tools_of,
    using,
)
from tests.fakes.tool_server import a_server, listing, tool


def deferred(name, server="Wiki", description="", size=100):
    return DeferredTool(name, server, description, "x" * size)


WIKI = [
    deferred("wiki__read_page", description="Reads one page of the handbook"),
    deferred("wiki__search", description="Finds pages"),
    DeferredTool("crm__customers", "Sales CRM", "Lists people", '{"page": 1}'),
]


def found(queries=(), asked=(), tools=WIKI, window=200_000):
    return [match.name for match in find(tools, queries, asked, window).matches]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("page", ["wiki__read_page", "wiki__search", "crm__customers"]),  # 8, 2, 1
        ("ustomer", ["crm__customers"]),
        ("handbook", ["wiki__read_page"]),
        ("sales", ["crm__customers"]),
        ("Wiki: page", ["wiki__read_page", "wiki__search"]),
        ("sales crm:", ["crm__customers"]),
        ("nothing", []),
        ("!?", []),
    ],
)
def test_words_are_worth_what_they_are_found_in(query, expected):
    assert expected == found([query])


def test_of_a_long_schema_only_the_beginning_is_searched():
    near, far = (f"{'x ' * (count // 2)}needle" for count in (1_000, SEARCHED_CHARACTERS))
    tools = [DeferredTool(name, "Wiki", "", schema) for name, schema in (("a", near), ("b", far))]

    assert ["a"] == found(["needle"], tools=tools)


def test_exact_names_come_first_and_matches_have_an_end():
    many = [deferred(f"a{n:02}") for n in range(40)]

    assert ["a39", "a00"] == found(["a"], ["a39", "none"], tools=many)[:2]
    assert MATCHES_MAX == len(found(["a"], tools=many))


def test_what_has_no_room_is_found_and_not_activated():
    big = [deferred("a_big", size=10_000), deferred("a_small", size=100)]

    result = find(big, ["a"], (), 10_000)

    assert ["a_big", "a_small"] == [match.name for match in result.matches]
    assert ("a_small",) == result.activated


def test_a_catalogue_says_as_much_as_there_is_room_for():
    def of(count, size):
        return catalogue(
            [deferred(f"tool{n:05}", description="d" * size) for n in range(count)], 10**9
        )

    assert "- tool00000: ddd" in of(2, 80)
    assert "- tool00000\n" in of(300, 80)
    assert "Wiki: 900 tools" == of(900, 80)
    many = [deferred(f"a{n}", f"server with a long name {n}") for n in range(900)]
    assert "900 tools of 900 servers" == catalogue(many, 10**9)
    assert CATALOGUE_TOKENS_MAX * 2.5 >= len(of(300, 80))


@pytest.mark.parametrize(("size", "expected"), [(10, False), (50_000, True)])
def test_they_are_too_many_beyond_their_share_of_the_window(size, expected):
    assert expected is are_too_many([deferred("a", size=size)], 100_000)


def result(id, name, document, *, error=False):
    part = ToolResultPart(f"c{id}", name, JsonText(json.dumps(document)), is_error=error)
    return Message(id, 1, AT, False, Body(Role.TOOL, (part,)))


TOOLS = [deferred(name, size=1_000) for name in ("a", "b", "c", "d")]


def test_what_was_found_or_called_last_is_shown_as_far_as_there_is_room():
    history = [
        said("hello"),
        result(2, "find_tools", {"activated": ["a", "b", "gone"]}),
        result(3, "c", {}),
        result(4, "d", {"error": "no"}, error=True),
    ]

    assert {"a", "b", "c", "d"} == activated(history, TOOLS, 100_000)
    assert {"a", "b", "c"} == activated(history, TOOLS, 12_100)
    assert {"c"} == activated(history, TOOLS, 10)


def test_a_summary_forgets_what_was_found():
    told = Body(Role.USER, (TextPart("so far"),), visibility=Visibility.MODEL, compressed=True)
    history = [result(2, "find_tools", {"activated": ["a"]}), Message(3, 1, AT, False, told)]

    assert frozenset() == activated(history, TOOLS, 100_000)


@pytest.mark.parametrize("said_back", ["{", "[]", '{"activated": 7}', '{"activated": [7]}'])
def test_a_result_that_makes_no_sense_activates_nothing(said_back):
    part = ToolResultPart("c", "find_tools", JsonText(said_back))
    history = [Message(2, 1, AT, False, Body(Role.TOOL, (part,)))]

    assert frozenset() == activated(history, TOOLS, 100_000)


# over the wire


async def test_hidden_tools_are_found_shown_from_then_on_and_may_be_called_before():
    big = {"type": "object", "properties": {"a": {"description": "x" * 5_000}}}
    answers = {"tools/list": listing(*(tool(f"t{n}", f"number {n}", big) for n in range(9)))}
    async with (
        a_server(answers) as wire,
        tools_of(one := configured(wire), window=100_000) as tools,
    ):
        of = using(one)
        offered = await tools.offered(of, HISTORY)

        assert ["find_tools"] == [each.tool.name for each in offered if not each.hidden]
        assert "- one__t3: number 3" in offered[0].tool.description
        output = await tools.run(calling(of, "one__t3"), "one__t3")
        assert not output.is_error

        output = await tools.run(
            calling(of, "find_tools", '{"queries": ["number 3"]}'), "find_tools"
        )
        document = json.loads(output.result)
        assert "one__t3" == document["matches"][0]["name"]
        assert 9 == document["total_deferred"]

        history = (*HISTORY, result(2, "find_tools", document))
        offered = await tools.offered(of, history)
        assert "one__t3" in [each.tool.name for each in offered if not each.hidden]
        assert 1 == wire.methods().count("tools/list")


async def test_searches_are_counted_with_what_they_found():
    counted = []

    def note(matches, activated=0):
        counted.append((matches, activated))

    answers = {"tools/list": listing(*(tool(f"t{n}", f"number {n}") for n in range(9)))}
    async with (
        a_server(answers) as wire,
        tools_of(one := configured(wire), window=100_000, note_search=note) as tools,
    ):
        for arguments in ('{"names": ["one__t3"]}', '{"queries": ["rain"]}', "{}", "no JSON"):
            await tools.run(calling(using(one), "find_tools", arguments), "find_tools")

    assert [(1, 1), (0, 0), (None, 0), (None, 0)] == counted


async def test_a_search_for_nothing_is_refused():
    async with a_server() as wire, tools_of(one := configured(wire), window=10) as tools:
        assert ["find_tools", "one__echo"] == await names(tools, using(one))
        output = await tools.run(calling(using(one), "find_tools"), "find_tools")
        big = await tools.run(
            calling(using(one), "find_tools", '{"names": ["one__echo"]}'), "find_tools"
        )

    assert output.is_error
    assert "call one by its name" in big.result
