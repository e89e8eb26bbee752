"""The names of keys as models write them, and the keysyms by which X knows the keys. Pure.

Anthropic's models write names of X, joined by a plus: `ctrl+shift+Tab`. OpenAI's models send a list
of names in capitals. Both are read without regard to case and to `_`, `-` and spaces, where that
leaves no doubt. A single character is the key that makes it.
"""

from collections.abc import Sequence

from actors.tools.desktop.steps import ActionRefused

_UNICODE = 0x0100_0000  # and the number of the character: how X names what has no older name
_LATIN_1_MAX = 0xFF
RETURN, TAB = 0xFF0D, 0xFF09
ALT, ARROW_LEFT, ARROW_RIGHT = 0xFFE9, 0xFF51, 0xFF53
TOGETHER_MAX = 8  # keys in one combination; with more it is refused
TYPED_CHARACTERS_MAX = 10_000  # of one text; a longer one is refused

_MODIFIERS = {
    "ctrl": 0xFFE3,
    "control": 0xFFE3,
    "controll": 0xFFE3,
    "controlr": 0xFFE4,
    "shift": 0xFFE1,
    "shiftl": 0xFFE1,
    "shiftr": 0xFFE2,
    "alt": ALT,
    "altl": ALT,
    "altr": 0xFFEA,
    "option": ALT,
    "meta": 0xFFE7,
    "metal": 0xFFE7,
    "metar": 0xFFE8,
    "super": 0xFFEB,
    "superl": 0xFFEB,
    "superr": 0xFFEC,
    "cmd": 0xFFEB,
    "command": 0xFFEB,
    "win": 0xFFEB,
    "windows": 0xFFEB,
}
_SHIFTS = (0xFFE1, 0xFFE2)
_NAMED = {
    "backspace": 0xFF08,
    "tab": TAB,
    "return": RETURN,
    "enter": RETURN,
    "pause": 0xFF13,
    "scrolllock": 0xFF14,
    "escape": 0xFF1B,
    "esc": 0xFF1B,
    "home": 0xFF50,
    "left": ARROW_LEFT,
    "arrowleft": ARROW_LEFT,
    "up": 0xFF52,
    "arrowup": 0xFF52,
    "right": ARROW_RIGHT,
    "arrowright": ARROW_RIGHT,
    "down": 0xFF54,
    "arrowdown": 0xFF54,
    "pageup": 0xFF55,
    "prior": 0xFF55,
    "pagedown": 0xFF56,
    "next": 0xFF56,
    "end": 0xFF57,
    "print": 0xFF61,
    "printscreen": 0xFF61,
    "insert": 0xFF63,
    "menu": 0xFF67,
    "numlock": 0xFF7F,
    "kpenter": 0xFF8D,
    "capslock": 0xFFE5,
    "delete": 0xFFFF,
    "del": 0xFFFF,
    **{f"f{number}": 0xFFBD + number for number in range(1, 36)},
    **{f"kp{digit}": 0xFFB0 + digit for digit in range(10)},
    "kpmultiply": 0xFFAA,
    "kpadd": 0xFFAB,
    "kpsubtract": 0xFFAD,
    "kpdecimal": 0xFFAE,
    "kpdivide": 0xFFAF,
}
_CHARACTERS = {
    "space": " ",
    "plus": "+",
    "minus": "-",
    "equal": "=",
    "underscore": "_",
    "period": ".",
    "comma": ",",
    "slash": "/",
    "backslash": "\\",
    "semicolon": ";",
    "colon": ":",
    "apostrophe": "'",
    "quotedbl": '"',
    "grave": "`",
    "asciitilde": "~",
    "exclam": "!",
    "at": "@",
    "numbersign": "#",
    "dollar": "$",
    "percent": "%",
    "asciicircum": "^",
    "ampersand": "&",
    "asterisk": "*",
    "parenleft": "(",
    "parenright": ")",
    "bracketleft": "[",
    "bracketright": "]",
    "braceleft": "{",
    "braceright": "}",
    "less": "<",
    "greater": ">",
    "question": "?",
    "bar": "|",
}
_IGNORED = str.maketrans("", "", "_- ")


def keysyms_of(combination: str) -> tuple[int, ...]:
    """Return the keys of a combination as Anthropic's models write it: `ctrl+s`."""
    text = combination.strip()
    # A plus at the end is the key itself, and stands behind the plus that joins it.
    names = [*text[:-1].rstrip("+").split("+"), "+"] if text.endswith("+") else text.split("+")
    return keysyms_of_names([name for name in names if name])


def keysyms_of_names(names: Sequence[str]) -> tuple[int, ...]:
    """Return the keys of a list of names, as OpenAI's models send it."""
    if not names:
        raise ActionRefused("no key is named; name one, as Return or ctrl+s")
    if len(names) > TOGETHER_MAX:
        raise ActionRefused(
            f"{len(names)} keys at once are too many, at most {TOGETHER_MAX}; to write a text use"
            " the action type"
        )
    keysyms = [_keysym(name) for name in names]
    modifiers = [keysym for keysym in keysyms if keysym in _MODIFIERS.values()]
    if not modifiers:
        return tuple(keysyms)
    # The screen makes up or takes away a shift where a letter's case asks for it.
    has_shift = any(shift in modifiers for shift in _SHIFTS)
    return tuple(_cased(keysym, upper=has_shift) for keysym in keysyms)


def keysyms_of_text(text: str) -> tuple[int, ...]:
    """Return the keys that write a text, one after the other."""
    if len(text) > TYPED_CHARACTERS_MAX:
        raise ActionRefused(
            f"the text has {len(text)} characters, at most {TYPED_CHARACTERS_MAX} are typed at"
            " once; type it in pieces, or write a file"
        )
    return tuple(keysym_of_character(each) for each in text.replace("\r\n", "\n"))


def keysym_of_character(character: str) -> int:
    """Return the key that writes a character."""
    if character in "\n\r":
        return RETURN
    if character == "\t":
        return TAB
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0:
        raise ActionRefused(f"the character U+{code:04X} cannot be typed; leave it out")
    return code if code <= _LATIN_1_MAX else _UNICODE | code


def _keysym(name: str) -> int:
    if len(name) == 1:
        return keysym_of_character(name)
    plain = name.strip().lower().translate(_IGNORED)
    for known in (_MODIFIERS, _NAMED):
        if plain in known:
            return known[plain]
    if plain in _CHARACTERS:
        return ord(_CHARACTERS[plain])
    raise ActionRefused(
        f"there is no key {name[:40]!r}; name it as X does: Return, Tab, F5, ctrl+s"
    )


def _cased(keysym: int, *, upper: bool) -> int:
    if keysym > _LATIN_1_MAX or not chr(keysym).isalpha():
        return keysym
    character = chr(keysym).upper() if upper else chr(keysym).lower()
    return keysym_of_character(character) if len(character) == 1 else keysym
