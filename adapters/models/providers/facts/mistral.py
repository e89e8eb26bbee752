"""Facts about Mistral's models, by name, and about what they demand of a conversation. No I/O.

The same models answer at Mistral, behind gateways and on users' own servers. Everywhere they keep
Mistral's rules for a conversation, which are stricter than those of other vendors.
"""

import hashlib
import re
import string

_FAMILIES = re.compile(
    r"(open-)?(mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)"
)
_SHORT = re.compile(r"[A-Za-z0-9]{9}")
_LETTERS = string.ascii_letters + string.digits


def is_mistral(model: str) -> bool:
    """Return whether a model is one of Mistral's. A vendor before a slash does not count."""
    return _FAMILIES.match(model.rpartition("/")[2].lower()) is not None


def short_id(id: str) -> str:
    """Return an id as Mistral takes it: exactly nine letters or digits.

    An id of another vendor is replaced by a digest of it, so that a call and its answer have the
    same id in this request and in all later ones.
    """
    if _SHORT.fullmatch(id):
        return id
    number = int.from_bytes(hashlib.sha256(id.encode()).digest())
    letters = []
    for _ in range(9):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return "".join(letters)
