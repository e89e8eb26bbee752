"""Every setting, in one table: its name, its bounds, its default, what it does. Pure.

From a row are made: the flag `--its-name` (not of secrets: everybody may read a command line), the
variable `PROMPTCORNER_ITS_NAME` or the names that people know it by, the key `its_name` of the
file, its lines in `--help` and in docs/configuration.md, and the field of `Config`.
"""

from actors.law.parts.vendors import VENDORS, Variable
from adapters.settings.directories import DATA_DIR_SAYS, default_data_dir
from adapters.settings.kinds import (
    ApprovalRules,
    Count,
    DatabaseAddress,
    Listening,
    Networks,
    Place,
    Seconds,
    Secret,
    Some,
    Switch,
    WebAddress,
    Word,
    Words,
)
from adapters.settings.setting import PREFIX, Setting, Subject

__all__ = [
    "ADVISOR_EXPERIMENT",
    "DESKTOP_EXPERIMENT",
    "NAMED",
    "PREFIX",
    "SETTINGS",
    "Setting",
    "Subject",
]

SECRET_CHARACTERS_MAX = 1024
KEY_CHARACTERS_MAX = 10_240  # of a provider
ADVISOR_EXPERIMENT = "chat-advisor"
DESKTOP_EXPERIMENT = "chat-virtual-desktop"


def _of_vendor(variable: Variable) -> Setting:
    """Return the setting of a variable that sets up a vendor of models."""
    # What is wrong with a URL is said with the name of its model.
    kind = Secret(1, KEY_CHARACTERS_MAX) if variable.is_secret else Words(variable.placeholder)
    return Setting(
        name=variable.names[0].lower(),
        subject=Subject.PROVIDERS,
        kind=kind,
        names=variable.names,
        secret=variable.is_secret,
        usual_says=variable.default,
        says=variable.help,
    )


_LISTENING = (
    Setting(
        name="listen",
        subject=Subject.LISTENING,
        kind=Listening(),
        usual="127.0.0.1:7390",
        says="where to listen; port 0 takes any free one",
    ),
    Setting(
        name="access_url",
        subject=Subject.LISTENING,
        kind=WebAddress(),
        usual_says="the address it listens at",
        says="the address that users know it by, for links; https makes its cookies secure",
    ),
    Setting(
        name="trusted_proxies",
        subject=Subject.LISTENING,
        kind=Networks(),
        usual="none",
        says="whose X-Forwarded-For is believed: limits go by the address of who asks, not theirs",
    ),
    Setting(
        name="tls_cert",
        subject=Subject.LISTENING,
        kind=Place("file", "FILE"),
        says="a certificate with its chain, in PEM; with tls_key it speaks https",
    ),
    Setting(
        name="tls_key",
        subject=Subject.LISTENING,
        kind=Place("file", "FILE"),
        says="the private key of tls_cert, in PEM",
    ),
    Setting(
        name="processes",
        subject=Subject.LISTENING,
        kind=Count(1, 64),
        usual="1",
        says="how many of us serve at that address and run chats; more than processors do not help",
    ),
    Setting(
        name="relay_listen",
        subject=Subject.LISTENING,
        kind=Listening(),
        usual_says="an address that is not public, any free port",
        says="where other processes reach this one, to follow its chats; of several here each takes"
        " the next port",
    ),
    Setting(
        name="relay_url",
        subject=Subject.LISTENING,
        kind=WebAddress(),
        usual_says="http:// and where it listens",
        says="the same as those see it, if that is another address than relay_listen",
    ),
)
_DATA = (
    Setting(
        name="data_dir",
        subject=Subject.DATA,
        kind=Place("directory", "DIR"),
        usual=lambda: str(default_data_dir()),
        usual_says=DATA_DIR_SAYS,
        says="where the embedded database and the secret key live; processes may share it",
    ),
    Setting(
        name="database_url",
        subject=Subject.DATA,
        kind=DatabaseAddress(),
        names=("DATABASE_URL",),
        secret=True,
        usual_says="the embedded server",
        says="a PostgreSQL of your own, 15 or newer: postgresql://user:password@host/name",
    ),
    Setting(
        name="postgres_user",
        subject=Subject.DATA,
        kind=Words(),
        usual_says="promptcorner, postgres or nobody",
        says="whom the embedded server runs as, when root starts it; others must leave it out",
    ),
    Setting(
        name="pool_size",
        subject=Subject.DATA,
        # The embedded server takes 200 connections, of all processes together. One that is lent
        # stays so for some rounds of the loop: with 8 of them the first token of 200 busy chats
        # waited 744 ms, with 32 of them 291.
        kind=Count(1, 64),
        usual="24",
        says="database connections, beside six of its own; when all are lent, others wait",
    ),
)
_ACCESS = (
    Setting(
        name="secret_key",
        subject=Subject.ACCESS,
        kind=Secret(32, SECRET_CHARACTERS_MAX),
        secret=True,
        usual_says="made at the first start: secret.key in data_dir",
        says="seals stored keys and signs links; the same for all processes of a database",
    ),
    Setting(
        name="admin_token",
        subject=Subject.ACCESS,
        kind=Secret(24, 256),
        secret=True,
        usual_says="a one-time link, printed at the first start",
        says="a token of the first admin's, for set-ups without a person",
    ),
    Setting(
        name="sharing",
        subject=Subject.ACCESS,
        kind=Switch(),
        usual="on",
        says="whether owners may let others read their chats; off hides what was shared",
    ),
    Setting(
        name="private_networks",
        subject=Subject.ACCESS,
        kind=Networks(),
        usual="none",
        says="networks of your own that strangers may send us to: MCP servers that name where to"
        " log in, and workspaces",
    ),
    Setting(
        name="user_keys",
        subject=Subject.ACCESS,
        kind=Switch(),
        usual="on",
        says="whether users may bring keys of their own for providers; off ignores those there are",
    ),
)
_CHATS = (
    Setting(
        name="root_chats",
        subject=Subject.CHATS,
        kind=Count(1, 100_000),
        usual="5000",
        says="chats at work at once in a process; more wait until one has ended",
    ),
    Setting(
        name="child_chats",
        subject=Subject.CHATS,
        kind=Count(0, 100_000),
        usual="10000",
        says="likewise, of those that other chats began",
    ),
    Setting(
        name="lease_seconds",
        subject=Subject.CHATS,
        kind=Seconds(1, 600),
        usual="30",
        says="without a sign of life for so long, a process loses its chats to others;"
        " the same for all processes of a database",
    ),
    Setting(
        name="startup_seconds",
        subject=Subject.CHATS,
        kind=Seconds(0.1, 86_400),
        usual="60",
        says="from asking a model to its first word; then it is asked again",
    ),
    Setting(
        name="silence_seconds",
        subject=Subject.CHATS,
        kind=Seconds(0.1, 86_400),
        usual="600",
        says="between two words of a model; then it is asked again",
    ),
    Setting(
        name="drain_seconds",
        subject=Subject.CHATS,
        kind=Seconds(0, 3_600),
        usual="30",
        says="for steps that run when it is told to stop; then they are cut, and made again"
        " by another process",
    ),
    Setting(
        name="approval_policy",
        subject=Subject.CHATS,
        kind=Word(("allow", "ask", "deny")),
        usual="allow",
        says="of chats without one: whether tools run freely, a person is asked before they change"
        " things, or none is there",
    ),
    Setting(
        name="approval_rules",
        subject=Subject.CHATS,
        kind=ApprovalRules(),
        usual="none",
        says="for tools in all chats, as execute=ask,mcp:*=ask; of those that fit deny and ask win",
    ),
    Setting(
        name="approval_deadline",
        subject=Subject.CHATS,
        kind=Seconds(0, 604_800),
        usual="300",
        says="for a person to decide, in seconds; then the call is denied; 0 waits for as long as"
        " it takes",
    ),
    Setting(
        name="summaries",
        subject=Subject.CHATS,
        kind=Switch(),
        usual="on",
        says="whether models are asked what came of a turn and what a chat is about, for lists",
    ),
    Setting(
        name="experiments",
        subject=Subject.CHATS,
        kind=Some((ADVISOR_EXPERIMENT, DESKTOP_EXPERIMENT)),
        usual="none",
        says="what is tried out: agents that ask an advisor; settings for desktops",
    ),
)
_WORKSPACES = (
    Setting(
        name="sandbox",
        subject=Subject.WORKSPACES,
        kind=Word(("bubblewrap", "none")),
        usual="bubblewrap",
        says="what commands of chats run in; without it they are refused; none lets them do all"
        " that the daemon can",
    ),
    Setting(
        name="sandbox_network",
        subject=Subject.WORKSPACES,
        kind=Switch(),
        usual="off",
        says="whether commands in the sandbox have a network",
    ),
    Setting(
        name="workspace_servers",
        subject=Subject.WORKSPACES,
        kind=Word(("sandboxed", "all", "off")),
        usual="sandboxed",
        says="what a workspace's .mcp.json names: programs run in the sandbox only; all begins them"
        " without one, too",
    ),
    Setting(
        name="templates_dir",
        subject=Subject.WORKSPACES,
        kind=Place("directory", "DIR"),
        usual_says="templates in data_dir",
        says="what workspaces can be made of: a directory, a git repository or a TOML file each",
    ),
    Setting(
        name="workspaces_per_user",
        subject=Subject.WORKSPACES,
        kind=Count(1, 10_000),
        usual="100",
        says="workspaces of one user; no more are made until he removes some",
    ),
    Setting(
        name="workspace_days",
        subject=Subject.WORKSPACES,
        kind=Count(0, 3_650),
        usual="30",
        says="unused for so long, one that no chat but archived ones has is removed; 0: never",
    ),
    Setting(
        name="workspace_days_max",
        subject=Subject.WORKSPACES,
        kind=Count(0, 3_650),
        usual="0",
        says="unused for so long, it is removed whichever chats have it; 0: never",
    ),
)
_LOG = (
    Setting(
        name="log",
        subject=Subject.LOG,
        kind=Word(("auto", "text", "json")),
        usual="auto",
        says="the form of its entries, on standard error; auto is text on a terminal",
    ),
    Setting(
        name="log_level",
        subject=Subject.LOG,
        kind=Word(("debug", "info", "warning", "error")),
        usual="info",
        says="the least of them that is shown",
    ),
)
# A key that is there is a provider, without any further step: see actors/law/parts/vendors.py.
_PROVIDERS = (
    Setting(
        name="model",
        subject=Subject.PROVIDERS,
        kind=Words("PROVIDER/MODEL"),
        usual_says="of the first provider that is there",
        says="the model of chats that name none",
    ),
    *(_of_vendor(each) for vendor in VENDORS for each in vendor.variables),
)

SETTINGS: tuple[Setting, ...] = (
    *_LISTENING,
    *_DATA,
    *_ACCESS,
    *_CHATS,
    *_WORKSPACES,
    *_LOG,
    *_PROVIDERS,
)
NAMED = {setting.name: setting for setting in SETTINGS}
