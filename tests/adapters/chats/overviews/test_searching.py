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
    "search:x repo:a/b": {"search": "x", "repo": "a/b"},
    "pr_status:draft,OPEN": {"pr_statuses": ("draft", "open")},
    "pr:12": {"pr": 12},
    "pr_title:x": {"pr_title": "x"},
    "repo:a/b": {"repo": "a/b"},
    'diff_url:"https://a/b"': {"diff_url": "https://a/b"},
}
NOT_UNDERSTOOD = {  # and the term that is to blame, or the text as a whole
    "red": "q",
    '"red wine"': "q",
    "title:": "q",
    ":red": "q",
    '"":red': "q",
    "title:a:b": "q",
    "title::": "q",
    ":": "q",
    "colour:red": "colour",
    "title:a title:b": "title",
    "archived:true archived:true": "archived",
    "archived:yes": "archived",
    'archived:""': "archived",
    "has_unread:2": "has_unread",
    "needs_me:maybe": "needs_me",
    "status:done": "status",
    "status:running,": "status",
    "source:everybody": "source",
    "source:created_by_me,": "source",
    "pr_status:draft,done": "pr_status",
    "pr:0": "pr",
    "pr:-1": "pr",
    "pr:1.5": "pr",
    "pr:99999999999": "pr",
    "pr:1 pr:2": "pr",
    "diff_url:a/b": "diff_url",
    "diff_url:https://a/b": "q",
    "search:x pr:1": "search",
    "search:x pr_title:y": "search",
    'search:""': "search",
    'search:"  "': "search",
    "search:x title:y": "search",
    "title:\0": "q",
    "title:" + "x" * QUERY_CHARACTERS_MAX: "q",
}


@pytest.mark.parametrize("query", UNDERSTOOD)
def test_a_search_that_is_understood(query):
    assert ListFilter(**UNDERSTOOD[query]) == search_of(query, limit=50)


@pytest.mark.parametrize("query", NOT_UNDERSTOOD)
def test_a_search_that_makes_no_sense_is_refused(query):
    with pytest.raises(HttpError) as refused:
        search_of(query, limit=50)

    assert (400, [NOT_UNDERSTOOD[query]]) == (
        refused.value.status,
        [fault.field for fault in refused.value.body.validations],
    )


def test_labels_hold_together_and_of_one_key_the_last_counts():
    wanted = search_of("", labels=["a:1", "b:x:y", "a:2"], limit=1)

    assert {"a": "2", "b": "x:y"} == wanted.labels


@pytest.mark.parametrize("label", ["a", "a:", ":1", ":", ""])
def test_a_label_has_a_key_and_a_value(label):
    with pytest.raises(HttpError) as refused:
        search_of("", labels=[label], limit=1)

    assert "label" == refused.value.body.validations[0].field


def test_the_page_is_handed_on():
    after = ChatId(UUID(int=3))

    wanted = search_of("", after=after, limit=7, offset=9)

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

    wanted = search_of(query, limit=50)

    assert (title, archived) == (wanted.title, wanted.archived)


@given(st.text())
def test_every_text_is_understood_or_refused(query):
    try:
        wanted = search_of(query, limit=50)
    except HttpError as refused:
        assert refused.status == 400
    else:
        assert wanted.limit == 50
