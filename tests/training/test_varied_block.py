"""Rows of one program with numbers of their own."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from freqdyna.envs.resolve import resolved

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.training.seeds import Block, Layout, Training, VariedBlock

BASE = Config(
    env="GridWorld",
    algorithm="dyna-frequency",
    planning_steps=2,
    warmup_steps=20,
    hidden=(8,),
    search_states=3,
    buffer_size=100,
    queue_size=100,
    steps=200,
    episode_limit=50,
    max_gradient_norm=10.0,
    exploration_initial=0.5,
    exploration_fraction=0.5,
)


def training(env="GridWorld", **settings):
    env = envs.make(env, episode_limit=50)
    agent = algorithms.build(resolved(replace(BASE, **settings), env), env)
    return Training(agent, 1, 0.05)


def block_of(trainings, seeds=(0, 1)):
    layout = Layout.of(np.tile(seeds, len(trainings)), jax.devices()[:1])
    return VariedBlock(trainings, layout)


def trained(block, steps=60):
    """Parameters and returns, each with a row for a training and seed."""
    state, metrics = block.evaluate(block.advance(block.init(), 0, steps), steps)
    return np.asarray(jax.vmap(block.training.agent.parameters)(state)), metrics["return"]


VARIED = [
    {"learning_rate": 0.003},
    {"exploration": 0.3},
    {"exploration_initial": 0.9},
    {"max_gradient_norm": 0.01},
    {"climb_step_size": 0.03},
    {"climb_noise": 0.05},
    {"frequency_probability": 0.9},
    {"planning_exploration": 0.5},
    {"target_period": 7},
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


@pytest.mark.parametrize("actions", ["discrete", "continuous"])
def test_rows_are_what_their_trainings_give_alone(actions, block):
    last = TRAININGS[-1]  # in which all numbers are others than in the first
    if actions == "continuous":  # with bounds, which are vectors
        swings = {"env": "Pendulum-v1", "algorithm": "naf", "max_gradient_norm": None}
        last = training(**swings, learning_rate=0.003)
        block = block_of([training(**swings), last])
    rows, _ = trained(block, steps=25)
    own_block = Block(last, Layout.of(np.array([0, 1]), jax.devices()[:1]))
    state = own_block.advance(own_block.init(), 0, 25)
    alone = np.asarray(jax.vmap(last.agent.parameters)(state))
    # Sums over more rows may be taken in another order.
    np.testing.assert_allclose(rows[-2:], alone, rtol=1e-3, atol=1e-5)


def test_what_changes_shapes_is_refused():
    with pytest.raises(FreqdynaError, match="differ only in numbers"):
        block_of([training(), training(hidden=(9,))])
    with pytest.raises(FreqdynaError, match="differ only in numbers"):
        block_of([training(), training(warmup_steps=9)])  # when updates begin
