from dataclasses import replace

import numpy as np
import pytest

from freqdyna import Config, FreqdynaError, Result
from freqdyna.agents.algorithms import completed
from freqdyna.cli.results import Plot
from freqdyna.results.chart import Line
from freqdyna.results.maps import states_chart, surfaces_chart, trust_chart

RNG = np.random.default_rng(0)


def make_result(algorithm="dyna-frequency", env="MazeGridWorld", steps=(10, 20), **arrays):
    shown = {
        "replay": RNG.uniform(size=(2, 50, 2)),
        "queue": RNG.uniform(size=(2, 50, 2)),
        "queue_count": np.array([50, 0]),
        "value": RNG.uniform(-9, -1, (2, 8, 8)),
        "frequency": 10 ** RNG.uniform(-9, 3, (2, 8, 8)),
    }
    config = completed(Config(algorithm=algorithm, env=env, seeds=2, first_seed=5, steps=20))
    returns = {"return": np.zeros((2, 1))}
    snapshots = {step: {**shown, **arrays} for step in steps}
    return Result(
        config, {}, np.array([5, 6]), np.array([20]), returns, np.zeros((2, 1)), (), snapshots
    )


def states_of(panel):
    points = panel.marks[-1]
    return np.stack([points.x, points.y], -1)


def test_replay_and_queue_are_drawn_over_walls_holes_start_and_goal():
    result = make_result()
    replay, queue = states_chart([result]).panels
    np.testing.assert_array_equal(states_of(replay), result.snapshots[20]["replay"][0])
    np.testing.assert_array_equal(states_of(queue), result.snapshots[20]["queue"][0])
    *landmarks, _ = queue.marks
    assert len(landmarks) == 3 + 5 + 2  # holes, solid parts of walls, start and goal
    assert len({landmark.color for landmark in landmarks}) == 4
    assert [(axis.low, axis.high) for axis in (queue.x, queue.y)] == [(0, 1), (0, 1)]


def test_of_more_than_two_coordinates_the_first_two_are_drawn():
    states = RNG.uniform(size=(2, 50, 8))
    result = make_result(env="TubeGridWorld-8", replay=states, queue=states)
    replay, _ = states_chart([result]).panels
    np.testing.assert_array_equal(states_of(replay), states[0, :, :2])
    assert len(replay.marks) - 1 == 2 + 1 + 2  # solid parts of the wall, its hole, start and goal
    assert (replay.x.label, replay.x.low, replay.x.high) == ("x", 0, 1)
    cart = states_chart([make_result(env="CartPole-v1", replay=states[..., :4])]).panels[0]
    assert (cart.x.high, cart.y.high) == (pytest.approx(4.8), None)  # the velocity has no bound


def test_puddles_and_goal_are_drawn_with_their_outlines():
    result = make_result(env="PuddleWorld")
    goal, *puddles, points = states_chart([result]).panels[0].marks
    np.testing.assert_allclose([goal.x, goal.low, goal.high], [[0.9, 1], [1, 0.9], [1, 1]])
    assert [(p.x.min(), p.low.min(), p.high.max()) for p in puddles] == [
        pytest.approx((0, 0.65, 0.85)),
        pytest.approx((0.35, 0.3, 0.9)),
    ]
    assert len(points.x) == 50
    mesh, *outlines = surfaces_chart([result], "value").panels[0].marks
    assert mesh.values.shape == (8, 8)
    assert [(line.x[0], line.y[0]) == (line.x[-1], line.y[-1]) for line in outlines] == [True] * 3


@pytest.mark.parametrize("what", ["value", "frequency"])
def test_surfaces_have_the_first_coordinate_along_the_horizontal_axis(what):
    result = make_result(env="MountainCar-v0")
    (panel,) = surfaces_chart([result], what, step=10, seed=6).panels
    mesh, *landmarks = panel.marks
    np.testing.assert_array_equal(mesh.values, result.snapshots[10][what][1].T)
    assert mesh.log == (what == "frequency")
    assert (panel.x.label, panel.y.label) == ("position", "velocity")
    assert {type(landmark) for landmark in landmarks} == {Line}  # outlines, above it


def test_a_users_environment_is_drawn_as_its_snapshots_describe_it():
    given = make_result(env="CartPole-v1")  # its settings are complete
    given = replace(given, config=replace(given.config, env="mine:Lake-v0"))
    for arrays in given.snapshots.values():
        arrays |= {"bounds": np.tile([[-1.0, 0.0], [2.0, 5.0]], (2, 1, 1))}
    (panel,) = surfaces_chart([given], "value").panels
    assert [(axis.low, axis.high) for axis in (panel.x, panel.y)] == [(-1, 2), (0, 5)]
    assert (panel.x.label, panel.y.label) == ("state 1", "state 2")
    (mesh,) = panel.marks
    assert (mesh.x[0], mesh.x[-1], mesh.y[-1]) == (-1, 2, 5)
    replay, _ = states_chart([given]).panels
    np.testing.assert_array_equal(states_of(replay), given.snapshots[20]["replay"][0])


def test_the_weight_is_drawn_over_the_distance_from_the_visited_states():
    visited = np.tile([[-1.0, 0, 0], [1, 0, 0]], (25, 1))  # deviations 1, 0 and 0
    far = np.tile(np.arange(10.0), 5)
    planned = np.stack([1 + far, 0 * far, 0 * far], -1)
    # As far from zero as a pressure in pascals may be.
    stores = {"replay": np.stack([visited] * 2), "queue": np.stack([planned] * 2)}
    stores = {name: (1e5 + states).astype(np.float32) for name, states in stores.items()}
    weights = np.stack([1 - far / 10, 0.5 - far / 20])
    result = make_result(env="Own-v0", queue_trust=weights, **stores)
    result = replace(result, snapshots={20: result.snapshots[20] | {"queue_count": np.ones(2)}})
    (curve,) = trust_chart([result]).panels[0].marks
    np.testing.assert_allclose(curve.values, [1 - curve.x / 10, 0.5 - curve.x / 20])
    np.testing.assert_allclose(curve.x, [*range(8), 8.5], atol=1e-6)
    near = result.snapshots[20] | {"queue": stores["replay"]}
    (curve,) = trust_chart([replace(result, snapshots={20: near})]).panels[0].marks
    np.testing.assert_allclose(curve.values[:, 0], weights.mean(axis=1))
    empty = result.snapshots[20] | {"queue_count": np.zeros(2)}
    with pytest.raises(FreqdynaError):
        trust_chart([replace(result, snapshots={20: empty})])


def test_runs_without_weights_are_named_and_the_others_drawn(tmp_path, capsys):
    weights = {"queue_trust": RNG.uniform(size=(2, 50)), "trust": RNG.uniform(size=(2, 8, 8))}
    planned, plain = make_result(**weights).save(tmp_path / "a"), make_result("er")
    plain = plain.save(tmp_path / "b")
    Plot((planned, plain), what="trust", out=tmp_path / "trust.svg").run()
    assert "no weights: er\n" in capsys.readouterr().out
    assert (tmp_path / "trust.svg").exists()
    with pytest.raises(FreqdynaError, match="trust"):
        Plot((plain,), what="trust").run()


def test_runs_without_a_metric_are_named_and_the_others_drawn(tmp_path, capsys):
    result = make_result()
    measured = replace(result, metrics=result.metrics | {"mine": np.ones_like(result.returns)})
    folders = measured.save(tmp_path / "a"), make_result("er").save(tmp_path / "b")
    Plot(folders, metric="mine", out=tmp_path / "mine.svg").run()
    assert "'mine': er\n" in capsys.readouterr().out
    assert (tmp_path / "mine.svg").exists()
    with pytest.raises(FreqdynaError, match="mine"):
        Plot(folders[1:], metric="mine").run()
