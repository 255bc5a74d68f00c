"""The tests mirror the package, and every room is tested as users run it."""

from pathlib import Path

import pytest
from slow_files import SLOW_FILES

TESTS = Path(__file__).parent
ROOMS = sorted(path.parent.name for path in (TESTS.parent / "src/freqdyna").glob("*/__init__.py"))
OTHERS = {"docs", "examples", "learning"}
"""Folders of tests that are of no room."""


def test_every_folder_of_tests_is_a_room():
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name[0] not in "._"}
    assert sorted(folders - OTHERS) == ROOMS


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_test_with_the_compiler_that_users_have(room):
    files = (TESTS / room).rglob("test_*.py")
    assert any("pytest.mark.default_compiler" in file.read_text() for file in files)


def test_files_that_are_called_slow_are_there():
    assert [name for name in SLOW_FILES if not (TESTS / name).is_file()] == []
