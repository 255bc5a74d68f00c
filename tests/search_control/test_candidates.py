import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.search_control.sampling import sample_in_proportion

KEY = jax.random.key(3)


def sampled(weights, count):
    return jax.jit(lambda w: sample_in_proportion(w, KEY, count))(jnp.asarray(weights))


def test_indices_are_sampled_in_proportion_to_their_weights():
    weights = [0.0, 1.0, 2.0, jnp.nan, 3.0, jnp.inf, -1.0, 4.0, 0.0]
    chosen, any_weight = sampled(weights, 100_000)
    counts = np.bincount(chosen, minlength=len(weights))
    expected = np.array([0, 1, 2, 0, 3, 0, 0, 4, 0]) * 10_000
    assert any_weight
    assert (counts[expected == 0] == 0).all()
    apart = (counts - expected)[expected > 0] ** 2 / expected[expected > 0]
    # The 0.999 quantile of chi-square with 3 degrees of freedom: one key in a thousand exceeds it.
    assert apart.sum() < 16.27


@pytest.mark.parametrize("weight", [1e-30, 1.0, 3e38])
def test_the_unit_of_weights_does_not_matter(weight):
    chosen, any_weight = sampled([weight, 0.0, weight], 1000)
    assert any_weight
    assert set(chosen.tolist()) == {0, 2}
    assert abs(int((chosen == 0).sum()) - 500) < 5 * np.sqrt(250)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [jnp.nan, jnp.inf], [-1.0, 0.0]])
def test_without_a_weight_nothing_is_chosen(weights):
    assert not sampled(weights, 3)[1]
