"""Names of files, out of a request's header and into an answer's. Pure."""

import re
from email.message import Message
from pathlib import PurePosixPath
from urllib.parse import quote

NAME_BYTES_MAX = 255  # of a file's name; a longer one is cut before its ending

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PLAIN = re.compile(r"[ !#-;=?-\[\]-~]*")  # may stand in a quoted string as it is: not " \ < >


def name_said(disposition: str) -> str:
    """The file's name in a Content-Disposition, cleaned; empty if there is none to use."""
    header = Message()
    header["Content-Disposition"] = disposition
    return cleaned(_decoded(header.get_filename() or ""))


def cleaned(name: str) -> str:
    """Without its folders, and without what nobody can see."""
    name = _UNPRINTABLE.sub("", name.replace("\\", "/")).strip().rpartition("/")[2].strip()
    if name in ("", ".", ".."):
        return ""
    ending = PurePosixPath(name).suffix
    room = NAME_BYTES_MAX - len(ending.encode())
    if room <= 0:
        return _cut(name, NAME_BYTES_MAX)
    stem = name.removesuffix(ending) if ending else name
    return _cut(stem, room) + ending


def disposition_of(name: str, *, inline: bool) -> str:
    """As a header; what is not plain is said twice, so that old clients get something too."""
    kind = "inline" if inline else "attachment"
    if _PLAIN.fullmatch(name):
        return f'{kind}; filename="{name}"'
    plain = "".join(each if _PLAIN.fullmatch(each) else "_" for each in name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _decoded(name: str) -> str:
    """Headers come as Latin-1; many clients mean UTF-8."""
    try:
        return name.encode("latin-1").decode()
    except UnicodeError:
        return name


def _cut(text: str, bytes_max: int) -> str:
    return text.encode()[:bytes_max].decode(errors="ignore")
