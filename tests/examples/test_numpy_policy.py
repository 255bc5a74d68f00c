"""An exported policy, used without JAX."""

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import Config, FreqdynaError, Result
from freqdyna.agents.algorithms import build, complete, completed
from freqdyna.cli.main import main
from freqdyna.envs import ENVIRONMENTS, make
from freqdyna.envs.gym import space_of

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "numpy_policy.py"


@pytest.fixture
def load_policy(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    from numpy_policy import load_policy

    return load_policy


def a_result(config, sizes, number=None):
    """A training of two seeds with random parameters, as many as the layers have by default."""
    number = number or sum((a + 1) * b for a, b in itertools.pairwise(sizes))
    parameters = np.random.default_rng(0).normal(size=(2, number)).astype(np.float32)
    return Result(
        config,
        {},
        np.arange(2),
        np.array([config.eval_every]),
        {"return": np.zeros((2, 1))},
        parameters,
        sizes,
    )


@pytest.mark.parametrize(("activation", "layer_norm"), [("tanh", False), ("silu", True)])
def test_discrete_actions_are_those_of_the_policy(
    activation, layer_norm, load_policy, tmp_path, capsys
):
    config = completed(
        Config.of(
            {
                "seeds": 2,
                "learner": {"hidden": (8, 8), "activation": activation, "layer_norm": layer_norm},
            }
        )
    )
    result = a_result(config, (2, 8, 8, 3))
    folder = result.save(tmp_path / "run")
    main(["export", str(folder), "--seed", "1"])
    assert f"policy: {folder / 'policy.npz'}" in capsys.readouterr().out
    ours, theirs = result.policy(1), load_policy(folder / "policy.npz")
    states = np.random.default_rng(1).uniform(-5, 5, size=(50, 2)).astype(np.float32)
    outputs = np.sort(jax.vmap(result.network(1))(jnp.asarray(states)), axis=1)
    clear = outputs[:, -1] - outputs[:, -2] > 1e-3  # rounding cannot change the best action
    assert clear.sum() > 40
    assert [theirs(state) for state in states[clear]] == ours(states[clear]).tolist()
    assert len(set(ours(states[clear]).tolist())) > 1


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("MountainCarContinuous-v0", "naf"), ("Pendulum-v1", "naf"), ("Pendulum-v1", "er")],
)
def test_continuous_actions_are_those_of_the_policy(name, algorithm, load_policy, tmp_path):
    config = Config.of({"env": name, "algorithm": algorithm, "seeds": 2, "learner.hidden": (8, 8)})
    space = make(name) if name in ENVIRONMENTS else space_of(gymnasium.make(name))
    agent = build(config, space)
    start = agent.learner.init(jax.random.key(0))
    result = a_result(complete(config, agent), agent.learner.sizes, start.params.size)
    result.export_policy(tmp_path / "policy.npz")
    ours, theirs = result.policy(0), load_policy(tmp_path / "policy.npz")
    for state in np.random.default_rng(1).uniform(-1, 1, size=(10, space.observation_size)):
        np.testing.assert_allclose(theirs(state), ours(state), rtol=1e-4, atol=1e-4)


def test_it_needs_numpy_alone(tmp_path):
    config = completed(Config.of({"seeds": 2, "learner": {"hidden": (4,)}}))
    a_result(config, (2, 4, 3)).export_policy(tmp_path / "policy.npz", seed=1)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from numpy_policy import load_policy; "
        "print(load_policy(sys.argv[2])([0.1, 0.0]) in (0, 1, 2), 'jax' in sys.modules)"
    )
    call = [sys.executable, "-c", code, str(EXAMPLE.parent), str(tmp_path / "policy.npz")]
    assert subprocess.run(call, capture_output=True, text=True, check=True).stdout == "True False\n"


def test_what_cannot_be_exported_is_refused(tmp_path):
    result = a_result(completed(Config.of({"seeds": 2, "learner": {"hidden": (4,)}})), (2, 4, 3))
    for path in ("policy.txt", "no/policy.npz"):
        with pytest.raises(FreqdynaError):
            result.export_policy(tmp_path / path)
    with pytest.raises(FreqdynaError):  # stored without its network
        replace(result, layer_sizes=()).export_policy(tmp_path / "policy.npz")
