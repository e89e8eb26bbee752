"""What is set, and who set it."""

import argparse
import os
import sys

import msgspec

from adapters import settings as config
from adapters.cli.tables import documented, table
from adapters.settings.table import default_config_file


def run(options: argparse.Namespace) -> int:
    rows = config.list_settings(vars(options), os.environ, default_config_file())
    if options.json:
        sys.stdout.write(documented([msgspec.to_builtins(row) for row in rows]))
        return 0
    columns = ("setting", "value", "origin") if options.origin else ("setting", "value")
    lines = [(row.name, row.value or "-", row.origin)[: len(columns)] for row in rows]
    sys.stdout.write(table(columns, lines))
    return 0
