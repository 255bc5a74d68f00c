from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searches import found, make_search, with_error

from freqdyna import Config, envs
from freqdyna.search_control import BanditSearch
from freqdyna.search_control.bandit import LEAST_SHARE, shares

KEY = jax.random.key(0)
M, STEPS = 20, 120


def run(error_at, period=1, steps=STEPS):
    """The shares and the number of states of the first part, at each step.

    The parts are `replay`, which proposes −1, and `uniform`, which proposes states above 0.

    Args:
        error_at: From a state and the time to the temporal-difference error.
        period: The steps between measurements.
        steps: The number of steps.

    """
    control = BanditSearch.from_config(
        Config(mixture=("replay", "uniform"), search_states=M, bandit_period=period)
    )
    base = make_search(lambda s: s[0], [(-1.0, 0.5)], low=(0.0, 0.0), high=(1.0, 1.0))

    def step(memory, t):
        search = with_error(base, lambda s: error_at(s, t))
        proposal = control.propose(
            replace(search, memory=memory, t=t), jax.random.fold_in(jax.random.key(1), t)
        )
        after = proposal.memory
        of_first = (proposal.states[:, 0] < 0).sum()
        return after, (shares(after.gains, after.scale), of_first, proposal.count)

    memory = control.init(envs.make("GridWorld"), KEY)
    _, (share, of_first, count) = jax.jit(
        lambda memory: jax.lax.scan(step, memory, jnp.arange(steps))
    )(memory)
    assert (count == M).all()
    return np.asarray(share), np.asarray(of_first)


def falls_at_replayed(s, t):
    return jnp.where(s[0] < 0, 200.0 - t, 50.0)


def test_shares_move_to_the_part_whose_states_have_a_falling_error():
    share, of_first = run(falls_at_replayed)
    np.testing.assert_allclose(share[0], 0.5)
    # Gains tend to (1, 0), and their mean size is 1/2, so that shares tend to softmax(2, 0).
    least, best = LEAST_SHARE, np.exp(2) / (np.exp(2) + 1)
    np.testing.assert_allclose(share[-1, 0], least + (1 - 2 * least) * best, atol=1e-3)
    assert 0.5 < share[1, 0] < 0.6
    assert (np.diff(share[:, 0]) > -1e-6).all()
    np.testing.assert_allclose(share.sum(1), 1, atol=1e-6)
    # The states of a step follow the shares before it, up to rounding.
    assert (np.abs(of_first[1:] - M * share[:-1, 0]) < 1.001).all()


def test_shares_return_when_another_part_gains():
    def error_at(s, t):
        return jnp.where((s[0] < 0) == (t < STEPS // 2), 200.0 - t, 50.0)

    share, _ = run(error_at)
    assert share[STEPS // 2 - 1, 0] > 0.8
    assert share[-1, 0] < 0.2


def test_errors_are_measured_only_after_a_period():
    share, _ = run(falls_at_replayed, period=10, steps=40)
    changes = np.flatnonzero(np.abs(np.diff(share[:, 0])) > 0) + 1
    assert changes.tolist() == [10, 20, 30]  # the states of step 0 are measured again at step 10


def test_errors_that_are_not_numbers_do_not_spoil_the_shares():
    share, _ = run(lambda s, t: jnp.where(s[0] < 0, jnp.nan, 200.0 - t), steps=30)
    assert np.isfinite(share).all()
    assert share[-1, 1] > 0.5


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        ([0.0, 0.0], [0.5, 0.5]),
        ([1e6, -1e6], [0.95, 0.05]),
        ([3.0], [1.0]),
        ([1e6] + [0.0] * 24, [0.02 + 0.5] + [0.02] * 24),
    ],
)
def test_no_share_falls_below_the_least(gains, expected):
    np.testing.assert_allclose(shares(jnp.array(gains), jnp.ones(())), expected, rtol=1e-5)


def test_a_part_that_finds_too_few_states_leaves_its_places_empty():
    base = make_search(lambda s: s[0], [(-1.0, 0.5)], terminal=lambda s: s[0] > -5)
    search = with_error(base, lambda s: jnp.ones(()))
    control = BanditSearch.from_config(Config(mixture=("replay", "uniform"), search_states=M))
    memory = control.init(envs.make("GridWorld"), KEY)
    proposal = jax.jit(lambda key: control.propose(replace(search, memory=memory), key))(KEY)
    assert (found(proposal) == (-1, 0.5)).all()
    assert proposal.count == M // 2  # no uniform state is usable
    assert (proposal.memory.sample.owners == -1).sum() == M // 2
    assert control.snapshot(memory)["shares"].tolist() == [0.5, 0.5]
