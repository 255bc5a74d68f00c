"""How the settings changed from version to version, so that nothing stored is lost by an upgrade.

Whoever adds a setting, or changes a default, adds it to HISTORY with what held before. Then an
older run resumes with what its version did, an older sweep finds its units and keeps its
defaults, and stored experiments load.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from freqdyna.core.errors import FreqdynaError

VERSION = "0.2.0"
"""The version of this package."""
FIRST = "0.1.0"
"""The version that wrote what does not name its version."""
EVERYWHERE = "everywhere"
"""Instead of the name of an environment, in tables of settings: for all of them."""
CONTINUOUS_ACTIONS, GYMNASIUM = "continuous actions", "Gymnasium's"
"""The same for environments with continuous actions, and for those that Gymnasium steps."""

Tables = Mapping[str, Mapping[str, Any]]
"""Settings by the name of an environment, or by one of the names above."""


@dataclass(frozen=True)
class Changes:
    """What one version changed, told by what held before it."""

    added: Mapping[str, Any] = field(default_factory=dict)
    """Each new setting, with the value that does what older versions did."""
    defaults: Tables = field(default_factory=dict)
    """Each default that changed, as it was before: EVERYWHERE, or in the environments named."""


HISTORY: dict[str, Changes] = {}
"""The changes by version; none so far."""


def added_after(version: str) -> dict[str, Any]:
    """The settings that `version` does not have, with the values that do what it did."""
    return _merged([changes.added for changes in _after(version)])


def defaults_before(version: str, where: str = EVERYWHERE) -> dict[str, Any]:
    """The defaults that `version` had and that changed since.

    Args:
        version: A version such as "0.1.0".
        where: An environment's name, or one of the names that stand for several.

    Returns:
        Each such setting with its default in that version.

    """
    return _merged([changes.defaults.get(where, {}) for changes in _after(version)])


def changed_after(version: str) -> bool:
    """Whether any setting was added, or any default changed, after `version`."""
    return bool(_after(version))


def without_new_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as version 0.1 would have stored them.

    What was added since is omitted where it does what version 0.1 did, so that names made from the
    rest stay the same for ever.
    """
    added = added_after(FIRST)
    return {k: v for k, v in settings.items() if k not in added or v != added[k]}


def last_changes(version: str) -> dict[str, str]:
    """Each setting whose default changed up to `version`, with the version that changed it last."""
    found: dict[str, str] = {}
    for changed_in in sorted(HISTORY, key=_numbers):
        if _numbers(changed_in) <= _numbers(version):
            tables = HISTORY[changed_in].defaults.values()
            found |= {name: changed_in for table in tables for name in table}
    return found


def _after(version: str) -> list[Changes]:
    """What was changed after `version`, newest first."""
    newer = [later for later in HISTORY if _numbers(later) > _numbers(version)]
    return [HISTORY[later] for later in sorted(newer, key=_numbers, reverse=True)]


def _merged(tables: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {name: value for table in tables for name, value in table.items()}


def _numbers(version: str) -> tuple[int, ...]:
    """A version as numbers to compare; whatever follows them, as in 0.2.0.dev1, is ignored."""
    numbers = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    if numbers is None:
        raise FreqdynaError(f"version is {version!r}; it must be numbers, such as {VERSION}")
    return tuple(map(int, numbers[0].split(".")))
