"""Forms of pages: what a browser sends back, and what shows that the form was ours."""

import re
from urllib.parse import parse_qsl

from adapters.http.endpoints import Call
from adapters.people.auth.callers import cookie
from adapters.people.auth.signing import FORM_COOKIE

NOT_OUR_FORM = "This form was not sent by the page in this browser, or an hour ago. Send it again."
FIELDS_MAX = 10  # of a form; what is over is not looked at
_NONCE = re.compile(r"[\w-]{16,64}", re.ASCII)


def nonce_of(call: Call) -> str:
    """Return the nonce that this browser was given with a form, or "" if it has none."""
    nonce = cookie(call.headers.get("cookie", ""), FORM_COOKIE)
    return nonce if _NONCE.fullmatch(nonce) else ""


def form_fields(call: Call) -> dict[str, str]:
    """Return the fields of a form. A body that is no text has none."""
    try:
        text = call.body.decode()
    except UnicodeDecodeError:
        return {}
    return dict(parse_qsl(text, keep_blank_values=True)[:FIELDS_MAX])
