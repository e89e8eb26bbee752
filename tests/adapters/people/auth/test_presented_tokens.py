"""Where a token may stand, and which of several counts."""

from itertools import combinations
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.endpoints import TokenSource
from adapters.http.requests import HttpRequest
from adapters.people.auth.callers import PresentedToken, cookie, token_in

# Every place there is, in the order in which it is looked at.
PLACES = {
    "cookie": (
        {"cookie": "a=b; coder_session_token=in-cookie"},
        (),
        TokenSource.COOKIE,
        "in-cookie",
    ),
    "query": ({}, (("coder_session_token", "in-query"),), TokenSource.QUERY, "in-query"),
    "header": ({"coder-session-token": "in-header"}, (), TokenSource.HEADER, "in-header"),
    "bearer": ({"authorization": "Bearer as-bearer"}, (), TokenSource.HEADER, "as-bearer"),
    "access": ({}, (("access_token", "as-access"),), TokenSource.QUERY, "as-access"),
}
SOME = [some for count in range(1, 6) for some in combinations(PLACES, count)]


def request(method, path, headers, query=()):
    return HttpRequest(method, path, urlencode(query), headers)


@pytest.mark.parametrize("places", SOME, ids=" ".join)
def test_the_first_place_that_has_a_token_counts(places):
    headers, query = {}, []
    for place in places:
        headers |= PLACES[place][0]
        query += PLACES[place][1]

    shown = token_in(request("GET", "/", headers, query))

    *_, via, token = PLACES[places[0]]
    assert PresentedToken(token, via, is_deliberate=via is not TokenSource.COOKIE) == shown


EMPTY = {
    "cookie": {"cookie": "coder_session_token="},
    "cookie of another name": {"cookie": "xcoder_session_token=x; Coder_Session_Token=x"},
    "header": {"coder-session-token": "  "},
    "bearer without a token": {"authorization": "Bearer"},
    "another scheme": {"authorization": "Basic YTpi"},
    "a scheme that begins like ours": {"authorization": "Bearers x"},
}


@pytest.mark.parametrize("headers", EMPTY.values(), ids=EMPTY)
def test_a_place_without_a_token_does_not_count(headers):
    assert token_in(request("GET", "/", headers)) is None
    also = token_in(
        request("GET", "/", headers, [("coder_session_token", ""), ("access_token", "x")])
    )
    assert PresentedToken("x", TokenSource.QUERY, True) == also


@pytest.mark.parametrize("authorization", ["bearer t", "BEARER t", "Bearer   t ", " bEaReR t"])
def test_the_scheme_is_a_bearer_in_any_case(authorization):
    shown = token_in(request("GET", "/", {"authorization": authorization}))

    assert PresentedToken("t", TokenSource.HEADER, True) == shown


MEANT = {
    "nothing else": ({}, (), False),
    "another token beside it": ({"coder-session-token": "other"}, (), False),
    "itself as a header": ({"coder-session-token": "t"}, (), True),
    "itself as a bearer": ({"authorization": "bearer t"}, (), True),
    "itself in the query": ({}, (("coder_session_token", "t"),), True),
    "itself as access token": ({}, (("access_token", "t"),), True),
}


@pytest.mark.parametrize(("headers", "query", "is_deliberate"), MEANT.values(), ids=MEANT)
def test_a_cookie_is_deliberate_if_the_same_is_shown_elsewhere(headers, query, is_deliberate):
    head = request("POST", "/", {"cookie": "coder_session_token=t", **headers}, query)

    assert PresentedToken("t", TokenSource.COOKIE, is_deliberate) == token_in(head)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=200))
def test_any_cookie_header_can_be_read(header):
    found = cookie(header, "coder_session_token")

    assert ";" not in found


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.text("xyz0", max_size=3)), max_size=5)
)
def test_a_cookie_is_the_first_of_its_name_that_is_not_empty(pairs):
    header = "; ".join(f"{name}={value}" for name, value in pairs)

    expected = next((value for name, value in pairs if name == "b" and value), "")
    assert expected == cookie(header, "b")
