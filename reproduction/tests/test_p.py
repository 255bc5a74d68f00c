"""Prioritized sampling: the identity of expected gradients, and samples in proportion to errors."""

import jax
import jax.numpy as jnp
import numpy as np

from reproduction import p, regression


def test_prioritized_squared_and_uniform_cubic_gradients_are_the_same():
    assert p.gradients_deviate() < 1e-12


def test_prioritized_points_are_sampled_in_proportion_to_their_error():
    method = p.Method("up to date", points=4)
    fit, sampler, task = p.start(4, jax.random.key(0))
    task = task._replace(y=regression.predict(fit.params, task.x) + jnp.array([0.0, 1.0, 2.0, 5.0]))
    sampler = sampler._replace(priorities=jnp.ones(4))
    _, after = p.update(method, fit, sampler, task, jax.random.key(1))
    np.testing.assert_allclose(after.priorities, [0.001, 1.001, 2.001, 5.001], rtol=1e-4)


def test_langevin_chains_stay_in_the_interval_and_prefer_large_errors():
    fit, *_ = p.start(4, jax.random.key(0))
    x = jnp.linspace(-2.0, 2.0, 512)
    for i in range(300):
        x = p.langevin(fit.params, x, jax.random.key(i))
    assert -2 <= float(x.min()) <= float(x.max()) <= 2

    def mean_error(x):
        return float(jnp.abs(regression.predict(fit.params, x) - regression.f_sin(x)).mean())

    # Uniform points have a mean error of 2/π = 0.64, points in proportion to it π/4 = 0.79.
    assert 0.70 < mean_error(x) < 0.88
