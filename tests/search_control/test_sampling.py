import jax
import jax.numpy as jnp
import numpy as np
from searches import found, make_search, with_error

from freqdyna.search_control import TDError

KEY = jax.random.key(0)


def propose(search, **settings):
    control = TDError(**settings)
    return jax.jit(lambda key: control.propose(search, key))(KEY)


def test_states_are_sampled_in_proportion_to_the_size_of_the_error():
    def error(s):  # −s where s is above 0
        return jnp.where(s[0] < -0.5, 100.0, jnp.where(s[0] < 0, jnp.nan, -s[0]))

    space = {"low": (-1.0,), "high": (1.0,), "terminal": lambda s: s[0] < -0.5}
    search = with_error(make_search(lambda s: s[0], [(0.0,)], **space), error)
    s, action = jnp.array([0.25]), jnp.zeros((), int)
    assert search.td_error(s, KEY, action) == -0.25  # 1 + 0.5 · 4 − (3 + 0.25)
    states = found(propose(search, states=1000, candidates=4000))
    assert len(states) == 1000
    assert states.min() > 0  # neither terminal states nor those whose error is not a number
    # The density is 2s on (0, 1), with mean 2/3 and variance 1/18; five standard errors, of the
    # sample and of the 2,000 candidates that it is taken from.
    assert abs(states.mean() - 2 / 3) < 5 * np.sqrt((1 / 1000 + 1 / 2000) / 18)
    assert abs((states < 0.5).mean() - 1 / 4) < 5 * np.sqrt(3 / 16 * (1 / 1000 + 1 / 2000))


def test_without_an_error_nothing_is_proposed():
    search = with_error(make_search(lambda s: s[0], [(0.0, 0.0)]), lambda s: jnp.zeros(()))
    assert propose(search, states=5, candidates=10).count == 0
