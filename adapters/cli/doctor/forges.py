"""Checks of the forges at which chats have branches: whether users' tokens are of use there."""

from collections.abc import Iterator, Mapping, Sequence

from actors.law.ids import UserId
from adapters.chats.changes.overview import TOKENS_MAX, ForgeOverview, overview
from adapters.cli.doctor.findings import Finding, ok, warning
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.queries import SQL
from adapters.settings import Config
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import Vault, open_vault

SUBJECT = "forges"
ADVICE = "users bring a token at Settings, Forges (docs/changes.md)"
CLOSED_ADVICE = "start with the former PROMPTCORNER_SECRET_KEY, or let users set their tokens anew"


async def check_forges(connection: DatabaseConnection, config: Config) -> Sequence[Finding]:
    """Look at the tokens of users. Nothing is sent to a forge."""
    if not config.forges:
        return []
    vault = _vault(config)
    if vault is None:
        return []
    asked = {"rows_max": TOKENS_MAX}
    rows = await connection.execute(SQL["examine_forge_tokens"], asked)
    found = overview([(UserId(user), *rest) for user, *rest in rows], vault)
    missing = await connection.execute(SQL["examine_missing_forge_tokens"])
    hosts = [forge.host for forge in config.forges]
    return list(forge_findings(hosts, found, dict(missing)))


def _vault(config: Config) -> Vault | None:
    """Return what opens tokens. None: nothing was sealed yet, or the check of the key complains."""
    key = config.secret_key
    if key is None and not config.secret_key_file.exists():
        return None
    try:
        return open_vault(key, config.data_dir)
    except CannotStart:
        return None


def forge_findings(
    hosts: Sequence[str], found: Mapping[str, ForgeOverview], missing: Mapping[str, int]
) -> Iterator[Finding]:
    """Yield what is to be said of each forge that is set up. Pure."""
    for host in hosts:
        known = found.get(host, ForgeOverview())
        faults = list(known.faults())
        if count := missing.get(host, 0):
            who = "1 user has" if count == 1 else f"{count} users have"
            faults.append(f"{who} chats on a branch there, and no token")
        if faults:
            advice = CLOSED_ADVICE if known.closed else ADVICE
            yield warning(SUBJECT, f"{host}: {'; '.join(faults)}", advice)
        else:
            tokens = "1 token" if known.count == 1 else f"{known.count} tokens"
            yield ok(SUBJECT, f"{host}: {tokens} of users")
