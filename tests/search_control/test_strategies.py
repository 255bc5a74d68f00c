from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searches import found, make_search

from freqdyna import FreqdynaError, envs
from freqdyna.config import settings_of
from freqdyna.search_control import SEARCH_CONTROLS, Frequency, Proposal, SearchControl
from freqdyna.search_control.base import check_proposal

KEY = jax.random.key(1)


def propose(name, search, **settings):
    kind = SEARCH_CONTROLS[name]
    still = {"states": 10} | ({"noise": 0.0} if "noise" in settings_of(kind) else {})
    control = kind(**still | settings)
    return jax.jit(lambda key: control.propose(search, key))(KEY)


class Pairs(SearchControl):
    """States with actions, of climbs by one rule."""

    proposes_actions = True
    climb_rules = ("rule",)

    def propose(self, search, key):
        """Never called."""


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("states", jnp.ones((3, 2), int)),
        ("states", jnp.ones(2)),
        ("count", 1.5),
        ("by_rule", jnp.ones(2, int)),
        ("actions", None),
        ("memory", jnp.zeros(2)),
    ],
)
def test_a_proposal_of_other_types_is_refused(part, value):
    space = envs.make("GridWorld")
    proposal = Proposal.of(jnp.ones((3, 2)), jnp.asarray(2), jnp.zeros(3, int))
    assert check_proposal(Pairs(), proposal, space, None).states is proposal.states
    object.__setattr__(proposal, part, value)  # the tests check types at construction
    with pytest.raises(FreqdynaError, match=part):
        check_proposal(Pairs(), proposal, space, None)


def bowl(s):
    """V rises to the right; its curvature, and so g, rises upwards."""
    return s[0] + jnp.exp(s[1]) / 10


VISITED, QUEUED = (-1.0, 0.0), (1.0, 0.0)


def first_move(proposal, start):
    return (found(proposal)[0] - start) / 0.01


@pytest.mark.parametrize(
    ("name", "queue", "settings", "start", "slope"),
    [
        ("value", [QUEUED], {}, VISITED, (1, 0.1)),
        ("frequency", [QUEUED], {"probability": 1.0}, QUEUED, (0, 1)),
        ("frequency", [QUEUED], {"probability": 0.0}, VISITED, (1, 0.1)),
        ("frequency", None, {"probability": 1.0}, VISITED, (1, 0.1)),
    ],
    ids=["value", "frequency", "frequency, rule value", "frequency, empty queue"],
)
def test_v_is_climbed_from_visited_states_and_g_from_the_queue(name, queue, settings, start, slope):
    move = first_move(propose(name, make_search(bowl, [VISITED], queue), **settings), start)
    np.testing.assert_allclose(move, np.array(slope) / np.linalg.norm(slope), atol=1e-3)


@pytest.mark.slow
def test_steps_without_a_direction_are_counted_for_each_rule():
    # V rises along the first coordinate; its gradient and Hessian norms are constant, so that ∇g
    # vanishes at every step, and ∇V at none. Every climb is one step long.
    search = make_search(lambda s: s[0], [(0.0, 0.0)], [(1.0, 1.0)], terminal=lambda s: s[0] > -9)
    found = propose("frequency", search, limit=40, probability=0.25)
    rules = jax.random.uniform(jax.random.split(KEY, 4)[0], (40,)) < 0.25
    of_g = int(rules.sum())
    assert 0 < of_g < 40
    assert found.by_rule.tolist() == [[of_g, of_g], [40 - of_g, 0]]
    assert (int(found.iterations), int(found.vanished)) == (40, of_g)
    alone = propose("value", search, limit=3)
    assert alone.by_rule is None


@pytest.mark.slow
@pytest.mark.parametrize(("which", "before"), [("new", 0), ("previous", 1)])
def test_a_restarted_climb_starts_where_its_rule_or_the_previous_one_says(which, before):
    search = make_search(bowl, [VISITED], [QUEUED], terminal=lambda s: jnp.ones((), bool))
    control = Frequency(states=1, limit=40, restart_rule=which).traced()
    path = jax.jit(lambda key: control.propose(search, key).path)(KEY)
    # Every state is terminal, so that each iteration starts a climb.
    from_queue, of_g = np.asarray(path.states)[:, 0] > 0, np.asarray(path.rules) == 0
    assert 5 < of_g.sum() < 35
    np.testing.assert_array_equal(from_queue[1:], of_g[1 - before : len(of_g) - before])
    assert from_queue[0] == of_g[0]


@pytest.mark.slow
@pytest.mark.parametrize(("vanishing", "slope"), [("sum", (2e-5, 8e-6)), ("each_term", (1, 0))])
def test_a_short_term_of_the_gradient_of_g_is_dropped_if_that_is_set(vanishing, slope):
    def f(s):  # at (1, 0.1): ∇‖∇f‖² = (2, 0.001), ∇‖H‖² = (0, 0.2)
        return s[0] ** 2 / 2 + s[1] ** 3 / 6

    settings = {"gradient_weight": 1e-5, "hessian_weight": 4e-5, "probability": 1.0}
    search = make_search(f, [VISITED], [(1.0, 0.1)])
    proposal = propose("frequency", search, **settings, vanishing=vanishing)
    move = first_move(proposal, (1.0, 0.1))
    np.testing.assert_allclose(move, slope / np.linalg.norm(slope), atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "objective"),
    [
        ("gradient-norm", lambda d: d.gradient_norm()),
        ("hessian-norm", lambda d: d.hessian_norm()),
        ("value-plus-frequency", lambda d: d.value + d.frequency()),
        ("value-times-frequency", lambda d: d.value * d.frequency()),
    ],
)
def test_each_objective_is_climbed_along_its_own_gradient(name, objective):
    def f(s):
        return jnp.sin(2 * s[0]) * jnp.cos(3 * s[1]) + s[0] ** 2

    start = (0.3, 0.2)
    search = make_search(f, [start], [start])
    settings = {"probability": 1.0} if name.endswith("norm") else {}
    slope = jax.jit(jax.grad(lambda s: objective(search.derivatives(s))))(jnp.array(start))
    move = first_move(propose(name, search, **settings), start)
    np.testing.assert_allclose(move, slope / np.linalg.norm(slope), atol=1e-3)


@pytest.mark.slow
def test_the_frequency_can_be_that_of_the_target_network():
    start = (0.3, 0.2)
    search = make_search(lambda s: jnp.sin(3 * s[0]), [start], [start])
    other = make_search(lambda s: jnp.sin(3 * s[1]), [start], [start])
    search = replace(search, target_slopes=other.slopes)
    for probability, axis in ((1.0, 1), (0.0, 0)):  # V is always the online one's
        proposal = propose("frequency", search, probability=probability, network="target")
        np.testing.assert_allclose(np.abs(first_move(proposal, start)), np.eye(2)[axis], atol=1e-3)


def test_replay_takes_visited_states_as_they_are():
    visited = np.random.default_rng(0).uniform(-1, 1, (7, 2)).astype(np.float32)
    states = found(propose("replay", make_search(bowl, visited), states=40))
    assert len(states) == 40
    assert {tuple(s) for s in states} <= {tuple(s) for s in visited}


def test_uniform_fills_the_bounds_but_for_terminal_states():
    search = make_search(bowl, [VISITED], low=(0.0, -1.0), high=(1.0, 3.0))
    states = found(propose("uniform", search, states=4000))
    assert len(states) == 4000
    np.testing.assert_allclose(states.mean(0), (0.5, 1.0), atol=5 * np.sqrt(16 / 12 / 4000))
    np.testing.assert_allclose(states.min(0), (0, -1), atol=0.02)
    search = make_search(bowl, [VISITED], terminal=lambda s: s[0] > 0)
    states = found(propose("uniform", search, states=1000))
    assert states[:, 0].max() <= 0
    assert 400 < len(states) < 600
