"""Who is heard first, and what stays unsaid."""

from pathlib import Path

import pytest

from adapters import config
from adapters.directories import default_data_dir
from adapters.refusals import CannotStart


def test_without_a_word_the_defaults_hold():
    settings = config.read({}, {})

    assert ("127.0.0.1", 7390) == (settings.host, settings.port)
    assert (default_data_dir(), None) == (settings.data_dir, settings.database_url)
    assert (config.BOUNDS["pool_size"].usual, "auto", "info") == (
        settings.pool_size,
        settings.log,
        settings.log_level,
    )


def test_a_flag_comes_before_the_environment_and_that_before_the_default():
    environment = {"PROMPTCORNER_LISTEN": "[::1]:80", "PROMPTCORNER_LOG_LEVEL": "debug"}

    settings = config.read({"listen": "0.0.0.0:81", "log_level": None}, environment)

    assert ("0.0.0.0", 81, "debug") == (settings.host, settings.port, settings.log_level)


def test_an_empty_variable_is_an_unset_one():
    settings = config.read({}, {"DATABASE_URL": "", "PROMPTCORNER_POOL_SIZE": ""})

    assert (None, config.BOUNDS["pool_size"].usual) == (settings.database_url, settings.pool_size)


def test_an_address_in_brackets_is_one_of_ipv6():
    assert ("::1", 80) == (
        config.read({"listen": "[::1]:80"}, {}).host,
        config.read({"listen": "[::1]:80"}, {}).port,
    )


def test_a_relative_directory_is_one_from_here():
    assert Path.cwd() / "data" == config.read({"data_dir": "data"}, {}).data_dir


@pytest.mark.parametrize("address", ["postgresql://ann:secret@h/d", "host=h password=secret"])
def test_a_password_is_in_no_repr(address):
    settings = config.read({}, {"DATABASE_URL": address})

    assert address == settings.database_url
    assert "secret" not in repr(settings)


@pytest.mark.parametrize("address", ["postgresql://ann:secret@[h/d", "password=secret nonsense"])
def test_a_password_is_in_no_refusal(address):
    with pytest.raises(CannotStart) as refusal:
        config.read({}, {"DATABASE_URL": address})

    assert "secret" not in str(refusal.value)
    assert refusal.value.__cause__ is None


def test_an_empty_directory_is_not_the_one_we_are_in():
    with pytest.raises(CannotStart, match=r"^config: --data-dir is empty, must name a directory$"):
        config.read({"data_dir": ""}, {})


def test_a_path_with_a_zero_byte_is_refused():
    with pytest.raises(CannotStart, match=r"^config: --data-dir has a zero byte in it$"):
        config.read({"data_dir": "a\0b"}, {})


@pytest.mark.parametrize("name", config.BOUNDS)
def test_a_number_may_be_said_within_its_bounds(name):
    bounds = config.BOUNDS[name]

    for value in (bounds.low, bounds.high):
        assert value == getattr(config.read({name: f"{value:g}"}, {}), name)
    assert bounds.usual == getattr(config.read({}, {}), name)


@pytest.mark.parametrize("name", config.BOUNDS)
def test_a_number_out_of_its_bounds_is_refused(name):
    bounds = config.BOUNDS[name]
    flag = "--" + name.replace("_", "-")

    for value in ("-1", "much", "1e3", f"{bounds.high + 1:g}"):
        with pytest.raises(CannotStart, match=rf"^config: {flag}={value}, must be {bounds.low:g}"):
            config.read({name: value}, {})


def test_seconds_may_have_a_fraction_and_counts_may_not():
    assert 2.5 == config.read({"lease_seconds": "2.5"}, {}).lease_seconds
    with pytest.raises(CannotStart):
        config.read({"root_chats": "2.5"}, {})
