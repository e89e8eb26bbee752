"""The secret key of this place, if it has one: asked for, never made."""

from adapters.settings import Config
from adapters.settings.secrets import Vault, open_vault


def vault_here(config: Config) -> Vault | None:
    if config.secret_key is None and not config.secret_key_file.exists():
        return None
    return open_vault(config.secret_key, config.data_dir)


def key_here(config: Config) -> str | None:
    """The key itself, once it has been found to be one."""
    if vault_here(config) is None:
        return None
    return config.secret_key or config.secret_key_file.read_text().strip()
