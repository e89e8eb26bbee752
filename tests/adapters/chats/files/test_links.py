"""Links that open a file without a session."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from uuid import UUID

from actors.law.ids import FileId, UserId
from adapters.chats.files.routes import FileLinks

NOW = datetime(2030, 5, 17, 12, 0, tzinfo=UTC)
FILE, OTHER = FileId(UUID(int=1)), FileId(UUID(int=2))
ANN = UserId(UUID(int=11))
LINKS = FileLinks(b"k" * 32)
TOKEN = LINKS.token(FILE, ANN, until=NOW + timedelta(seconds=300))


def test_a_token_says_for_whom_it_was_made():
    assert LINKS.user_of(TOKEN, FILE, now=NOW) == ANN


def test_it_is_good_until_its_second_and_not_longer():
    until = NOW + timedelta(seconds=300)

    assert LINKS.user_of(TOKEN, FILE, now=until - timedelta(microseconds=1)) == ANN
    assert LINKS.user_of(TOKEN, FILE, now=until) is None


def test_it_opens_no_other_file():
    assert LINKS.user_of(TOKEN, OTHER, now=NOW) is None


def test_another_key_did_not_make_it():
    assert FileLinks(b"l" * 32).user_of(TOKEN, FILE, now=NOW) is None


def test_whatever_is_changed_of_it_it_is_no_token_any_more():
    raw = bytearray(urlsafe_b64decode(TOKEN))
    for at in range(len(raw)):
        raw[at] ^= 1
        assert LINKS.user_of(urlsafe_b64encode(raw).decode(), FILE, now=NOW) is None
        raw[at] ^= 1

    assert LINKS.user_of(urlsafe_b64encode(raw).decode(), FILE, now=NOW) == ANN


def test_what_is_no_token_is_nobodys():
    for text in ("", "x", TOKEN[:-1], TOKEN + "A", "ü" * len(TOKEN), "=" * len(TOKEN)):
        assert LINKS.user_of(text, FILE, now=NOW) is None
