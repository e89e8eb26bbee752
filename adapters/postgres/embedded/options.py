"""The options of a cluster: where the server keeps its files, whom it runs as, its settings."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

SOCKET_PATH_BYTES_MAX = 107  # the kernel's bound; a deeper directory gets its socket elsewhere
SOCKET_NAME = ".s.PGSQL.5432"
SHORT_TOP = Path("/tmp")  # not TMPDIR: all processes must agree, whatever their environment says

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "jit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    # A chat at work leaves three dead rows a turn, two of which only a vacuum removes.
    "autovacuum_naptime": "15s",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
}
# Settings that an older server does not know, and would not start with.
SETTINGS_SINCE: Mapping[int, Mapping[str, str]] = {
    18: {"io_workers": "1", "autovacuum_worker_slots": "3"},
}


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """A cluster in `home`. The options are equal for all processes that share it."""

    home: Path
    user: str | None = None  # None as root: see account.py
    settings: Mapping[str, str] = field(default_factory=dict)  # beside and before SETTINGS

    @property
    def data(self) -> Path:
        return self.home / "postgres"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    @property
    def lock(self) -> Path:
        return self.home / "postgres.lock"

    @property
    def users(self) -> Path:
        return self.home / "postgres.users"

    @property
    def keeper(self) -> Path:
        return self.home / "postgres.keeper"

    @property
    def socket_dir(self) -> Path:
        if len(bytes(self.data / SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX:
            return self.data
        return SHORT_TOP / f"promptcorner-{hashlib.sha256(bytes(self.data)).hexdigest()[:16]}"

    def options(self, major: int) -> list[str]:
        """Return the command line of a server of this major version."""
        settings = dict(SETTINGS)
        for since, newer in SETTINGS_SINCE.items():
            settings.update(newer if major >= since else {})
        settings.update(self.settings)
        settings["unix_socket_directories"] = str(self.socket_dir)
        return [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
