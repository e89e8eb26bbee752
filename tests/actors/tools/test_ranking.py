"""Which template comes first, and which is recommended."""

import pytest

from actors.tools.ranking import HALF_LIFE_DAYS, TemplateCandidate, TemplateUse, affinity, rank

OTHERS = TemplateUse(developers=1)
OFTEN = TemplateUse(developers=1, own=1)


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
        TemplateCandidate("other", description="for the web"),
        TemplateCandidate("my-web"),
        TemplateCandidate("web-service", uses=OFTEN),
        TemplateCandidate("web"),
    ]

    assert order == names(rank(found, query))


def test_among_equals_comes_first_what_the_user_works_with():
    found = [
        TemplateCandidate("a"),
        TemplateCandidate("b", uses=OTHERS),
        TemplateCandidate("c", uses=OFTEN),
    ]

    assert ["c", "b", "a"] == names(rank(found, ""))


def test_use_fades():
    assert affinity(TemplateUse(own=2)) == 2 * affinity(
        TemplateUse(own=2, last_own_days=HALF_LIFE_DAYS)
    )


def test_what_is_gone_counts_half():
    assert affinity(TemplateUse(own=1)) == affinity(TemplateUse(own_removed=2))


@pytest.mark.parametrize(
    ("candidates", "query", "recommended"),
    [
        ([], "", None),
        ([TemplateCandidate("a")], "", "a"),
        ([TemplateCandidate("a"), TemplateCandidate("b")], "", None),
        ([TemplateCandidate("a"), TemplateCandidate("b")], "b", "b"),
        ([TemplateCandidate("ab"), TemplateCandidate("ac")], "a", None),
        ([TemplateCandidate("a"), TemplateCandidate("ab")], "a", "a"),
        ([TemplateCandidate("a"), TemplateCandidate("b", uses=OFTEN)], "", "b"),
        ([TemplateCandidate("a", uses=OFTEN), TemplateCandidate("b", uses=OFTEN)], "", None),
        ([TemplateCandidate("a"), TemplateCandidate("b", uses=OTHERS)], "", None),
        ([TemplateCandidate("a"), TemplateCandidate("b", uses=TemplateUse(developers=2))], "", "b"),
    ],
)
def test_one_is_recommended_if_it_is_clear_which(candidates, query, recommended):
    assert recommended == rank(candidates, query).recommended
