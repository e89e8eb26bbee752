"""A fixed set of seeds, each a life of its own; `PROMPTCORNER_SEEDS=500` plays so many."""

import os
from pathlib import Path

import pytest

from tests.simulation.planted import FAULTS
from tests.simulation.planting import ROOT, seen
from tests.simulation.story import line, run

SEEDS_COUNT = int(os.environ.get("PROMPTCORNER_SEEDS", "40"))
LONG_SECONDS_MAX = 600.0  # of real time, for a life of hundreds of deploys or chats
TRIED_SEEDS_COUNT = 20  # for a planted fault that most of them see
TRIED = (  # one of the law's edge, of a turn, of the chat actor, of the supervisor, of some lives
    "a fence does not look at the status",
    "the next attempt is taken for counted",
    "chats do not hear of news",
    "what a listener raises comes out in the turn",
    "a write is waited for as long as its disk hangs",
    "a parent that waits for its agents holds up its process",
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(SEEDS_COUNT))
def test_whatever_goes_wrong_what_must_hold_holds(seed):
    run(seed)


@pytest.mark.parametrize("seed", range(SEEDS_COUNT // 2))
def test_families_live_through_whatever_goes_wrong(seed):
    run(seed, "families")


@pytest.mark.parametrize("seed", range(SEEDS_COUNT // 4))
def test_turns_never_know_of_listeners_that_raise(seed):
    run(seed, "listeners")


@pytest.mark.parametrize("seed", range(SEEDS_COUNT // 2))
def test_no_more_is_spent_than_a_limit_and_the_calls_in_flight(seed):
    run(seed, "budgets")


@pytest.mark.parametrize("seed", range(SEEDS_COUNT // 4))
def test_nothing_waits_for_a_disk_of_others(seed):
    run(seed, "disks")


@pytest.mark.parametrize("seed", range(SEEDS_COUNT // 4))
def test_one_keeps_house_whatever_goes_wrong(seed):
    run(seed, "housekeeping")


@pytest.mark.parametrize("seed", range(SEEDS_COUNT // 4))
def test_no_news_is_lost_and_none_is_told_an_inbox_twice(seed):
    run(seed, "notices")


@pytest.mark.timeout(LONG_SECONDS_MAX)
@pytest.mark.parametrize("seed", range(max(1, SEEDS_COUNT // 40)))
def test_deploys_are_no_failures(seed):
    run(seed, "deploys")


@pytest.mark.timeout(LONG_SECONDS_MAX)
@pytest.mark.parametrize("seed", range(max(1, SEEDS_COUNT // 40)))
def test_chats_do_not_come_back_all_at_once_after_an_outage(seed):
    run(seed, "outage")


def test_a_seed_is_one_story_and_another_is_another():
    assert told(7) == told(7)
    assert told(7) != told(8)


def told(seed):
    return [line(event) for event in run(seed)]


@pytest.mark.parametrize("what", TRIED)
def test_a_planted_fault_is_seen(what):
    [fault] = [fault for fault in FAULTS if fault.what == what]

    assert 1 == seen(fault, seeds=TRIED_SEEDS_COUNT, first=True)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_what_a_fault_replaces_stands_once_in_its_file(fault):
    text = (ROOT / fault.path).read_text()

    assert 1 == text.count(fault.old), "the file was rewritten: plant the fault anew"


def test_the_readme_lists_these_faults():
    readme = (Path(__file__).parent / "README.md").read_text()

    rows = [
        line.split(" | ")
        for line in readme.splitlines()
        if ".py" in line and line.count(" | ") == 2
    ]
    assert [(f.what, f.where) for f in FAULTS] == [
        (row[0].removeprefix("| "), row[1]) for row in rows
    ]
