"""Passwords: few at once, the same work for everybody, and what is none."""

import pytest
import trio
from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import VerifyMismatchError

from adapters.http.refusals import HttpError
from adapters.people.auth import passwords as bounds
from adapters.people.auth.passwords import Passwords, fault_of
from tests.adapters.people.auth.stage import CHEAP


async def test_a_password_matches_what_was_made_of_it_and_no_other_does():
    passwords = Passwords(CHEAP)
    hashed = await passwords.hashed("correct horse")

    assert await passwords.matches(hashed, "correct horse")
    assert not await passwords.matches(hashed, "correct horse ")
    assert "correct horse" not in hashed


async def test_the_same_letters_match_however_a_keyboard_writes_them():
    passwords = Passwords(CHEAP)
    hashed = await passwords.hashed("caf\u00e9 au lait")

    assert await passwords.matches(hashed, "cafe\u0301 au lait")


@pytest.mark.parametrize("hash", [None, "", "no hash at all", "$argon2id$v=19$m=8,t=1,p=1$x$y"])
async def test_nothing_matches_what_is_none(hash):
    assert not await Passwords(CHEAP).matches(hash, "correct horse")


class Counting(PasswordHasher):
    """argon2 that counts how often it has really worked."""

    worked = 0

    def verify(self, hash, password):
        try:
            return super().verify(hash, password)
        except VerifyMismatchError:  # not before all the work was done
            self.worked += 1
            raise


async def test_as_much_work_is_done_for_nobody_as_for_somebody():
    hasher = Counting(1, 8, 1)
    passwords = Passwords(hasher)
    hashed = await passwords.hashed("correct horse")

    worked = []
    for known in (hashed, None):
        await passwords.matches(known, "battery staple")
        worked.append(hasher.worked)

    assert [1, 2] == worked
    assert extract_parameters(hashed) == extract_parameters(passwords._no_users)


async def test_a_hash_of_former_cost_is_made_anew_and_one_of_todays_is_not():
    former, today = Passwords(CHEAP), Passwords(PasswordHasher(2, 16, 1))
    hashed = await former.hashed("correct horse")

    renewed = await today.renewed(hashed, "correct horse")

    assert await today.matches(renewed, "correct horse")
    assert await today.renewed(renewed, "correct horse") is None


async def test_who_comes_when_too_many_wait_is_told_to_come_again(monkeypatch):
    monkeypatch.setattr(bounds, "WAITING_MAX", 3)
    passwords, refused = Passwords(), []

    async def log_in():
        try:
            await passwords.matches(None, "correct horse")
        except HttpError as error:
            refused.append(error.status)

    async with trio.open_nursery() as nursery:
        for _ in range(bounds.AT_ONCE + 3 + 2):
            nursery.start_soon(log_in)

    assert [503, 503] == refused
    assert bounds.AT_ONCE + 3 == passwords.runs_count


FAULTS = {
    "123456789": "must have 10 characters or more",
    "x" * 257: "must have 256 characters or fewer",
    "abcabcabcabc": "must have 4 different characters or more",
    "Ann@example.org": "must not be what you are called",
    "correct horse": None,
    "ééééaaaabbbbcccc": None,
}


@pytest.mark.parametrize(("password", "fault"), FAULTS.items())
def test_what_is_no_password_to_have(password, fault):
    assert fault == fault_of(password, "ann", "ann@example.org", "")
