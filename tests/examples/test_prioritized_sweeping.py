"""Prioritized sweeping on a chain of states 0, 1, ..., 10, of which the last is terminal."""

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from searches import make_search

from freqdyna import FreqdynaError, check, envs
from freqdyna.envs.space import Transition

KEY = jax.random.key(0)
DISCOUNT, LAST = 0.9, 10
LEFT, RIGHT = 0, 1
NOTHING = []


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples")


def outcome(s, action, key, blocked=False):
    """A step right or left; the last state is worth 1, and a step left 0.05."""
    step = jnp.where(action == RIGHT, 1.0, -1.0)
    step = jnp.where(blocked & (s[0] == 8), 0.0, step)
    after = s + step
    done = after[0] >= LAST
    return after, jnp.where(done, 1.0, jnp.where(action == RIGHT, 0.0, 0.05)), done


def stored(bits):
    """The transitions 9 → 10 and 0 → 1; no other state was ever visited."""
    states = jnp.array([[9.0], [0.0]])
    actions = jnp.array([RIGHT, RIGHT])
    after, rewards, done = jax.vmap(lambda s, a: outcome(s, a, KEY))(states, actions)
    rows = states, actions, rewards, after, done
    return jax.vmap(Transition)(*rows)


def test_continuous_actions_are_refused():
    from prioritized_sweeping import PrioritizedSweeping

    with pytest.raises(FreqdynaError, match="discrete"):
        check("Pendulum-v1", "dyna", search_control=PrioritizedSweeping)


def swept(steps, blocked=False):
    """The pairs proposed at each step, if each is updated at once."""
    from prioritized_sweeping import PrioritizedSweeping

    control = PrioritizedSweeping(states=1, candidates=2)
    base = make_search(lambda s: s[0], [(0.0,)], low=(0.0,), high=(float(LAST),), mean_step=1.0)
    base = replace(
        base,
        outcome=lambda s, a, key: outcome(s, a, key, blocked),
        draw_transitions=stored,
        terminal=lambda s: s[0] >= LAST,
        discount=DISCOUNT,
        num_actions=2,
    )

    def at(s):
        return jnp.round(s[0]).astype(int)

    @jax.jit
    def propose(q, memory):
        search = replace(
            base,
            memory=memory,
            q=lambda s, action: q[at(s), action],
            target_value=lambda s: q[at(s)].max(),
        )
        return control.propose(search, KEY)

    q = np.zeros((LAST + 1, 2), np.float32)
    memory = control.init(envs.make("GridWorld"), KEY)
    memory = jax.tree.map(lambda x: x[:, :1] if x.ndim == 2 else x, memory)
    proposed = []
    for _ in range(steps):
        proposal = propose(q, memory)
        memory = proposal.memory
        if not proposal.count:
            proposed.append(NOTHING)
            continue
        s, action = proposal.states[0], proposal.actions[0]
        after, reward, done = outcome(s, action, KEY, blocked)
        q[int(s[0]), int(action)] = reward + (not done) * DISCOUNT * q[int(after[0])].max()
        proposed.append((int(s[0]), int(action)))
    return proposed


def test_predecessors_of_the_surprising_state_come_next_in_the_order_of_their_errors():
    assert swept(7) == [
        (9, RIGHT),  # the only stored transition with an error, 1
        (8, RIGHT),  # 0.9
        (9, LEFT),  # it leads to 8 as well: 0.05 + 0.81
        (7, RIGHT),  # 0.81, from the queue
        (8, LEFT),  # 0.05 + 0.729
        (6, RIGHT),  # 0.729, from the queue
        (7, LEFT),  # 0.05 + 0.6561
    ]


def test_a_state_from_which_the_model_leads_elsewhere_is_no_predecessor():
    assert swept(3, blocked=True) == [(9, RIGHT), NOTHING, NOTHING]
