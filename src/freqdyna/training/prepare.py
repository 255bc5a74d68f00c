"""Preparing a run: its components are created and checked before any folder is created."""

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from freqdyna.agents import algorithms
from freqdyna.agents.dyna.dyna import Dyna
from freqdyna.agents.models import MODELS, Model, check_model
from freqdyna.config import Config
from freqdyna.core.plugins import describe, module_of
from freqdyna.envs import Environment
from freqdyna.envs.resolve import named_environment, resolved, space_of_run
from freqdyna.envs.space import Factory
from freqdyna.results.folder import provenance
from freqdyna.search_control import SEARCH_CONTROLS, SearchControl
from freqdyna.training.engines import keep_compiled_programs, seed_devices
from freqdyna.training.run import Run
from freqdyna.training.seeds import Block, Layout, Training, VariedBlock, require_memory


def prepare_run(
    config: Config,
    env: Environment | Factory | None,
    search: SearchControl | type[SearchControl] | None = None,
    before: dict[str, Any] | None = None,
    model: Model[Any] | type[Model[Any]] | None = None,
) -> Run:
    """Create a run, and check everything that can be checked before any folder is created.

    The settings are resolved here and nowhere else.

    Args:
        config: The settings, which may be incomplete.
        env: A compiled environment, or a factory of Gymnasium environments; None to find it by
            its name.
        search: A custom search-control, or its class.
        before: The provenance of the run that is resumed.
        model: A custom model, or its class.

    """
    recipe = algorithms.find(config.algorithm)
    keep_compiled_programs()
    before = before or {}
    devices = seed_devices(config.seeds, before.get("devices") or config.devices)
    given, env = env is not None, env or named_environment(config, before)
    facts: dict[str, Any] = {}
    factory = None
    if not isinstance(env, Environment):
        from freqdyna.envs.gym.space import ClosingFactory  # Gymnasium may be missing

        env = factory = ClosingFactory(env)
        facts["environment_given"] = given
    space = space_of_run(env, config)
    config = resolved(config, space)
    if search is None and config.search_control is None and recipe.own_search_control:
        config = replace(config, search_control=recipe.search_control)
    if search is None and config.search_control is not None:
        search = SEARCH_CONTROLS.find(config.search_control)
    if isinstance(search, type):
        search = SEARCH_CONTROLS.make(search, config)
    if model is None and module_of(config.model) is not None:
        model = MODELS.find(config.decided("model"))
    if isinstance(model, type):
        model = MODELS.make(model, config, space)
    agent = algorithms.build(config, space, search, factory, model)
    if model is not None:
        check_model(model, space)
    name = config.search_control
    if name is not None and name not in SEARCH_CONTROLS:
        # Errors in the user's class are found before a folder is created.
        assert isinstance(agent, Dyna)
        key = jax.random.key(0)
        state = jax.eval_shape(agent.dry_step, key)
        jax.eval_shape(agent.snapshot, state, 1, key)
    training = Training(agent, config.eval_episodes, config.eval_exploration or 0.0)
    require_memory(training, config.seeds, devices)
    seeds = np.arange(config.first_seed, config.first_seed + config.seeds)
    layout = Layout.of(seeds, devices)
    if factory is None:
        block = Block(training, layout)
    else:
        from freqdyna.training.host import HostBlock

        block = HostBlock(training, layout, factory, seeds)
    planning = getattr(agent, "planning", None)
    facts |= {
        "environment": describe(space),
        "search_control": describe(planning.search_control) if planning else "",
        "model": describe(model) if model is not None else "",
    }
    return Run(config, training, block, provenance(devices, **facts))


def prepare_runs_together(configs: list[Config]) -> Run:
    """Trainings on a built-in environment that differ only in numbers, as rows of one run.

    The seeds of all trainings are seeds of this run; `Result.rows` separates them again.

    Args:
        configs: The settings of each training, all of them set.

    """
    first = prepare_run(configs[0], None)
    trainings = []
    for config in configs:
        env = named_environment(config)
        assert isinstance(env, Environment)
        agent = algorithms.build(config, env)
        trainings.append(Training(agent, config.eval_episodes, config.eval_exploration or 0.0))
    seeds = np.arange(configs[0].first_seed, configs[0].first_seed + configs[0].seeds)
    devices = list(first.block.layout.mesh.devices.flat)
    layout = Layout.of(np.tile(seeds, len(configs)), devices)
    config = replace(first.config, seeds=layout.seeds)
    require_memory(trainings[0], layout.seeds, devices)
    return Run(config, trainings[0], VariedBlock(trainings, layout), first.provenance)
