"""The secrets in what is sent and received, and what is shown in their places. Pure.

Names decide: of headers, of keys in JSON, of parameters in an address. A body that is not JSON,
nor lines of it, is not shown at all, because nothing tells where its secrets are. The bytes of
files are never shown, only how many there were.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import msgspec

REDACTED = "[REDACTED]"
BODY_BYTES_MAX = 50_000  # of a body as it is shown; the rest is cut, and its length is noted
TEXT_CHARACTERS_MAX = 10_000  # of one text in it; likewise
READ_BYTES_MAX = 8 << 20  # a longer body is not read for its secrets, and so not shown
DEPTH_MAX = 100  # of JSON; what lies deeper is not shown
FILE_CHARACTERS_MIN = 256  # of base64 in one piece: as long a text is the bytes of a file

_HEADERS = frozenset(
    {"authorization", "x-api-key", "api-key", "proxy-authorization", "cookie", "set-cookie"}
)
_IN_HEADERS = ("api-key", "api_key", "apikey", "-key", "auth", "token", "secret", "bearer")
_COUNTERS = ("anthropic-ratelimit-", "x-ratelimit-")  # which count tokens of another kind
_KEYS = frozenset(
    {
        *("token", "accesstoken", "refreshtoken", "idtoken", "authtoken", "bearertoken"),
        *("sessiontoken", "securitytoken", "apitoken", "apikey", "xapikey", "accesskey"),
        *("accesskeyid", "privatekey", "signingkey", "secretkey", "secretaccesskey", "cookie"),
    }
)
_KEY_ENDINGS = ("token", "apikey")  # of names such as github_token; max_tokens is none
_IN_KEYS = ("secret", "password", "passphrase", "passwd", "authorization", "credential")
# Parameters of an address by which somebody gets in: Google's key, AWS's signature, a token.
_IN_QUERY = ("key", "token", "secret", "sig", "signature", "password", "credential", "auth", "code")
_FILE_KEYS = frozenset({"data", "bytes", "file_data", "b64_json", "image_bytes", "imageBytes"})
_BASE64 = re.compile(r"[A-Za-z0-9+/_=\s-]+")
_DATA_URL = re.compile(r"data:([\w.+/-]*)(?:;[\w=.+-]+)*;base64,")


def safe_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers by name, without those by which somebody could get in."""
    return {name: REDACTED if _is_secret_header(name) else clean(text) for name, text in headers}


def _is_secret_header(name: str) -> bool:
    name = name.lower()
    if name.startswith(_COUNTERS):
        return False
    return name in _HEADERS or any(word in name for word in _IN_HEADERS)


def safe_url(url: str) -> str:
    """Return an address without a user, a password, or parameters by which somebody gets in."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "[an address that cannot be read]"
    netloc = parts.netloc.rpartition("@")[2]
    query = [
        (name, REDACTED if _is_secret_parameter(name) else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    return clean(urlunsplit((parts.scheme, netloc, parts.path, urlencode(query, safe="[]"), "")))


def _is_secret_parameter(name: str) -> bool:
    return any(word in name.lower() for word in _IN_QUERY)


def safe_body(body: bytes, media_type: str, *, size: int | None = None) -> str:
    """Return a body as text that may be shown. `size` is its whole length if only its beginning
    is known."""
    size = len(body) if size is None else size
    if not body:
        return ""
    kind = media_type.partition(";")[0].strip().lower() or "unknown kind"
    if len(body) > READ_BYTES_MAX:
        return f"[{kind}, {size} bytes: too long to be shown]"
    is_lines = kind in ("text/event-stream", "application/x-ndjson", "application/jsonl")
    shown = _safe_lines(body) if is_lines else _safe_document(body)
    if shown is None:
        return f"[{kind}, {size} bytes: not JSON]"
    cut = size > len(body)
    return cut_text(shown, BODY_BYTES_MAX, size if cut else None)


def _safe_document(body: bytes) -> str | None:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return json_text(safe_json(value))


def _safe_lines(body: bytes) -> str:
    """Return lines of JSON, or of events with JSON behind `data:`. Any other line is only named by
    its length, unless it has a name or a comment alone."""
    return "\n".join(_safe_line(line) for line in body.decode("utf-8", "replace").splitlines())


def _safe_line(line: str) -> str:
    field, colon, rest = line.partition(":")
    if not line.strip() or field in ("event", "id", "retry"):
        return clean(line)
    begin, text = (f"{field}: ", rest.strip()) if colon and field == "data" else ("", line)
    if text == "[DONE]":
        return line
    shown = _safe_document(text.encode())
    return f"{begin}[{len(text)} characters: not JSON]" if shown is None else begin + shown


def safe_json(value: Any, depth: int = 0) -> Any:
    """Return JSON with the values of secret names, and the bytes of files, replaced."""
    if depth > DEPTH_MAX:
        return "[nested too deeply to be shown]"
    if isinstance(value, dict):
        return {clean(str(key)): _safe_value(key, own, depth) for key, own in value.items()}
    if isinstance(value, list):
        return [safe_json(each, depth + 1) for each in value]
    return _safe_text(value) if isinstance(value, str) else value


def _safe_value(key: Any, value: Any, depth: int) -> Any:
    if is_secret_key(str(key)) and value not in (None, "", [], {}):
        return REDACTED
    if key in _FILE_KEYS and isinstance(value, str) and _BASE64.fullmatch(value):
        return f"[{len(value)} characters of base64]"
    return safe_json(value, depth + 1)


def is_secret_key(key: str) -> bool:
    """Tell whether a value of this name is a secret. Counts of tokens are none."""
    plain = key.lower().replace("_", "").replace("-", "")
    is_known = plain in _KEYS or plain.endswith(_KEY_ENDINGS)
    return is_known or any(word in plain for word in _IN_KEYS)


def _safe_text(text: str) -> str:
    if found := _DATA_URL.match(text):
        return f"[{found[1] or 'a file'}, {len(text)} characters of base64]"
    if len(text) >= FILE_CHARACTERS_MIN and " " not in text and _BASE64.fullmatch(text):
        return f"[{len(text)} characters of base64]"
    if text[:1] in ("{", "["):  # arguments of tools travel as JSON inside of JSON
        shown = _safe_document(text.encode(errors="replace"))
        return short_text(text if shown is None else shown)
    return short_text(text)


def short_text(text: str) -> str:
    """Return a text as far as it is shown, with its whole length behind it if it was cut."""
    if len(text) <= TEXT_CHARACTERS_MAX:
        return clean(text)
    return f"{clean(text[:TEXT_CHARACTERS_MAX])}… [{len(text)} characters in all]"


def cut_text(text: str, bytes_max: int, size: int | None = None) -> str:
    """Return the beginning of a text, and how long it was in all. `size` is that if it is known to
    be longer than the text."""
    encoded = text.encode()
    if len(encoded) <= bytes_max and size is None:
        return text
    whole = len(encoded) if size is None else size
    return f"{encoded[:bytes_max].decode(errors='ignore')}… [{whole} bytes in all]"


def clean(text: str) -> str:
    """Return a text as the database can keep it: without U+0000 and halves of pairs."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def safe_mapping(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document of names and values without its secrets."""
    return {name: _safe_value(name, value, 0) for name, value in values.items()}
