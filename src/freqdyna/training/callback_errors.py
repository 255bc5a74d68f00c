"""Errors that the user's code raises in callbacks of the compiled programs, as one sentence."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from freqdyna.config import Config
from freqdyna.core.errors import RunFailedError
from freqdyna.core.plugins import module_of
from freqdyna.core.user_code import callback_failure


@contextmanager
def callback_errors_explained(config: Config) -> Iterator[None]:
    """Turn an error in a callback into one sentence that names the user's class.

    Args:
        config: The settings of the run, which name the user's classes.

    """
    try:
        yield
    except RuntimeError as error:
        failed = callback_failure(error)
        if failed is None:
            raise
        file, told = failed
        raise RunFailedError(f"{_whose(config, file)} fails while it runs{told}") from error


def _whose(config: Config, file: str) -> str:
    """What the failing code belongs to: "model is 'my:Model', which".

    Args:
        config: The settings of the run.
        file: The file of the code.

    """
    names = {name: getattr(config, name) or "" for name in ("env", "search_control", "model")}
    own = {name: value for name, value in names.items() if module_of(value) is not None}
    there = {
        name: value
        for name, value in own.items()
        if getattr(sys.modules.get(module_of(value) or ""), "__file__", None) == file
    }
    listed = " or ".join(f"{name} is {value!r}" for name, value in (there or own).items())
    return f"{listed}, which" if listed else "the environment, search-control or model"
