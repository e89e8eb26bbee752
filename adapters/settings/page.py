"""The page docs/configuration.md: `python -m adapters.settings.page` makes it of the table."""

import sys
from collections.abc import Iterator
from pathlib import Path

from adapters.settings.setting import Setting, Subject
from adapters.settings.table import CONFIG_FILE_HELP, SETTINGS

HEAD = f"""\
# Configuration

<!-- Made of adapters/settings/table.py by `python -m adapters.settings.page`: change it there. -->

Nothing has to be set: `promptcorner serve` keeps its data in a directory of the user's and listens
on this machine only. A setting can be set in five places, of which the first counts:

1. its flag: `--log-level debug`; a secret has none, since everybody can read a command line
2. its variable: `PROMPTCORNER_LOG_LEVEL=debug`; of a secret also `…_FILE`, which names a file
3. of a secret, a file of its name in `$CREDENTIALS_DIRECTORY`, which is what systemd makes of
   `LoadCredential=secret_key:/etc/promptcorner/secret.key`
4. its key in the TOML file that `--config` or `PROMPTCORNER_CONFIG` names; if none does, in
   {CONFIG_FILE_HELP}; of a secret also `…_file`
5. its default

```toml
listen = "0.0.0.0:7390"
access_url = "https://chats.example.org"
log_level = "debug"
root_chats = 2000
anthropic_api_key_file = "anthropic.key"   # beside this file
```

An empty variable is an unset one. A key of the file or a `PROMPTCORNER_…` variable that is none of
ours is refused, with the name that was perhaps meant; so is what is out of its bounds. What a
daemon would be told, and by whom, is shown by

```
promptcorner config show --origin
```
"""
PROVIDERS = """\
A key that is there is a provider, without any further step, and its first model is there with it.
AWS credentials are also taken from `~/.aws/credentials` (`AWS_PROFILE`,
`AWS_SHARED_CREDENTIALS_FILE`). `HTTPS_PROXY` and `NO_PROXY` are heeded.
"""
TAIL = """\
Commands that speak to a running daemon (`users`, `tokens`, `providers`, `chat`) read
`PROMPTCORNER_URL`, and `PROMPTCORNER_TOKEN` or `PROMPTCORNER_TOKEN_FILE`. On the daemon's machine,
a user who can read its secret key needs no token.
"""


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *_subjects(), TAIL])


def _subjects() -> Iterator[str]:
    for subject in Subject:
        yield f"## {subject.value.capitalize()}\n"
        if subject is Subject.PROVIDERS:
            yield PROVIDERS
        yield "| key | variable | what it does | default | bounds |\n|---|---|---|---|---|"
        yield from (_row(row) for row in SETTINGS if row.subject is subject)
        yield ""


def _row(row: Setting) -> str:
    variables = ", ".join(f"`{name}`" for name in row.variables)
    key = f"`{row.name}`" + (" (secret)" if row.secret else "")
    bounds = row.kind.bounds or row.kind.shape.replace("|", " or ")
    return f"| {key} | {variables} | {row.help} | {row.default_help} | {bounds} |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
