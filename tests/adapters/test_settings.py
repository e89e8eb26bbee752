"""Who is heard first, what is refused, and what stays unsaid."""

import dataclasses
import re
import typing
from pathlib import Path

import pytest

from actors.tools.approval_rules import ApprovalRule, Policy
from adapters import settings as config
from adapters.settings.kinds import (
    Count,
    FilePath,
    FrameOrigins,
    InvalidValue,
    Seconds,
    SecretText,
)
from adapters.settings.page import page
from adapters.settings.refusals import CannotStart
from adapters.settings.table import SETTINGS_BY_NAME, default_data_dir

SECRETS = [row.name for row in config.SETTINGS if row.secret]
NUMBERS = [row.name for row in config.SETTINGS if isinstance(row.kind, Count | Seconds)]
SECRET = "secret-" + "x" * 40
# A value of each kind that is nobody's default.
SAID = {
    "listen": "[::1]:80",
    "access_url": "https://chats.test/here",
    "trusted_proxies": "10.0.0.1, 2001:db8::/32",
    "cors_origins": "https://app.example.org, http://localhost:5173",
    "tls_cert": "/cert.pem",
    "tls_key": "/key.pem",
    "processes": "2",
    "relay_listen": "10.0.0.1:7391",
    "relay_url": "http://chats-1.internal:7391",
    "web_dir": "/x/assets",
    "embed_origins": "https://portal.test, http://[::1]:*",
    "data_dir": "/data",
    "database_url": "postgresql://ann:secret@h/d",
    "postgres_user": "ann",
    "pool_size": "9",
    "secret_key": SECRET,
    "admin_token": SECRET,
    "sharing": "off",
    "private_networks": "10.1.0.0/16",
    "forges": "gitlab=https://git.test/lab|https://api.git.test/v4",
    "user_keys": "off",
    "root_chats": "9",
    "child_chats": "9",
    "kept_mb": "9",
    "lease_seconds": "2.5",
    "startup_seconds": "2.5",
    "silence_seconds": "2.5",
    "drain_seconds": "2.5",
    "approval_policy": "ask",
    "approval_rules": "execute=ask, mcp:*=deny",
    "approval_deadline": "60",
    "summaries": "off",
    "experiments": "chat-advisor, chat-virtual-desktop",
    "plugins": "promptcorner-weather, Other.plugin",
    "sandbox": "none",
    "sandbox_network": "on",
    "terminals": "off",
    "workspace_servers": "all",
    "templates_dir": "/x/templates",
    "workspaces_per_user": "7",
    "workspace_days": "9",
    "workspace_days_max": "365",
    "log": "json",
    "debug_logging_forced": "on",
    "hook_url": "https://hooks.test/ask?for=us",
    "hook_secret": "0123456789abcdef0123456789abcdef",
    "hook_timeout": "7",
    "hook_insecure": "on",
    "log_level": "debug",
}
TOGETHER = (
    "tls_cert",
    "tls_key",
    "relay_listen",
    "hook_url",
    "hook_secret",
)  # that others need beside them


def refusal(flags=None, environment=None, file=None):
    with pytest.raises(CannotStart) as refused:
        config.read_config(flags or {}, environment or {}, file)
    assert refused.value.__cause__ is None
    return str(refused.value)


def origins(flags, environment, file=None):
    return {row.name: row.origin for row in config.list_settings(flags, environment, file)}


@pytest.fixture
def written(tmp_path):
    """Write a file, the TOML file if no other is named; returns its path."""

    def write(text, name="promptcorner.toml"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_without_a_word_the_defaults_hold():
    settings = config.read_config({}, {})

    assert ("127.0.0.1", 7390) == (settings.host, settings.port)
    assert (default_data_dir(), None) == (settings.data_dir, settings.database_url)
    assert (24, "auto", "info", True) == (
        settings.pool_size,
        settings.log,
        settings.log_level,
        settings.sharing,
    )
    assert settings.data_dir / "secret.key" == settings.secret_key_file


def test_commands_run_in_a_sandbox_without_a_network_unless_somebody_says_otherwise():
    settings = config.read_config({}, {})

    assert ("bubblewrap", False, None) == (
        settings.sandbox,
        settings.sandbox_network,
        settings.templates_dir,
    )


def test_rules_of_approval_are_read_in_their_order_and_none_is_none():
    environment = {"PROMPTCORNER_APPROVAL_RULES": "execute=ask, mcp:*=deny"}

    settings = config.read_config({}, environment)

    assert (
        ApprovalRule("execute", Policy.ASK),
        ApprovalRule("mcp:*", Policy.DENY),
    ) == settings.approval_rules
    assert ("allow", (), 300.0) == (
        config.read_config({}, {}).approval_policy,
        config.read_config({"approval_rules": "none"}, {}).approval_rules,
        config.read_config({}, {}).approval_deadline,
    )


def test_a_rule_of_approval_that_is_none_is_refused_by_name():
    said = refusal({"approval_rules": "execute=ask,shell"})

    fault = "'shell' is no rule, write TOOL=allow, TOOL=ask or TOOL=deny"
    assert f"config: --approval-rules=execute=ask,shell, {fault}" == said


# the table


def test_every_row_is_a_field_or_in_the_environment_of_providers():
    fields = {field.name for field in dataclasses.fields(config.Config)} - {"environ", "files"}
    providers = {row.name for row in config.SETTINGS if row.subject is config.Subject.PROVIDERS}

    assert fields == set(SAID)
    assert fields | providers == set(SETTINGS_BY_NAME)
    assert len(SETTINGS_BY_NAME) == len(config.SETTINGS)


@pytest.mark.parametrize("name", SAID)
def test_what_is_said_is_of_the_type_that_the_field_announces(name):
    environment = {SETTINGS_BY_NAME[each].variables[0]: SAID[each] for each in (*TOGETHER, name)}

    value = getattr(config.read_config({}, environment), name)

    wanted = typing.get_type_hints(config.Config)[name]
    origin = typing.get_origin(wanted)
    either = (origin,) if origin in (frozenset, tuple) else typing.get_args(wanted)
    plain = [each for each in either or (wanted,) if isinstance(each, type)]
    assert isinstance(value, (*plain, str) if not plain else tuple(plain))
    assert value != getattr(config.read_config({}, {}), name)


@pytest.mark.parametrize("row", config.SETTINGS, ids=lambda row: row.name)
def test_a_default_is_one_that_could_be_said(row):
    if row.default:
        row.kind.read(row.default)

    assert row.help
    assert len(row.help) <= 120, "a line"
    assert row.secret is isinstance(row.kind, SecretText) or row.name == "database_url"


def test_every_setting_is_read_somewhere():
    """If not, it can be set and changes nothing."""
    root = Path(__file__).parents[2] / "adapters"
    text = "".join(path.read_text() for path in root.rglob("*.py") if path.name != "table.py")

    unread = [name for name in SAID if not re.search(rf"\b(config|settings)\.{name}\b", text)]

    assert not unread


def test_plugins_are_names_in_their_order():
    assert () == config.read_config({}, {}).plugins
    assert ("b", "a-x") == config.read_config({"plugins": "b, a-x"}, {}).plugins


def test_experiments_are_those_that_are_named():
    assert frozenset() == config.read_config({}, {}).experiments
    assert {"chat-advisor"} == config.read_config(
        {"experiments": "none, chat-advisor"}, {}
    ).experiments


# who is heard first

LOUDER = [
    ({"log_level": "debug"}, {"PROMPTCORNER_LOG_LEVEL": "warning"}, True, "debug", "--log-level"),
    ({}, {"PROMPTCORNER_LOG_LEVEL": "warning"}, True, "warning", "PROMPTCORNER_LOG_LEVEL"),
    ({}, {"PROMPTCORNER_LOG_LEVEL": " "}, True, "error", "log_level in {file}"),
    ({}, {}, True, "error", "log_level in {file}"),
    ({"log_level": None}, {}, False, "info", "default"),
]


@pytest.mark.parametrize(("flags", "environment", "in_file", "value", "origin"), LOUDER)
def test_a_flag_comes_before_the_environment_before_the_file_before_the_default(
    flags, environment, in_file, value, origin, written
):
    file = written('log_level = "error"') if in_file else None

    assert value == config.read_config(flags, environment, file).log_level
    assert origin.format(file=file) == origins(flags, environment, file)["log_level"]


@pytest.mark.parametrize("name", SAID)
def test_every_setting_may_be_said_in_the_file(name, written):
    both = "".join(f'{each} = "{SAID[each]}"\n' for each in {*TOGETHER, name})

    file = written(both)

    environment = {SETTINGS_BY_NAME[each].variables[0]: SAID[each] for each in (*TOGETHER, name)}
    expected = getattr(config.read_config({}, environment), name)
    assert expected == getattr(config.read_config({}, {}, file), name)
    assert f"{name} in {file}" == origins({}, {}, file)[name]


def test_files_in_which_settings_stand_are_known(written):
    secret = written("host=b", "url")
    document = written('log_level = "error"')

    settings = config.read_config({}, {"DATABASE_URL_FILE": str(secret)}, document)

    assert {secret, document} == settings.files
    assert frozenset() == config.read_config({}, {}).files


def test_numbers_and_switches_of_the_file_need_no_quotes(written):
    settings = config.read_config(
        {}, {}, written("root_chats = 12\nsharing = false\nlease_seconds = 2.5\n")
    )

    assert (12, False, 2.5) == (settings.root_chats, settings.sharing, settings.lease_seconds)


SAYS_SECRET = [
    ({"DATABASE_URL": "host=a"}, "host=a", "DATABASE_URL"),
    ({"DATABASE_URL_FILE": "{dir}/b"}, "host=b", "DATABASE_URL_FILE {dir}/b"),
    ({"CREDENTIALS_DIRECTORY": "{dir}"}, "host=c", "credential database_url {dir}/database_url"),
    (
        {"DATABASE_URL": "host=a", "CREDENTIALS_DIRECTORY": "{dir}"},
        "host=a",
        "DATABASE_URL",
    ),
    ({"CREDENTIALS_DIRECTORY": "{dir}/none"}, "host=d", "database_url in {dir}/promptcorner.toml"),
]


@pytest.mark.parametrize(("environment", "value", "origin"), SAYS_SECRET)
def test_a_secret_is_also_heard_from_files_and_credentials(environment, value, origin, written):
    file = written('database_url = "host=d"')
    written(" host=b\n", "b")
    written("host=c\n", "database_url")
    directory = str(file.parent)
    environment = {name: text.format(dir=directory) for name, text in environment.items()}

    assert value == config.read_config({}, environment, file).database_url
    assert origin.format(dir=directory) == origins({}, environment, file)["database_url"]


def test_the_file_may_name_files_of_secrets_beside_it(written):
    written(SECRET, "key")

    assert SECRET == config.read_config({}, {}, written('secret_key_file = "key"')).secret_key


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_has_a_flag(name):
    assert None is getattr(config.read_config({name: SECRET}, {}), name, None)


def test_the_file_that_is_asked_for_comes_before_the_usual_one(written):
    usual, asked = written('log_level = "error"'), written('log_level = "debug"', "other.toml")
    third = written('log_level = "warning"', "third.toml")

    by_variable = config.read_config({}, {"PROMPTCORNER_CONFIG": str(asked)}, usual)
    by_flag = config.read_config({"config": str(third)}, {"PROMPTCORNER_CONFIG": str(asked)}, usual)

    assert ("debug", "warning") == (by_variable.log_level, by_flag.log_level)


def test_the_default_file_need_not_be_there(tmp_path):
    assert "info" == config.read_config({}, {}, tmp_path / "none").log_level


# providers


@pytest.mark.parametrize(
    ("flags", "environment", "text"),
    [
        ({}, {"ANTHROPIC_API_KEY": "k"}, ""),
        ({}, {"ANTHROPIC_API_KEY_FILE": "{dir}/key"}, ""),
        ({}, {"CREDENTIALS_DIRECTORY": "{dir}"}, ""),
        ({}, {}, 'anthropic_api_key = "k"'),
    ],
)
def test_a_key_reaches_the_models_whoever_said_it(flags, environment, text, written):
    file = written(text)
    written("k\n", "key")
    if "CREDENTIALS_DIRECTORY" in environment:
        written("k\n", "anthropic_api_key")
    environment = {name: value.format(dir=file.parent) for name, value in environment.items()}

    assert "k" == config.read_config(flags, environment, file).environ["ANTHROPIC_API_KEY"]


def test_a_flag_for_a_provider_comes_before_its_variable_there_too():
    flags = {"openai_base_url": "http://a", "model": "openai/a"}
    environment = {"OPENAI_BASE_URL": "http://b", "PROMPTCORNER_MODEL": "openai/b", "HOME": "/h"}

    environ = config.read_config(flags, environment).environ

    expected = {"OPENAI_BASE_URL": "http://a", "PROMPTCORNER_MODEL": "openai/a", "HOME": "/h"}
    assert expected == environ


def test_of_two_names_for_a_key_the_first_counts():
    environment = {"GOOGLE_API_KEY": "second", "GEMINI_API_KEY": "first"}

    assert "first" == config.read_config({}, environment).environ["GEMINI_API_KEY"]
    assert "GEMINI_API_KEY" == origins({}, environment)["gemini_api_key"]
    assert "GOOGLE_API_KEY" == origins({}, {"GOOGLE_API_KEY": "k"})["gemini_api_key"]


# what stays unsaid


@pytest.mark.parametrize("address", ["postgresql://ann:secret@h/d", "host=h password=secret"])
def test_a_password_is_in_no_repr(address):
    settings = config.read_config({}, {"DATABASE_URL": address})

    assert address == settings.database_url
    assert "secret" not in repr(settings)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_neither_in_a_repr_nor_shown(name):
    variable = SETTINGS_BY_NAME[name].variables[0]
    secret = f"postgresql://ann:{SECRET}@h/d" if name == "database_url" else SECRET
    environment = {variable: secret}

    [row] = [row for row in config.list_settings({}, environment) if row.name == name]

    assert ("(set)", variable) == (row.value, row.origin)
    assert SECRET not in repr(config.read_config({}, environment))
    assert SECRET not in repr(config.list_settings({}, environment))


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_in_no_refusal(name):
    wrong = f"password={SECRET} {SECRET}"

    said = refusal(environment={SETTINGS_BY_NAME[name].variables[0]: wrong})

    assert said.startswith(f"config: {SETTINGS_BY_NAME[name].variables[0]} ")
    assert SECRET not in said


# refused


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"data_dir": ""}, "--data-dir is empty, must name a directory"),
        ({"data_dir": "a\0b"}, "--data-dir=a\0b, must name a directory, and has a zero byte in it"),
        ({"listen": "7390"}, "--listen=7390, must be HOST:PORT with a port of 0..65535"),
        ({"log": "xml"}, "--log=xml, must be auto, text or json"),
        ({"sharing": "maybe"}, "--sharing=maybe, must be on or off"),
        (
            {"plugins": "a b"},
            "--plugins=a b, must be none, or names of distributions with commas between them",
        ),
        (
            {"experiments": "chat-adviser"},
            "--experiments=chat-adviser, must be none, or any of chat-advisor,"
            " chat-virtual-desktop, with commas between them",
        ),
        ({"postgres_user": ""}, "--postgres-user is empty, must not be empty"),
    ],
)
def test_what_is_not_of_its_kind_is_refused(flags, expected):
    assert f"config: {expected}" == refusal(flags)


@pytest.mark.parametrize(
    "url",
    [
        "chats.test",
        "ftp://a.test",
        "http://",
        "http://a:99999",
        "http://a?b=c",
        "http://a#b",
        "http://me:secret@a",
    ],
)
def test_an_address_for_links_is_one_that_links_can_begin_with(url):
    said = refusal({"access_url": url})

    assert f"config: --access-url={url}, must be http:// or https://, " in said


def test_an_address_for_links_has_no_slash_at_its_end():
    assert "http://a/b" == config.read_config({"access_url": "http://a/b/"}, {}).access_url


@pytest.mark.parametrize(
    "wrong",
    ["*", "portal.test", "https://a.test/path", "https://a.test; script-src *", "'self'", "none,x"],
)
def test_an_origin_is_no_more_than_an_origin(wrong):
    with pytest.raises(InvalidValue):
        FrameOrigins().read(wrong)


@pytest.mark.parametrize("setting", ["trusted_proxies", "private_networks"])
@pytest.mark.parametrize("said", ["10.0.0.1/8", "proxy", "10.0.0.1;10.0.0.2", "10.0.0.0/33"])
def test_proxies_and_networks_are_named_by_their_addresses(setting, said):
    flag = config.table.SETTINGS_BY_NAME[setting].flag

    assert f"{flag}={said}, must be none, or addresses" in refusal({setting: said})


@pytest.mark.parametrize(
    "said",
    ["app.example.org", "https://a/", "https://a/b", "https://u@a", "*", "https://a;https://b"],
)
def test_pages_that_may_call_are_named_by_their_origins(said):
    assert f"--cors-origins={said}, must be none, or origins" in refusal({"cors_origins": said})


def test_a_certificate_needs_its_key():
    expected = "config: of tls_cert and tls_key only one is set; set both, or none"

    assert expected == refusal({"tls_cert": "/c"}) == refusal({"tls_key": "/k"})


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            {"relay_listen": "0.0.0.0:7391"},
            "relay_listen=0.0.0.0:7391 is every address of this machine, others need one;"
            " name it there, or in relay_url",
        ),
        (
            {"relay_listen": "[::]:0"},
            "relay_listen=[::]:0 is every address of this machine, others need one;"
            " name it there, or in relay_url",
        ),
        (
            {"relay_listen": "10.0.0.1:65534", "processes": "3"},
            "3 processes take the ports 65534..65536 of relay_listen;"
            " the first must be 1 less, or lower",
        ),
        (
            {"relay_listen": "10.0.0.1:1", "relay_url": "http://a:65535", "processes": "2"},
            "2 processes take the ports 65535..65536 of relay_url;"
            " the first must be 1 less, or lower",
        ),
        (
            {"relay_listen": "10.0.0.1:7391", "relay_url": "https://a/b", "processes": "2"},
            "relay_url=https://a/b has no port, and 2 processes need one each;"
            " add that of the first, the others take the next ones",
        ),
        (
            {"relay_url": "http://a:7391"},
            "relay_url=http://a:7391 leads to no port that is known;"
            " set relay_listen to HOST:PORT with that port",
        ),
        (
            {"relay_url": "http://a:7391", "relay_listen": "10.0.0.1:0"},
            "relay_url=http://a:7391 leads to no port that is known;"
            " set relay_listen to HOST:PORT with that port",
        ),
    ],
)
def test_where_others_would_find_nobody_is_refused(said, expected):
    assert f"config: {expected}" == refusal(said)


@pytest.mark.parametrize(
    "said",
    [
        {"relay_listen": "0.0.0.0:7391", "relay_url": "http://a:7391"},
        {"relay_listen": "10.0.0.1:65534", "processes": "2"},
        {"relay_listen": "10.0.0.1:0", "processes": "9"},
        {"relay_listen": "10.0.0.1:7391", "relay_url": "https://a/b"},
        {"relay_listen": "10.0.0.1:7391", "relay_url": "http://a:65534", "processes": "2"},
    ],
)
def test_where_others_find_somebody_is_not(said):
    assert config.read_config(said, {}).relay_listen is not None


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (
            {"PROMPTCORNER_LISTN": "x"},
            "variable PROMPTCORNER_LISTN is none of ours; did you mean PROMPTCORNER_LISTEN?",
        ),
        (
            {"PROMPTCORNER_LISTEN_FILE": "x"},
            "variable PROMPTCORNER_LISTEN_FILE is none of ours; did you mean PROMPTCORNER_LISTEN?",
        ),
        (
            {"PROMPTCORNER_PORT": "80"},
            "variable PROMPTCORNER_PORT is none of ours;"
            " `promptcorner config show` lists those that are",
        ),
        (
            {"OPENAI_API_KEY": "a", "OPENAI_API_KEY_FILE": "b"},
            "OPENAI_API_KEY and OPENAI_API_KEY_FILE are both set; unset one",
        ),
        (
            {"OPENAI_API_KEY_FILE": "/none"},
            "OPENAI_API_KEY_FILE /none cannot be read (No such file or directory)",
        ),
        (
            {"PROMPTCORNER_CONFIG": "/none"},
            "PROMPTCORNER_CONFIG /none cannot be read (No such file or directory)",
        ),
    ],
)
def test_a_variable_that_would_be_ignored_is_refused(environment, expected):
    said = refusal(environment=environment)

    assert f"config: {expected}" == said


@pytest.mark.parametrize(
    "variable",
    [
        "PROMPTCORNER_SERVICE_HOST=10.0.0.1",
        "PROMPTCORNER_SERVICE_PORT=7390",
        "PROMPTCORNER_SERVICE_PORT_HTTP=7390",
        "PROMPTCORNER_PORT=tcp://10.0.0.1:7390",
        "PROMPTCORNER_PORT_7390_TCP=tcp://10.0.0.1:7390",
        "PROMPTCORNER_PORT_7390_TCP_ADDR=10.0.0.1",
        "PROMPTCORNER_DB_SERVICE_HOST=10.0.0.1",
        "PROMPTCORNER_EMPTY=",
    ],
)
def test_what_kubernetes_says_of_a_service_of_our_name_is_none_of_our_business(variable):
    name, _, value = variable.partition("=")

    assert 7390 == config.read_config({}, {name: value}).port


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("listn = 1", "listn in {file} is none of ours; did you mean listen?"),
        ("[a]\nb = 1", "a in {file} is none of ours; `promptcorner config show` lists those"),
        ("listen = [1]", "listen in {file} must be a string, a number or a boolean"),
        ("pool_size = 0", "pool_size in {file} says 0, must be 1..64"),
        ("a b", "{file} is no TOML (Expected '=' after a key"),
        (b"\xff", "{file} is no TOML ('utf-8' codec"),
        ('openai_api_key = "a"\nopenai_api_key_file = "b"', "openai_api_key and openai_api_key_fi"),
        ('openai_api_key_file = "b"', "openai_api_key_file in {file} {dir}/b cannot be read (No"),
        ('listen_file = "b"', "listen_file in {file} is none of ours; did you mean listen?"),
        ("# " + "x" * (1 << 20), "{file} has more than 1048576 bytes"),
    ],
    ids=range(10),
)
def test_a_file_that_cannot_be_meant_is_refused(text, expected, written):
    file = written(text)

    said = refusal(file=file)

    assert said.startswith("config: " + expected.format(file=file, dir=file.parent))


def test_a_secret_in_a_file_is_bounded_and_text(written):
    long, odd = written("x" * (64 * 1024 + 1), "long"), written(b"\xff", "odd")

    too_long = refusal(environment={"OPENAI_API_KEY_FILE": str(long)})
    no_text = refusal(environment={"OPENAI_API_KEY_FILE": str(odd)})

    assert f"config: OPENAI_API_KEY_FILE {long} has more than 65536 bytes" == too_long
    assert f"config: OPENAI_API_KEY_FILE {odd} is no text" == no_text


@pytest.mark.parametrize("variable", ["DATABASE_URL_FILE", "CREDENTIALS_DIRECTORY"])
def test_an_empty_file_of_a_secret_is_not_the_default(variable, written):
    file = written(" \n", "database_url")
    names = {"DATABASE_URL_FILE": file, "CREDENTIALS_DIRECTORY": file.parent}

    said = refusal(environment={variable: str(names[variable])})

    assert said.endswith(f" {file} is empty")


# numbers


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_may_be_said_within_its_bounds(name):
    kind = SETTINGS_BY_NAME[name].kind

    for value in (kind.low, kind.high):
        assert value == getattr(config.read_config({name: f"{value:.10g}"}, {}), name)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_out_of_its_bounds_is_refused(name):
    kind, flag = SETTINGS_BY_NAME[name].kind, SETTINGS_BY_NAME[name].flag

    for value in ("-1", "much", "1e3", f"{kind.high + 1:.10g}"):
        assert refusal({name: value}).startswith(f"config: {flag}={value}, must be {kind.low:g}..")


def test_seconds_may_have_a_fraction_and_counts_may_not():
    assert 2.5 == config.read_config({"lease_seconds": "2.5"}, {}).lease_seconds
    assert refusal({"root_chats": "2.5"})


# places


def test_an_address_in_brackets_is_one_of_ipv6():
    listening = config.read_config({"listen": "[::1]:80"}, {})

    assert ("::1", 80, "[::1]:80") == (listening.host, listening.port, str(listening.listen))


@pytest.mark.parametrize(
    ("listen", "url"),
    [
        ("127.0.0.1:7390", "http://127.0.0.1:7390"),
        ("0.0.0.0:80", "http://127.0.0.1:80"),
        ("[::]:80", "http://127.0.0.1:80"),
        ("[::1]:80", "http://[::1]:80"),
        ("10.0.0.1:80", "http://10.0.0.1:80"),
    ],
)
def test_somebody_on_this_machine_finds_the_daemon(listen, url):
    secure = {"tls_cert": "/c", "tls_key": "/k"}

    assert url == config.read_config({"listen": listen}, {}).local_url
    assert (
        url.replace("http", "https")
        == config.read_config({"listen": listen, **secure}, {}).local_url
    )


def test_a_relative_directory_is_one_from_here():
    assert Path.cwd() / "data" == config.read_config({"data_dir": "data"}, {}).data_dir


def test_a_path_may_begin_at_home():
    assert Path.home() / "x" == FilePath("file", "FILE").read("~/x")


def test_the_page_about_them_is_made_of_the_table():
    """If not: python -m adapters.settings.page docs/configuration.md"""
    written = Path(__file__).parents[2] / "docs" / "configuration.md"

    assert page() == written.read_text()
