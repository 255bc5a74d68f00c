"""The sweep file: settings, varied settings and seeds; it is expanded into units of work.

    preset = "paper"                # optional; settings take precedence over it

    [settings]                      # shared by all trainings
    env = "MountainCar-v0"
    steps = 50_000

    [vary]                          # every combination is trained
    algorithm = ["er", "dyna-frequency"]
    learner.learning_rate = [0.0003, 0.001]

    [seeds]
    number = 30
    block = 10                      # seeds per unit

Agents that differ in more than one setting are tables of their own, each combined with [vary]:

    [[agents]]
    algorithm = "er"

    [[agents]]
    algorithm = "dyna"
    search_control = "value"

A unit is one combination with one block of seeds. Its name is a hash of its settings, so that the
same unit has the same file in every sweep, and more seeds or values only add units. Instead of
[vary] a file may have a search for the best settings:

    [search]
    trials = 32
    together = 8                    # trials suggested at a time, and trained in one program
    objective = "mean"              # mean return after the warm-up, or "last"

    [search.space]
    learner.learning_rate = {low = 0.0001, high = 0.01, log = true}
    learner.target_period = {low = 300, high = 3000}
    search_control.boundary = {choices = ["restart", "project"]}
"""

import hashlib
import itertools
import json
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from freqdyna import envs as environments
from freqdyna.agents import algorithms, presets
from freqdyna.config import COMPONENTS, NAMED, Config, flattened, integer, one_of, require
from freqdyna.core.errors import FreqdynaError, unknown_name
from freqdyna.core.files import encode_toml, parse_toml, read_text
from freqdyna.core.plugins import import_code, require_allowed
from freqdyna.envs.gym import ClosingFactory
from freqdyna.envs.names import environment_of_run, space_of_run
from freqdyna.search_control import SEARCH_CONTROLS

FILE = "sweep.toml"
"""The name of the sweep file in the sweep's folder."""
_OF_NO_SWEEP = {
    "seeds": "use number in [seeds]",
    "first_seed": "use first in [seeds]",
    "devices": "omit it",
    "snapshot_steps": "omit it",
}


@dataclass(frozen=True)
class SweepUnit:
    """One training of one block of seeds."""

    config: Config
    program: str = ""
    """Units with the same program are trained as rows of one compiled program, on whose number the
    last digits may depend; empty for a unit with a program of its own."""

    @cached_property
    def name(self) -> str:
        """A hash of what the unit computes, 16 hexadecimal digits."""
        return digest([self.config.flat(), self.program])


def digest(facts: Any) -> str:
    """A short hash of plain data."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class SearchSpace:
    """A hyper-parameter search."""

    space: dict[str, dict[str, Any]]
    """For each setting: low, high and optionally log; or choices."""
    trials: int = 32
    together: int = 8
    objective: str = "mean"

    @staticmethod
    def of(table: dict[str, Any]) -> "SearchSpace":
        """The search that a table describes; invalid tables raise an error."""
        _check_names("setting of [search]", table, ("trials", "together", "objective", "space"))
        for name in ("trials", "together"):
            integer(1)(f"{name} in [search]", table.get(name, 1))
        objective, space = table.get("objective", "mean"), table.get("space")
        one_of("mean", "last")("objective in [search]", objective)
        is_table = isinstance(space, dict) and bool(space)
        require("[search.space]", space, is_table, "a table of settings")
        table = table | {"space": _dotted(table["space"])}
        allowed = "{low = ..., high = ...}, optionally with log = true, or {choices = [...]}"
        for name, range_ in table["space"].items():
            require(f"{name} in [search.space]", range_, _is_range(range_), allowed)
        return SearchSpace(**table)


def _is_range(range_: Any) -> bool:
    if not isinstance(range_, dict):
        return False
    if set(range_) == {"choices"}:
        return isinstance(range_["choices"], list) and bool(range_["choices"])
    if not {"low", "high"} <= set(range_) <= {"low", "high", "log"}:
        return False
    low, high, log = range_["low"], range_["high"], range_.get("log", False)
    numbers = type(low) in (int, float) and type(high) in (int, float) and type(log) is bool
    return numbers and low <= high and (low > 0 or not log)


def _dotted(table: dict[str, Any]) -> dict[str, Any]:
    """Settings to vary by name, where `learner.hidden = ...` may have made a table of a table."""
    dotted: dict[str, Any] = {}
    for name, value in table.items():
        if name in COMPONENTS and isinstance(value, dict) and not _is_range(value):
            dotted |= {name if k == "name" else f"{name}.{k}": one for k, one in value.items()}
        else:
            dotted[name] = value
    return dotted


def _check_names(kind: str, table: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in table:
        if name not in known:
            raise unknown_name(kind, name, known)


@dataclass(frozen=True)
class Sweep:
    """The content of a sweep file."""

    settings: dict[str, Any] = field(default_factory=dict)
    vary: dict[str, list[Any]] = field(default_factory=dict)
    agents: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    seeds: int = 30
    first_seed: int = 0
    block: int = 10
    search: SearchSpace | None = None
    preset: str | None = None
    text: str = field(default="", compare=False)
    """The contents of the file."""

    @staticmethod
    def parse(text: str) -> "Sweep":
        """Parse and check a sweep file."""
        tables = parse_toml(text, "the sweep file")
        _check_names("table", tables, ("settings", "vary", "agents", "seeds", "search", "preset"))
        preset, agents = tables.pop("preset", None), tables.pop("agents", [{}])
        require("preset", preset, preset is None or isinstance(preset, str), "a name in quotes")
        are_tables = isinstance(agents, list) and all(isinstance(one, dict) for one in agents)
        require("agents", agents, are_tables and bool(agents), "tables, [[agents]]")
        for name, table in tables.items():
            require(name, table, isinstance(table, dict), f"a table, [{name}]")
        seeds, vary = tables.get("seeds", {}), _dotted(tables.get("vary", {}))
        _check_names("setting of [seeds]", seeds, ("number", "first", "block"))
        for name, value in seeds.items():
            integer(0 if name == "first" else 1)(f"{name} in [seeds]", value)
        for name, values in vary.items():
            is_list = isinstance(values, list) and bool(values)
            require(f"{name} in [vary]", values, is_list, "a list of at least one value")
        sweep = Sweep(
            flattened(tables.get("settings", {})),
            vary,
            [flattened(agent) for agent in agents],
            seeds.get("number", 30),
            seeds.get("first", 0),
            seeds.get("block", 10),
            SearchSpace.of(tables["search"]) if "search" in tables else None,
            preset,
            text,
        )
        sweep._check()
        return sweep

    @staticmethod
    def read(path: Path, allow_code: bool) -> "Sweep":
        """The sweep of a file; `allow_code`: whether it may name code to import."""
        sweep = Sweep.parse(read_text(path, "sweep file"))
        sweep._check_components(allow_code)
        return sweep

    def stored(self) -> bytes:
        """The contents of the file as it is stored with the units: with a checksum."""
        return encode_toml(self.text, "A sweep of freqdyna, format 1.")

    def _check_components(self, allow_code: bool) -> None:
        """Raise an error for names that are unknown, or that would import code unasked.

        With `allow_code`, environments of users are created, because their settings depend on them.
        """
        for setting in NAMED:
            for name in self._names(setting):
                if allow_code:
                    import_code(**{setting: name})
                require_allowed(setting, name)
        for name in self._names("algorithm"):
            algorithms.recipe_of(name)
        for name in self._names("env"):
            if name not in environments.ENVIRONMENTS:
                environments.gymnasium_factory(name)
        for name in self._names("search_control"):
            SEARCH_CONTROLS.find(name)
        for config in self.configs():  # before any unit fails because of it
            algorithms.require_search_control(config)
        if not allow_code:
            return
        space = self.search.space if self.search else {}
        tried = {name: one.get("choices", [one.get("low")])[0] for name, one in space.items()}
        for config in self.configs() if self.search is None else [self.config(tried)]:
            environment = environment_of_run(config)
            if isinstance(environment, environments.Environment):
                algorithms.build(config, environment)
                continue
            with closing(ClosingFactory(environment)) as factory:
                algorithms.build(config, space_of_run(environment, config), factory)

    def _names(self, setting: str) -> list[Any]:
        """All values in the sweep of a setting that is a name, if it is set."""
        if self.search is not None and setting in self.search.space:
            names = list(self.search.space[setting]["choices"])
        else:
            of_agents = [agent[setting] for agent in self.agents if setting in agent]
            names = self.vary.get(setting, of_agents) or [getattr(self.config({}), setting)]
        return [name for name in names if name not in (None, "None")]

    def varied(self) -> list[dict[str, Any]]:
        """The varied settings of each combination, in the order of the file."""
        rows = itertools.product(self.agents, *self.vary.values())
        return [agent | dict(zip(self.vary, row, strict=True)) for agent, *row in rows]

    def config(self, varied: dict[str, Any]) -> Config:
        """The configuration of one combination, or of one trial of a search.

        Settings that depend on a Gymnasium environment remain unset until a worker creates it,
        because creating it here would import code.
        """
        return algorithms.completed(presets.config(self.settings | varied, self.preset))

    def configs(self) -> list[Config]:
        """The configuration of each combination."""
        return [self.config(varied) for varied in self.varied()]

    def units(self) -> list[SweepUnit]:
        """All distinct units."""
        units = [unit for config in self.configs() for unit in self.blocks(config)]
        return list({unit.name: unit for unit in units}.values())

    def blocks(self, config: Config) -> list[SweepUnit]:
        """The units of one combination: one block of seeds each, on one device."""
        last = self.first_seed + self.seeds
        config = replace(config, devices=1)  # so that results do not depend on the machine
        return [
            SweepUnit(replace(config, first_seed=first, seeds=min(self.block, last - first)))
            for first in range(self.first_seed, last, self.block)
        ]

    def _check(self) -> None:
        space = self.search.space if self.search else {}
        of_agents = {name for agent in self.agents for name in agent}
        for name in (*self.settings, *self.vary, *space, *of_agents):
            if name in _OF_NO_SWEEP:
                raise FreqdynaError(f"{name} is not a setting of a sweep; {_OF_NO_SWEEP[name]}")
            if sum(name in names for names in (self.settings, self.vary, space, of_agents)) > 1:
                raise FreqdynaError(
                    f"{name} is in two of [settings], [vary], [[agents]], [search.space]; keep one"
                )
        if self.search is not None and (self.vary or of_agents):
            raise FreqdynaError("a sweep with [search] has no [vary] and no [[agents]]; omit one")
        for name, range_ in space.items():
            for value in range_.get("choices", (range_.get("low"), range_.get("high"))):
                self.config({name: value})  # raises an error for invalid values
        self.units()  # checks every configuration
