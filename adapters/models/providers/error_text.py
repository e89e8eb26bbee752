"""An error object in the middle of a stream, as one line of text. Pure.

Vendors agree on `message`; what kind of error it is stands under several names, as a word or as an
HTTP status. Both are kept: they decide whether the call is made again.
"""

_KINDS = ("status", "type", "code")


def error_text(error: object) -> str:
    """`status 503 overloaded_error: try again later`, as far as the error says so."""
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return "error"
    kinds = [_kind(error[name]) for name in _KINDS if isinstance(error.get(name), str | int)]
    message = error.get("message")
    said = " ".join(dict.fromkeys(kinds)) or "error"
    return f"{said}: {message}" if isinstance(message, str) and message else said


def _kind(value: str | int) -> str:
    """OpenAI writes `server_error` for what others say with status 500, and in words."""
    is_status = str(value).isdecimal() and 400 <= int(value) <= 599
    return f"status {value}" if is_status else str(value).replace("server_error", "server error")
