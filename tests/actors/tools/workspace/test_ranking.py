"""Which template comes first, and which is recommended."""

import pytest

from actors.tools.workspace.ranking import HALF_LIFE_DAYS, Candidate, Uses, affinity, ranked

OTHERS = Uses(developers=1)
OFTEN = Uses(developers=1, own=1)


def names(ranking):
    return [each.id for each in ranking.candidates]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("web", ["web", "web-service", "my-web", "other"]),
        ("WEB_service", ["web-service"]),
        ("w e b", ["web", "web-service", "my-web", "other"]),
        ("none", []),
    ],
)
def test_what_was_asked_for_by_name_comes_first(query, order):
    found = [
        Candidate("other", description="for the web"),
        Candidate("my-web"),
        Candidate("web-service", uses=OFTEN),
        Candidate("web"),
    ]

    assert order == names(ranked(found, query))


def test_among_equals_comes_first_what_the_user_works_with():
    found = [Candidate("a"), Candidate("b", uses=OTHERS), Candidate("c", uses=OFTEN)]

    assert ["c", "b", "a"] == names(ranked(found, ""))


def test_use_fades():
    assert affinity(Uses(own=2)) == 2 * affinity(Uses(own=2, last_own_days=HALF_LIFE_DAYS))


def test_what_is_gone_counts_half():
    assert affinity(Uses(own=1)) == affinity(Uses(own_removed=2))


@pytest.mark.parametrize(
    ("candidates", "query", "recommended"),
    [
        ([], "", None),
        ([Candidate("a")], "", "a"),
        ([Candidate("a"), Candidate("b")], "", None),
        ([Candidate("a"), Candidate("b")], "b", "b"),
        ([Candidate("ab"), Candidate("ac")], "a", None),
        ([Candidate("a"), Candidate("ab")], "a", "a"),
        ([Candidate("a"), Candidate("b", uses=OFTEN)], "", "b"),
        ([Candidate("a", uses=OFTEN), Candidate("b", uses=OFTEN)], "", None),
        ([Candidate("a"), Candidate("b", uses=OTHERS)], "", None),
        ([Candidate("a"), Candidate("b", uses=Uses(developers=2))], "", "b"),
    ],
)
def test_one_is_recommended_if_it_is_clear_which(candidates, query, recommended):
    assert recommended == ranked(candidates, query).recommended
