from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searches import found, make_search, with_error

from freqdyna.envs.space import Transition
from freqdyna.search_control import TDError
from freqdyna.search_control.sampling import sample_in_proportion

KEY = jax.random.key(0)


def propose(search, **settings):
    control = TDError(**settings)
    return jax.jit(lambda key: control.propose(search, key))(KEY)


def test_states_are_sampled_in_proportion_to_the_size_of_the_error():
    def error(s):  # −s where s is above 0
        return jnp.where(s[0] < -0.5, 100.0, jnp.where(s[0] < 0, jnp.nan, -s[0]))

    space = {"low": (-1.0,), "high": (1.0,), "terminal": lambda s: s[0] < -0.5}
    search = with_error(make_search(lambda s: s[0], [(0.0,)], **space), error)
    s, action = jnp.array([0.25]), jnp.zeros((), int)
    assert search.td_error(s, KEY, action) == -0.25  # 1 + 0.5 · 4 − (3 + 0.25)
    states = found(propose(search, states=1000, candidates=4000))
    assert len(states) == 1000
    assert states.min() > 0  # neither terminal states nor those whose error is not a number
    # The density is 2s on (0, 1), with mean 2/3 and variance 1/18; five standard errors, of the
    # sample and of the 2,000 candidates that it is taken from.
    assert abs(states.mean() - 2 / 3) < 5 * np.sqrt((1 / 1000 + 1 / 2000) / 18)
    assert abs((states < 0.5).mean() - 1 / 4) < 5 * np.sqrt(3 / 16 * (1 / 1000 + 1 / 2000))


def test_candidates_of_an_unknown_state_space_are_some_steps_from_visited_states():
    # Whole numbers, so that nothing is rounded.
    visited, steps = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 9.0]]), jnp.array([1.0, 2.0, 3.0])
    after = visited + jnp.stack([steps, -steps], axis=1)

    def transition(i):
        return Transition(visited[i], jnp.zeros((), int), jnp.ones(()), after[i], jnp.zeros(()))

    def draw(bits):
        return jax.vmap(transition)(bits % 3)

    space = {"low": (-5.0, -5.0), "high": (5.0, 9.0)}
    search = with_error(make_search(lambda s: s[0], visited, **space), lambda s: 1.0)
    search = replace(search, knows_state_space=False, draw_transitions=draw)
    moved = [s + 2 * step for s in visited for step in (after - visited)]
    expected = {tuple(np.clip(s, *space.values()).tolist()) for s in np.asarray(moved)}
    states = found(propose(search, states=500, candidates=500, reach=2.0))
    assert {tuple(s) for s in states.tolist()} == expected  # every pair of the three
    uniform = found(propose(search, states=500, candidates=500, uniform=True))
    assert len({tuple(s) for s in uniform.tolist()}) > 100


def sampled(weights, count):
    return jax.jit(lambda w: sample_in_proportion(w, KEY, count))(jnp.asarray(weights))


def test_indices_are_sampled_in_proportion_to_their_weights():
    weights = [0.0, 1.0, 2.0, jnp.nan, 3.0, jnp.inf, -1.0, 4.0, 0.0]
    chosen, any_weight = sampled(weights, 100_000)
    counts = np.bincount(chosen, minlength=len(weights))
    expected = np.array([0, 1, 2, 0, 3, 0, 0, 4, 0]) * 10_000
    assert any_weight
    assert (counts[expected == 0] == 0).all()
    apart = (counts - expected)[expected > 0] ** 2 / expected[expected > 0]
    # The 0.999 quantile of chi-square with 3 degrees of freedom: one key in a thousand exceeds it.
    assert apart.sum() < 16.27


@pytest.mark.parametrize("weight", [1e-30, 3e38])
def test_the_unit_of_weights_does_not_matter(weight):
    chosen, any_weight = sampled([weight, 0.0, weight], 1000)
    assert any_weight
    assert set(chosen.tolist()) == {0, 2}
    assert abs(int((chosen == 0).sum()) - 500) < 5 * np.sqrt(250)


def test_without_a_weight_nothing_is_chosen():
    assert not sampled([0.0, jnp.nan, jnp.inf, -1.0], 3)[1]
