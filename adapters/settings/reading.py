"""The configuration: valid, or it does not exist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

from actors.tools.approvals.policy import Rule
from adapters.settings.kinds import Address, LogFormat, Unfit
from adapters.settings.refusals import CannotStart
from adapters.settings.relaying import heed_relay
from adapters.settings.sources import Said, sources
from adapters.settings.table import SETTINGS, Subject

# Of one process beside its pool: writers, lease, hints, their listening, the probes'.
OWN_CONNECTIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything the daemon is told. A field for each row of the table, but providers' rows: they
    are in `environ`, by the names of their variables, whoever set them."""

    listen: Address  # port 0: any free one, told in the line `daemon.ready`
    access_url: str | None  # without a slash at its end; None: the address it listens at
    trusted_proxies: frozenset[IPv4Network | IPv6Network]
    tls_cert: Path | None  # both or none
    tls_key: Path | None
    processes: int
    relay_listen: Address | None  # of the first process; None: an address that is not public
    relay_url: str | None  # likewise, without a slash at its end; None: where it listens
    data_dir: Path
    database_url: str | None = field(repr=False)  # None: the embedded server
    postgres_user: str | None  # whom the embedded server runs as, when we are root
    pool_size: int  # connections for readers and for writes that cannot be grouped
    secret_key: str | None = field(repr=False)  # None: what stands in `secret_key_file`
    admin_token: str | None = field(repr=False)
    sharing: bool
    private_networks: frozenset[IPv4Network | IPv6Network]  # that strangers may send us to
    user_keys: bool  # whether users may bring keys of their own
    root_chats: int  # at work in this process at once
    child_chats: int
    lease_seconds: float  # the same in all processes of a database
    startup_seconds: float
    silence_seconds: float
    drain_seconds: float
    approval_policy: str  # of chats that have none: allow, ask or deny
    approval_rules: tuple[Rule, ...]
    approval_deadline: float  # in seconds; 0: a person has as long as it takes
    summaries: bool  # for lists, by models
    experiments: frozenset[str]
    sandbox: str  # bubblewrap or none
    sandbox_network: bool
    workspace_servers: str  # sandboxed, all or off
    templates_dir: Path | None  # None: `templates` in the data directory
    workspaces_per_user: int
    workspace_days: int  # without use, of one that no chat needs; 0: for ever
    workspace_days_max: int  # likewise, whichever chats have it
    log: LogFormat
    log_level: str
    environ: Mapping[str, str] = field(repr=False)
    files: frozenset[Path] = frozenset()  # in which settings stand, secret ones among them

    @property
    def host(self) -> str:
        return self.listen.host

    @property
    def port(self) -> int:
        return self.listen.port

    @property
    def connections(self) -> int:
        """Of the database, that one process takes at most."""
        return self.pool_size + OWN_CONNECTIONS

    @property
    def near_url(self) -> str:
        """Where somebody on this machine finds the daemon; without a slash at its end."""
        scheme = "http" if self.tls_cert is None else "https"
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"{scheme}://{Address(host, self.port)}"

    @property
    def secret_key_file(self) -> Path:
        """Where a secret key lies that nobody has set: made at the first start."""
        return self.data_dir / "secret.key"


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting as it came out, for people: a secret is only said to be set."""

    name: str
    value: str  # "": there is none
    origin: str


def read(
    flags: Mapping[str, str | None],
    environment: Mapping[str, str],
    usual_file: Path | None = None,
) -> Config:
    """The configuration that flags (by the names of the settings, and `config` for the file),
    environment and file say. CannotStart says what is wrong with one of them."""
    return _config(sources(flags, environment, usual_file).all(), environment)


def shown(
    flags: Mapping[str, str | None],
    environment: Mapping[str, str],
    usual_file: Path | None = None,
) -> Sequence[Shown]:
    """The same for people, in the order of the table; refused in the same words."""
    found = sources(flags, environment, usual_file).all()
    _config(found, environment)
    return [Shown(said.setting.name, _shown(said), said.source) for said in found.values()]


def _config(found: Mapping[str, Said], environment: Mapping[str, str]) -> Config:
    values = {name: _value(said) for name, said in found.items()}
    if (values["tls_cert"] is None) is not (values["tls_key"] is None):
        fact = "of tls_cert and tls_key only one is set"
        raise CannotStart("config", fact, "set both, or none")
    providers = [row.name for row in SETTINGS if row.subject is Subject.PROVIDERS]
    said_of_providers = [found[name] for name in providers if values.pop(name) is not None]
    files = frozenset(said.file for said in found.values() if said.file is not None)
    environ = _environ(said_of_providers, environment)
    config = Config(**values, environ=environ, files=files)  # type: ignore[arg-type]
    heed_relay(config.relay_listen, config.relay_url, processes=config.processes)
    return config


def _value(said: Said) -> object:
    if said.text is None:
        return None
    try:
        return said.setting.kind.read(said.text)
    except Unfit as unfit:
        raise said.refused(str(unfit)) from None


def _environ(providers: Sequence[Said], environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment as if everything about providers had been said in it."""
    told = {said.setting.variables[0]: said.text or "" for said in providers}
    return {**environment, **told}


def _shown(said: Said) -> str:
    if said.text is None:
        return ""
    return "(set)" if said.setting.secret else said.text
