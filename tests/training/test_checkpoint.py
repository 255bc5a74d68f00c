import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import FreqdynaError
from freqdyna.core.keys import seed_keys
from freqdyna.training.checkpoint import Checkpoint, checkpoints, load_run, save_run


def make_state():
    return {
        "key": jax.random.key(3),
        "x": np.arange(6, dtype=np.float32).reshape(2, 3),
        "n": np.int32(7),
    }


def stored(folder, state):
    """The file of a checkpoint with this state."""
    evaluations = [{"return": np.array([1.0, np.nan])}]
    saved = Checkpoint(1, state, evaluations, {}, {"ended": {}}, "1 × cpu", 2.5)
    save_run(folder, saved)
    return checkpoints(folder)[0]


def equal(one, other):
    """Whether two arrays, or keys, have the same type and bits."""
    if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
        assert one.dtype == other.dtype
        one, other = jax.random.key_data(one), jax.random.key_data(other)
    return one.dtype == other.dtype and np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize(
    "state",
    [
        make_state(),
        {"keys": seed_keys(np.array([3, 4]))},
        {"x": jnp.array([[1, -2, 3]], "bfloat16"), "z": jnp.array([1j])},
    ],
    ids=["arrays", "keys of seeds", "types that NumPy lacks"],
)
def test_a_state_survives(state, tmp_path):
    path = stored(tmp_path, state)
    read = load_run(path, jax.eval_shape(lambda: state))
    assert jax.tree.structure(read.state) == jax.tree.structure(state)
    assert jax.tree.all(jax.tree.map(equal, read.state, state))
    assert (read.step, read.facts, read.devices, read.seconds) == (1, {"ended": {}}, "1 × cpu", 2.5)
    np.testing.assert_array_equal(read.evaluations[0]["return"], [1.0, np.nan])
    assert list(tmp_path.iterdir()) == [path]


def test_a_checkpoint_of_another_shape_does_not_fit(tmp_path):
    path = stored(tmp_path, make_state() | {"x": np.zeros(3, np.float32)})
    with pytest.raises(FreqdynaError, match="fit"):
        load_run(path, make_state())


def test_the_empty_part_of_a_buffer_takes_no_space(tmp_path):
    rows = np.zeros((2, 10_000, 7), np.float32)
    rows[1, 5, 3] = -0.0  # a number, too
    state = {"rows": rows, "empty": np.zeros((2, 9, 2), np.float32)}
    path = stored(tmp_path, state)
    assert path.stat().st_size < 6000
    read = load_run(path, state).state
    assert read["rows"].tobytes() == rows.tobytes()
    assert read["empty"].shape == (2, 9, 2)
