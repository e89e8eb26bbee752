"""JSON that is kept as text: whether it is any. Pure.

Strict, as the store and the providers are: NaN and Infinity are not JSON, nor is what nests deeper,
or has longer numbers, than we are willing to read.
"""

import json
from typing import Any, NoReturn


def parsed(text: str | None) -> Any:
    """The value, or ValueError."""
    if text is None:
        raise ValueError("nothing is not JSON")
    try:
        return json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deep") from None


def is_json(text: str | None) -> bool:
    try:
        parsed(text)
    except ValueError:
        return False
    return True


def is_object(text: str | None) -> bool:
    try:
        return isinstance(parsed(text), dict)
    except ValueError:
        return False


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
