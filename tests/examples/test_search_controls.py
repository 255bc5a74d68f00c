"""The search-controls in examples/ that combine others, use an ensemble, or climb side by side."""

import importlib
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searches import found, make_search, with_error

import freqdyna
from freqdyna import envs
from freqdyna.envs.space import Transition
from freqdyna.search_control import Frequency, FromReplay, Uniform

KEY = jax.random.key(0)
EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = {
    **{"seeds": 2, "steps": 40, "planning_steps": 1, "learner.hidden": (4,), "batch_size": 4},
    **{"eval_every": 20, "warmup_steps": 0, "env.episode_limit": 30, "progress": False},
}


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


MODULES = {
    **{"Mixture": "mixture", "Bandit": "bandit", "Disagreement": "disagreement"},
    **{"ParallelFrequency": "parallel_frequency", "TDClimb": "td_climb"},
    **{"PrioritizedSweeping": "prioritized_sweeping", "Within": "within"},
}


@pytest.mark.parametrize("name", MODULES)
def test_each_trains(name):
    module = importlib.import_module(MODULES[name])
    components, steps = {"search_control": f"{module.__name__}:{name}"}, SMALL["steps"]
    if name in ("Mixture", "Bandit"):  # by default they contain climbs, which take long to compile
        components = {"search_control": getattr(module, name)((FromReplay(5), Uniform(5)))}
    if name == "Disagreement":
        components["model"] = {"name": "ensemble", "size": 2}
        steps = 200  # the members agree until they have learned from 128
    result = freqdyna.train("GridWorld", "dyna", **components, **SMALL | {"steps": steps})
    assert result.complete_seeds.kept.all()
    assert (result.metrics["search_states"][:, -1] > 0).all()
    assert (result.metrics["search_non_finite"] == 0).all()


def test_a_mixture_has_the_states_and_the_memory_of_every_part():
    from mixture import Mixture
    from particles import Particles

    control = Mixture((FromReplay(5), Uniform(40), Particles(particles=3, noise=0.0)))
    *without, positions = control.init(envs.make("GridWorld"), KEY)
    assert without == [None, None]
    memory = (None, None, jnp.full_like(positions, -0.5))
    search = make_search(lambda s: s[0], [(-1.0, 0.0)], terminal=lambda s: s[0] > 0)
    propose = jax.jit(lambda key: control.propose(replace(search, memory=memory), key))
    proposal = propose(KEY)
    states = found(proposal)
    assert (states[:5] == (-1, 0)).all()
    # Half of the uniform ones are terminal, and dropped.
    assert 8 + 5 < len(states) < 8 + 35
    assert (states[:, 0] <= 0).all()
    np.testing.assert_allclose(states[-3:], [(-0.4, -0.5)] * 3, atol=1e-5)
    np.testing.assert_array_equal(proposal.memory[-1], states[-3:])


@pytest.mark.parametrize("steps", [0.0, 2.0, 1e6])
def test_states_stay_within_some_steps_of_visited_ones(steps):
    from within import Within

    visited, none = jnp.array([[-1.0, 0.0], [-1.2, 0.0]]), jnp.zeros(2)
    taken = Transition(none, jnp.array(0), jnp.array(0.0), none.at[0].set(0.1), jnp.array(False))
    search = replace(
        make_search(lambda s: s[0], visited, covariance=jnp.diag(jnp.array([4.0, 1.0]))),
        draw_transitions=jax.vmap(lambda word: taken),
    )
    control = Uniform(50)
    before = control.propose(search, jax.random.split(KEY, 3)[0])
    states = found(Within(control, steps).propose(search, KEY))
    distances = np.linalg.norm((states[:, None] - visited) / jnp.array([2.0, 1.0]), axis=2).min(1)
    mean_step = 0.1 / 2
    assert len(states) == 50
    if steps > 1e3:
        np.testing.assert_allclose(states, before.states, atol=1e-5)
    else:  # nearly all were farther
        assert (distances <= steps * mean_step + 1e-5).all()
        assert np.isclose(distances, steps * mean_step, atol=1e-5).mean() > 0.9


def test_a_bandit_listens_to_the_part_at_whose_states_the_error_falls():
    from bandit import LEAST_SHARE, Bandit

    steps, m = 120, 20
    # `replay` proposes −1, and `uniform` states above 0.
    control = Bandit((FromReplay(m), Uniform(m)), states=m, period=1)
    base = make_search(lambda s: s[0], [(-1.0, 0.5)], low=(0.0, 0.0), high=(1.0, 1.0))

    def step(memory, t):
        search = with_error(base, lambda s: jnp.where(s[0] < 0, 200.0 - t, 50.0))
        proposal = control.propose(
            replace(search, memory=memory, t=t), jax.random.fold_in(jax.random.key(1), t)
        )
        of_first = (proposal.states[:, 0] < 0).sum()
        return proposal.memory, (proposal.memory.shares(), of_first, proposal.count)

    memory = control.init(envs.make("GridWorld"), KEY)
    _, (shares, of_first, count) = jax.jit(
        lambda memory: jax.lax.scan(step, memory, jnp.arange(steps))
    )(memory)
    assert (count == m).all()
    # Gains tend to (1, 0), and their mean size is 1/2, so that shares tend to softmax(2, 0).
    best = np.exp(2) / (np.exp(2) + 1)
    np.testing.assert_allclose(shares[0], 0.5)
    expected = LEAST_SHARE + (1 - 2 * LEAST_SHARE) * best
    np.testing.assert_allclose(shares[-1, 0], expected, atol=1e-3)
    # The states of a step follow the shares before it, up to rounding.
    assert (np.abs(of_first[1:] - m * shares[:-1, 0]) < 1.001).all()
    assert control.snapshot(memory)["shares"].tolist() == [0.5, 0.5]


def test_pairs_are_sampled_in_proportion_to_the_disagreement():
    from disagreement import Disagreement

    search = make_search(lambda s: s[0], [(0.0,)], low=(-1.0,), high=(1.0,))

    def disagreement(s, action):  # about action 1, to the right of the centre
        return jnp.where((action == 1) & (s[0] > 0), s[0], 0.0)

    search = replace(search, disagreement=disagreement, num_actions=2)
    control = Disagreement(states=1000, candidates=4000)
    proposal = jax.jit(lambda key: control.propose(search, key))(KEY)
    states = found(proposal)
    assert len(states) == 1000
    assert (proposal.actions == 1).all()
    # The density is 2s on (0, 1), with variance 1/18; five standard errors, of the sample and of
    # the 1,000 candidates that it is taken from.
    assert abs(states.mean() - 2 / 3) < 5 * np.sqrt((1 / 1000 + 1 / 1000) / 18)
    assert states.min() > 0


def hills(s):
    return jnp.sin(2 * s[0]) * jnp.cos(3 * s[1]) + s[0] ** 2


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_one_move_of_parallel_climbers_is_one_step_of_a_hill_climb(probability):
    from parallel_frequency import ParallelFrequency

    covariance = [[0.5, 0.2], [0.2, 0.3]]
    search = make_search(hills, [(0.3, 0.2)], [(0.6, -0.4)], covariance=covariance)
    settings = {"probability": probability, "noise": 0.0}
    one = Frequency(states=1, limit=1, **settings)
    four = ParallelFrequency(states=4, iterations=1, **settings)
    both = jax.jit(lambda key: (one.propose(search, key), four.propose(search, key)))
    alone, together = both(KEY)
    np.testing.assert_allclose(found(together), np.repeat(found(alone), 4, axis=0), atol=1e-6)


def test_a_parallel_climber_that_leaves_the_space_starts_again():
    from parallel_frequency import ParallelFrequency

    search = make_search(lambda s: s[0], [(1.985, 0.0)])
    control = ParallelFrequency(states=2, iterations=3, noise=0.0)
    states = found(jax.jit(lambda key: control.propose(search, key))(KEY))
    # 1.995, then 2.005 outside: back to the start, and 1.995 again.
    np.testing.assert_allclose(states[:, 0], [1.995, 1.995], atol=1e-6)


WIDE = {"low": (-1e3, -1e3), "high": (1e3, 1e3)}


@pytest.mark.parametrize(
    ("error", "iterations", "mean"),
    [
        (lambda s: jnp.nan, 3, 0.0),
        # The slope of log |error| is about 1,000 at the start; √α = 0.2 is the longest drift.
        (lambda s: 1e-6 + s[0], 1, 0.2),
    ],
    ids=["no slope", "steep"],
)
def test_a_drift_up_the_error_is_at_most_as_long_as_the_noise(error, iterations, mean):
    from td_climb import TDClimb

    search = with_error(make_search(lambda s: s[0], [(0.0, 0.0)], **WIDE), error)
    m, variance = 2000, 0.04 * iterations
    control = TDClimb(states=m, iterations=iterations, step_size=0.04)
    states = found(jax.jit(lambda key: control.propose(search, key))(KEY))
    assert len(states) == m
    np.testing.assert_allclose(states.mean(0), (mean, 0), atol=5 * np.sqrt(variance / m))
    np.testing.assert_allclose(states.var(0), variance, atol=5 * variance * np.sqrt(2 / m))
