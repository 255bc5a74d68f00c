from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from searches import found, make_search

from freqdyna import Config
from freqdyna.search_control import DisagreementSearch

KEY = jax.random.key(0)


def propose(search, **settings):
    control = DisagreementSearch.from_config(Config(**settings))
    return jax.jit(lambda key: control.propose(search, key))(KEY)


def test_pairs_are_sampled_in_proportion_to_the_disagreement():
    search = make_search(lambda s: s[0], [(0.0,)], low=(-1.0,), high=(1.0,))

    def disagreement(s, action):  # about action 1, to the right of the centre
        return jnp.where((action == 1) & (s[0] > 0), s[0], 0.0)

    search = replace(search, disagreement=disagreement, num_actions=2)
    proposal = propose(search, search_states=1000, search_candidates=4000)
    states = found(proposal)
    assert len(states) == 1000
    assert (proposal.actions == 1).all()
    # The density is 2s on (0, 1), with variance 1/18; five standard errors, of the sample and of
    # the 1,000 candidates that it is taken from.
    assert abs(states.mean() - 2 / 3) < 5 * np.sqrt((1 / 1000 + 1 / 1000) / 18)
    assert states.min() > 0


def test_continuous_actions_are_sampled_within_their_bounds():
    search = replace(
        make_search(lambda s: s[0], [(0.0,)], low=(-1.0,), high=(1.0,)),
        disagreement=lambda s, action: jnp.ones(()),
        action_low=np.float32([-2, 1]),
        action_high=np.float32([2, 3]),
    )
    actions = np.asarray(propose(search, search_states=1000).actions)
    assert actions.shape == (1000, 2)
    np.testing.assert_allclose(actions.min(0), (-2, 1), atol=0.2)
    np.testing.assert_allclose(actions.max(0), (2, 3), atol=0.2)
    assert (actions >= (-2, 1)).all()
    assert (actions <= (2, 3)).all()
