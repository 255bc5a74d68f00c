"""Train an algorithm, or resume an interrupted run: both prepare a run and execute it.

`check` prepares a run and traces it instead.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from freqdyna.agents import algorithms, presets
from freqdyna.agents.learners import Learner
from freqdyna.agents.models import MODELS, Model, check_model
from freqdyna.agents.replay import ReplayBuffer
from freqdyna.agents.trust import TRUSTS, Trust, check_trust
from freqdyna.config import NAMED, Component, Config, create, flattened, values_of
from freqdyna.core.errors import FreqdynaError
from freqdyna.core.plugins import Registry, describe, import_code
from freqdyna.envs import ENVIRONMENTS, Environment, make
from freqdyna.envs.gym import ClosingFactory, factory_of
from freqdyna.envs.names import environment_of_run, space_of_run
from freqdyna.envs.space import Factory, Space
from freqdyna.results.folder import (
    has_results,
    new_folder,
    opened_folder,
    provenance,
    read_config,
    read_provenance,
)
from freqdyna.results.policy import space_text
from freqdyna.results.record import CUSTOM_METRICS, IMPORTED, INIT_FROM, Record
from freqdyna.results.result import Result, load
from freqdyna.search_control import SEARCH_CONTROLS, SearchControl
from freqdyna.training.callbacks import Callback, as_callbacks
from freqdyna.training.checkpoint import (
    RunOptions,
    checkpoints,
    initial_parameters,
    source_facts,
)
from freqdyna.training.engines import keep_compiled_programs, seed_devices
from freqdyna.training.logs import WANDB_RUN
from freqdyna.training.progress import Progress
from freqdyna.training.run import Run
from freqdyna.training.seeds import Block, Layout, Training, VariedBlock, require_memory

if TYPE_CHECKING:
    import gymnasium

_PARTS: dict[str, type[Component]] = {
    **{"search_control": SearchControl, "model": Model, "trust": Trust},
    **{"learner": Learner, "replay": ReplayBuffer},
}
"""The components that can be passed as objects, and their base classes."""
_REGISTRIES: dict[str, Registry[Any]] = {
    "search_control": SEARCH_CONTROLS,
    "model": MODELS,
    "trust": TRUSTS,
}
"""The names of those that a setting names."""
_KEPT = (INIT_FROM, CUSTOM_METRICS, WANDB_RUN)
"""Facts of the provenance that stay when a run is resumed."""


def train(
    env: "str | Environment | gymnasium.Env[Any, Any] | Factory" = "MountainCar-v0",
    algorithm: str | None = None,
    *,
    search_control: "str | SearchControl | type[SearchControl] | Mapping[str, Any] | None" = None,
    model: "str | Model[Any] | type[Model[Any]] | Mapping[str, Any] | None" = None,
    trust: "str | Trust[Any] | type[Trust[Any]] | Mapping[str, Any] | None" = None,
    learner: "Learner | Mapping[str, Any] | None" = None,
    replay: "ReplayBuffer | Mapping[str, Any] | None" = None,
    preset: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | Progress = True,
    tensorboard: bool = False,
    wandb: bool = False,
    callback: Callback | Sequence[Callback] | None = None,
    checkpoint_seconds: float = 60.0,
    init_from: str | os.PathLike[str] | Record | None = None,
    **settings: Any,
) -> Result:
    """Train an algorithm on an environment, for many seeds at once.

    Args:
        env: A name (one of `freqdyna list`, or an id of Gymnasium), an `Environment`, a Gymnasium
            environment, a function that creates one, or a table with `name` and the arguments of
            the environment, such as {"name": "Pendulum-v1", "g": 3.0}.
        algorithm: One of `freqdyna list`. If None: that of the preset, otherwise "er".
        search_control: For the algorithm "dyna": a name, an object such as
            `Frequency(step_size=0.02)`, a class, or a table with `name` and settings. If None:
            "td-error". For other algorithms, a table with settings of theirs.
        model: The same for the model; see the setting `model`.
        trust: The same for how much simulated transitions count; see the setting `trust`.
        learner: An object such as `DQN(double=True)`, or a table such as {"double": True}.
        replay: An object such as `ReplayBuffer(capacity=10_000)`, or a table.
        preset: The name of a preset, such as "paper"; `settings` take precedence over it.
        out: A new run folder; the run can then be interrupted and resumed.
        progress: Whether to show progress on the terminal, or an object that receives it instead.
        tensorboard: Whether to write TensorBoard events to the folder as well.
        wandb: Whether to send the metrics to Weights & Biases as well (extra 'wandb').
        callback: A function, or several, called with an `Evaluation` at each evaluation. What it
            returns, numbers or arrays over seeds by name, is recorded as metrics.
        checkpoint_seconds: Seconds between checkpoints.
        init_from: A run folder or a result: each seed begins with the trained parameters of the
            same seed there, or with those of its only seed. Everything else begins as usual.
        **settings: Other settings: fields of `freqdyna.Config`; those of the agent, such as
            `batch_size`; and tables of components, such as `planning={"queue_size": 1000}`.

    Returns:
        The curves, parameters and snapshots of all seeds.

    """
    options = RunOptions(checkpoint_seconds, tensorboard, wandb)
    if tensorboard and out is None:
        raise FreqdynaError("tensorboard is True; it needs a run folder: set out")
    parts = dict(zip(_PARTS, (search_control, model, trust, learner, replay), strict=True))
    run = _new_run(env, algorithm, parts, preset, callback, init_from, settings)
    with nullcontext() if out is None else new_folder(out) as folder:
        result = run.execute(folder, options, progress)
    return replace(result, environment=None if isinstance(env, str | Mapping) else env)


def check(
    env: "str | Environment | gymnasium.Env[Any, Any] | Factory" = "MountainCar-v0",
    algorithm: str | None = None,
    **arguments: Any,
) -> None:
    """Check in seconds whether `train` accepts its arguments, without compiling or training.

    The environment and the agent are created. One step with its search, one evaluation and one
    snapshot are traced. A Gymnasium environment takes 200 to 600 random steps. Prints one line, and
    what looks wrong, or raises the error that `train` would raise.

    Args:
        env: See `train`.
        algorithm: See `train`.
        **arguments: The other arguments of `train`; those about files and progress have no effect.

    """
    for name in ("out", "progress", "tensorboard", "wandb", "checkpoint_seconds"):
        arguments.pop(name, None)
    parts = {kind: arguments.pop(kind, None) for kind in _PARTS}
    preset, callback, init_from = (
        arguments.pop(name, None) for name in ("preset", "callback", "init_from")
    )
    settings = arguments | {"seeds": 1, "devices": 1}
    run = _new_run(env, algorithm, parts, preset, callback, init_from, settings)
    with closing(run.block):
        run.block.trace()
    for message in run.block.messages:
        print(f"warning: {message}")
    print(f"{run.name} can be trained{run.no_learning}")


def resume(
    folder: str | os.PathLike[str],
    *,
    env: "Environment | gymnasium.Env[Any, Any] | Factory | None" = None,
    search_control: SearchControl | type[SearchControl] | None = None,
    model: Model[Any] | type[Model[Any]] | None = None,
    trust: Trust[Any] | type[Trust[Any]] | None = None,
    progress: bool | Progress = True,
    tensorboard: bool = False,
    wandb: bool = False,
    callback: Callback | Sequence[Callback] | None = None,
    checkpoint_seconds: float = 60.0,
    allow_code: bool = False,
    steps: int | None = None,
) -> Result:
    """Resume an interrupted run, or extend a finished one.

    The result is that of an uninterrupted run.

    Args:
        folder: The run folder.
        env: Needed only if an environment was passed to `train` in Python.
        search_control: Needed if an instance or a class was passed to `train`, unless this process
            has imported the class, or `allow_code` is set and it can be imported.
        model: The same for the model.
        trust: The same for the trust.
        progress: Whether to show progress on the terminal, or an object that receives it instead.
        tensorboard: Whether to write TensorBoard events to the folder as well.
        wandb: Whether to send the metrics to Weights & Biases as well (extra 'wandb').
        callback: A function, or several, called with an `Evaluation` at each evaluation. What it
            returns, numbers or arrays over seeds by name, is recorded as metrics.
        checkpoint_seconds: Seconds between checkpoints.
        allow_code: Whether the folder may name code to import, such as `module:Class`; use it only
            if you trust the folder.
        steps: The new number of steps in total, to extend the run; None to keep it.

    Returns:
        The curves, parameters and snapshots of all seeds.

    """
    options = RunOptions(checkpoint_seconds, tensorboard, wandb)
    callbacks, path = as_callbacks(callback), Path(folder)
    read_config(path)  # before its lock: what is no run folder is left alone
    with opened_folder(path) as notes:
        config, before = read_config(path), read_provenance(path)
        if IMPORTED in before:
            raise FreqdynaError(
                f"{str(path)!r} has imported curves; only runs of freqdyna can be resumed"
            )
        if has_results(path) and not checkpoints(path):
            raise FreqdynaError(f"{str(path)!r} has results but no checkpoint to continue from")
        longer = config if steps is None else replace(config, steps=steps)
        if longer.steps < config.steps:
            raise FreqdynaError(f"steps is {steps}; it must be {config.steps} or greater")
        if allow_code:
            import_code(**config.named)
        parts = {"search_control": search_control, "model": model, "trust": trust}
        for kind, component in parts.items():
            _require_component(kind, component)
        environment = environment_of_run(config, env, before)
        run = prepare(
            longer,
            None if env is None else environment,
            components={
                kind: create(kind, part, config.of_component(kind))
                if isinstance(part, type)
                else part
                for kind, part in parts.items()
                if part is not None
            },
            callbacks=callbacks,
            before=before,
            facts={name: before[name] for name in _KEPT if name in before} | {"continues": before},
        )
        for part in ("environment", "search_control", "model", "trust"):
            ours, theirs = run.provenance[part], before.get(part)
            if theirs not in (None, "", ours):
                raise FreqdynaError(
                    f"{part} is {ours}, but this run was started with {theirs}; pass that one"
                )
        return replace(run.execute(path, options, progress, notes), environment=env)


def _new_run(
    env: Any,
    algorithm: str | None,
    parts: dict[str, Any],
    preset: str | None,
    callback: Callback | Sequence[Callback] | None,
    init_from: str | os.PathLike[str] | Record | None,
    settings: dict[str, Any],
) -> Run:
    """The run that the arguments of `train` describe; `parts` are components by kind, or None."""
    # Whoever calls `train` has written the names, so they may import code.
    named = {"env": env} | {kind: part for kind, part in parts.items() if kind in NAMED}
    import_code(**{k: v.get("name") if isinstance(v, Mapping) else v for k, v in named.items()})
    environment, space, settings["env"] = _environment(env, settings)
    if algorithm is not None:
        settings["algorithm"] = algorithm
    typed = flattened({k: v for k, v in settings.items() if k != "env"})
    for kind, part in parts.items():
        if isinstance(part, Component):
            for name in (name for name in typed if name.startswith(f"{kind}.")):
                raise FreqdynaError(f"{name} is set, but {kind} is an object; create it with that")
        if part is not None:
            settings[kind] = _table(kind, part)
    return prepare(
        presets.config(settings, preset, callable(environment)),
        environment,
        space,
        components={kind: part for kind, part in parts.items() if isinstance(part, Component)},
        callbacks=as_callbacks(callback),
        init_from=load(init_from) if isinstance(init_from, str | os.PathLike) else init_from,
        facts={} if preset is None else {"preset": preset},
    )


def prepare(
    config: Config,
    env: Environment | Factory | None = None,
    space: Space | None = None,
    *,
    components: Mapping[str, Any] | None = None,
    callbacks: tuple[Callback, ...] = (),
    init_from: Record | None = None,
    before: dict[str, Any] | None = None,
    facts: dict[str, Any] | None = None,
) -> Run:
    """Create a run, and check everything that can be checked before any folder is created.

    The settings may be incomplete; they are completed here and nowhere else. `env` and `space` are
    None to find them by name. `components` were created in Python, by kind. `before` is the
    provenance of the run that is resumed, and `facts` are more of its provenance.
    """
    keep_compiled_programs()
    if init_from is not None and config.get("scale_observations") is None:
        # Its parameters are those of a network that sees observations as they are.
        config = config.changed({"scale_observations": False})
    before, facts = before or {}, dict(facts or {})
    devices = seed_devices(config.seeds, before.get("devices") or config.devices)
    environment = env or environment_of_run(config, None, before)
    facts["environment_given"] = env is not None and type(env) not in ENVIRONMENTS.values()
    factory = None
    if not isinstance(environment, Environment):
        environment = factory = ClosingFactory(environment)
    space = space or space_of_run(environment, config)
    agent = algorithms.build(config, space, factory, components)
    config = algorithms.complete(config, agent)
    planning = agent.planning
    own_model = planning.model if planning and config.model not in MODELS else None
    if own_model is not None:
        check_model(own_model, space)
    own_trust = planning.trust if planning and config.trust not in TRUSTS else None
    if own_trust is not None:
        check_trust(own_trust, space)
        jax.eval_shape(lambda key: agent.metrics(agent.init(key)), jax.random.key(0))
    if planning is not None and config.search_control not in SEARCH_CONTROLS:
        # Errors in the user's class are found before a folder is created.
        key = jax.random.key(0)
        state = jax.eval_shape(agent.dry_step, key)
        jax.eval_shape(agent.snapshot, state, 1, key)
    training = _training(config, agent)
    require_memory(training, config.seeds, devices)
    seeds = np.arange(config.first_seed, config.first_seed + config.seeds)
    layout = Layout.of(seeds, devices)
    if factory is None:
        block = Block(training, layout)
    else:
        from freqdyna.training.host import HostBlock

        block = HostBlock(training, layout, factory, seeds)
    initial = None
    if init_from is not None:
        initial = initial_parameters(init_from, config, agent)
        facts[INIT_FROM] = source_facts(init_from, initial)
    facts |= {
        "environment": describe(space),
        "space": space_text(space),
        "search_control": describe(planning.search_control) if planning else "",
        "model": describe(own_model) if own_model is not None else "",
        "trust": describe(own_trust) if own_trust is not None else "",
    }
    return Run(config, block, provenance(devices, **facts), callbacks, initial)


def prepare_together(configs: list[Config]) -> Run:
    """Trainings on a built-in environment that differ only in numbers, as rows of one run.

    The seeds of all trainings are seeds of this run; `Result.rows` separates them again.
    """
    first = prepare(configs[0])
    trainings = []
    for config in configs:
        env = make(config.env, **config.of_component("env"))
        trainings.append(_training(config, algorithms.build(config, env)))
    devices = list(first.block.layout.mesh.devices.flat)
    layout = Layout.of(np.tile(first.seeds, len(configs)), devices)
    require_memory(trainings[0], layout.seeds, devices)
    config = replace(first.config, seeds=layout.seeds)
    return Run(config, VariedBlock(trainings, layout), first.provenance)


def _training(config: Config, agent: Any) -> Training:
    return Training(agent, config.eval_episodes, config.eval_exploration)


def _environment(
    env: Any, settings: Mapping[str, Any]
) -> tuple[Environment | Factory | None, Space | None, str | Mapping[str, Any]]:
    """What was passed as `env`: the environment, its space, and how the settings name it.

    Environment and space are None for a name. Settings of the user contradict an object.
    """
    if isinstance(env, str | Mapping):
        return None, None, env
    of_env = {name: value for name, value in settings.items() if name.startswith("env.")}
    # The limit of a Gymnasium environment is a number of steps after which the run truncates.
    accepted = set() if isinstance(env, Environment) else {"env.episode_limit"}
    for name in of_env.keys() - accepted:
        raise FreqdynaError(f"{name} is set, but the environment was passed; create it with that")
    if isinstance(env, Environment):
        return env, env, env.name
    factory = factory_of(env)
    space = space_of_run(factory, Config.of(of_env))
    return factory, space, space.name


def _require_component(kind: str, component: Any) -> None:
    """Raise an error for what is neither a class of its kind nor an object of one."""
    base, is_class = _PARTS[kind], isinstance(component, type)
    if component is not None and not issubclass(component if is_class else type(component), base):
        raise FreqdynaError(
            f"{kind} is {component!r}; it must be a subclass of {base.__module__}.{base.__name__}, "
            "or an object of one"
        )


def _table(kind: str, component: Any) -> Any:
    """A component as settings name it: by name, and with the values of its fields."""
    if isinstance(component, str | Mapping):
        return component
    _require_component(kind, component)
    is_class = isinstance(component, type)
    table = {} if is_class else values_of(component)
    registry = _REGISTRIES.get(kind)
    if registry is not None:
        table["name"] = registry.full_name(component if is_class else type(component))
    return table
