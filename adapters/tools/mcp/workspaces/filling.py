"""Variables in what a workspace says of its servers: `${NAME}`, or `${NAME:-other}` for where it is
not set, or empty. Pure.

They are those that commands of the workspace find, and never our own. What looks otherwise stands
as it is, and what was filled in is not looked at again.
"""

import re
from collections.abc import Mapping

FILLED_CHARACTERS_MAX = 65_536  # of a text with its values; a longer one is refused

_PLACE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class CannotFill(Exception):
    """Why not, in words for people."""


def filled(text: str, variables: Mapping[str, str]) -> str:
    """Or `CannotFill`."""

    def value(place: re.Match[str]) -> str:
        name, other = place[1], place[2]
        if name not in variables and other is None:
            raise CannotFill(
                f"the variable {name[:64]} is not set for commands of the workspace;"
                f" ${{{name[:64]}:-value}} says what counts then"
            )
        return variables.get(name) or other or ""

    text = _PLACE.sub(value, text)
    if len(text) > FILLED_CHARACTERS_MAX:
        raise CannotFill(f"with its variables it has more than {FILLED_CHARACTERS_MAX} characters")
    return text
