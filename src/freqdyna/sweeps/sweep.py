"""The sweep file: settings, varied settings and seeds; it is expanded into units of work.

    preset = "paper"                # optional; settings take precedence over it

    [settings]                      # shared by all trainings
    env = "MountainCar-v0"
    steps = 50_000

    [vary]                          # every combination is trained
    algorithm = ["er", "dyna-frequency"]
    learning_rate = [0.0003, 0.001]

    [seeds]
    number = 30
    block = 10                      # seeds per unit

A unit is one combination with one block of seeds. Its name is a hash of its settings, so that the
same unit has the same file in every sweep, and more seeds or values only add units. Instead of
[vary] a file may have [search], see `search_space`.
"""

import hashlib
import itertools
import json
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from freqdyna import envs as environments
from freqdyna.agents import algorithms
from freqdyna.config import Config
from freqdyna.config.checks import means_none
from freqdyna.core.checksums import toml_with_checksum
from freqdyna.core.errors import FreqdynaError, shown, unknown_name
from freqdyna.core.plugins import import_code, require_allowed
from freqdyna.core.toml_files import parse_toml
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.search_control import SEARCH_CONTROLS
from freqdyna.sweeps.notes import printable
from freqdyna.sweeps.search_space import SearchSpace

FILE = "sweep.toml"
"""The name of the sweep file in the sweep's folder."""
_TABLES = ("settings", "vary", "seeds", "search")
_NAMES = ("preset",)
_SEEDS = ("number", "first", "block")
_OF_THE_SWEEP = {"seeds": "number in [seeds]", "first_seed": "first in [seeds]"}
_OF_NO_SWEEP = ("devices", "snapshot_steps")
GREATEST_SIZE = 100_000
"""The maximum number of units in a sweep; more are assumed to be a mistake."""


@dataclass(frozen=True)
class SweepUnit:
    """One training of one block of seeds."""

    config: Config
    together: int = 1
    """The number of trainings in its program, on which the last digits may depend."""

    @cached_property
    def name(self) -> str:
        """A hash of what the unit computes, 16 hexadecimal digits."""
        facts = asdict(self.config)
        if self.together > 1:
            facts["together"] = self.together
        text = json.dumps(facts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def settings(self) -> dict[str, Any]:
        """The unit as plain data, for another process."""
        return asdict(self.config)

    @staticmethod
    def of(settings: dict[str, Any], together: int) -> "SweepUnit":
        """The unit with these settings, in a program with `together` trainings."""
        return SweepUnit(Config.of(settings), together)


@dataclass(frozen=True)
class Sweep:
    """The content of a sweep file."""

    settings: dict[str, Any] = field(default_factory=dict)
    vary: dict[str, list[Any]] = field(default_factory=dict)
    seeds: int = 30
    first_seed: int = 0
    block: int = 10
    search: SearchSpace | None = None
    preset: str | None = None

    @staticmethod
    def parse(text: str) -> "Sweep":
        """Parse and check a sweep file."""
        return Sweep._of(parse_toml(text, "the sweep file"))

    @staticmethod
    def _of(tables: dict[str, Any]) -> "Sweep":
        for name, table in tables.items():
            if name in _NAMES:
                if not isinstance(table, str):
                    raise FreqdynaError(f"{name} is {shown(table)}; it must be a name in quotes")
                continue
            if name not in _TABLES:
                raise unknown_name("table", name, (*_TABLES, *_NAMES))
            if not isinstance(table, dict):
                raise FreqdynaError(f"{name} is {shown(table)}; it must be a table, [{name}]")
        seeds = tables.get("seeds", {})
        for name, value in seeds.items():
            if name not in _SEEDS:
                raise unknown_name("setting of [seeds]", name, _SEEDS)
            least = 0 if name == "first" else 1
            if type(value) is not int or not least <= value < 2**31:
                raise FreqdynaError(
                    f"{name} in [seeds] is {shown(value)}; it must be an integer, {least} or "
                    "greater"
                )
        vary = tables.get("vary", {})
        for name, values in vary.items():
            if not isinstance(values, list) or not values:
                raise FreqdynaError(
                    f"{printable(name)} in [vary] is {shown(values)}; it must be a list of at "
                    "least one value"
                )
        sweep = Sweep(
            tables.get("settings", {}),
            vary,
            seeds.get("number", 30),
            seeds.get("first", 0),
            seeds.get("block", 10),
            SearchSpace.of(tables["search"]) if "search" in tables else None,
            tables.get("preset"),
        )
        sweep._check()
        return sweep

    def stored(self, text: str) -> str:
        """The text of the file as it is stored with the units: with a checksum."""
        return toml_with_checksum(text)

    def check_names(self, allow_code: bool) -> None:
        """Raise an error for unknown algorithms, environments and search-controls.

        Args:
            allow_code: Whether to import the modules of names such as module:Class; if not, names
                of modules that are not imported are refused.

        """
        envs, controls = self._names("env"), self._names("search_control")
        models = self._names("model")
        for setting, names in (("search_control", controls), ("model", models), ("env", envs)):
            for name in names:
                if allow_code:
                    import_code(**{setting: name})
                require_allowed(setting, name)
        for name in self._names("algorithm"):
            algorithms.find(name)
        for name in envs:
            if name not in environments.ENVIRONMENTS:
                environments.gymnasium_factory(name)
        for name in controls:
            SEARCH_CONTROLS.find(name)

    def _names(self, setting: str) -> list[Any]:
        """All values in the sweep of a setting that is a name, if it is set."""
        if self.search is not None and setting in self.search.space:
            names = list(self.search.space[setting]["choices"])
        else:
            names = self.vary.get(setting, [getattr(self.config({}), setting)])
        return [
            name for name in names if name is not None and not means_none(Config, setting, name)
        ]

    def varied(self) -> list[dict[str, Any]]:
        """The varied settings of each combination, in the order of the file."""
        rows = itertools.product(*self.vary.values())
        return [dict(zip(self.vary, row, strict=True)) for row in rows]

    def config(self, varied: dict[str, Any]) -> Config:
        """The configuration of one combination, or of one trial of a search.

        Settings that depend on a Gymnasium environment remain unset until a worker creates it,
        because creating it here would import code.
        """
        return resolved_by_name(Config.of(self.settings | varied, self.preset))

    def configs(self) -> list[Config]:
        """The configuration of each combination."""
        return [self.config(varied) for varied in self.varied()]

    def units(self) -> list[SweepUnit]:
        """All distinct units."""
        found = {u.name: u for config in self.configs() for u in self.blocks(config)}
        return list(found.values())

    def blocks(self, config: Config, together: int = 1) -> list[SweepUnit]:
        """The units of one combination: one block of seeds each, on one device."""
        last = self.first_seed + self.seeds
        return [
            SweepUnit(
                replace(
                    config,
                    first_seed=first,
                    seeds=min(self.block, last - first),
                    devices=1,  # so that its results do not depend on where it is computed
                ),
                together,
            )
            for first in range(self.first_seed, last, self.block)
        ]

    def _check(self) -> None:
        for name in (*self.settings, *self.vary):
            if name in _OF_THE_SWEEP:
                raise FreqdynaError(
                    f"{name} is not a setting of a sweep: see {_OF_THE_SWEEP[name]}"
                )
            if name in _OF_NO_SWEEP:
                raise FreqdynaError(f"{name} is not a setting of a sweep; omit it")
        for name in self.vary:
            if name in self.settings:
                raise FreqdynaError(f"{name} is in [settings] and in [vary]; it must be in one")
        if self.search is not None:
            if self.vary:
                raise FreqdynaError("a sweep has [vary] or [search]; omit one")
            for name in self.search.space:
                if name in self.settings or name in (*_OF_THE_SWEEP, *_OF_NO_SWEEP):
                    raise FreqdynaError(f"{name} cannot be searched: it is set or not a setting")
            for name, value in self.search.ends():
                self.config({name: value})  # raises an error for invalid values
        size = -(-self.seeds // self.block) * (self.search.trials if self.search else 1)
        for values in self.vary.values():
            size *= len(values)
        if size > GREATEST_SIZE:
            raise FreqdynaError(
                f"the sweep has {size:,} units; it must have at most {GREATEST_SIZE:,}"
            )
        self.units()  # checks every configuration
