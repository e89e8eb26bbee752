"""Every source of tools stands in the list; one that does not is offered to no chat."""

import importlib
import inspect
import pkgutil

from adapters.tools import built_in
from adapters.tools.built_in import sources


def test_every_source_is_in_the_list():
    there = set()
    for found in pkgutil.iter_modules(built_in.__path__):
        module = importlib.import_module(f"{built_in.__name__}.{found.name}")
        for name, one in inspect.getmembers(module, inspect.isclass):
            if one.__module__ == module.__name__ and hasattr(one, "offered"):
                there.add(name)

    assert there
    assert there == {name for name in there if f"{name}(" in inspect.getsource(sources)}, (
        "list it in built_in_sources"
    )
