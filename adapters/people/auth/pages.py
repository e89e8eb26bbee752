"""The few pages that work without a web interface: for links that are used once. Pure.

They hold no script and load nothing; a browser is told to allow neither, and to tell nobody where
it came from, since the address is the secret.
"""

from base64 import b64encode
from hashlib import sha256
from html import escape
from string import Template

from adapters.people.auth.passwords import CHARACTERS_MAX, CHARACTERS_MIN

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 15vh auto; max-width: 22rem; padding: 0 1rem }
h1 { font-size: 1.25rem }
label { display: block; margin-top: 1rem }
input, button { box-sizing: border-box; width: 100%; font: inherit; padding: .5rem .75rem }
button { margin-top: 1.5rem; cursor: pointer }
[role=alert] { border-left: 4px solid #c33; padding-left: .75rem }
"""
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()

HEADERS = (
    (
        "content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'",
    ),
    ("referrer-policy", "same-origin"),  # under no-referrer a form of ours would say Origin: null
    ("cache-control", "no-store"),
    ("x-robots-tag", "noindex"),
)

_PAGE = Template(
    f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title · promptcorner</title>
<style>{_STYLE}</style>
<main>
<h1>$title</h1>
$body
</main>
</html>
"""
)

_FIELD = (
    f'type="password" required minlength="{CHARACTERS_MIN}" maxlength="{CHARACTERS_MAX}"'
    ' autocomplete="new-password"'
)


def asking(username: str, value: str, fault: str = "") -> str:
    """For a password, twice; with what was wrong with the last one. `value`: the form is ours."""
    alert = f'<p role="alert">{escape(fault)}</p>\n' if fault else ""
    form = (
        '<form method="post">\n'
        f'<input type="hidden" name="username" value="{escape(username)}"'
        ' autocomplete="username">\n'
        f'<input type="hidden" name="csrf" value="{escape(value)}">\n'
        f'<label>Password, {CHARACTERS_MIN} characters or more<input name="password" {_FIELD}'
        " autofocus></label>\n"
        f'<label>The same again<input name="again" {_FIELD}></label>\n'
        "<button>Set the password and log in</button>\n"
        "</form>"
    )
    return _PAGE.substitute(title=f"Welcome, {escape(username)}", body=alert + form)


def welcome(username: str) -> str:
    return _PAGE.substitute(
        title="Your password is set",
        body=f"<p>This browser is logged in as {escape(username)}."
        ' <a href="/docs">What it can do</a></p>',
    )


def gone() -> str:
    return _PAGE.substitute(
        title="This link is of no use any more",
        body="<p>It works once, and for a day. Ask for another where you got it.</p>",
    )
