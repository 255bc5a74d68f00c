import itertools
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.agents.learners import DQN, loss_slope, losses
from freqdyna.envs.space import Space, Transition

SIZES = (2, 6, 5, 3)
KEY = jax.random.key(0)


class Two(Space):
    """Two coordinates, three actions."""

    name: ClassVar[str] = "Two"
    low: ClassVar[np.ndarray] = np.full(2, -1.0, np.float32)
    high: ClassVar[np.ndarray] = np.full(2, 1.0, np.float32)
    num_actions: ClassVar[int] = 3


def make_dqn(**settings):
    usual = {"hidden": (6, 5), "discount": 0.9, "learning_rate": 0.01, "activation": "tanh"}
    usual |= {"layer_norm": False, "double": False, "target_period": 4, "target_rate": 1.0}
    usual["loss"] = "squared"
    return DQN(**usual | settings).bind(Two())


@jax.jit
def start(dqn):
    return dqn.init(jax.random.key(0))


@jax.jit
def update(dqn, state, rows, count, usable=None):
    """One program for learners that differ only in numbers."""
    return dqn.update(state, rows[:, :2], lambda _: (rows, usable), count, None, KEY)[:2]


@jax.jit
@jax.vmap
def packed(*values):
    return Transition(*values).pack()


def random_rows(seed, batch=8):
    generator = np.random.default_rng(seed)
    return packed(
        generator.normal(size=(batch, 2)).astype(np.float32),
        generator.integers(3, size=batch, dtype=np.int32),
        generator.normal(size=batch).astype(np.float32),
        generator.normal(size=(batch, 2)).astype(np.float32),
        generator.random(batch) < 0.4,
    )


def numpy_layers(params):
    """The flat vector as float64 layers: all weights, then all biases."""
    params, layers, start = np.float64(params), [], 0
    shapes = list(itertools.pairwise(SIZES))
    for rows, columns in shapes:
        layers.append(params[start : start + rows * columns].reshape(rows, columns))
        start += rows * columns
    for _, columns in shapes:
        layers.append(params[start : start + columns])
        start += columns
    return layers[:3], layers[3:]


def numpy_forward(params, states):
    weights, biases = numpy_layers(params)
    activations = [np.float64(states)]
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        activations.append(np.tanh(activations[-1] @ weight + bias))
    return activations, activations[-1] @ weights[-1] + biases[-1]


def numpy_update(params, target_params, moments, count, rows, discount, learning_rate):
    """One DQN update with Adam, its backward pass written out by hand."""
    rows = np.float64(rows)
    states, next_states = rows[:, :2], rows[:, 2:4]
    actions, rewards, terminals = rows[:, 4].astype(int), rows[:, 5], rows[:, 6]
    next_values = numpy_forward(target_params, next_states)[1].max(1)
    targets = rewards + discount * (1 - terminals) * next_values
    activations, values = numpy_forward(params, states)
    batch = np.arange(len(rows))
    differences = targets - values[batch, actions]
    signal = np.zeros_like(values)
    signal[batch, actions] = -2 * differences / len(rows)
    weights, _ = numpy_layers(params)
    weight_gradients, bias_gradients = [], []
    for layer in (2, 1, 0):
        weight_gradients.insert(0, activations[layer].T @ signal)
        bias_gradients.insert(0, signal.sum(0))
        if layer:
            signal = signal @ weights[layer].T * (1 - activations[layer] ** 2)
    gradient = np.concatenate([g.ravel() for g in weight_gradients + bias_gradients])
    first = 0.9 * moments[0] + 0.1 * gradient
    second = 0.999 * moments[1] + 0.001 * gradient**2
    step = first / (1 - 0.9**count) / (np.sqrt(second / (1 - 0.999**count)) + 1e-8)
    return params - learning_rate * step, (first, second), differences


@pytest.mark.default_compiler
def test_updates_against_a_calculation_by_hand():
    dqn = make_dqn()
    state = start(dqn)
    params, target = np.float64(state.params), np.float64(state.params)
    moments = (np.zeros_like(params), np.zeros_like(params))
    for count in range(1, 11):
        rows = random_rows(count)
        state, differences = update(dqn, state, rows, count)
        params, moments, expected = numpy_update(params, target, moments, count, rows, 0.9, 0.01)
        if count % 4 == 0:
            target = params
        np.testing.assert_allclose(differences, expected, rtol=2e-4, atol=2e-5)
        np.testing.assert_allclose(state.params, params, rtol=2e-4, atol=2e-5)
        np.testing.assert_allclose(state.target_params, target, rtol=2e-4, atol=2e-5)


def scattered(dqn):
    """A state whose two networks differ and are far from zero."""
    state = start(dqn)
    generator = np.random.default_rng(5)
    params, target = generator.normal(size=(2, len(state.params))).astype(np.float32)
    return type(state)(jnp.asarray(params), jnp.asarray(target), state.optimizer)


def test_a_target_network_moves_a_little_every_few_updates():
    dqn = make_dqn(target_rate=0.25, target_period=2)
    state = scattered(dqn)
    first, _ = update(dqn, state, random_rows(1), 1)
    np.testing.assert_array_equal(first.target_params, state.target_params)
    second, _ = update(dqn, first, random_rows(2), 2)
    expected = 0.75 * first.target_params + 0.25 * second.params
    np.testing.assert_allclose(second.target_params, expected, rtol=1e-5, atol=1e-6)


def test_the_last_column_says_how_much_of_the_next_value_counts():
    dqn, rows = make_dqn(), np.array(random_rows(4))
    state = scattered(dqn)
    errors = {}
    for part in (0.0, 0.4, 1.0):
        rows[:, -1] = part
        errors[part] = update(dqn, state, rows, 1)[1]
    between = 0.6 * errors[0.0] + 0.4 * errors[1.0]
    np.testing.assert_allclose(errors[0.4], between, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("ties", ["random", "first"])
def test_ties_are_broken_at_random_up_to_rounding(ties):
    dqn, draws = make_dqn(ties=ties), 3000
    nearly = np.float32([-100, -101, np.nextafter(np.float32(-100), np.float32(0))])
    keys = jax.random.split(jax.random.key(2))
    drawn = dqn.draw_exploration((keys[0], keys[1]), (draws,), 0.0)
    chosen = jax.vmap(dqn.select_action, (None, 0))(jnp.asarray(nearly), drawn)
    shares = np.bincount(chosen, minlength=3) / draws
    expected = {"random": [0.5, 0.0, 0.5], "first": [0.0, 0.0, 1.0]}[ties]
    assert np.abs(shares - expected).max() <= 5 * np.sqrt(0.25 / draws)
    assert shares[1] == 0


def test_double_q_learning_evaluates_the_networks_choice_with_the_target_network():
    rows = np.asarray(random_rows(1, batch=16))
    states, next_states = rows[:, :2], rows[:, 2:4]
    actions, rewards, terminals = rows[:, 4].astype(int), rows[:, 5], rows[:, 6]
    dqn, batch = make_dqn(double=True), np.arange(16)
    state = scattered(dqn)
    _, differences = update(dqn, state, jnp.asarray(rows), 1)
    chosen = numpy_forward(state.params, next_states)[1].argmax(1)
    evaluated = numpy_forward(state.target_params, next_states)[1]
    taken = numpy_forward(state.params, states)[1][batch, actions]
    expected = rewards + 0.9 * (1 - terminals) * evaluated[batch, chosen] - taken
    np.testing.assert_allclose(differences, expected, rtol=2e-4, atol=2e-5)
    assert (chosen != evaluated.argmax(1)).any()  # or the test could not fail


def test_huber_and_clipping_change_the_gradient_and_not_the_errors():
    rows, limit = random_rows(2), 0.05
    state = scattered(make_dqn())
    _, errors = update(make_dqn(), state, rows, 1)
    assert (np.abs(errors) > 1).any()
    assert (np.abs(errors) < 1).any()
    changed = make_dqn(loss="huber", max_gradient_norm=limit)
    after, same_errors = update(changed, state, rows, 1)
    np.testing.assert_allclose(same_errors, errors, rtol=1e-6)

    rows = np.asarray(rows)
    predicted = np.arange(len(rows)), rows[:, 4].astype(int)
    targets = np.asarray(errors) + numpy_forward(state.params, rows[:, :2])[1][predicted]

    def huber(params):
        q = jax.vmap(changed.network(params))(rows[:, :2])[predicted]
        size = jnp.abs(np.float32(targets) - q)
        return jnp.where(size <= 1, size**2 / 2, size - 0.5).mean()

    gradient = np.asarray(jax.jit(jax.grad(huber))(state.params))
    length = np.linalg.norm(gradient)
    assert length > limit
    # Adam's first average of gradients is a tenth of the first one.
    average = after.optimizer[0].mu
    np.testing.assert_allclose(average, 0.1 * limit / length * gradient, rtol=1e-3, atol=1e-7)


def test_epsilon_greedy_has_its_exact_distribution():
    draws, epsilon = 30_000, 0.1
    dqn, at = make_dqn(), jnp.array([0.2, 0.4])
    params = start(dqn).params
    act = jax.jit(jax.vmap(lambda key: dqn.act(params, at, epsilon, key)))
    actions = act(jax.random.split(jax.random.key(4), draws))
    values = numpy_forward(params, at)[1]
    shares = np.bincount(actions, minlength=3) / draws
    expected = np.full(3, epsilon / 3)
    expected[np.argmax(values)] += 1 - epsilon
    # Five standard errors on each share: a false alarm less than once in 500,000 runs.
    assert np.all(np.abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / draws))


def test_a_transition_that_is_not_usable_is_as_one_without_an_error():
    dqn, rows = make_dqn(), np.array(random_rows(3))
    state, usable = start(dqn), np.arange(len(rows)) > 0
    lost, no_error = rows.copy(), rows.copy()
    lost[0, [2, 3, 5]] = np.nan  # next state and reward
    no_error[0, 5:] = 0.0, 1.0  # no reward and the end: the error is minus the prediction
    no_error[0, 5] = -update(dqn, state, no_error, 1)[1][0]
    skipped, errors = update(dqn, state, lost, 1, usable)
    expected, _ = update(dqn, state, no_error, 1)
    assert np.isnan(errors[0])
    np.testing.assert_allclose(skipped.params, expected.params, rtol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_the_slope_is_the_derivative_of_the_mean_loss_by_the_predictions(loss):
    errors = jnp.array([-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 4.0])
    by_errors = jax.grad(lambda errors: jnp.mean(losses(loss, errors)))(errors)
    np.testing.assert_allclose(loss_slope(loss, errors[:, None])[:, 0], -by_errors, rtol=1e-6)
