"""How much a process keeps, by the memory of its machine."""

import pytest

from adapters.daemon.kept_memory import kept_bytes, memory_bytes

MB, GB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("megabytes", "memory", "processes", "expected"),
    [
        (None, 8 * GB, 1, 512 * MB),
        (None, 8 * GB, 4, 128 * MB),
        (None, 512 * MB, 1, 64 * MB),
        (None, 512 * GB, 1, 1024 * MB),
        (9, 512 * GB, 4, 9 * MB),
        (0, 8 * GB, 1, 0),
    ],
)
def test_a_process_keeps_a_share_of_the_memory_within_bounds(
    megabytes, memory, processes, expected
):
    assert expected == kept_bytes(megabytes, memory, processes=processes)


def test_a_container_has_the_memory_that_it_is_given(tmp_path):
    machine = memory_bytes(tmp_path / "missing")
    limit = tmp_path / "memory.max"

    limit.write_text("max\n")
    assert machine == memory_bytes(limit)
    limit.write_text(f"{MB}\n")
    assert MB == memory_bytes(limit)
