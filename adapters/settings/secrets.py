"""Secrets: texts that are sealed with the master key, and keys that are derived from it.

A sealed text names the key that sealed it, so that another master key is told from a damaged text.
It is bound to what it is about, so that one cannot be put in the place of another.
"""

import os
import stat
from pathlib import Path
from secrets import token_bytes, token_hex

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from adapters.settings.directories import make_directory
from adapters.settings.refusals import CannotStart

SETTING = "PROMPTCORNER_SECRET_KEY"
FILE_NAME = "secret.key"
LOCAL_TOKEN = "local-"  # begins those of commands on this machine
MASTER_BYTES_MIN = 32  # a shorter one is refused: it could be guessed

_VERSION = b"\x01"
_NAME_BYTES = 4
_NONCE_BYTES = 12
_HEAD_BYTES = len(_VERSION) + _NAME_BYTES + _NONCE_BYTES
_KEY_BYTES = 32


class CannotOpen(Exception):
    """A sealed text that stays closed. The message says what it is about and why, never what is in
    it."""


class Vault:
    """Seals and opens texts. People see its `name`: two master keys with one name are the same."""

    def __init__(self, master: bytes) -> None:
        assert len(master) >= MASTER_BYTES_MIN, "a master key is not to be guessed"
        self._master = master
        self._cipher = AESGCM(self.derived("seal"))
        self._name = self.derived("name")[:_NAME_BYTES]

    def __repr__(self) -> str:
        return f"Vault({self.name})"

    @property
    def name(self) -> str:
        return self._name.hex()

    def seal(self, text: str, about: str) -> bytes:
        """Seal a text, bound to what it is about."""
        head = _VERSION + self._name
        nonce = token_bytes(_NONCE_BYTES)
        return head + nonce + self._cipher.encrypt(nonce, text.encode(), head + about.encode())

    def open(self, sealed: bytes, about: str) -> str:
        """Open a sealed text. CannotOpen: another key sealed it, or it is about something else."""
        if len(sealed) < _HEAD_BYTES or sealed[:1] != _VERSION:
            raise CannotOpen(f"{about}: what is stored is no sealed text; set it anew")
        name = sealed[1 : 1 + _NAME_BYTES]
        if name != self._name:
            raise CannotOpen(
                f"{about}: sealed with the secret key {name.hex()}, ours is {self.name};"
                f" start with the former {SETTING}, or set it anew"
            )
        head, nonce = sealed[: 1 + _NAME_BYTES], sealed[1 + _NAME_BYTES : _HEAD_BYTES]
        try:
            opened = self._cipher.decrypt(nonce, sealed[_HEAD_BYTES:], head + about.encode())
        except InvalidTag:
            raise CannotOpen(f"{about}: what is stored was damaged or moved; set it anew") from None
        return opened.decode()

    def derived(self, purpose: str) -> bytes:
        """Return 32 bytes for one purpose, the same in every process with this master key."""
        info = f"promptcorner/{purpose}".encode()
        return HKDF(SHA256(), _KEY_BYTES, salt=None, info=info).derive(self._master)


def local_token(vault: Vault) -> str:
    """Return the token of commands on this machine.

    A person who can read the master key is an admin anyway.
    """
    return f"{LOCAL_TOKEN}{vault.derived('local token').hex()}"


def open_vault(said: str | None, data_dir: Path) -> Vault:
    """Open the vault with the master key of the setting, or with that of the data directory.

    The latter is made at the first start. CannotStart says what is wrong with the key.
    """
    if said:
        return Vault(_long_enough(said, SETTING))
    path = data_dir / FILE_NAME
    if not path.exists():
        _make(path)
    return Vault(_long_enough(_read(path), str(path)))


def _long_enough(text: str, subject: str) -> bytes:
    master = text.strip().encode()
    if len(master) < MASTER_BYTES_MIN:
        fact = f"has {len(master)} bytes, must have {MASTER_BYTES_MIN} or more"
        raise CannotStart(subject, fact, "make one with: openssl rand -hex 32")
    return master


def _read(path: Path) -> str:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            fact = f"others may read it (mode {mode:04o})"
            raise CannotStart(str(path), fact, f"chmod 600 {path}")
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "is no text"
        raise CannotStart(str(path), (why or str(error)).lower()) from error


def _make(path: Path) -> None:
    """Make the file of the key, whole or not at all. Of several processes that start together one
    makes it, and all read the same."""
    made = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        make_directory(path.parent)
        file = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w") as writing:
            writing.write(token_hex(_KEY_BYTES) + "\n")
            writing.flush()
            os.fsync(file)
        try:
            os.link(made, path)
        except FileExistsError:
            pass  # another was faster
        finally:
            made.unlink()
    except OSError as error:
        fact = (error.strerror or str(error)).lower()
        raise CannotStart(
            str(path), fact, f"set {SETTING}, or name a directory we may write to"
        ) from error
