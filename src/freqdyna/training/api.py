"""Train an algorithm, or resume an interrupted run."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freqdyna.agents.models import MODELS, Model
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, RunFailedError
from freqdyna.core.plugins import import_code
from freqdyna.envs import Environment
from freqdyna.envs.resolve import OF_ENVIRONMENT, check_same_environment, environment_of_run
from freqdyna.envs.space import Factory
from freqdyna.results.folder import (
    begin,
    clear,
    has_results,
    new_folder,
    opened_folder,
    read_config,
    read_provenance,
)
from freqdyna.results.record import CUSTOM_METRICS, IMPORTED, INIT_FROM, Record
from freqdyna.results.result import Result, load
from freqdyna.search_control import SEARCH_CONTROLS, SearchControl
from freqdyna.training import checkpoint
from freqdyna.training.callbacks import Callback, as_callbacks
from freqdyna.training.extension import extended_config
from freqdyna.training.logs import WANDB_RUN, WandbNotStartedError
from freqdyna.training.prepare import prepare_run
from freqdyna.training.progress import Progress
from freqdyna.training.run import Run
from freqdyna.training.run_messages import resume_command
from freqdyna.training.saver import RunOptions
from freqdyna.training.seeds import memory_errors_explained

if TYPE_CHECKING:
    import gymnasium

_KEPT = (INIT_FROM, CUSTOM_METRICS, WANDB_RUN)
"""Facts of the provenance that stay when a run is resumed."""


def train(
    env: "str | Environment | gymnasium.Env[Any, Any] | Factory" = "MountainCar-v0",
    algorithm: str | None = None,
    *,
    search_control: str | SearchControl | type[SearchControl] | None = None,
    model: str | Model[Any] | type[Model[Any]] | None = None,
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
            environment, or a function that creates one.
        algorithm: One of `freqdyna list`. If None: that of the preset, otherwise "er".
        search_control: For the algorithm "dyna": a name, or your own class or instance. If None:
            "td-error".
        model: A name, or your own class or instance; see the setting `model`.
        preset: The name of a preset, such as "tuned"; `settings` take precedence over it.
        out: A new run folder; the run can then be interrupted and resumed.
        progress: Whether to show progress on the terminal, or an object that receives it instead.
        tensorboard: Whether to write TensorBoard events to the folder as well.
        wandb: Whether to send the metrics to Weights & Biases as well (extra 'wandb').
        callback: A function, or several, called with an `Evaluation` at each evaluation. What it
            returns, numbers or arrays over seeds by name, is recorded as metrics.
        checkpoint_seconds: Seconds between checkpoints.
        init_from: A run folder or a result: each seed begins with the trained parameters of the
            same seed there, or with those of its only seed. Everything else begins as usual.
        **settings: Fields of `freqdyna.Config`.

    Returns:
        The curves, parameters and snapshots of all seeds.

    """
    # Whoever calls this function has written the names, so they may import code.
    import_code(env=env, search_control=search_control, model=model)
    given: Environment | Factory | None = None
    if not isinstance(env, str) and settings.get("env_kwargs"):
        raise FreqdynaError("env_kwargs is set, but env is an environment; create it with them")
    if isinstance(env, str):
        name = env
    elif isinstance(env, Environment):
        given, name = env, env.name
        for setting in OF_ENVIRONMENT:
            if settings.get(setting) is not None and setting in settings:
                raise FreqdynaError(
                    f"{setting} is a setting of the environment that was passed; set it there"
                )
        settings |= dict.fromkeys(OF_ENVIRONMENT)  # also those of a preset
        settings |= {"reward_noise": env.reward_noise, "episode_limit": env.episode_limit}
    else:
        from freqdyna.envs.gym.space import close_env, factory_of, make_env, space_of

        given = factory_of(env)
        example = make_env(given)
        name = space_of(example).name
        close_env(example)
    if isinstance(search_control, str):
        search_control = SEARCH_CONTROLS.find(search_control)
    settings["env"] = name
    if algorithm is not None:
        settings["algorithm"] = algorithm
    if search_control is not None:
        strategy = search_control if isinstance(search_control, type) else type(search_control)
        settings["search_control"] = SEARCH_CONTROLS.full_name(strategy)
    if isinstance(model, str):
        settings["model"], model = model, None
    elif model is not None:
        kind = model if isinstance(model, type) else type(model)
        settings["model"] = MODELS.full_name(kind)
    config = Config.of(settings, preset)
    options = RunOptions(out is not None, bool(progress), tensorboard, checkpoint_seconds, wandb)
    callbacks = as_callbacks(callback)
    run = prepare_run(config, given, search_control, model=model)
    run.callbacks = callbacks
    if preset is not None:
        run.provenance["preset"] = preset
    if init_from is not None:
        source = init_from if isinstance(init_from, Record) else load(init_from)
        run.begin_with(source)
    shown = progress if isinstance(progress, Progress) else None
    if out is None:
        with memory_errors_explained(None):
            return run.execute(None, options, shown)
    with (
        new_folder(out) as folder,
        memory_errors_explained(resume_command(run.config, run.provenance, folder)),
    ):
        try:
            begin(folder, run.config, run.provenance)
        except OSError as error:
            raise FreqdynaError(f"out is {str(out)!r}, which cannot be written: {error}") from None
        try:
            return run.execute(folder, options, shown)
        except WandbNotStartedError:
            clear(folder)  # so that the corrected command can use it
            raise


def resume(
    folder: str | os.PathLike[str],
    *,
    env: "Environment | gymnasium.Env[Any, Any] | Factory | None" = None,
    search_control: SearchControl | type[SearchControl] | None = None,
    model: Model[Any] | type[Model[Any]] | None = None,
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
    options = RunOptions(True, bool(progress), tensorboard, checkpoint_seconds, wandb)
    callbacks = as_callbacks(callback)
    path = Path(folder)
    read_config(path)  # before its lock: what is no run folder is left alone
    if IMPORTED in read_provenance(path):
        raise FreqdynaError(
            f"{str(path)!r} has imported curves; only runs of freqdyna can be resumed"
        )
    shown = progress if isinstance(progress, Progress) else None
    with opened_folder(path) as messages:
        config = read_config(path)
        longer = config if steps is None else extended_config(config, steps)
        if allow_code:
            import_code(
                env=config.env if env is None else env,
                search_control=config.search_control if search_control is None else search_control,
                model=config.model if model is None else model,
            )
        run = _prepare_to_resume(path, config, longer, env, search_control, model)
        run.callbacks = callbacks
        if longer != config:
            try:
                begin(path, longer, read_provenance(path))
            except OSError as error:
                raise RunFailedError(f"{str(path)!r} cannot be written: {error}") from None
            messages = [*messages, f"extended from {config.steps:,} to {longer.steps:,} steps"]
        with memory_errors_explained(resume_command(run.config, run.provenance, path)):
            return run.execute(path, options, shown, messages)


def _prepare_to_resume(
    path: Path,
    config: Config,
    longer: Config,
    env: "Environment | gymnasium.Env[Any, Any] | Factory | None",
    search_control: SearchControl | type[SearchControl] | None,
    model: Model[Any] | type[Model[Any]] | None,
) -> Run:
    """The run in a folder, if it can be resumed with what was passed; see `resume`.

    Args:
        path: The run folder.
        config: The settings in it.
        longer: The settings of the run, with more steps if it is extended.
        env: As passed to `resume`.
        search_control: As passed to `resume`.
        model: As passed to `resume`.

    """
    before = read_provenance(path)
    again = f"continue with freqdyna.resume({str(path)!r}, env=...)"
    found = environment_of_run(config, env, before, again)
    if not checkpoint.checkpoints(path) and has_results(path):
        raise FreqdynaError(f"{str(path)!r} has results but no checkpoint to continue from")
    given = None if env is None else found
    run = prepare_run(longer, given, search_control, before, model=model)
    check_same_environment(run.training.agent.env, before)
    for part in ("search_control", "model"):
        ours, theirs = run.provenance[part], before.get(part, "")
        if theirs not in ("", ours):
            raise FreqdynaError(
                f"{part} is {ours}, but this run was started with {theirs}; pass that one"
            )
    run.provenance["continues"] = before
    run.provenance |= {name: before[name] for name in _KEPT if name in before}
    return run
