import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from freqdyna import Config, FreqdynaError, Result
from freqdyna.results.plot_snapshots import plot_episodes, plot_states, plot_surfaces

RNG = np.random.default_rng(0)


def make_result(algorithm="dyna-frequency", env="MazeGridWorld", steps=(10, 20), **arrays):
    shown = {
        "replay": RNG.uniform(size=(2, 50, 2)),
        "queue": RNG.uniform(size=(2, 50, 2)),
        "queue_count": np.array([50, 0]),
        "value": RNG.uniform(-9, -1, (2, 8, 8)),
        "frequency": 10 ** RNG.uniform(-9, 3, (2, 8, 8)),
    }
    config = Config(algorithm=algorithm, env=env, seeds=2, first_seed=5).resolved()
    returns = {"return": np.zeros((2, 1))}
    snapshots = {step: {**shown, **arrays} for step in steps}
    return Result(
        config, {}, np.array([5, 6]), np.array([20]), returns, np.zeros((2, 1)), (), snapshots
    )


def colors_of_patches(panel):
    return {tuple(np.round(np.array(to_rgb(p.get_facecolor())) * 255)) for p in panel.patches}


def test_replay_and_queue_are_drawn_over_walls_holes_start_and_goal():
    result = make_result()
    replay, queue = plot_states([result]).axes
    np.testing.assert_array_equal(
        replay.collections[0].get_offsets(), result.snapshots[20]["replay"][0]
    )
    np.testing.assert_array_equal(
        queue.collections[0].get_offsets(), result.snapshots[20]["queue"][0]
    )
    assert queue.get_title() == "queue of dyna-frequency\nseed 5, step 20"
    assert len(queue.patches) == 3 + 5 + 2  # holes, solid parts of walls, start and goal
    assert len(colors_of_patches(queue)) == 4
    assert (queue.get_xlim(), queue.get_ylim()) == ((0, 1), (0, 1))


def test_an_empty_queue_and_a_missing_one_are_said_to_be_so():
    panels = plot_states([make_result()], seed=6).axes
    assert panels[1].texts[0].get_text() == "dyna-frequency: no queue"
    er = make_result("er")
    for arrays in er.snapshots.values():
        del arrays["queue"]
    assert plot_states([er]).axes[1].texts[0].get_text() == "er: no queue"


@pytest.mark.parametrize("what", ["value", "frequency"])
def test_surfaces_have_the_first_coordinate_along_the_horizontal_axis(what):
    result = make_result(env="MountainCar-v0")
    panel = plot_surfaces([result], what, step=10, seed=6).axes[0]
    drawn = panel.collections[0].get_array()
    np.testing.assert_array_equal(drawn, result.snapshots[10][what][1].T)
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("position", "velocity")
    assert panel.get_title().endswith("seed 6, step 10")


def test_a_surface_of_zeros_can_be_drawn(tmp_path):
    result = make_result(frequency=np.zeros((2, 8, 8)))
    plot_surfaces([result], "frequency").savefig(tmp_path / "zeros.png")
    pixels = plt.imread(tmp_path / "zeros.png")
    assert pixels[300, 200, :3].max() < 0.6  # the floor is dark, not white


def test_rows_of_a_grid_run_downwards():
    result = make_result("tabular-dyna-q", "DynaMaze", value=np.arange(108.0).reshape(2, 6, 9))
    panel = plot_surfaces([result], "value").axes[0]
    drawn = panel.collections[0].get_array()
    np.testing.assert_array_equal(drawn, np.arange(54).reshape(6, 9))
    assert panel.get_ylim() == (5.5, -0.5)
    assert panel.get_xlabel() == "column"
    replay = plot_states([result]).axes[0].collections[0].get_offsets()
    np.testing.assert_array_equal(replay, result.snapshots[20]["replay"][0][:, ::-1])


def test_episode_lengths_are_averaged_over_seeds_where_all_have_finished():
    lengths = np.array([[800, 40, 0], [600, 20, 14]])
    panel = plot_episodes([make_result("tabular-dyna-q", "DynaMaze", episode_lengths=lengths)])
    np.testing.assert_array_equal(panel.axes[0].lines[0].get_ydata(), [700, 30])
    none = make_result("tabular-dyna-q", "DynaMaze", episode_lengths=np.zeros((2, 3), int))
    with pytest.raises(FreqdynaError, match="no episode of tabular-dyna-q was finished"):
        plot_episodes([none])


def test_what_is_not_there_is_named():
    with pytest.raises(FreqdynaError, match="has no snapshots; train with --snapshot-steps"):
        plot_states([make_result(steps=())])
    with pytest.raises(FreqdynaError, match="step is 15; it must be one of the snapshots' steps"):
        plot_states([make_result()], step=15)
    with pytest.raises(FreqdynaError, match=r"seed is 0; it must be one of \[5, 6\]"):
        plot_states([make_result()], seed=0)
    with pytest.raises(FreqdynaError, match="the snapshots of er hold no episode_lengths"):
        plot_episodes([make_result("er")])
