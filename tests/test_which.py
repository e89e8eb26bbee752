"""`make which-tests` finds tests: near ones, importing ones, and those through a fixture."""

import pytest

from tests import which


def test_a_file_has_tests_of_its_own_and_tests_that_import_it():
    own, direct, _ = which.rings_of(which.ROOT / "runtime/mailbox.py")

    assert which.ROOT / "tests/runtime/test_mailbox.py" in own
    assert not set(own) & set(direct)


def test_a_test_that_uses_a_fixture_is_found_through_it():
    _, direct, through = which.rings_of(which.ROOT / "adapters/postgres/embedded/__init__.py")

    assert which.ROOT / "tests/conftest.py" not in direct
    # tests/conftest.py starts the server, and so stands between that package and every test.
    assert which.ROOT / "tests/runtime/test_mailbox.py" in through


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("no/such.py", "no Python file"),
        ("README.md", "no Python file"),
        ("bench/ways.py", "not part of the product"),
    ],
)
def test_a_file_that_is_not_of_the_product_is_refused(name, says, capsys):
    with pytest.raises(SystemExit, match="2"):
        which.main([name])

    assert says in capsys.readouterr().err


def test_the_last_line_is_a_command(capsys):
    which.main(["runtime/mailbox.py"])

    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(".venv/bin/pytest -q tests/runtime/test_mailbox.py")
