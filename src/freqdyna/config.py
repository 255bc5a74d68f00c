"""The settings of a run: how they are declared, checked, read and written.

A component of a run (its environment, learner, replay, planning, search-control and model) is a
class, and its settings are the fields of that class: those that are public, have a default, and
hold a number, a truth value, a text or a tuple of them. A setting is declared nowhere else:

    class Frequency(HillClimb):
        probability: Share = 0.5  # followed by a text that documents it

In files, options and sweeps it is called `search_control.probability`. `Config` holds what every
run has, and the settings of the components by these names, without knowing the classes.
"""

import ast
import dataclasses
import inspect
import math
import textwrap
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from freqdyna.core.errors import FreqdynaError, shortened, unknown_name
from freqdyna.core.files import parse_toml, read_text, toml_value, write_atomically

Check = Callable[[str, Any], Any]
"""From the name and the value of a setting to the value to store; raises an error if invalid."""

GREATEST = 2**31 - 1  # keys and counters are 32 bits wide
_GREATEST_FLOAT = 1e30  # inside float32, with some room for sums
NAMED = ("env", "search_control", "model", "trust")
"""The components that a setting names; those of the user's own code are called module:Class."""
COMPONENTS = ("learner", "replay", "planning", *NAMED)
"""The components of a run; the settings of the agent itself have no prefix."""
ALIASES = {
    "seed": "first_seed",
    "total_timesteps": "steps",
    "gamma": "learner.discount",
    "lr": "learner.learning_rate",
    "learning_starts": "warmup_steps",
    "gradient_steps": "planning_steps",
    "buffer_size": "replay.capacity",
}
"""What other libraries call these settings."""
ALGORITHM_ALIASES = {"dqn": "er"}
"""What other libraries call these algorithms."""


def require(name: str, value: object, holds: bool, allowed: str) -> None:
    """Raise an error unless a condition holds; `allowed` completes "it must be ..."."""
    if not holds:
        raise FreqdynaError(f"{name} is {shortened(value)}; it must be {allowed}")


def integer(least: int) -> Check:
    """A check for integers that are `least` or greater and fit into 32 bits."""

    def check(name: str, value: Any) -> Any:
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        require(name, value, is_integer and value >= least, f"an integer, {least} or greater")
        require(name, value, value <= GREATEST, f"at most {GREATEST:,}")
        return value

    return check


def number(low: float = -math.inf, high: float = math.inf, above: bool = False) -> Check:
    """A check for finite numbers from `low` to `high`; with `above`, greater than `low`.

    They are stored as floats, and -0.0 as 0.0, so that equal settings have the same representation.
    """
    allowed = "a finite number"
    if math.isfinite(low):
        allowed = f"{low} or greater" if math.isinf(high) else f"between {low} and {high}"
        at_most = "" if math.isinf(high) else f", at most {high}"
        allowed = f"greater than {low}{at_most}" if above else allowed

    def check(name: str, value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        holds = is_number and -math.inf < value < math.inf and low <= value <= high
        require(name, value, holds and not (above and value == low), allowed)
        fits = abs(value) <= _GREATEST_FLOAT
        require(name, value, fits, f"at most {_GREATEST_FLOAT:g} in size")
        return float(value) + 0.0

    return check


def one_of(*choices: Any) -> Check:
    """A check for one of several values."""

    def check(name: str, value: Any) -> Any:
        # A list, which TOML may contain, is not hashable: compare one by one.
        allowed = " or ".join(map(repr, choices))
        require(name, value, any(value == choice for choice in choices), allowed)
        return value

    return check


def instance(kind: type, allowed: str) -> Check:
    """A check for values of a type."""

    def check(name: str, value: Any) -> Any:
        require(name, value, isinstance(value, kind), allowed)
        return value

    return check


def sequence(each: Check, least: int, allowed: str) -> Check:
    """A check for tuples of at least `least` entries."""

    def check(name: str, value: Any) -> Any:
        require(name, value, isinstance(value, tuple) and len(value) >= least, allowed)
        return tuple(each(name, one) for one in value)

    return check


def _algorithm(name: str, value: Any) -> Any:
    require(name, value, isinstance(value, str), "a name")
    return known_algorithm(value)


def known_algorithm(name: str) -> str:
    """Our name of an algorithm that other libraries call `name`; otherwise the name itself."""
    return ALGORITHM_ALIASES.get(name.lower(), name)


Count = Annotated[int, integer(1)]
"""An integer, 1 or greater."""
CountOrZero = Annotated[int, integer(0)]
NotNegative = Annotated[float, number(0)]
Positive = Annotated[float, number(0, above=True)]
Share = Annotated[float, number(0, 1)]
"""A number between 0 and 1."""
Fraction = Annotated[float, number(0, 1, above=True)]
"""The same, but not 0."""
Widths = Annotated[tuple[int, ...], sequence(integer(1), 1, "one width for each layer")]
Steps = Annotated[tuple[int, ...], sequence(integer(1), 0, "a tuple of steps")]
_PLAIN: dict[Any, Check] = {
    bool: instance(bool, "True or False"),
    int: integer(-GREATEST),
    float: number(),
    str: instance(str, "a text"),
}


@dataclass(frozen=True)
class Setting:
    """A field of a component, as it is declared."""

    name: str
    hint: Any
    """Its type, as declared."""
    default: Any
    check: Check
    may_be_none: bool

    def checked(self, name: str, value: Any) -> Any:
        """The value to store under a full name such as "model.size"."""
        value = _plain(value)
        return None if self.may_be_none and value is None else self.check(name, value)


@cache
def settings_of(component: type) -> Mapping[str, Setting]:
    """The settings that a class declares, by name."""
    try:
        hints = get_type_hints(component, include_extras=True)
    except NameError:  # a name that only a type checker imports
        hints = {one.name: one.type for one in fields(component)}
    declared = {}
    for one in fields(component):
        hint, default = hints.get(one.name, one.type), one.default
        kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        check = _check_of(kinds[0])
        if check and default is not dataclasses.MISSING and not one.name.startswith("_"):
            if one.name == "name":
                raise FreqdynaError(
                    f"{component.__name__} has a setting called 'name', which in files is that of "
                    "the class; choose another name"
                )
            declared[one.name] = Setting(one.name, hint, default, check, type(None) in kinds)
    return declared


def _check_of(hint: Any) -> Check | None:
    """The check of a type; None if it is not that of a setting."""
    if get_origin(hint) is Annotated:
        plain, *metadata = get_args(hint)
        return next((one for one in metadata if callable(one)), _check_of(plain))
    if get_origin(hint) is Literal:
        return one_of(*get_args(hint))
    if get_origin(hint) is tuple and get_args(hint)[1:] == (...,):
        each = _check_of(get_args(hint)[0])
        return sequence(each, 0, "a tuple") if each else None
    return _PLAIN.get(hint) if isinstance(hint, type) else None


@cache
def docs_of(component: type) -> Mapping[str, str]:
    """The text below each field of a class, in one line."""
    texts: dict[str, str] = {}
    for kind in reversed(component.__mro__):
        if not dataclasses.is_dataclass(kind):
            continue
        try:
            (node,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
        except (OSError, TypeError):  # a class that was typed at a prompt, or made by a function
            continue
        assert isinstance(node, ast.ClassDef)
        for before, after in zip(node.body, node.body[1:], strict=False):
            match before, after:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(str(text))):
                    texts[name] = " ".join(text.split())
    return texts


class Component:
    """The base of all components: their settings are checked when they are created."""

    def __check_init__(self) -> None:
        kind: type = type(self)
        for name, setting in settings_of(kind).items():
            value = getattr(self, name)
            if not hasattr(value, "aval"):  # a number inside a compiled program
                setting.checked(name, value)


def values_of(component: Any) -> dict[str, Any]:
    """The values of the settings of a component, by name."""
    kind: type = type(component)
    declared = settings_of(kind).items()
    return {name: setting.checked(name, getattr(component, name)) for name, setting in declared}


def create(kind: str, component: type, values: Mapping[str, Any], **others: Any) -> Any:
    """Create a component of a run from its class, its settings, and its other fields.

    `kind` is one of COMPONENTS, or "" for the agent itself.
    """
    declared = settings_of(component)
    for name in values:
        if name not in declared:
            raise unknown_name(f"setting of {component.__name__}", name, declared)
    prefix = f"{kind}." if kind else ""
    checked = {name: declared[name].checked(prefix + name, value) for name, value in values.items()}
    return component(**checked, **others)


@dataclass(frozen=True)
class Config:
    """What every run has, and the settings of its components by name."""

    algorithm: Annotated[str, _algorithm] = "er"
    """The name of the algorithm; see `freqdyna list`. "dqn" is another name of "er"."""
    env: str = "MountainCar-v0"
    """The name of the environment: one of `freqdyna list`, an id of Gymnasium, module:id,
    or module:Class of your own."""
    seeds: Count = 30
    """The number of independent seeds, which are trained at once."""
    first_seed: CountOrZero = 0
    """The seeds are first_seed, first_seed + 1, and so on. `seed` alone trains one seed."""
    steps: Count = 50_000
    """Environment steps per seed."""
    search_control: str | None = None
    """The search-control, a name of `freqdyna list` or module:Class. If unset: that of the
    algorithm; td-error for "dyna"."""
    model: str | None = None
    """The model: "true" (the environment's own dynamics), "learned" (online), "ensemble" (several
    learned models), or module:Class. If unset: ensemble."""
    trust: str | None = None
    """How much simulated transitions count: "always" (like stored ones), "calibrated" (as far as
    the model is right), or module:Class. If unset: always for the true model, else calibrated."""
    eval_every: Count = 1000
    """Environment steps between evaluations."""
    eval_episodes: Count = 5
    """Episodes per evaluation of a seed."""
    eval_exploration: Share = 0.0
    """Like exploration, for evaluations."""
    snapshot_steps: Steps = ()
    """Steps after which the replay buffer, the queue, V and g are recorded, for `freqdyna plot
    --what`."""
    devices: Count | None = None
    """The number of devices that share the seeds. If unset: all accelerators, or all CPU cores."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The settings of the agent, such as "batch_size", and of its components, such as
    "learner.hidden"; those that are missing have their defaults."""

    def __post_init__(self) -> None:
        for name, setting in settings_of(Config).items():
            object.__setattr__(self, name, setting.checked(name, getattr(self, name)))
        for step in self.snapshot_steps:
            require("snapshot_steps", step, step <= self.steps, f"at most steps, {self.steps:,}")
        for name, last in (
            ("first_seed + seeds", self.first_seed + self.seeds),
            ("steps × planning_steps", self.steps * self.get("planning_steps", 1)),
        ):
            require(name, last, last <= GREATEST, f"at most {GREATEST:,}")

    @staticmethod
    def of(settings: Mapping[str, Any]) -> "Config":
        """The configuration with these settings.

        Args:
            settings: Settings by name. A component is a name, or a table with `name` and its
                settings; these may also have names such as "learner.hidden".

        """
        flat = flattened(settings)
        of_run = {name: flat.pop(name) for name in settings_of(Config) if name in flat}
        return Config(**of_run, settings=flat)

    def __getitem__(self, name: str) -> Any:
        """The value of a setting such as "steps" or "learner.hidden"."""
        return getattr(self, name) if name in settings_of(Config) else self.settings[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a setting, or `default` if the run does not have it."""
        return self[name] if name in settings_of(Config) else self.settings.get(name, default)

    def of_component(self, kind: str) -> dict[str, Any]:
        """The settings of a component by the names of its fields; "" for the agent itself."""
        if not kind:
            return {name: value for name, value in self.settings.items() if "." not in name}
        start = f"{kind}."
        return {k.removeprefix(start): v for k, v in self.settings.items() if k.startswith(start)}

    def changed(self, settings: Mapping[str, Any]) -> "Config":
        """The configuration with some settings replaced; see `of`."""
        return Config.of(self.flat() | flattened(settings))

    def flat(self) -> dict[str, Any]:
        """All settings by name."""
        return {name: getattr(self, name) for name in settings_of(Config)} | dict(self.settings)

    @property
    def named(self) -> dict[str, str | None]:
        """The names of the components that have one."""
        return {kind: getattr(self, kind) for kind in NAMED}

    @property
    def agent_name(self) -> str:
        """The algorithm, with its search-control if that was chosen, such as "dyna (td-error)"."""
        chosen = self.search_control if self.algorithm == "dyna" else None
        return self.algorithm if chosen is None else f"{self.algorithm} ({chosen})"

    def to_toml(self) -> str:
        """All settings as TOML: one table for each component."""
        flat = {name: value for name, value in self.flat().items() if value is not None}
        tables: dict[str, dict[str, Any]] = {"": {}}
        for name, value in (flat | dict(self.settings)).items():
            kind, _, field_name = name.rpartition(".")
            if name in COMPONENTS:
                kind, field_name = name, "name"
            tables.setdefault(kind, {})[field_name] = "None" if value is None else value
        lines = [f"{name} = {toml_value(value)}" for name, value in tables.pop("").items()]
        for kind, table in tables.items():
            lines += ["", f"[{kind}]", *(f"{k} = {toml_value(v)}" for k, v in table.items())]
        return "\n".join(lines) + "\n"

    def save(self, path: Path) -> None:
        """Write all settings as TOML."""
        write_atomically(path, self.to_toml().encode())

    @staticmethod
    def load(path: Path) -> "Config":
        """Read settings from a TOML file; those that it omits have their defaults."""
        return Config.of(read_settings(path))


def flattened(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their full names: tables of components are resolved, and aliases replaced."""
    flat: dict[str, Any] = {}
    if "seed" in settings and "seeds" not in settings:
        flat["seeds"] = 1  # as in other libraries; with `seeds`, it is the first one
    for key, value in settings.items():
        name = ALIASES.get(key, key)
        if isinstance(value, Mapping):
            if name not in COMPONENTS:
                raise unknown_name("component", name, COMPONENTS)
            inner = {name if k == "name" else f"{name}.{k}": v for k, v in value.items()}
        else:
            inner = {name: value}
        flat |= {k: _plain(v) for k, v in inner.items()}
    return flat


def _plain(value: Any) -> Any:
    """A value as it is stored: what TOML cannot write has a text, and tuples are lists there."""
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if isinstance(value, np.generic):
        return value.item()
    return None if isinstance(value, str) and value == "None" else value


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file, not validated."""
    return parse_toml(read_text(Path(path), "configuration file"), str(path))
