"""What the daemon does once to the process that it is."""

import gc
import weakref

import pytest

from adapters.daemon.daemon import NEW_OBJECTS_MAX, tune_garbage_collector


@pytest.fixture
def usual_collector():
    before = gc.get_threshold()
    gc.unfreeze()  # what tests/conftest.py has frozen
    yield
    gc.freeze()
    gc.set_threshold(*before)


class Knot:
    """Holds itself."""

    def __init__(self):
        self.itself = self


def test_what_is_there_at_the_start_is_not_looked_at_again(usual_collector):
    tune_garbage_collector()

    assert gc.get_freeze_count() > 1000
    assert NEW_OBJECTS_MAX == gc.get_threshold()[0]


def test_garbage_that_holds_itself_is_found_in_the_end(usual_collector):
    tune_garbage_collector()
    knot = weakref.ref(Knot())
    kept = [[] for _ in range(NEW_OBJECTS_MAX + 1)]

    assert knot() is None, f"still there after {len(kept)} more"
