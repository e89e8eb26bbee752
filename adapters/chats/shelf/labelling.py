"""Which labels a chat may have. Pure."""

import re
from collections.abc import Iterator, Mapping

from adapters.http.refusals import HttpError, Validation

LABELS_MAX = 50  # of a chat; one more is refused
KEY_BYTES_MAX = 64
VALUE_BYTES_MAX = 256
SHOWN_MAX = 80  # characters of what is wrong that a refusal repeats

_KEY = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._/-]*", re.ASCII)


def checked_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """As they are. Refused with one word for each that cannot be."""
    faults = tuple(Validation("labels", fault) for fault in faults_of(labels))
    if faults:
        raise HttpError(400, "Invalid labels.", detail=faults[0].detail, validations=faults)
    return labels


def faults_of(labels: Mapping[str, str]) -> Iterator[str]:
    if len(labels) > LABELS_MAX:
        yield f"{len(labels)} labels are too many, a chat can have {LABELS_MAX}"
    for key, value in labels.items():
        name = repr(key[:SHOWN_MAX])
        if len(key.encode()) > KEY_BYTES_MAX:
            yield f"key {name} has {len(key.encode())} bytes, it can have {KEY_BYTES_MAX}"
        elif not _KEY.fullmatch(key):
            yield f"key {name} must begin with a letter or digit, then also have '.', '_', '/', '-'"
        length = len(value.encode())
        if not 1 <= length <= VALUE_BYTES_MAX:
            yield f"the value of {name} has {length} bytes, it must have 1 to {VALUE_BYTES_MAX}"
        elif "\0" in value:
            yield f"the value of {name} holds U+0000, which cannot be stored"
