"""The vault: what is sealed comes back to whoever has the key, and to nobody else."""

import stat

import pytest

from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import FILE_NAME, CannotOpen, Vault, open_vault

MASTER = b"0123456789abcdef0123456789abcdef"
OTHER = b"fedcba9876543210fedcba9876543210"
KEY = "sk-very-secret-key"
ABOUT = "provider/anthropic key 1"


def test_what_was_sealed_is_opened_again():
    vault = Vault(MASTER)

    sealed = vault.seal(KEY, ABOUT)

    assert KEY == vault.open(sealed, ABOUT)
    assert KEY.encode() not in sealed


def test_a_text_is_sealed_otherwise_each_time():
    vault = Vault(MASTER)

    assert vault.seal(KEY, ABOUT) != vault.seal(KEY, ABOUT)


def test_another_master_key_is_told_as_such():
    sealed = Vault(MASTER).seal(KEY, ABOUT)

    with pytest.raises(CannotOpen) as refused:
        Vault(OTHER).open(sealed, ABOUT)

    assert str(refused.value) == (
        f"{ABOUT}: sealed with the secret key {Vault(MASTER).name}, ours is {Vault(OTHER).name};"
        " start with the former PROMPTCORNER_SECRET_KEY, or set it anew"
    )


def test_what_is_about_one_thing_does_not_open_as_another():
    vault = Vault(MASTER)

    with pytest.raises(CannotOpen, match="was damaged or moved"):
        vault.open(vault.seal(KEY, ABOUT), "provider/openai key 1")


@pytest.mark.parametrize("at", [5, 16, 17, -1])
def test_a_damaged_text_stays_closed(at):
    vault = Vault(MASTER)
    sealed = bytearray(vault.seal(KEY, ABOUT))
    sealed[at] ^= 1

    with pytest.raises(CannotOpen, match="was damaged or moved"):
        vault.open(bytes(sealed), ABOUT)


@pytest.mark.parametrize("stored", [b"", b"\x01short", b"plain text, as somebody put it there"])
def test_what_never_was_sealed_is_not_opened(stored):
    with pytest.raises(CannotOpen, match="is no sealed text"):
        Vault(MASTER).open(stored, ABOUT)


def test_keys_are_derived_for_one_purpose_each():
    vault = Vault(MASTER)

    assert vault.derived("links") == Vault(MASTER).derived("links")
    assert vault.derived("links") != vault.derived("tickets")
    assert vault.derived("links") != Vault(OTHER).derived("links")
    assert 32 == len(vault.derived("links"))


def test_a_vault_shows_its_name_and_nothing_of_its_key():
    vault = Vault(MASTER)

    assert f"Vault({vault.name})" == repr(vault)
    assert MASTER.decode() not in repr(vault)


def test_the_first_start_makes_a_key_that_the_next_one_finds(tmp_path):
    first = open_vault(None, tmp_path / "data")

    second = open_vault("", tmp_path / "data")

    path = tmp_path / "data" / FILE_NAME
    assert first.derived("links") == second.derived("links")
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert [path] == list(path.parent.iterdir())


def test_a_key_that_is_said_is_taken_before_the_file(tmp_path):
    said = open_vault(f"  {MASTER.decode()}\n", tmp_path)

    assert said.derived("links") == Vault(MASTER).derived("links")
    assert [] == list(tmp_path.iterdir())


def test_a_short_key_is_refused_and_not_told(tmp_path):
    with pytest.raises(CannotStart) as refused:
        open_vault("too short", tmp_path)

    assert str(refused.value) == (
        "PROMPTCORNER_SECRET_KEY: has 9 bytes, must have 32 or more;"
        " make one with: openssl rand -hex 32"
    )


def test_a_file_that_others_may_read_is_refused(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_text(MASTER.decode())
    path.chmod(0o644)

    with pytest.raises(CannotStart, match=r"others may read it \(mode 0644\); chmod 600"):
        open_vault(None, tmp_path)


def test_a_directory_that_cannot_be_made_is_told_with_what_to_do(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(CannotStart, match="set PROMPTCORNER_SECRET_KEY, or name a directory"):
        open_vault(None, tmp_path / "file")
