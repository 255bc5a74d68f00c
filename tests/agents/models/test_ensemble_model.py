"""The ensemble of learned models."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freqdyna
from freqdyna import FreqdynaError, SearchControl, envs
from freqdyna.agents.models import Ensemble, Learned
from freqdyna.agents.models.learned import bootstrap_weights
from freqdyna.envs.space import Transition
from freqdyna.search_control import Proposal

ENV = envs.make("GridWorld")
MEMBERS = 4
LEFT = jnp.array([0.0, 0.0]), jnp.array([0.25, 1.0])
RIGHT = jnp.array([0.6, 0.0]), jnp.array([1.0, 1.0])
ANYWHERE = jnp.zeros(2), jnp.ones(2)


def make(outcome="mean"):
    settings = {"hidden": (16, 16), "learning_rate": 5e-3, "size": MEMBERS}
    return Ensemble(**settings, outcome=outcome).bind(ENV)


@partial(jax.jit, static_argnums=1)
def transitions(key, number, low, high):
    keys = jax.random.split(key, 3)
    states = jax.random.uniform(keys[0], (number, 2), minval=low, maxval=high)
    actions = jax.random.randint(keys[1], (number,), 0, ENV.num_actions)
    outcome = jax.vmap(ENV.transition)(states, actions, jax.random.split(keys[2], number))
    next_states, rewards, terminals = outcome
    return jax.vmap(Transition)(states, actions, rewards, next_states, terminals)


@pytest.fixture(scope="module")
def trained():
    """An ensemble before and after it has learned from the left quarter of the square only."""
    model = make()
    stored = transitions(jax.random.key(0), 2000, *LEFT)

    def learn(i, state):
        key = jax.random.fold_in(jax.random.key(1), i)
        chosen = jax.random.randint(key, (model.learn_batch,), 0, 2000)
        return model.learn(state, jax.tree.map(lambda values: values[chosen], stored))

    before = model.init(jax.random.key(2))
    return model, before, jax.jit(lambda s: jax.lax.fori_loop(0, 500, learn, s))(before)


def test_the_members_disagree_less_where_data_are(trained):
    model, before, after = trained

    @jax.jit
    def mean_disagreement(state, low, high):
        seen = transitions(jax.random.key(3), 200, low, high)
        return jax.vmap(model.disagreement, in_axes=(None, 0, 0))(
            state, seen.state, seen.action
        ).mean()

    here = mean_disagreement(after, *LEFT)
    assert here < 0.1 * mean_disagreement(before, *LEFT)
    assert here < 0.2 * mean_disagreement(after, *RIGHT)
    # The noise of a step, of deviation 0.01, and walls leave little to disagree about.
    assert jnp.sqrt(here) < 0.05


def test_the_outcome_is_the_mean_or_that_of_a_random_member(trained):
    model, _, state = trained
    s, action = jnp.array([0.1, 0.4]), jnp.asarray(2)
    predict = jax.jit(model.predict)
    alone = [predict(params, s, action) for params in state.params]
    changes = np.stack([prediction.change for prediction in alone])
    next_state, reward, _ = jax.jit(model.query)(state, s, action, jnp.zeros(0))
    np.testing.assert_allclose(next_state, s + changes.mean(0), rtol=1e-5)
    np.testing.assert_allclose(reward, np.mean([p.reward for p in alone]), rtol=1e-5)
    expected = (((s + changes) - (s + changes).mean(0)) ** 2).mean()
    disagreement = jax.jit(model.disagreement)(state, s, action)
    np.testing.assert_allclose(disagreement, expected, rtol=1e-3)

    sampling = make("member")
    assert (model.noise_size, sampling.noise_size) == (0, 1)
    noise = jax.random.normal(jax.random.key(4), (2000, 1))
    query = jax.jit(jax.vmap(sampling.query, in_axes=(None, None, None, 0)))
    found = np.asarray(query(state, s, action, noise)[0])
    distances = np.abs(found[:, None] - np.asarray(s + changes)).max(-1)
    assert distances.min(1).max() < 1e-6
    shares = np.bincount(distances.argmin(1), minlength=MEMBERS) / 2000
    np.testing.assert_allclose(shares, 1 / MEMBERS, atol=0.05)  # five standard deviations


def test_a_transition_occurs_a_poisson_number_of_times_in_each_bootstrap_sample():
    rows = jax.vmap(Transition.pack)(transitions(jax.random.key(5), 4000, *ANYWHERE))
    count = jax.jit(lambda rows: bootstrap_weights(rows, 3))
    weights = np.asarray(count(rows))
    assert weights.shape == (3, 4000)
    np.testing.assert_allclose(weights.mean(1), 1, atol=5 / np.sqrt(4000))
    np.testing.assert_allclose((weights == 0).mean(1), np.exp(-1), atol=0.04)
    np.testing.assert_allclose(weights.var(1), 1, atol=0.15)
    assert np.abs(np.corrcoef(weights) - np.eye(3)).max() < 0.08
    # It depends on the transition alone, not on the mini-batch that it is in.
    np.testing.assert_array_equal(count(rows[::-1]), weights[:, ::-1])


def test_a_weight_counts_as_copies_of_a_transition():
    model = Learned(learning_rate=1e-3, termination="learned", hidden=(4,)).bind(ENV)
    state = model.init(jax.random.key(0))
    one = transitions(jax.random.key(6), 3, *ANYWHERE)
    copies = jax.tree.map(lambda x: x[jnp.array([0, 0, 1])], one)
    learn = jax.jit(model.learn)
    weighted = learn(state, one, jnp.array([2.0, 1.0, 0.0]))
    np.testing.assert_allclose(weighted.params, learn(state, copies).params, rtol=1e-4)


class Uncertain(SearchControl):
    """The states, out of some, about which the members disagree most."""

    def propose(self, search, key):
        """Two of eight."""
        states = 0.3 * jax.random.uniform(key, (8, 2))
        found = jax.vmap(lambda s: search.disagreement(s, jnp.asarray(0)))(states)
        return Proposal.of(states[jax.lax.top_k(found, 2)[1]])


def test_a_search_control_uses_the_disagreement_of_an_ensemble_and_of_no_other_model(tmp_path):
    small = {"seeds": 1, "steps": 140, "planning_steps": 1, "learner.hidden": (4,), "batch_size": 4}
    small |= {"eval_every": 70, "warmup_steps": 0, "env.episode_limit": 30, "progress": False}
    small |= {
        "planning.model_updates": 2,
        "planning.rollout_length": 2,
        "search_control": Uncertain,
    }
    result = freqdyna.train(
        "GridWorld", "dyna", model=Ensemble(hidden=(4,), size=2, outcome="member"), **small
    )
    assert result.complete_seeds.kept.all()
    assert (result.metrics["model_error"] > 0).all()
    assert (result.metrics["model_non_finite"] == 0).all()
    with pytest.raises(FreqdynaError, match="Learned, which has no disagreement"):
        freqdyna.train("GridWorld", "dyna", model="learned", out=tmp_path / "run", **small)
    assert not list(tmp_path.iterdir())
