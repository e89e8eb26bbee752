"""Where a token may stand, and which of several counts."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.endpoints import Head, Via
from adapters.people.auth.shown import Shown, cookie, shown_by

# Every place there is, in the order in which it is looked at.
PLACES = {
    "cookie": ({"cookie": "a=b; coder_session_token=in-cookie"}, (), Via.COOKIE, "in-cookie"),
    "query": ({}, (("coder_session_token", "in-query"),), Via.QUERY, "in-query"),
    "header": ({"coder-session-token": "in-header"}, (), Via.HEADER, "in-header"),
    "bearer": ({"authorization": "Bearer as-bearer"}, (), Via.HEADER, "as-bearer"),
    "access": ({}, (("access_token", "as-access"),), Via.QUERY, "as-access"),
}
SOME = [some for count in range(1, 6) for some in combinations(PLACES, count)]


@pytest.mark.parametrize("places", SOME, ids=" ".join)
def test_the_first_place_that_has_a_token_counts(places):
    headers, query = {}, []
    for place in places:
        headers |= PLACES[place][0]
        query += PLACES[place][1]

    shown = shown_by(Head("GET", "/", headers, query))

    *_, via, token = PLACES[places[0]]
    assert Shown(token, via, is_meant=via is not Via.COOKIE) == shown


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
    assert shown_by(Head("GET", "/", headers)) is None
    also = shown_by(Head("GET", "/", headers, [("coder_session_token", ""), ("access_token", "x")]))
    assert Shown("x", Via.QUERY, True) == also


@pytest.mark.parametrize("authorization", ["bearer t", "BEARER t", "Bearer   t ", " bEaReR t"])
def test_the_scheme_is_a_bearer_in_any_case(authorization):
    shown = shown_by(Head("GET", "/", {"authorization": authorization}))

    assert Shown("t", Via.HEADER, True) == shown


MEANT = {
    "nothing else": ({}, (), False),
    "another token beside it": ({"coder-session-token": "other"}, (), False),
    "itself as a header": ({"coder-session-token": "t"}, (), True),
    "itself as a bearer": ({"authorization": "bearer t"}, (), True),
    "itself in the query": ({}, (("coder_session_token", "t"),), True),
    "itself as access token": ({}, (("access_token", "t"),), True),
}


@pytest.mark.parametrize(("headers", "query", "is_meant"), MEANT.values(), ids=MEANT)
def test_a_cookie_is_meant_if_the_same_is_shown_elsewhere(headers, query, is_meant):
    head = Head("POST", "/", {"cookie": "coder_session_token=t", **headers}, query)

    assert Shown("t", Via.COOKIE, is_meant) == shown_by(head)


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
