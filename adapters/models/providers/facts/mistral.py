"""Facts about Mistral's models, by name, and about what they demand of a conversation. No I/O.

The same models answer at Mistral, behind the gateways and on servers of one's own; all of them use
Mistral's own rules for a conversation, which are stricter than those of others.
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
    """Return whether a model is one of Mistral's, by its name behind that of its vendor."""
    return _FAMILIES.match(model.rpartition("/")[2].lower()) is not None


def short_id(id: str) -> str:
    """Return an id as Mistral takes it: exactly nine letters or digits.

    Ids of other vendors are replaced by their digest, so a call and its answer, and every later
    request, have the same one.
    """
    if _SHORT.fullmatch(id):
        return id
    number = int.from_bytes(hashlib.sha256(id.encode()).digest())
    letters = []
    for _ in range(9):
        number, place = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[place])
    return "".join(letters)
