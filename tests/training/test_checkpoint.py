import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freqdyna import Config, FreqdynaError, envs
from freqdyna.core.errors import DamagedFileError
from freqdyna.search_control import SEARCH_CONTROLS
from freqdyna.training import checkpoint

KEY = jax.random.key(0)


def make_state():
    return {
        "key": jax.random.key(3),
        "x": np.arange(6, dtype=np.float32).reshape(2, 3),
        "n": np.int32(7),
    }


def test_a_state_survives(tmp_path):
    path = tmp_path / "checkpoint-1.npz"
    curves = {"return": np.array([[1.0, np.nan]])}
    checkpoint.save(path, make_state(), curves, {"step": 1})
    like = jax.tree.map(lambda leaf: leaf, make_state())
    state, curves_read, note = checkpoint.load(path, like)
    np.testing.assert_array_equal(state["x"], make_state()["x"])
    assert state["key"] == jax.random.key(3)
    np.testing.assert_array_equal(curves_read["return"], curves["return"])
    assert note == {"step": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint-1.npz"]


@pytest.mark.parametrize("name", ["parallel-frequency", "prioritized-sweeping"])
def test_the_memory_of_a_search_control_survives(tmp_path, name):
    config = Config(climb_persistent=True, search_states=5)
    memory = SEARCH_CONTROLS[name].from_config(config).init(envs.make("GridWorld"), KEY)
    rng = np.random.default_rng(0)
    filled = jax.tree.map(lambda x: rng.uniform(0, 9, x.shape).astype(x.dtype), memory)
    checkpoint.save(tmp_path / "checkpoint-1.npz", filled, {}, {})
    read, _, _ = checkpoint.load(tmp_path / "checkpoint-1.npz", jax.eval_shape(lambda: memory))
    assert jax.tree.structure(read) == jax.tree.structure(memory)
    for one, other in zip(jax.tree.leaves(read), jax.tree.leaves(filled), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys_of_every_generator_survive(tmp_path, impl):
    path, keys = tmp_path / "checkpoint-1.npz", jax.random.key(3, impl=impl)
    checkpoint.save(path, {"keys": keys}, {}, {})
    state, _, _ = checkpoint.load(path, jax.eval_shape(lambda: {"keys": keys}))
    assert state["keys"].dtype == keys.dtype
    np.testing.assert_array_equal(jax.random.key_data(state["keys"]), jax.random.key_data(keys))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "complex64"])
def test_arrays_of_types_that_numpy_lacks_survive(tmp_path, dtype):
    path, state = tmp_path / "checkpoint-1.npz", {"x": jnp.array([[1, -2, 3]], dtype)}
    checkpoint.save(path, state, {}, {})
    read, _, _ = checkpoint.load(path, jax.eval_shape(lambda: state))
    assert read["x"].dtype == state["x"].dtype
    np.testing.assert_array_equal(read["x"].view(np.uint8), np.asarray(state["x"]).view(np.uint8))


def test_any_flipped_byte_is_noticed_or_harmless(tmp_path):
    path = tmp_path / "checkpoint-1.npz"
    checkpoint.save(path, make_state(), {}, {"step": 1})
    whole = path.read_bytes()
    noticed = 0
    for position in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[position] ^= 0x55
        path.write_bytes(damaged)
        try:
            state, _, note = checkpoint.load(path, make_state())
        except DamagedFileError:
            noticed += 1
        else:  # a byte that carries no data, such as a date in the archive
            np.testing.assert_array_equal(state["x"], make_state()["x"])
            assert note == {"step": 1}
    assert noticed > 50


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_cut_file_is_noticed(tmp_path, share):
    path = tmp_path / "checkpoint-1.npz"
    checkpoint.save(path, make_state(), {}, {"step": 1})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(DamagedFileError, match="is damaged"):
        checkpoint.load(path, make_state())


def test_code_in_a_file_is_not_executed(tmp_path):
    class Trap:
        def __reduce__(self):
            return (exec, ("raise SystemExit('executed')",))

    path = tmp_path / "checkpoint-1.npz"
    np.savez(path, allow_pickle=True, **{"note.json": np.array([Trap()], dtype=object)})
    with pytest.raises(DamagedFileError):
        checkpoint.load(path, make_state())


def test_a_checkpoint_of_another_shape_does_not_fit(tmp_path):
    path = tmp_path / "checkpoint-1.npz"
    checkpoint.save(path, make_state() | {"x": np.zeros(3, np.float32)}, {}, {"step": 1})
    with pytest.raises(FreqdynaError, match="does not fit its run"):
        checkpoint.load(path, make_state())


def test_the_two_newest_are_kept(tmp_path):
    for step in (5, 10, 1000, 20000):
        saved = checkpoint.Checkpoint(step, make_state(), [], {}, {}, "1 × cpu", 2.5)
        checkpoint.save_run(tmp_path, Config(), saved)
    names = [path.name for path in checkpoint.checkpoints(tmp_path)]
    assert names == ["checkpoint-0000020000.npz", "checkpoint-0000001000.npz"]


def test_the_empty_part_of_a_buffer_takes_no_space(tmp_path):
    path, rows = tmp_path / "checkpoint-1.npz", np.zeros((2, 10_000, 7), np.float32)
    rows[1, 5, 3] = -0.0  # a number, too
    checkpoint.save(path, {"rows": rows, "empty": np.zeros((2, 9, 2), np.float32)}, {}, {})
    assert path.stat().st_size < 3000
    like = {"rows": rows, "empty": np.zeros((2, 9, 2), np.float32)}
    state, _, _ = checkpoint.load(path, like)
    assert state["rows"].tobytes() == rows.tobytes()
    assert state["empty"].shape == (2, 9, 2)
