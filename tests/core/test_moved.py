import importlib
import sys

import pytest

import freqdyna


@pytest.mark.parametrize(("old", "new"), freqdyna._MOVED.items())
def test_a_module_is_still_found_under_its_old_name(old, new, monkeypatch):
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}"):
        moved = importlib.import_module(old)
    target = importlib.import_module(new)
    for name in vars(target):
        assert name.startswith("__") or getattr(moved, name) is getattr(target, name)


def test_names_are_imported_from_the_old_module(monkeypatch):
    monkeypatch.delitem(sys.modules, "freqdyna.errors", raising=False)
    from freqdyna.core.errors import FreqdynaError

    with pytest.warns(DeprecationWarning, match="freqdyna.errors is now"):
        from freqdyna.errors import FreqdynaError as of_old_name
    assert of_old_name is FreqdynaError


def test_a_name_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("freqdyna.never_was")
