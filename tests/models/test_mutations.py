"""The nets themselves are tested: each planted mistake turns those red that are said to see it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.mutations import MODEL, MUTATIONS, NETS, table

ROOT = Path(__file__).parents[2]
LAW = ("__init__.py", "law", "tools")  # what the nets import of `actors`
SECONDS_MAX = 1800  # about 40 on two idle cores


@pytest.mark.slow
@pytest.mark.timeout(SECONDS_MAX)
def test_the_nets_see_every_planted_mistake_and_none_in_the_law_as_it_is(tmp_path):
    sound = _copy(tmp_path / "sound")
    planted = {_planted(tmp_path / str(n), mutation): mutation for n, mutation in _numbered()}

    found = _cast({sound: NETS} | {top: mutation.nets for top, mutation in planted.items()})

    assert dict.fromkeys(NETS, "green") == found.pop(sound)
    missed = {
        planted[top].what: nets for top, nets in found.items() if set(nets.values()) != {"red"}
    }
    assert not missed
    assert planted.keys() == found.keys()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.what)
def test_what_a_mistake_replaces_stands_once_in_its_file(mutation):
    text = (ROOT / "actors/law" / mutation.file).read_text()

    assert text.count(mutation.old) == 1, "the law was rewritten: plant the mistake anew"


def test_the_list_in_the_readme_is_this_list():
    readme = (ROOT / "tests/README.md").read_text()

    assert table() in readme, f"tests/README.md: stale, put this list there:\n{table()}"


def test_most_mistakes_are_seen_by_two_nets():
    twice = [m for m in MUTATIONS if MODEL in m.nets and len(m.nets) > 1]

    assert len(twice) > len(MUTATIONS) * 3 / 4


def _numbered():
    return enumerate(MUTATIONS, start=1)


def _copy(top):
    """The law alone, as a package of its own."""
    for name in LAW:
        source, target = ROOT / "actors" / name, top / "actors" / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return str(top)


def _planted(top, mutation):
    _copy(top)
    path = top / "actors/law" / mutation.file
    path.write_text(path.read_text().replace(mutation.old, mutation.new))
    return str(top)


def _cast(copies):
    """What the nets say of each copy: {copy: {net: "red" or "green"}}."""
    jobs = [f"{top}:{','.join(nets)}" for top, nets in copies.items()]
    ran = subprocess.run(
        [sys.executable, ROOT / "tests/models/nets.py", *jobs],
        cwd=ROOT,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=True,
    )
    found = {top: {} for top in copies}
    for line in ran.stdout.splitlines():
        top, net, colour = line.split()
        found[top][net] = colour
    assert all(found[top].keys() == set(nets) for top, nets in copies.items()), ran.stderr
    return found
