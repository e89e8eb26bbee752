"""The refusals of OpenAI, the same in both of its interfaces. Pure."""

from adapters.rehearsal.dialogue import HttpRefusal

_KINDS: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "The request is not valid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "permission_denied", "You are not allowed to do this."),
    404: ("invalid_request_error", "not_found", "There is nothing here."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("service_unavailable_error", None, "The engine is currently overloaded."),
    529: ("overloaded_error", None, "Overloaded"),
}
_OVERFLOW = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in "
    "212345 tokens. Please reduce the length of the messages."
)


def refusal(status: int, message: str = "", overflow: bool = False) -> HttpRefusal:
    kind, code, usual = _KINDS.get(status, ("server_error", None, f"Refused with {status}."))
    if overflow:
        code, usual = "context_length_exceeded", _OVERFLOW
    error = {
        "message": message or usual,
        "type": kind,
        "param": "messages" if overflow else None,
        "code": code,
    }
    return HttpRefusal(status, {"error": error})
