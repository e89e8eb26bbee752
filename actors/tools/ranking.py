"""The order in which templates are shown, and whether one of them is recommended. Pure.

Templates that match the search by name come first. Among equals those count that this user has
worked with lately, and then those that others work with. One is recommended if it is the only one,
the only one that matches best, or clearly the one that the user is used to.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log

LOOKED_BACK_DAYS = 60
HALF_LIFE_DAYS = 14.0  # after which what the user has done counts half
OWN_WEIGHT = 10.0
REMOVED_WEIGHT = 0.5  # of one that is gone, against one that is there
USED_TO = log(3)  # from which on somebody is used to a template
LEAD = log(3) - log(2)  # by which it has to be ahead of the next

_IGNORED = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class TemplateUse:
    """Counts of the recent use of one template."""

    developers: int = 0  # of all users
    own: int = 0  # workspaces of this user
    last_own_at: datetime | None = None
    last_own_days: float = 0.0  # ago
    own_removed: int = 0  # of those that this user had


UNUSED = TemplateUse()


@dataclass(frozen=True, slots=True)
class TemplateCandidate:
    id: str
    display_name: str = ""
    description: str = ""
    uses: TemplateUse = UNUSED


@dataclass(frozen=True, slots=True)
class Ranking:
    candidates: tuple[TemplateCandidate, ...]
    recommended: str | None


def rank(candidates: Sequence[TemplateCandidate], query: str) -> Ranking:
    wanted = _plain(query)
    fitting = [each for each in candidates if not wanted or _tier(each, wanted)]
    order = sorted(fitting, key=lambda each: (-_tier(each, wanted), -affinity(each.uses), each.id))
    return Ranking(tuple(order), _recommended(order, wanted))


def affinity(uses: TemplateUse) -> float:
    fading: float = 2 ** (-uses.last_own_days / HALF_LIFE_DAYS)
    own = uses.own + REMOVED_WEIGHT * uses.own_removed
    return OWN_WEIGHT * own * fading + log(1 + uses.developers)


def _recommended(order: Sequence[TemplateCandidate], wanted: str) -> str | None:
    if not order:
        return None
    first, *others = order
    if not others or (wanted and _tier(first, wanted) > _tier(others[0], wanted)):
        return first.id
    felt, next_felt = affinity(first.uses), max(affinity(each.uses) for each in others)
    return first.id if felt >= USED_TO and felt - next_felt >= LEAD else None


def _tier(candidate: TemplateCandidate, wanted: str) -> int:
    """Return how well a template matches the search; 0 if it does not, or if there is no search."""
    if not wanted:
        return 0
    names = [_plain(candidate.id), _plain(candidate.display_name)]
    if wanted in names:
        return 4
    if any(name.startswith(wanted) for name in names):
        return 3
    if any(wanted in name for name in names):
        return 2
    return int(wanted in _plain(candidate.description))


def _plain(text: str) -> str:
    return _IGNORED.sub("", text).casefold()
