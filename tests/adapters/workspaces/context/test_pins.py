"""Snapshots in memory: the one used longest ago goes first."""

from actors.prompts.resources import Resource, ResourceKind, WorkspaceResources
from adapters.workspaces.context.pins import Snapshots, SnapshotsStatistics


def of(characters):
    return WorkspaceResources(
        "", (Resource("a", ResourceKind.INSTRUCTION_FILE, 0, text="x" * characters),)
    )


def test_at_the_bound_the_one_used_longest_ago_goes():
    kept = Snapshots(kept_characters_max=10)
    kept.put(b"a", of(4))
    kept.put(b"b", of(4))
    kept.get(b"a")

    kept.put(b"c", of(4))

    assert (of(4), None, of(4)) == (kept.get(b"a"), kept.get(b"b"), kept.get(b"c"))
    assert SnapshotsStatistics(2, 8) == kept.statistics()


def test_what_is_kept_already_counts_once():
    kept = Snapshots()

    for _ in range(3):
        kept.put(b"a", of(4))

    assert SnapshotsStatistics(1, 4) == kept.statistics()


def test_one_that_is_larger_than_the_bound_is_kept_until_another_comes():
    kept = Snapshots(kept_characters_max=10)
    kept.put(b"big", of(99))

    assert of(99) == kept.get(b"big")
    kept.put(b"a", of(4))
    assert kept.get(b"big") is None
