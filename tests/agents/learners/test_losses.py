import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna.agents.learners import clip_norm, loss_slope, mean_loss

ERRORS = np.array([-3.0, -1.0, -0.5, 0.0, 0.25, 1.0, 4.0])


def test_losses_are_their_closed_forms():
    assert float(mean_loss("squared", jnp.asarray(ERRORS))) == pytest.approx(np.mean(ERRORS**2))
    small = np.abs(ERRORS) <= 1
    huber = np.where(small, ERRORS**2 / 2, np.abs(ERRORS) - 0.5)
    assert float(mean_loss("huber", jnp.asarray(ERRORS))) == pytest.approx(huber.mean())


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_the_slope_is_the_derivative_of_the_mean_loss_by_the_predictions(loss):
    by_errors = jax.grad(lambda errors: mean_loss(loss, errors))(jnp.asarray(ERRORS))
    ours = loss_slope(loss, jnp.asarray(ERRORS)[:, None])[:, 0]
    np.testing.assert_allclose(ours, -by_errors, rtol=1e-6)


def test_only_a_longer_gradient_is_scaled_to_the_norm():
    gradient = jnp.array([3.0, 4.0])
    np.testing.assert_allclose(clip_norm(gradient, 1.0), [0.6, 0.8], rtol=1e-6)
    np.testing.assert_array_equal(clip_norm(gradient, 5.0), gradient)
    np.testing.assert_array_equal(clip_norm(gradient, 0.0), [0, 0])
    np.testing.assert_array_equal(clip_norm(jnp.zeros(2), 0.0), [0, 0])
