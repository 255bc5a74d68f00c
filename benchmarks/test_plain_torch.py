"""The plain PyTorch peer computes what we compute: the same update, the same climbing step."""

import jax
import jax.numpy as jnp
import numpy as np
import plain_torch
import torch

from freqdyna import envs
from freqdyna.frequency.network import StateValue
from freqdyna.learners.dqn import DQN
from freqdyna.replay.transition import Transition


def ours(network):
    """The parameters of a PyTorch network as our flat vector: all weights, then all biases."""
    layers = [layer for layer in network.layers if isinstance(layer, torch.nn.Linear)]
    weights = [layer.weight.detach().numpy().T.ravel() for layer in layers]
    biases = [layer.bias.detach().numpy() for layer in layers]
    return jnp.asarray(np.concatenate(weights + biases))


def random_rows(number, seed=0):
    rng = np.random.default_rng(seed)
    states = rng.uniform(plain_torch.LOW, plain_torch.HIGH, (number, 2))
    actions = rng.integers(3, size=number)
    following, rewards, terminal = plain_torch.move(states, actions)
    columns = (states, actions, rewards, following, terminal)
    return np.column_stack(columns).astype(np.float32)


def packed(rows):
    """The peer's (s, a, r, s', terminal) in the order of our rows, (s, s', a, r, terminal)."""
    return jnp.asarray(rows[:, [0, 1, 4, 5, 2, 3, 6]])


def test_moves_are_ours():
    env = envs.make("MountainCar-v0")
    for row in packed(random_rows(100)):
        seen = Transition.unpack(row)
        following, reward, terminal = env.transition(seen.state, seen.action, jax.random.key(0))
        np.testing.assert_allclose(seen.next_state, following, atol=1e-6)
        assert (seen.reward, seen.terminal) == (reward, terminal)


def test_ten_updates_are_ours():
    agent = plain_torch.PlainAgent(dyna=False)
    dqn = DQN((2, 32, 32, 3), 0.99, 1e-3, 1000)
    state = dqn.init(jax.random.key(0))
    start = ours(agent.network)
    state = type(state)(start, start.copy(), state.optimizer)
    for i in range(10):
        rows = random_rows(32, seed=i)
        agent.update(rows)
        known = packed(rows)
        state, _ = dqn.update(state, known[:, :2], lambda _, k=known: k, jnp.asarray(i + 1))
    np.testing.assert_allclose(ours(agent.network), state.params, atol=2e-5)


def test_slopes_of_value_and_frequency_are_ours():
    network = plain_torch.QNetwork()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3.0)
    dqn = DQN((2, 32, 32, 3), 0.99, 1e-3, 1000)
    value = StateValue(dqn.network(ours(network)))
    for state in random_rows(20)[:, :2]:
        gradient, slope = plain_torch.slopes(network, state)
        our_slope, our_gradient = value.slopes(jnp.asarray(state), 1.0, 1.0)
        np.testing.assert_allclose(gradient, our_gradient, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(slope, our_slope, rtol=1e-3, atol=1e-4)
