"""The plain PyTorch version computes the same update and the same climbing step as ours."""

import jax
import jax.numpy as jnp
import numpy as np
import plain_torch
import pytest
import torch

from freqdyna import envs
from freqdyna.agents.learners import DQN
from freqdyna.agents.networks import StateValue
from freqdyna.agents.presets import PAPERS_LEARNER
from freqdyna.envs.space import Transition
from freqdyna.search_control import Frequency, Search

PAPERS_DQN = DQN(**{name.removeprefix("learner."): value for name, value in PAPERS_LEARNER.items()})


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
    """The plain version's (s, a, r, s', terminal) in our order, (s, s', a, r, terminal)."""
    return jnp.asarray(rows[:, [0, 1, 4, 5, 2, 3, 6]])


def steep_network():
    network = plain_torch.QNetwork()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3.0)
    return network


def test_moves_are_ours():
    env = envs.make("MountainCar-v0")
    for row in packed(random_rows(100)):
        known = Transition.unpack(row)
        following, reward, terminal = env.transition(known.state, known.action, jax.random.key(0))
        np.testing.assert_allclose(known.next_state, following, atol=1e-6)
        assert (known.reward, known.terminal) == (reward, terminal)


def test_ten_updates_are_ours():
    agent = plain_torch.PlainAgent(dyna=False)
    dqn = PAPERS_DQN.bind(envs.make("MountainCar-v0"))
    state = dqn.init(jax.random.key(0))
    start = ours(agent.network)
    state = type(state)(start, start.copy(), state.optimizer)
    for i in range(10):
        rows = random_rows(32, seed=i)
        agent.update(rows)
        known = packed(rows)
        all_of = (known, None)
        state, *_ = dqn.update(state, known[:, :2], lambda _, a=all_of: a, jnp.asarray(i + 1))
    np.testing.assert_allclose(ours(agent.network), state.params, atol=2e-5)


def test_slopes_of_value_and_frequency_are_ours():
    network = steep_network()
    dqn = PAPERS_DQN.bind(envs.make("MountainCar-v0"))
    value = StateValue(dqn.network(ours(network)))
    for state in random_rows(20)[:, :2]:
        gradient, slope = plain_torch.slopes(network, state)
        our_slope, our_gradient = value.slopes(jnp.asarray(state), 1.0, 1.0)
        np.testing.assert_allclose(gradient, our_gradient, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(slope, our_slope, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_whole_climbs_are_ours(seed):
    torch.manual_seed(seed)
    network = steep_network()
    env = envs.make("MountainCar-v0")
    value = StateValue(PAPERS_DQN.bind(env).network(ours(network)))
    rng = np.random.default_rng(seed)
    limit, wanted, mean_step = 60, 15, 0.01
    starts = rng.uniform(plain_torch.LOW, plain_torch.HIGH, (limit, 2)).astype(np.float32)
    starts[0] = 0.55, 0.05  # beyond the goal: the first climb is over at once
    rules = rng.integers(2, size=limit)  # 0: g, 1: V
    sigma = np.array([[0.05, 0.001], [0.001, 0.0004]])
    key = jax.random.key(seed)
    begins = iter(zip(starts, rules == 0, strict=True))
    states = plain_torch.climb(
        network,
        lambda: next(begins),
        np.asarray(jax.random.normal(key, (limit, 2)), np.float64),
        sigma,
        mean_step,
        wanted,
    )
    unused = "q", "target_q", "target_value", "policy", "outcome", "disagreement"
    unused += ("draw_transitions",)
    search = Search(
        value=value,
        derivatives=value.derivatives,
        slopes=value.slopes,
        target_slopes=value.slopes,
        draw_visited=lambda bits: starts,
        draw_queue=lambda bits: starts,
        queue_is_empty=jnp.zeros((), bool),
        low=jnp.asarray(env.low),
        high=jnp.asarray(env.high),
        contains=env.contains,
        project=env.project,
        terminal=env.terminal,
        covariance=jnp.asarray(sigma, jnp.float32),
        mean_step=jnp.float32(mean_step),
        t=jnp.zeros((), int),
        discount=0.99,
        num_actions=env.num_actions,
        action_low=env.action_low,
        action_high=env.action_high,
        **dict.fromkeys(unused, lambda *_: None),
    )
    directions = lambda state: jnp.stack(value.slopes(state, 1.0, 1.0))  # noqa: E731
    control = Frequency(states=wanted, limit=limit)
    proposal = control.climb(search, directions, jnp.asarray(starts), jnp.asarray(rules), key)
    assert proposal.restarts > 0
    assert int(proposal.count) == len(states) > 5
    np.testing.assert_allclose(proposal.states[: len(states)], np.array(states), atol=2e-4)


def test_half_of_a_mini_batch_is_simulated_from_the_queue():
    agent = plain_torch.PlainAgent(dyna=True, planning_steps=1)
    for _ in range(40):
        agent.step()
    rows = agent._batch()
    ring = {tuple(row) for row in agent.ring[: agent.stored, :2].tolist()}
    queue = {tuple(row) for row in agent.queue[: agent.queued].tolist()}
    assert len(rows) == 32
    assert all(tuple(row) in ring for row in rows[:16, :2].tolist())
    assert all(tuple(row) in queue for row in rows[16:, :2].tolist())
    following, _, _ = plain_torch.move(rows[16:, :2], rows[16:, 2])
    np.testing.assert_allclose(rows[16:, 4:6], following, atol=1e-6)
