"""Every setting in one table: the fields of `Config`. Pure.

From a row are made: the field of `Config` with its type, the flag `--its-name` (but not for a
secret, since everybody can read a command line), the variable `PROMPTCORNER_ITS_NAME` or the names
that people know it by, the key `its_name` of the file, and its lines in `--help` and in
docs/configuration.md. So a new setting is one row, and nothing about it can disagree.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

import platformdirs

from actors.tools.approval_rules import ApprovalRule
from adapters.settings.areas.oversight import OversightConfig
from adapters.settings.areas.providers import PROVIDER_SETTINGS
from adapters.settings.forges import Forge, Forges
from adapters.settings.kinds import (
    LOG_FORMATS,
    AnyOf,
    ApprovalRules,
    Count,
    DatabaseAddress,
    FilePath,
    FrameOrigins,
    HostAddress,
    HostPort,
    LogFormat,
    Names,
    Networks,
    OneOf,
    OnOff,
    Origins,
    PlainText,
    Seconds,
    SecretText,
    WebAddress,
)
from adapters.settings.setting import Setting, Subject, setting

PROGRAM = "promptcorner"
SYSTEM_DATA_DIR = Path("/var/lib") / PROGRAM  # not in /root: the server's user could not enter
SYSTEM_CONFIG_DIR = Path("/etc") / PROGRAM

DATA_DIR_HELP = f"~/.local/share/{PROGRAM}, for root {SYSTEM_DATA_DIR}"
CONFIG_FILE_HELP = f"~/.config/{PROGRAM}/{PROGRAM}.toml or {SYSTEM_CONFIG_DIR}/{PROGRAM}.toml"

SECRET_CHARACTERS_MAX = 1024
ADVISOR_EXPERIMENT = "chat-advisor"
DESKTOP_EXPERIMENT = "chat-virtual-desktop"

# Of one process beside its pool: writers, lease, hints, their listening, the probes'.
OWN_CONNECTIONS = 8


def default_data_dir() -> Path:
    """Return the user's own data directory, or the system's one for root."""
    if os.geteuid() == 0:
        return SYSTEM_DATA_DIR
    return Path(platformdirs.user_data_dir(PROGRAM, appauthor=False))


def default_config_file() -> Path:
    """Return the user's own configuration file, or the system's one if the user has none.

    The file that is returned need not exist.
    """
    own = Path(platformdirs.user_config_dir(PROGRAM, appauthor=False)) / f"{PROGRAM}.toml"
    return own if os.geteuid() != 0 and own.exists() else SYSTEM_CONFIG_DIR / f"{PROGRAM}.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(OversightConfig):
    """Everything the daemon is told. The settings of providers are in `environ`, by the names of
    their variables, wherever they were set."""

    listen: HostAddress = setting(
        Subject.LISTENING,
        HostPort(),
        default="127.0.0.1:7390",
        help="where to listen; port 0 takes any free one",
    )  # port 0: any free one, told in the line `daemon.ready`
    access_url: str | None = setting(
        Subject.LISTENING,
        WebAddress(),
        default_help="the address it listens at",
        help="the address that users know it by, for links; https makes its cookies secure",
    )  # without a slash at its end; None: the address it listens at
    trusted_proxies: frozenset[IPv4Network | IPv6Network] = setting(
        Subject.LISTENING,
        Networks(),
        default="none",
        help="proxies whose X-Forwarded-For is trusted: limits count the client's address, not"
        " theirs",
    )
    cors_origins: frozenset[str] = setting(
        Subject.LISTENING,
        Origins(),
        default="none",
        help="origins whose pages may call the API with a token, as https://app.example.org; they"
        " get no cookie and no WebSocket",
    )
    tls_cert: Path | None = setting(
        Subject.LISTENING,
        FilePath("file", "FILE"),
        help="a certificate with its chain, in PEM; with tls_key it speaks https",
    )  # both or none
    tls_key: Path | None = setting(
        Subject.LISTENING,
        FilePath("file", "FILE"),
        help="the private key of tls_cert, in PEM",
    )
    processes: int = setting(
        Subject.LISTENING,
        Count(1, 64),
        default="1",
        help="the number of processes that serve and run chats; more than CPUs do not help",
    )
    relay_listen: HostAddress | None = setting(
        Subject.LISTENING,
        HostPort(),
        default_help="an address that is not public, any free port",
        help="where other processes reach this one, to follow its chats; each further process"
        " takes the next port",
    )  # of the first process; None: an address that is not public
    relay_url: str | None = setting(
        Subject.LISTENING,
        WebAddress(),
        default_help="http:// and where it listens",
        help="the address at which they reach this one, if it is not relay_listen",
    )  # likewise, without a slash at its end; None: where it listens
    web_dir: Path | None = setting(
        Subject.LISTENING,
        FilePath("directory", "DIR"),
        default_help="the files that came with the program",
        help="the files of the web interface, read at each request: for who works on them",
    )  # adapters/web/assets of a checkout; None: those beside the code, kept in memory
    embed_origins: tuple[str, ...] = setting(
        Subject.LISTENING,
        FrameOrigins(),
        default="none",
        help="pages that may show the web interface in a frame; a port may be * for any",
    )
    data_dir: Path = setting(
        Subject.DATA,
        FilePath("directory", "DIR"),
        default=lambda: str(default_data_dir()),
        default_help=DATA_DIR_HELP,
        help="where the embedded database and the secret key live; processes may share it",
    )
    database_url: str | None = setting(
        Subject.DATA,
        DatabaseAddress(),
        default_help="the embedded server",
        variables=("DATABASE_URL",),
        secret=True,
        help="a PostgreSQL of your own, 15 or newer: postgresql://user:password@host/name",
    )  # None: the embedded server
    postgres_user: str | None = setting(
        Subject.DATA,
        PlainText(),
        default_help="promptcorner, postgres or nobody",
        help="the user that the embedded server runs as if root starts it; only root may set it",
    )  # whom the embedded server runs as, when we are root
    pool_size: int = setting(
        Subject.DATA,
        # The embedded server takes 200 connections, of all processes together. A lent connection
        # stays so for some rounds of the loop: with 8 of them the first token of 200 busy chats
        # waited 744 ms, with 32 of them 291.
        Count(1, 64),
        default="24",
        help="database connections of a process, besides six for itself; if all are in use,"
        " tasks wait",
    )  # connections for readers and for writes that cannot be grouped
    secret_key: str | None = setting(
        Subject.ACCESS,
        SecretText(32, SECRET_CHARACTERS_MAX),
        default_help="made at the first start: secret.key in data_dir",
        secret=True,
        help="seals stored keys and signs links; the same for all processes of a database",
    )  # None: what stands in `secret_key_file`
    admin_token: str | None = setting(
        Subject.ACCESS,
        SecretText(24, 256),
        default_help="a one-time link, printed at the first start",
        secret=True,
        help="a token of the first admin, for installations without a person",
    )
    sharing: bool = setting(
        Subject.ACCESS,
        OnOff(),
        default="on",
        help="whether owners may let others read their chats; off hides what was shared",
    )
    private_networks: frozenset[IPv4Network | IPv6Network] = setting(
        Subject.ACCESS,
        Networks(),
        default="none",
        help="private networks that addresses named by users, MCP servers or workspaces may"
        " lead to",
    )  # that strangers may send us to
    user_keys: bool = setting(
        Subject.ACCESS,
        OnOff(),
        default="on",
        help="whether users may bring keys of their own for providers; off ignores stored ones",
    )  # whether users may bring keys of their own
    root_chats: int = setting(
        Subject.CHATS,
        Count(1, 100_000),
        default="5000",
        help="chats that a process runs at once; further ones wait until one has ended",
    )  # at work in this process at once
    child_chats: int = setting(
        Subject.CHATS,
        Count(0, 100_000),
        default="10000",
        help="chats begun by other chats that a process runs at once, besides root_chats",
    )
    kept_mb: int | None = setting(
        Subject.CHATS,
        Count(0, 1_048_576),
        default_help="a sixteenth of the memory for all processes, at most 1024",
        help="megabytes of histories and prompts that a process keeps; others are read anew",
    )  # None: adapters/daemon/kept_memory.py
    lease_seconds: float = setting(
        Subject.CHATS,
        Seconds(1, 600),
        default="30",
        help="a process without a sign of life for so long loses its chats to others;"
        " the same for all processes of a database",
    )  # the same in all processes of a database
    startup_seconds: float = setting(
        Subject.CHATS,
        Seconds(0.1, 86_400),
        default="60",
        help="how long a model may take to its first word; then it is asked again",
    )
    silence_seconds: float = setting(
        Subject.CHATS,
        Seconds(0.1, 86_400),
        default="600",
        help="how long a model may be silent between two words; then it is asked again",
    )
    drain_seconds: float = setting(
        Subject.CHATS,
        Seconds(0, 3_600),
        default="30",
        help="how long steps may still run when the daemon is told to stop; then another process"
        " makes them again",
    )
    approval_policy: str = setting(
        Subject.CHATS,
        OneOf(("allow", "ask", "deny")),
        default="allow",
        help="for chats without a policy: run tools, ask a person before they change something,"
        " or deny that",
    )  # of chats that have none: allow, ask or deny
    approval_rules: tuple[ApprovalRule, ...] = setting(
        Subject.CHATS,
        ApprovalRules(),
        default="none",
        help="rules for tools in all chats, as execute=ask,execute(git *)=allow,mcp:*=ask"
        " (docs/approvals.md)",
    )
    approval_deadline: float = setting(
        Subject.CHATS,
        Seconds(0, 604_800),
        default="300",
        help="how many seconds a person has to decide; then the call is denied; 0: no limit",
    )  # in seconds; 0: a person has as long as it takes
    summaries: bool = setting(
        Subject.CHATS,
        OnOff(),
        default="on",
        help="whether models write summaries of turns and chats, for lists",
    )  # for lists, by models
    experiments: frozenset[str] = setting(
        Subject.CHATS,
        AnyOf((ADVISOR_EXPERIMENT, DESKTOP_EXPERIMENT)),
        default="none",
        help="experiments to switch on: agents that ask an advisor; agents that operate desktops",
    )
    plugins: tuple[str, ...] = setting(
        Subject.PLUGINS,
        Names(),
        default="none",
        help="installed distributions whose tools, providers and identity sources are used; their"
        " code can do all that the daemon can",
    )
    sandbox: str = setting(
        Subject.WORKSPACES,
        OneOf(("bubblewrap", "none")),
        default="bubblewrap",
        help="the sandbox for commands of chats; if it is missing they are refused; none lets them"
        " do all that the daemon can",
    )  # bubblewrap or none
    sandbox_network: bool = setting(
        Subject.WORKSPACES,
        OnOff(),
        default="off",
        help="whether commands in the sandbox have a network",
    )
    terminals: bool = setting(
        Subject.WORKSPACES,
        OnOff(),
        default="on",
        help="whether people may open terminals in their workspaces, where commands of chats run",
    )
    workspace_servers: str = setting(
        Subject.WORKSPACES,
        OneOf(("sandboxed", "all", "off")),
        default="sandboxed",
        help="MCP servers that a workspace's .mcp.json names: started in the sandbox only; all:"
        " also without one",
    )  # sandboxed, all or off
    templates_dir: Path | None = setting(
        Subject.WORKSPACES,
        FilePath("directory", "DIR"),
        default_help="templates in data_dir",
        help="what workspaces can be made of: a directory, a git repository or a TOML file each",
    )  # None: `templates` in the data directory
    forges: tuple[Forge, ...] = setting(
        Subject.WORKSPACES,
        Forges(),
        default="github=https://github.com,gitlab=https://gitlab.com",
        help="forges whose pull requests are shown, and to which commands push, with users' tokens",
    )  # a token is only ever shown to the forge that it is for
    workspaces_per_user: int = setting(
        Subject.WORKSPACES,
        Count(1, 10_000),
        default="100",
        help="workspaces of one user; no more are made until they remove some",
    )
    workspace_days: int = setting(
        Subject.WORKSPACES,
        Count(0, 3_650),
        default="30",
        help="days without use after which a workspace of archived chats only is removed; 0: never",
    )  # without use, of one that no chat needs; 0: for ever
    workspace_days_max: int = setting(
        Subject.WORKSPACES,
        Count(0, 3_650),
        default="0",
        help="days without use after which every workspace is removed; 0: never",
    )  # likewise, whichever chats have it
    log: LogFormat = setting(
        Subject.LOG,
        OneOf(LOG_FORMATS),
        default="auto",
        help="the form of log entries, on standard error; auto is text on a terminal",
    )
    log_level: str = setting(
        Subject.LOG,
        OneOf(("debug", "info", "warning", "error")),
        default="info",
        help="the lowest level that is logged",
    )

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
        """The number of database connections that one process takes at most."""
        return self.pool_size + OWN_CONNECTIONS

    @property
    def local_url(self) -> str:
        """The URL of the daemon for programs on this machine, without a slash at its end."""
        scheme = "http" if self.tls_cert is None else "https"
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"{scheme}://{HostAddress(host, self.port)}"

    @property
    def secret_key_file(self) -> Path:
        """The file of the secret key if none is set. It is made at the first start."""
        return self.data_dir / "secret.key"


SETTINGS: tuple[Setting, ...] = (
    *(
        replace(each.metadata["setting"], name=each.name)
        for each in fields(Config)
        if "setting" in each.metadata
    ),
    *PROVIDER_SETTINGS,
)
SETTINGS_BY_NAME = {setting.name: setting for setting in SETTINGS}
