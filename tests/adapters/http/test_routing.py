"""Which row a method and a path lead to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.endpoints import Endpoint
from adapters.http.routing import OtherMethods, RouteMatch, RouteTree, segments


async def nothing(call):
    raise AssertionError("rows are found here, not called")


def row(line):
    method, path = line.split()
    return Endpoint(method=method, path=path, handle=nothing, summary="", tag="")


CHATS = "/api/chats"
ROWS = [
    row(line)
    for line in (
        f"GET {CHATS}",
        f"POST {CHATS}",
        f"GET {CHATS}/watch",
        f"GET {CHATS}/{{chat}}",
        f"PATCH {CHATS}/{{chat}}",
        f"GET {CHATS}/{{chat}}/messages",
        f"PATCH {CHATS}/{{chat}}/messages/{{message}}",
        f"GET {CHATS}/files/{{file}}",
        f"DELETE {CHATS}/{{id}}/queue/{{queued}}",
    )
]
TREE = RouteTree(ROWS)


def find(method, path):
    found = TREE.find(method, segments(path))
    return (found.row.path, found.path) if isinstance(found, RouteMatch) else found


@pytest.mark.parametrize(
    ("method", "path", "row_path", "places"),
    [
        ("GET", "/api/chats", CHATS, {}),
        ("GET", "/api/chats/", CHATS, {}),
        ("GET", "//api///chats//", CHATS, {}),
        ("GET", "/api/chats/watch", f"{CHATS}/watch", {}),
        ("GET", "/api/chats/7", f"{CHATS}/{{chat}}", {"chat": "7"}),
        ("HEAD", "/api/chats/7", f"{CHATS}/{{chat}}", {"chat": "7"}),
        ("GET", "/api/chats/files/9", f"{CHATS}/files/{{file}}", {"file": "9"}),
        ("GET", "/api/chats/files/messages", f"{CHATS}/files/{{file}}", {"file": "messages"}),
        ("GET", "/api/chats/a%2Fb%20c", f"{CHATS}/{{chat}}", {"chat": "a/b c"}),
        (
            "DELETE",
            "/api/chats/7/queue/8",
            f"{CHATS}/{{id}}/queue/{{queued}}",
            {"id": "7", "queued": "8"},
        ),
        (
            "PATCH",
            "/api/chats/watch/messages/3",
            f"{CHATS}/{{chat}}/messages/{{message}}",
            {"chat": "watch", "message": "3"},
        ),
    ],
)
def test_a_path_leads_to_its_row(method, path, row_path, places):
    assert (row_path, places) == find(method, path)


@pytest.mark.parametrize(
    "path", ["/", "", "/api", "/api/chats/7/nothing", "/api/chats/7/messages/8/9", "/API/chats"]
)
def test_elsewhere_there_is_nothing(path):
    assert None is find("GET", path)


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/chats", ["GET", "HEAD", "POST"]),
        ("/api/chats/7", ["GET", "HEAD", "PATCH"]),
        ("/api/chats/watch", ["GET", "HEAD"]),
    ],
)
def test_another_method_is_told_which_there_are(path, methods):
    assert OtherMethods(methods) == find("DELETE", path)


def test_two_rows_that_nobody_could_tell_apart_are_a_bug():
    with pytest.raises(AssertionError, match="is there twice"):
        RouteTree([row("GET /a/{b}"), row("GET /a/{c}")])


@given(
    st.sampled_from(ROWS),
    st.lists(st.text(min_size=1).filter(lambda t: "/" not in t), min_size=2, max_size=2),
)
def test_every_row_is_reached_by_its_own_path(row, words):
    from urllib.parse import quote

    names = [part[1:-1] for part in row.path.split("/") if part.startswith("{")]
    places = dict(zip(names, words, strict=False))
    path = row.path.format(**{name: quote(word, safe="") for name, word in places.items()})
    taken = {"watch", "files"} & set(places.values())

    assert taken or (row.path, places) == find(row.method, path)


@pytest.mark.parametrize(
    ("path", "older"),
    [
        ("/api/v2/chats", "/api/experimental/chats"),
        ("/api/v2/chats/{chat}/stream", "/api/experimental/chats/{chat}/stream"),
        (
            "/api/v2/users/{user}/ai-provider-keys/{provider}",
            "/api/experimental/users/{user}/ai-provider-keys/{provider}",
        ),
    ],
)
def test_a_row_is_served_at_the_address_of_older_clients_too(path, older):
    tree = RouteTree([row(f"GET {path}")])

    found = [tree.find("GET", segments(each)) for each in (path, older)]

    assert found[0] == found[1]
    assert isinstance(found[0], RouteMatch)


@pytest.mark.parametrize(
    "path", ["/api/v2/chatsx", "/api/v2/users/{user}", "/api/experimental/mcp/http", "/livez"]
)
def test_a_path_that_was_never_promoted_has_no_second_address(path):
    assert (path,) == row(f"GET {path}").addresses
