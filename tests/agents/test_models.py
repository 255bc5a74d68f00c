"""Models: the contract of users' own, and those that learn against the environment itself."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from corridor import Corridor
from gymnasium import spaces
from probes import agent_of

from freqdyna import FreqdynaError, SearchControl, envs
from freqdyna.agents.models import Ensemble, Learned, Model, TrueModel, check_model
from freqdyna.agents.models.ensemble import bootstrap_weights
from freqdyna.agents.models.true import host_model
from freqdyna.envs.gym import space_of
from freqdyna.envs.space import Transition
from freqdyna.search_control import Proposal

ENV = envs.make("GridWorld")
MEMBERS = 4
LEFT = jnp.array([0.0, 0.0]), jnp.array([0.25, 1.0])
RIGHT = jnp.array([0.6, 0.0]), jnp.array([1.0, 1.0])


class Stays(Model):
    """Nothing ever happens."""

    def query(self, state, s, action, noise):
        return s, jnp.asarray(-1.0), jnp.zeros((), bool)


class Floats(Stays):
    """Python's own numbers."""

    def query(self, state, s, action, noise):
        return s, -1.0, False


class Grows(Stays):
    """Its state becomes longer."""

    learn_batch = 4

    def init(self, key):
        return jnp.zeros(2)

    def learn(self, state, batch):
        return jnp.append(state, batch.reward.mean())


class OneOutcome(Stays):
    """It answers once."""

    def two_outcomes(self, state, s, action, key):
        return self.query(state, s, action, jnp.zeros(0))


class ByCoordinate(Stays):
    """It disagrees about each coordinate."""

    def disagreement(self, state, s, action):
        return s


class Unscaled(Stays):
    """It forgets to return what sees scaled observations."""

    def with_scale(self, centre, half):
        pass


class Broken(Stays):
    """It raises."""

    def query(self, state, s, action, noise):
        return jnp.zeros(3) @ jnp.zeros(4)


@pytest.mark.parametrize(
    ("model", "method"),
    [
        *((Floats, "query"), (Grows, "learn"), (Unscaled, "with_scale")),
        *((OneOutcome, "two_outcomes"), (ByCoordinate, "disagreement")),
    ],
)
def test_what_has_another_form_is_refused(model, method):
    check_model(Stays(), ENV)
    with pytest.raises(FreqdynaError, match=method):
        check_model(model(), ENV)


def test_an_error_in_a_method_keeps_its_class_and_names_the_contract():
    with pytest.raises(TypeError) as raised:
        check_model(Broken(), ENV)
    assert "freqdyna.agents.models.Model.query" in "".join(raised.value.__notes__)


def test_the_true_model_repeats_what_was_stored_when_the_world_is_deterministic():
    # The paper's argument (section 2): an exact deterministic model only says again, of visited
    # states, what the replay already holds.
    env = envs.make("GridWorld", move_noise=0.0)
    model, seen = TrueModel(env), random_transitions(env, 300)
    noise = jax.random.normal(jax.random.key(9), (300, model.noise_size))
    query = jax.jit(jax.vmap(model.query, in_axes=(None, 0, 0, 0)))
    outcome = query(None, seen.state, seen.action, noise)
    for queried, stored in zip(outcome, (seen.next_state, seen.reward, seen.terminal), strict=True):
        np.testing.assert_allclose(queried, stored, atol=1e-6)


@eqx.filter_jit
def random_transitions(env, number, low=None, high=None, seed=0):
    """Transitions from states between bounds, or from all states."""
    state_key, action_key, env_key = jax.random.split(jax.random.key(seed), 3)
    low, high = (env.low, env.high) if low is None else (low, high)
    states = jax.random.uniform(state_key, (number, env.observation_size), minval=low, maxval=high)
    states = jax.vmap(env.project)(states)
    actions = jax.random.randint(action_key, (number,), 0, env.num_actions)
    keys = jax.random.split(env_key, number)
    next_states, rewards, terminals = jax.vmap(env.transition)(states, actions, keys)
    return jax.vmap(Transition)(states, actions, rewards, next_states, terminals)


@partial(jax.jit, static_argnums=(0, 2))
def trained(model, stored, updates):
    """The state of a model before and after it has learned from stored transitions."""

    def learn(i, state):
        key = jax.random.fold_in(jax.random.key(5), i)
        chosen = jax.random.randint(key, (model.learn_batch,), 0, len(stored.reward))
        return model.learn(state, jax.tree.map(lambda values: values[chosen], stored))

    before = model.init(jax.random.key(1))
    return before, jax.lax.fori_loop(0, updates, learn, before)


def test_a_learned_model_comes_near_the_true_one():
    model = Learned(learning_rate=2e-3, state_space="known").bind(ENV)
    before, after = trained(model, random_transitions(ENV, 20_000), 2000)
    held_out = random_transitions(ENV, 2000, seed=77)

    @jax.jit
    @partial(jax.vmap, in_axes=(None, 0))
    def outcome(state, seen):
        """The squared error, and what is said with both kinds of termination."""
        query = state, seen.state, seen.action, jnp.zeros(0)
        next_state, reward, end = model.query(*query)
        _, _, known_end = replace(model, termination="known").query(*query)
        error = model.error(state, seen, ENV)
        return error, ENV.contains(next_state), reward, jnp.stack([end, known_end])

    errors, contained, rewards, ends = map(np.asarray, outcome(after, held_out))
    # The noise alone, of deviation 0.01 on one of two coordinates, leaves an error of 0.007.
    assert np.sqrt(errors.mean()) < 0.025 < np.sqrt(outcome(before, held_out)[0].mean())
    assert contained.all()
    assert np.abs(rewards - held_out.reward).mean() < 0.05
    assert ((ends == np.asarray(held_out.terminal)[:, None]).mean(0) > 0.99).all()


def test_with_a_scale_a_model_learns_large_observations_like_small_ones():
    model = Learned(learning_rate=0.01, hidden=(4,)).bind(ENV)
    seen, unit = random_transitions(ENV, 128), jnp.full(2, 1024.0)

    @jax.jit
    def learned(model, unit):
        """The parameters after an update, and a prediction, in units of the small space."""
        states = unit * seen.state, unit * seen.next_state
        large = eqx.tree_at(lambda seen: (seen.state, seen.next_state), seen, states)
        state = model.learn(model.init(jax.random.key(0)), large)
        change, reward, _ = model.predict(state.params, large.state[0], seen.action[0])
        return jnp.concatenate([state.params, change / unit, reward[None]])

    small = learned(model, jnp.ones(2))
    scaled = learned(model.with_scale(jnp.zeros(2), unit), unit)
    np.testing.assert_allclose(scaled, small, atol=1e-4)
    assert np.abs(learned(model, unit) - small).max() > 0.005  # the test can fail


def test_continuous_actions_enter_a_learned_model_scaled():
    outcomes = []
    for low, high, action in ((10.0, 30.0, 25.0), (-1.0, 1.0, 0.5)):
        kind = type("Moves", (Corridor,), {"action_space": spaces.Box(low, high, (1,))})
        model = Learned().bind(space_of(kind()))
        arguments = np.float32([0.5, 3.0]), np.float32([action]), np.zeros(0, np.float32)
        query = jax.jit(lambda *arguments, model=model: model.query(*arguments))
        outcomes.append(query(model.init(jax.random.key(0)), *arguments))
    for wide, plain in zip(*outcomes, strict=True):
        np.testing.assert_allclose(wide, plain, rtol=1e-5)


def make_ensemble(**settings):
    settings = {"hidden": (16, 16), "learning_rate": 5e-3, "size": MEMBERS} | settings
    return Ensemble(**settings).bind(ENV)


@pytest.fixture(scope="module")
def ensemble():
    """An ensemble before and after it has learned from the left quarter of the square only."""
    model = make_ensemble()
    return model, *trained(model, random_transitions(ENV, 2000, *LEFT), 500)


def test_the_members_disagree_less_where_data_are(ensemble):
    model, _, after = ensemble

    @jax.jit
    def mean_disagreement(state, low, high):
        seen = random_transitions(ENV, 200, low, high, seed=3)
        disagreement = jax.vmap(model.disagreement, in_axes=(None, 0, 0))
        return disagreement(state, seen.state, seen.action).mean()

    assert mean_disagreement(after, *LEFT) < 0.2 * mean_disagreement(after, *RIGHT)


def test_the_outcome_is_the_mean_of_the_members(ensemble):
    model, before, state = ensemble
    s, action = jnp.array([0.1, 0.4]), jnp.asarray(2)
    query = jax.jit(model.query)
    next_state, reward, end = query(before, s, action, jnp.zeros(0))
    assert (*next_state, reward) == (*s, 0)  # nothing moves
    assert end < 1e-4
    alone = jax.jit(model.predictions)(state, s, action)
    next_state, reward, end = query(state, s, action, jnp.zeros(0))
    np.testing.assert_allclose(next_state, s + alone.change.mean(0), rtol=1e-5)
    np.testing.assert_allclose((reward, end), (alone.reward.mean(), alone.end.mean()), rtol=1e-5)


def test_an_ensemble_comes_nearer_to_the_true_model_than_to_nothing_moves(ensemble):
    model, before, after = ensemble
    seen = random_transitions(ENV, 1000, *LEFT, seed=77)

    @jax.jit
    def root_mean_error(state):
        return jnp.sqrt(jax.vmap(lambda one: model.error(state, one, ENV))(seen).mean())

    # The noise alone, of deviation 0.01 on one of two coordinates, leaves an error of 0.007.
    assert root_mean_error(after) < 0.5 * root_mean_error(before)


def test_the_units_of_observations_and_rewards_do_not_matter(monkeypatch):
    # Bootstrap samples depend on the bits of a transition; here everybody has all of them.
    monkeypatch.setattr(
        "freqdyna.agents.models.ensemble.bootstrap_weights",
        lambda rows, members: jnp.ones((members, len(rows))),
    )
    model, key = make_ensemble(size=2), jax.random.key(0)
    states, moves = jax.random.normal(key, (2, 400, 2))
    actions = jax.random.randint(key, (400,), 0, ENV.num_actions)

    @jax.jit
    def learned(unit, reward_unit):
        before, rewards = unit * states, reward_unit * (moves[:, 0] + actions)
        columns = before, actions, rewards, before + unit * moves, moves[:, 1] > 1.5
        seen = jax.vmap(Transition)(*columns)
        state = jax.lax.fori_loop(0, 30, lambda _, s: model.learn(s, seen), model.init(key))
        change, reward, _ = model.predictions(state, before[0], actions[0])
        spread = model.disagreement(state, before[0], actions[0])
        return jnp.concatenate([change.ravel() / unit, reward / reward_unit, spread[None]])

    plain = learned(1.0, 1.0)
    np.testing.assert_allclose(learned(1024.0, 1 / 64), plain, rtol=1e-3, atol=1e-4)
    assert np.abs(plain).max() > 0.1  # something was learned


def test_a_coordinate_that_jumps_now_and_then_is_learned_between_the_jumps():
    model = make_ensemble(hidden=(16,))
    seen = random_transitions(ENV, 4000, seed=8)
    jumps = seen.state[:, 1] > 0.99  # one of a hundred
    change = jnp.where(jumps, -20.0, 0.01 + 0.01 * seen.state[:, 0])
    after = seen.next_state.at[:, 1].set(seen.state[:, 1] + change)
    _, state = trained(model, eqx.tree_at(lambda seen: seen.next_state, seen, after), 1500)
    predict = jax.jit(jax.vmap(lambda s, a: model.predictions(state, s, a).change[:, 1].mean()))
    errors = np.asarray(predict(seen.state, seen.action) - change)[seen.state[:, 1] < 0.9]
    # With squared errors relative to the deviation, they are 20 times the change.
    assert np.sqrt(np.mean(errors**2)) < 0.015


def test_rare_ends_are_predicted_as_often_as_they_happen():
    model = make_ensemble(hidden=(16,))
    seen = random_transitions(ENV, 4000, seed=8)
    right = seen.state[:, 0] > 0.9
    rare = right & (jnp.arange(4000) % 10 == 0)  # one of a hundred, in one tenth of the square
    _, state = trained(model, eqx.tree_at(lambda seen: seen.terminal, seen, rare), 1500)
    end = jax.jit(jax.vmap(lambda s, a: model.predictions(state, s, a).end.mean()))
    chances = np.asarray(end(seen.state, seen.action))
    np.testing.assert_allclose(chances[right].mean(), 0.1, atol=0.04)
    assert chances[seen.state[:, 0] < 0.8].mean() < 0.01


def test_a_transition_occurs_a_poisson_number_of_times_in_each_bootstrap_sample():
    rows = jax.vmap(Transition.pack)(random_transitions(ENV, 4000, seed=5))
    count = jax.jit(lambda rows: bootstrap_weights(rows, 3))
    weights = np.asarray(count(rows))
    assert weights.shape == (3, 4000)
    np.testing.assert_allclose(weights.mean(1), 1, atol=5 / np.sqrt(4000))
    np.testing.assert_allclose((weights == 0).mean(1), np.exp(-1), atol=0.04)
    np.testing.assert_allclose(weights.var(1), 1, atol=0.15)
    assert np.abs(np.corrcoef(weights) - np.eye(3)).max() < 0.08
    # It depends on the transition alone, not on the mini-batch that it is in.
    np.testing.assert_array_equal(count(rows[::-1]), weights[:, ::-1])


class Uncertain(SearchControl):
    """The states, out of some, about which the members disagree most."""

    def propose(self, search, key):
        states = 0.3 * jax.random.uniform(key, (8, 2))
        spread = jax.vmap(lambda s: search.disagreement(s, jnp.asarray(0)))(states)
        return Proposal.of(states[jax.lax.top_k(spread, 2)[1]])


def test_a_search_control_uses_the_disagreement_of_an_ensemble():
    parts = {"search_control": Uncertain(), "model": Ensemble(size=2)}
    settings = {"planning.model_updates": 2, "trust": "always"}
    agent = agent_of(ENV, "dyna", parts, **settings)
    state = jax.eval_shape(agent.dry_step, jax.random.key(0))
    assert state.queue.rows.shape[1] == 2


def test_the_model_on_the_host_is_the_environment():
    model = host_model(Corridor, space_of(Corridor()))
    states = np.array([[[0.95, 3.0], [0.2, 1.0]], [[0.0, 0.0], [0.5, 9.0]]], np.float32)
    next_states, rewards, terminals = model.ask(states, np.array([[1, 0], [1, 1]]))
    expected = np.array([[[1.0, 4.0], [0.1, 2.0]], [[0.1, 1.0], [0.6, 10.0]]])
    np.testing.assert_allclose(next_states, expected, atol=1e-5)
    np.testing.assert_array_equal(terminals, [[True, False], [False, False]])
    np.testing.assert_array_equal(rewards, np.full((2, 2), -1))
