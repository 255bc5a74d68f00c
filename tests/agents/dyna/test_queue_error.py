from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import envs
from freqdyna.agents.dyna.state import Queue
from freqdyna.agents.dyna.view import model_error_at_queue
from freqdyna.agents.models import Model
from freqdyna.envs import Environment
from freqdyna.search_control.base import Proposal


class WrongOnTheRight(Model):
    """Mountain Car, but 0.18 (a tenth of the range) too far right of 0, or for action 2."""

    env: Environment

    def query(self, state, s, action, noise):
        next_state, reward, terminal = self.env.transition_from_noise(s, action, jnp.zeros(1))
        is_wrong = (s[0] > 0) | (action == 2)
        return next_state + jnp.array([0.18, 0.0]) * is_wrong, reward, terminal


def test_the_error_is_that_at_the_states_and_actions_of_the_queue():
    env = envs.make("MountainCar-v0")
    error = jax.jit(
        lambda queue: model_error_at_queue(
            WrongOnTheRight(env), None, queue, env, lambda state: jnp.zeros((), int)
        )
    )
    empty = Queue.empty(10, env)
    assert np.isnan(error(empty))
    states = jnp.array([[-0.5, 0.0], [0.2, 0.0], [-0.4, 0.01], [-0.3, 0.0]])
    queue = empty.add(Proposal.of(states), env)
    # One of four states, one of two coordinates; the six empty places do not count.
    assert error(queue) == pytest.approx(0.1 * np.sqrt(1 / 8), rel=1e-3)
    pairs = replace(queue, actions=jnp.array([0, 1, 2, 0, 2, 2, 2, 2, 2, 2]))
    assert error(pairs) == pytest.approx(0.1 * np.sqrt(2 / 8), rel=1e-3)
