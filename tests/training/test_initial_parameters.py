from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna import Config, FreqdynaError, envs
from freqdyna.agents.algorithms import build
from freqdyna.envs import DynaMaze
from freqdyna.envs.resolve import resolved_by_name
from freqdyna.results.imports import import_curves
from freqdyna.training import checkpoint
from freqdyna.training.initial_parameters import initial_parameters

SETTINGS = {
    "env": "GridWorld",
    "seeds": 2,
    "steps": 6,
    "warmup_steps": 6,  # nothing is learned
    "planning_steps": 1,
    "hidden": (4,),
    "batch_size": 4,
    "eval_every": 6,
    "episode_limit": 8,
    "devices": 1,
    "progress": False,
}


@pytest.fixture(scope="module")
def source():
    return freqdyna.train(**SETTINGS)


def test_a_run_begins_with_the_parameters_of_another(source, tmp_path):
    other = replace(source, parameters=source.parameters + 1)
    folder = tmp_path / "run"
    begun = freqdyna.train(**SETTINGS, init_from=other, out=folder)
    np.testing.assert_allclose(begun.parameters, other.parameters, rtol=1e-5, atol=1e-6)
    assert begun.provenance["init_from"]["algorithm"] == "er"
    # If it is killed before its first checkpoint, it begins with them as well.
    last, first = checkpoint.checkpoints(folder)
    assert first.name == "checkpoint-0000000000.npz"
    last.unlink()
    again = freqdyna.resume(folder, progress=False)
    np.testing.assert_array_equal(again.parameters, other.parameters)
    assert again.provenance["init_from"] == begun.provenance["init_from"]
    for path in checkpoint.checkpoints(folder):
        path.write_bytes(b"damaged")
    with pytest.raises(FreqdynaError, match="parameters of another one, and no checkpoint can be"):
        freqdyna.resume(folder, progress=False)


def test_seeds_begin_with_their_own_parameters_or_with_the_only_ones(source):
    def rows(config, of=source):
        sizes = source.layer_sizes, source.parameters.shape[1]
        return initial_parameters(of, config, envs.make(config.env), *sizes)

    config = resolved_by_name(Config(env="GridWorld", seeds=1, first_seed=1, hidden=(4,)))
    np.testing.assert_array_equal(rows(config), source.parameters[1:])
    one = replace(source, seeds=np.array([9]), parameters=source.parameters[:1])
    three = replace(config, seeds=3)
    np.testing.assert_array_equal(rows(three, one), np.repeat(source.parameters[:1], 3, axis=0))
    for wrong, message in (
        (three, r"init_from has the seeds \[0, 1\]; it must have those of the run, \[1, 2, 3\]"),
        (replace(config, activation="relu"), "with tanh; it must have .* with relu"),
        (replace(config, env="CartPole-v1"), r"is True \(the default\); 'CartPole-v1' has coord"),
    ):
        with pytest.raises(FreqdynaError, match=message):
            rows(wrong)
    infinite = replace(source, parameters=np.full_like(source.parameters, np.inf))
    with pytest.raises(FreqdynaError, match="init_from has a seed that diverged"):
        rows(config, infinite)
    with pytest.raises(FreqdynaError, match=r"of layers \(2, 4, 4\) .*; it must have 3 of"):
        initial_parameters(source, config, envs.make(config.env), (2,), 3)


def test_imported_curves_have_no_parameters_to_begin_with(tmp_path):
    path = tmp_path / "ppo.csv"
    path.write_text("seed,step,return\n0,10,1\n")
    with pytest.raises(FreqdynaError, match=r"imported from .*: it has learning curves, but no"):
        initial_parameters(import_curves(path), Config(), DynaMaze(), (2, 4, 3), 27)


def test_the_table_of_a_tabular_agent_can_be_replaced():
    config = resolved_by_name(Config(env="DynaMaze", algorithm="tabular-dyna-q"))
    agent = build(config, DynaMaze())
    values = agent.init_table().values
    state = agent.init(jax.random.key(0))
    other = jnp.arange(values.size, dtype=float)
    np.testing.assert_array_equal(agent.parameters(agent.with_parameters(state, other)), other)
