"""Checks of the providers in the database: which have keys that can be opened, and models."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from actors.law.parts.vendors import Login, vendor_of
from adapters.cli.doctor.findings import Finding, ok, warning, wrong
from adapters.models.store.providers import key_subject
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.queries import SQL
from adapters.settings import Config
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import CannotOpen, Vault, open_vault

SUBJECT = "provider"


@dataclass(frozen=True, slots=True)
class ExaminedProvider:
    """A provider as its rows in the database show it."""

    id: UUID
    name: str
    type: str
    enabled: bool
    key_id: UUID | None  # of the key in use
    sealed: bytes | None
    keys_count: int
    models_count: int  # that are enabled
    users_count: int  # who have brought keys of their own

    def __str__(self) -> str:
        return f"{self.name} ({self.type})"


async def check_stored_providers(
    connection: DatabaseConnection, config: Config
) -> Sequence[Finding]:
    """Look at the providers that were added over the API."""
    rows = await connection.execute(SQL["examine_providers"])
    vault = _vault(config) if rows else None
    return [check_provider(ExaminedProvider(*row), vault) for row in rows]


def check_provider(provider: ExaminedProvider, vault: Vault | None) -> Finding:
    """Return what an administrator should know of a provider, the worst first.

    Without a vault keys are not opened: another check says why there is none.
    """
    named, name = f"{provider} in the database", provider.name
    if not provider.enabled:
        fact = f"{named} is disabled"
        return ok(SUBJECT, f"{fact}; `promptcorner providers enable {name}` offers it again")
    if (fault := _fault_of_key(provider, vault)) is not None:
        return wrong(SUBJECT, f"{named}: {fault}", f"promptcorner providers key {name}")
    if not provider.models_count:
        return warning(SUBJECT, f"{named} offers no model", "add one under Administration, Models")
    keys = f"{provider.keys_count} key{'s' if provider.keys_count != 1 else ''}"
    if not provider.keys_count:
        keys = "no key"
        if vendor_of(provider.type).login is Login.KEY:
            if not provider.users_count:
                advice = f"promptcorner providers key {name}"
                return warning(SUBJECT, f"{named} has no key, and cannot be asked", advice)
            keys = f"no key but those of {provider.users_count} users"
    models = f"{provider.models_count} model{'s' if provider.models_count != 1 else ''}"
    return ok(SUBJECT, f"{named}: {keys}, {models}")


def _fault_of_key(provider: ExaminedProvider, vault: Vault | None) -> str | None:
    if vault is None or provider.key_id is None or provider.sealed is None:
        return None
    try:
        vault.open(provider.sealed, key_subject(provider.id, provider.key_id))
    except CannotOpen as error:
        _, _, why = str(error).partition(": ")
        return f"its key cannot be opened ({why.partition(';')[0]})"
    return None


def _vault(config: Config) -> Vault | None:
    """Open the vault, unless its key would have to be made for that."""
    if config.secret_key is None and not config.secret_key_file.exists():
        return None
    try:
        return open_vault(config.secret_key, config.data_dir)
    except CannotStart:
        return None
