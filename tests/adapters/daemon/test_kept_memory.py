"""A process keeps a share of the memory that its machine and its groups allow."""

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


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, None),
        ({"": "max"}, None),
        ({"": "1048576"}, MB),
        ({"": str(1 << 60)}, None),
        ({"system.slice": "max", "system.slice/ours.service": str(2 * MB)}, 2 * MB),
        ({"system.slice": str(MB), "system.slice/ours.service": str(2 * MB)}, MB),
        ({"system.slice/another.service": str(MB)}, None),
    ],
)
def test_a_process_has_the_least_that_the_groups_around_it_allow(tmp_path, limits, expected):
    groups, ours = tmp_path / "groups", tmp_path / "ours"
    ours.write_text("4:memory:/of/old\n0::/system.slice/ours.service\n")
    for name, limit in limits.items():
        (groups / name).mkdir(parents=True, exist_ok=True)
        (groups / name / "memory.max").write_text(f"{limit}\n")
    machine = memory_bytes(tmp_path, tmp_path / "missing")

    assert (expected or machine) == memory_bytes(groups, ours)


def test_a_group_whose_name_is_no_text_allows_what_its_container_does(tmp_path):
    (tmp_path / "memory.max").write_text(f"{MB}\n")
    (tmp_path / "ours").write_bytes(b"0::/\xff\n")

    assert MB == memory_bytes(tmp_path, tmp_path / "ours")


def test_without_a_group_of_its_own_a_process_has_what_its_container_has(tmp_path):
    (tmp_path / "memory.max").write_text(f"{MB}\n")

    assert MB == memory_bytes(tmp_path, tmp_path / "missing")
