"""The package that is installed: the command, and the door for plugins.

ext/       the module that plugins import
__main__   runs the command `promptcorner`

The packages `runtime`, `actors` and `adapters` have ordinary names, which other distributions use
as well. In the wheel they therefore lie in a folder of this package, and that folder comes first on
the import path of any program that imports `promptcorner`. In a checkout they stand beside it.
"""

import sys
from pathlib import Path

_PACKAGES = Path(__file__).parent / "packages"  # pyproject.toml puts them there in the wheel
if _PACKAGES.is_dir():
    sys.path.insert(0, str(_PACKAGES))
