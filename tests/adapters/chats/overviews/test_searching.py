"""What is written into a search, and which chats are wanted."""

import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.ids import ChatId
from actors.law.states import Status
from adapters.chats.overviews import ListFilter
from adapters.chats.routes.chat_list import QUERY_CHARACTERS_MAX, search_of
from adapters.http.refusals import HttpError

VAIN = "vain"

UNDERSTOOD = {
    "": {},
    "   ": {},
    "title:red": {"title": "red"},
    'title:"two words"': {"title": "two words"},
    'title:a" "b': {"title": "a b"},
    'title:"a:b"': {"title": "a:b"},
    'title:"open': {"title": "open"},
    'title:""': {"title": ""},
    r'title:"a \"b c\" d:e"': {"title": 'a "b c" d:e'},
    r"title:\"a\"": {"title": '"a"'},
    "TITLE:Red": {"title": "Red"},
    "title:50%_": {"title": "50%_"},
    "archived:true": {"archived": True},
    "archived:T": {"archived": True},
    "archived:1": {"archived": True},
    "archived:f": {"archived": False},
    "status:running": {"statuses": (Status.RUNNING,)},
    "status:error,waiting": {"statuses": (Status.ERROR, Status.WAITING)},
    "status:error status:waiting": {"statuses": (Status.ERROR, Status.WAITING)},
    "needs_me:true": {"needs_me": True},
    "needs_me:0": {"needs_me": False},
    "has_unread:1": {"unread": True},
    "has_unread:false": {"unread": False},
    "source:created_by_me": {"mine": True, "theirs": False},
    "source:shared_with_me": {"mine": False, "theirs": True},
    "source:created_by_me,shared_with_me": {"mine": True, "theirs": True},
    "source:created_by_me source:shared_with_me": {"mine": True, "theirs": True},
    "  title:red   archived:0 ": {"title": "red", "archived": False},
    'search:"red or -blue"': {"search": "red or -blue"},
    "search:123": {"search": "123"},
    "pr_status:draft,open": VAIN,
    "pr_status:draft pr_status:merged": VAIN,
    "pr:12": VAIN,
    "pr_title:x": VAIN,
    "repo:a/b": VAIN,
    'diff_url:"https://a/b"': VAIN,
}
NOT_UNDERSTOOD = [
    "red",
    '"red wine"',
    "title:",
    ":red",
    '"":red',
    "title:a:b",
    "title::",
    ":",
    "colour:red",
    "title:a title:b",
    "archived:true archived:true",
    "archived:yes",
    'archived:""',
    "has_unread:2",
    "needs_me:maybe",
    "status:done",
    "status:running,",
    "source:everybody",
    "source:created_by_me,",
    "pr:0",
    "pr:-1",
    "pr:x",
    "pr:9999999999999999999",
    "pr_status:lost",
    "diff_url:ftp",
    'diff_url:"https://"',
    'search:""',
    'search:"  "',
    "search:x title:y",
    "search:x pr_title:y",
    "search:x pr:1",
    "title:\0",
    "title:" + "x" * QUERY_CHARACTERS_MAX,
]


@pytest.mark.parametrize("query", UNDERSTOOD)
def test_a_search_that_is_understood(query):
    meant = UNDERSTOOD[query]

    search = search_of(query, limit=50)

    assert (meant == VAIN) == search.is_vain
    if meant != VAIN:
        assert ListFilter(**meant) == search.wanted


@pytest.mark.parametrize("query", NOT_UNDERSTOOD)
def test_a_search_that_makes_no_sense_is_refused(query):
    with pytest.raises(HttpError) as refused:
        search_of(query, limit=50)

    assert (400, ["q"]) == (
        refused.value.status,
        [fault.field for fault in refused.value.body.validations],
    )


def test_labels_hold_together_and_of_one_key_the_last_counts():
    search = search_of("", labels=["a:1", "b:x:y", "a:2"], limit=1)

    assert {"a": "2", "b": "x:y"} == search.wanted.labels


@pytest.mark.parametrize("label", ["a", "a:", ":1", ":", ""])
def test_a_label_has_a_key_and_a_value(label):
    with pytest.raises(HttpError) as refused:
        search_of("", labels=[label], limit=1)

    assert "label" == refused.value.body.validations[0].field


def test_the_page_is_handed_on():
    after = ChatId(UUID(int=3))

    wanted = search_of("", after=after, limit=7, offset=9).wanted

    assert (after, 7, 9) == (wanted.after, wanted.limit, wanted.offset)


VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


@given(
    title=VALUES.filter(lambda text: not re.search(r'\\("|$)', text)),
    archived=st.booleans(),
    spaces=st.integers(1, 3),
)
def test_whatever_stands_in_quotes_is_taken_as_it_is(title, archived, spaces):
    quoted = title.replace('"', r"\"")
    query = f'title:"{quoted}"{" " * spaces}archived:{archived}'

    wanted = search_of(query, limit=50).wanted

    assert (title, archived) == (wanted.title, wanted.archived)


@given(st.text())
def test_every_text_is_understood_or_refused(query):
    try:
        search = search_of(query, limit=50)
    except HttpError as refused:
        assert refused.status == 400
    else:
        assert search.wanted.limit == 50
