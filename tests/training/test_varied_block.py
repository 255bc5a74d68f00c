"""Rows of one program with numbers of their own."""

import jax
import numpy as np
import pytest

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.training.seeds import Block, Layout, Training, VariedBlock

BASE = Config.of(
    {
        **{"algorithm": "dyna-frequency", "model": "true", "steps": 200, "planning_steps": 2},
        **{"warmup_steps": 20, "exploration_repeats": 1},
        **{"exploration_initial": 0.5, "exploration_steps": 100},
        "env": {"name": "GridWorld", "episode_limit": 50},
        "learner": {"hidden": (8,), "max_gradient_norm": 10.0},
        "replay": {"capacity": 100},
        "planning": {"queue_size": 100},
        "search_control": {"states": 3},
    }
)


def training(base=BASE, **settings):
    config = base.changed(settings)
    env = envs.make(config.env, **config.of_component("env"))
    return Training(algorithms.build(config, env), 1, 0.05)


def block_of(trainings, seeds=(0, 1)):
    layout = Layout.of(np.tile(seeds, len(trainings)), jax.devices()[:1])
    return VariedBlock(trainings, layout)


def trained(block, steps=60):
    """Parameters and returns, each with a row for a training and seed."""
    state, metrics = block.evaluate(block.advance(block.init(), 0, steps), steps)
    return block.parameters(state), metrics["return"]


VARIED = [
    {"learner.learning_rate": 0.003},
    {"exploration": 0.3},
    {"exploration_initial": 0.9},
    {"learner.max_gradient_norm": 0.01},
    {"search_control.step_size": 0.03},
    {"search_control.noise": 0.05},
    {"search_control.probability": 0.9},
    {"planning.exploration": 0.5},
    {"learner.target_period": 7},
]
ALL_AT_ONCE = {name: value for settings in VARIED for name, value in settings.items()}
TRAININGS = [training(), *(training(**settings) for settings in VARIED), training(**ALL_AT_ONCE)]


@pytest.fixture(scope="module")
def block():
    return block_of(TRAININGS)


def test_a_row_does_not_depend_on_which_others_are_there(block, monkeypatch):
    rows, returns = trained(block)
    monkeypatch.setattr(block, "_rows", block_of(TRAININGS[::-1])._rows)  # of the same program
    backwards, returns_backwards = trained(block)
    for place in range(len(TRAININGS)):
        here, there = 2 * place, 2 * (len(TRAININGS) - 1 - place)
        np.testing.assert_array_equal(rows[here : here + 2], backwards[there : there + 2])
        np.testing.assert_array_equal(
            returns[here : here + 2], returns_backwards[there : there + 2]
        )
    different = {row.tobytes() for row in rows[::2]}
    assert len(different) == len(TRAININGS)  # each number reaches its row


def test_rows_are_what_their_trainings_give_alone(block):
    last = TRAININGS[-1]  # in which all numbers are others than in the first
    rows, _ = trained(block, steps=25)
    own_block = Block(last, Layout.of(np.array([0, 1]), jax.devices()[:1]))
    alone = own_block.parameters(own_block.advance(own_block.init(), 0, 25))
    # Sums over more rows may be taken in another order.
    np.testing.assert_allclose(rows[-2:], alone, rtol=1e-3, atol=1e-5)


def test_rows_may_have_continuous_actions_whose_bounds_are_vectors():
    settings = {"algorithm": "naf", "env": "Pendulum-v1", "learner": {"hidden": (8,)}}
    base = Config.of(settings)
    block = block_of([training(base), training(base, **{"learner.learning_rate": 0.003})])
    jax.eval_shape(lambda state: block.advance(state, 0, 1), block.init())


def test_what_changes_shapes_is_refused():
    with pytest.raises(FreqdynaError):
        block_of([training(), training(**{"learner.hidden": (9,)})])
    with pytest.raises(FreqdynaError):
        block_of([training(), training(warmup_steps=9)])  # when updates begin
