from unittest.mock import Mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import ConstantReward
from small import QUICK

import freqdyna
from freqdyna import FreqdynaError, envs
from freqdyna.agents import algorithms
from freqdyna.config import Config
from freqdyna.training import seeds
from freqdyna.training.api import prepare
from freqdyna.training.seeds import Block, Layout, Training

SETTINGS = {
    "env": "GridWorld",
    "steps": 20_000,
    "warmup_steps": 20,
    "planning_steps": 2,
    "learner.hidden": (8,),
    "batch_size": 8,
    "env.episode_limit": 50,
    "env.reward_noise": 0.5,
}


def make_training(algorithm="er", **settings):
    config = Config.of({"algorithm": algorithm, **SETTINGS | settings})
    env = envs.make(config.env, **config.of_component("env"))
    return Training(algorithms.build(config, env), eval_episodes=2, eval_exploration=0.05)


def make_block(training, seeds, devices=2):
    return Block(training, Layout.of(np.array(seeds), jax.devices()[:devices]))


def states_equal(first, second, rows=slice(None)):
    def leaves(state):
        data = jax.tree.map(
            lambda x: jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x,
            state,
        )
        return [np.asarray(leaf)[rows] for leaf in jax.tree.leaves(data)]

    return all(
        np.array_equal(a, b, equal_nan=True)
        for a, b in zip(leaves(first), leaves(second), strict=True)
    )


@pytest.fixture(scope="module")
def training():
    return make_training("dyna-frequency", model="true")


@pytest.fixture(scope="module")
def block(training):
    return make_block(training, [0, 1, 2, 3])


def test_equal_seeds_agree_to_the_bit_and_different_seeds_differ(block):
    first = block.advance(block.init(), 0, 60)
    again = block.advance(block.init(), 0, 60)
    assert states_equal(first, again)
    params = np.asarray(first.learner.params)
    assert len(np.unique(params, axis=0)) == 4
    assert len(np.unique(np.asarray(first.replay.rows)[:, :40].reshape(4, -1), axis=0)) == 4


def test_a_seed_in_company_is_the_pure_function_of_its_key(training, block):
    warmed, expected = block.evaluate(block.advance(block.init(), 0, 20), 20)
    together = block.advance(warmed, 20, 24)
    run = jax.jit(lambda key: training.run(key, steps=24, eval_every=20))
    alone, metrics = run(jax.random.key(2))
    assert metrics["return"].shape == (2,)
    for name in ("return", "length", "episodes"):
        np.testing.assert_allclose(metrics[name][0], expected[name][2], rtol=1e-5)
    # The same random streams: in the warm-up the very same transitions.
    np.testing.assert_allclose(together.replay.rows[2, :20], alone.replay.rows[:20], atol=1e-6)
    # And the same first updates, up to rounding.
    np.testing.assert_allclose(together.learner.params[2], alone.learner.params, atol=2e-5)


def test_where_a_run_is_sliced_or_evaluated_makes_no_difference(block):
    whole = block.advance(block.init(), 0, 60)
    sliced, evaluated = block.init(), block.init()
    for start, stop in ((0, 1), (1, 1), (1, 17), (17, 59), (59, 60)):
        sliced = block.advance(sliced, start, stop)
        evaluated, _ = block.evaluate(block.advance(evaluated, start, stop), stop)
    assert states_equal(whole, sliced)
    for part in ("observation", "learner", "replay"):
        assert states_equal(getattr(whole, part), getattr(evaluated, part))


def test_evaluation_draws_anew_at_every_step_and_the_same_at_the_same_step(block):
    at_10, again, at_20 = (
        np.asarray(block.evaluate(block.init(), step)[1]["return"]) for step in (10, 10, 20)
    )
    np.testing.assert_array_equal(at_10, again)
    assert np.all(at_10 != at_20)
    assert len(np.unique(at_10)) == 4


class Mistaken(ConstantReward):
    """An environment whose reward has the wrong shape."""

    def reward(self, state, action, next_state):
        return state


def test_a_check_compiles_and_trains_nothing(tmp_path):
    compiled = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **facts: (
            compiled.append(facts.get("fun_name")) if "backend_compile" in event else None
        )
    )
    freqdyna.check("GridWorld", seeds=10**6, out=tmp_path / "run")
    assert "jit(plain)" not in compiled  # the name of what a block compiles
    assert not list(tmp_path.iterdir())
    with pytest.raises(Exception) as raised:  # noqa: PT011 - as JAX raises it
        freqdyna.check(Mistaken())
    assert not isinstance(raised.value, FreqdynaError)


def test_every_step_is_the_same_program(training):
    # A leaf whose type changes on the way would have everything compiled a second time.
    key = jax.random.key(0)
    first = jax.eval_shape(training.init, key)
    assert jax.tree.leaves(jax.eval_shape(training.advance, first, 0, 1)) == jax.tree.leaves(first)
    evaluated, _ = jax.eval_shape(training.evaluate, first, key, 1)
    assert jax.tree.leaves(evaluated) == jax.tree.leaves(first)
    assert not any(leaf.weak_type for leaf in jax.tree.leaves(first))


def test_seeds_that_do_not_divide_are_all_there(training, block):
    odd = make_block(training, [0, 1, 2])
    assert (odd.layout.seeds, odd.layout.rows) == (3, 4)
    ours, theirs = odd.advance(odd.init(), 0, 30), block.advance(block.init(), 0, 30)
    assert states_equal(ours, theirs, slice(3))


@pytest.mark.default_compiler
def test_slices_make_no_difference_with_the_compiler_that_users_have():
    block = prepare(Config.of(QUICK)).block
    whole, sliced = block.advance(block.init(), 0, 60), block.init()
    for start, stop in ((0, 1), (1, 59), (59, 60)):
        sliced = block.advance(sliced, start, stop)
    assert states_equal(whole, sliced)


def test_training_needs_no_second_copy_of_the_buffers(block):
    steps = jnp.int32(0), jnp.int32(1)
    memory = block._advance.lower(block.init(), *steps).compile().memory_analysis()
    seeds_a_device = 2
    assert memory.argument_size_in_bytes > seeds_a_device * 20_000 * 7 * 4
    assert memory.alias_size_in_bytes > 0.99 * memory.argument_size_in_bytes
    assert memory.temp_size_in_bytes < 0.1 * memory.argument_size_in_bytes


def program_of(devices=1, env=None, **settings):
    training = make_training(**settings)
    if env is not None:
        training = Training(algorithms.build(Config.of({"env": env.name}), env), 2, 0.05)
    return make_block(training, [0, 1], devices)._advance


def test_equal_trainings_of_built_in_classes_share_a_program():
    assert program_of() is program_of()
    for other in ({"batch_size": 16}, {"learner": {"learning_rate": 0.002}}, {"devices": 2}):
        assert program_of() is not program_of(**other)
    assert program_of(env=ConstantReward()) is not program_of(env=ConstantReward())


def test_a_run_that_cannot_fit_is_refused_before_it_has_a_folder(tmp_path):
    with pytest.raises(FreqdynaError, match="memory"):
        freqdyna.train(**SETTINGS, seeds=2**31 - 1, out=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_the_memory_of_an_accelerator_is_compared_with_what_one_device_needs():
    device = Mock(spec=jax.Device, platform="gpu")
    device.memory_stats.return_value = {"bytes_limit": 2 * 2**20, "bytes_in_use": 2**20}
    # 7 numbers of 4 bytes for each transition
    training = make_training(replay={"capacity": 30_000})
    seeds.require_memory(training, 2, [device] * 2)
    with pytest.raises(FreqdynaError, match="memory"):
        seeds.require_memory(training, 2, [device])
