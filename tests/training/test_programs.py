"""Equal trainings share their programs, and no others do."""

import jax
import numpy as np
import pytest
from probes import ConstantReward

from freqdyna import envs
from freqdyna.agents import algorithms
from freqdyna.agents.learners.dqn import DQN
from freqdyna.config import Config
from freqdyna.envs.resolve import resolved
from freqdyna.training import programs
from freqdyna.training.block import CompiledBlock, Layout
from freqdyna.training.training import Training

SEEDS = np.arange(2)


@pytest.fixture(autouse=True)
def _no_programs(monkeypatch):
    monkeypatch.setattr(programs, "_programs", type(programs._programs)())


def make_block(env="GridWorld", devices=1, **settings):
    env = envs.make(env, episode_limit=5) if isinstance(env, str) else env
    config = resolved(Config(env=env.name, **({"hidden": (4,)} | settings)), env)
    training = Training(algorithms.build(config, env), 1, 0.05)
    return CompiledBlock(training, Layout.of(SEEDS, jax.devices()[:devices]))


def program_of(**settings):
    return make_block(**settings)._advance


def test_equal_trainings_share_a_program():
    assert program_of() is program_of()
    assert program_of(algorithm="dyna-frequency") is program_of(algorithm="dyna-frequency")


@pytest.mark.parametrize(
    "settings",
    [
        {"learning_rate": 0.002},
        {"batch_size": 16},
        {"algorithm": "dyna-value"},
        {"env": "MountainCar-v0"},
        {"devices": 2},
    ],
    ids=str,
)
def test_other_trainings_do_not(settings):
    assert program_of() is not program_of(**settings)


def test_programs_of_one_training_differ():
    block = make_block()
    assert len({id(p) for p in (block._init, block._advance, block._evaluate)}) == 3


def test_a_class_of_the_users_is_traced_every_time():
    assert program_of(env=ConstantReward()) is not program_of(env=ConstantReward())


def test_changed_code_is_traced_again(monkeypatch):
    before = program_of()
    act = DQN.select_action
    monkeypatch.setattr(DQN, "select_action", lambda *arguments: act(*arguments))
    assert program_of() is not before


def test_the_oldest_program_is_dropped(monkeypatch):
    monkeypatch.setattr(programs, "MOST", 8)
    first = program_of()
    for rate in (0.1, 0.2):  # each has four programs
        program_of(learning_rate=rate)
    assert len(programs._programs) == 8
    assert program_of() is not first
