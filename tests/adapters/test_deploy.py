"""What docs/deploy tells init systems and containers is what the program understands."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from adapters import settings as config
from adapters.settings.table import SETTINGS_BY_NAME

HERE = Path(__file__).parents[2] / "docs" / "deploy"
VARIABLES = {name: row for row in config.SETTINGS for name in row.variables}


def known(variable):
    """Whether a daemon reads it."""
    row = VARIABLES.get(variable.removesuffix("_FILE"))
    return row is not None and (row.secret or not variable.endswith("_FILE"))


@pytest.mark.parametrize("name", ["promptcorner.service", "Containerfile", "compose.yaml"])
def test_every_variable_is_one_of_ours(name):
    said = set(re.findall(r"\bPROMPTCORNER_[A-Z_]+|\bDATABASE_URL\w*", (HERE / name).read_text()))

    assert said
    assert [] == [variable for variable in said if not known(variable)]


def test_the_units_credentials_are_secrets_of_ours():
    said = re.findall(r"LoadCredential=(\w+):", (HERE / "promptcorner.service").read_text())

    assert "secret_key" in said
    assert [] == [name for name in said if not SETTINGS_BY_NAME[name].secret]


def test_the_unit_waits_for_what_the_daemon_says_to_systemd():
    unit = (HERE / "promptcorner.service").read_text()

    for line in ("Type=notify", "NotifyAccess=main", "WatchdogSec=60", "KillMode=mixed"):
        assert f"\n{line}\n" in unit


def test_the_sample_file_is_a_configuration_with_and_without_its_comments(tmp_path):
    text = (HERE / "promptcorner.toml").read_text()
    all_of_it = re.sub(r"^#(\w+ = )", r"\1", text, flags=re.MULTILINE)
    file = tmp_path / "promptcorner.toml"

    for each in (text, all_of_it):
        file.write_text(each)
        assert Path("/var/lib/promptcorner") == config.read_config({}, {}, file).data_dir
    assert len(tomllib.loads(all_of_it)) > 5


def test_the_composition_is_whole():
    compose = yaml.safe_load((HERE / "compose.yaml").read_text())
    ours = compose["services"]["promptcorner"]

    assert {"data", "database"} == set(compose["volumes"])
    given = {name for each in compose["services"].values() for name in each["secrets"]}
    assert given == set(compose["secrets"])
    assert [] == [name for name in ours["environment"] if not known(name)]
    assert (HERE / ours["build"]["context"] / ours["build"]["dockerfile"]).exists()
    assert "127.0.0.1:7390:7390" in ours["ports"]


def test_what_the_image_copies_is_there():
    copied = re.findall(
        r"^COPY (?!--)(.*) \S+$", (HERE / "Containerfile").read_text(), re.MULTILINE
    )
    top = HERE.parents[1]

    assert [] == [name for line in copied for name in line.split() if not (top / name).exists()]
