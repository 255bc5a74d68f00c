"""The explorer: what it shows first, and how snapshots are packed for the page."""

from dataclasses import replace

import numpy as np

from freqdyna.envs.picture import Landmark
from freqdyna.report import explorer
from freqdyna.report.explorer import explorers, first_step, typical_rows

EVALUATED = np.arange(100, 1100, 100)
LOW, HIGH = -2000.0, -100.0
AGENTS = [f"dyna-{name}, true model" for name in ("value", "frequency", "uniform", "td-error")]


def curves(*learned_after):
    """Seeds that have learned at all evaluations after a step."""
    return EVALUATED, np.where(np.array(learned_after)[:, None] < EVALUATED, HIGH, LOW)


def numbers(text, columns):
    """The integers of a table that `explorer.packed` wrote."""
    codes = np.array([ord(one) - ord("#") for one in text]).reshape(-1, columns)
    return np.where(codes % 2, -(codes + 1) // 2, codes // 2).cumsum(axis=0)


def test_the_median_seed_comes_first_and_then_the_quartiles():
    five = curves(300, 100, 500, 200, 400)[1]  # the best is row 1, then 3, 0, 4 and 2
    assert typical_rows(five, 3) == [0, 3, 4]
    assert typical_rows(five, 9) == [0, 3, 4, 1, 2]
    assert typical_rows(curves(200, 100)[1], 3) == [1, 0]


def test_it_opens_when_half_of_the_seeds_of_every_run_have_learned():
    fast, slow = curves(100, 200, 900, 900), curves(300, 500, 500, 900)
    steps = list(range(100, 1100, 100))
    assert first_step([fast], steps) == 300
    assert first_step([fast, slow], steps) == 600
    assert first_step([curves(1000, 1000), fast], steps) is None


def test_stored_agents_open_when_they_have_learned(cars, mazes):
    several = explorers([*mazes, *cars])
    assert [one["env"] for one in several] == ["MountainCar-v0", "MazeGridWorld"]
    for data in several:
        assert data["rule"]
        assert [run["label"] for run in data["runs"]] == AGENTS
        for run in data["runs"]:
            latest = np.searchsorted(run["evaluations"], data["opens"], side="right") - 1
            assert run["returns"][0][latest] > -1050
            climbs = [one["climbs"] for frames in run["frames"] for one in frames]
            assert any(climbs) == (run["label"] in AGENTS[:2])


def test_frames_hold_what_the_snapshots_hold(mazes):
    result = next(run for run in mazes if run.config.algorithm == "dyna-frequency")
    (data,) = explorers([result])
    (run,) = data["runs"]
    assert run["steps"] == sorted(result.snapshots)
    step, row = run["steps"][-1], 1
    packed, snapshot = run["frames"][run["seeds"].index(row)][-1], result.snapshots[step]
    side = snapshot["value"].shape[1]
    for name, levels, surface in (
        ("value", 255, snapshot["value"][row]),
        ("frequency", 127, np.log10(snapshot["frequency"][row])),
    ):
        least, greatest = packed[name]["ends"]
        decoded = least + numbers(packed[name]["data"], side) / levels * (greatest - least)
        expected = surface.T.clip(least)
        np.testing.assert_allclose(decoded, expected, atol=(greatest - least) / levels)
    np.testing.assert_array_equal(numbers(packed["policy"], side), snapshot["policy"][row].T)
    low, high = snapshot["bounds"][row]
    queue = np.round((snapshot["queue"][row][:500] - low) / (high - low) * 511)
    assert numbers(packed["queue"], 2).tolist() == sorted(queue.tolist())
    assert packed["climbs"]


def test_seeds_without_values_and_runs_without_snapshots_are_left_out(mazes):
    result = mazes[0]
    gap = {
        step: snapshot | {"value": np.where([[[True]], [[False]]], np.nan, snapshot["value"])}
        for step, snapshot in result.snapshots.items()
    }
    (run,) = explorers([replace(result, snapshots=gap)])[0]["runs"]
    assert run["seeds"] == [1]
    assert explorers([replace(result, snapshots={})]) == []


def test_percentiles_of_g_are_those_among_the_states_outside_walls():
    g = np.arange(1.0, 4097).reshape(64, 64)  # grows with the first coordinate
    x, y = np.meshgrid(*2 * [np.linspace(0, 1, 64)], indexing="ij")
    everywhere = np.stack([x, y], axis=-1).reshape(1, -1, 2)
    snapshot = {
        "bounds": np.array([[[0.0, 0.0], [1.0, 1.0]]]),
        "value": g[None],
        "frequency": g[None],
        "policy": g[None],
        "replay": everywhere,
        "queue": everywhere[:, -64:],
        "queue_count": np.array([9]),
    }
    frame = explorer.frame(snapshot, 0, [])
    assert frame["percentiles"] == {"replay": 0.5, "queue": 0.992}
    walls = [Landmark("wall", (-0.1, -0.1), (0.5, 1.1)), Landmark("hole", (0.2, 0.2), (0.4, 0.4))]
    free = ((x > 0.5) | ((x > 0.2) & (x < 0.4) & (y > 0.2) & (y < 0.4))).reshape(-1)
    snapshot |= {"queue": everywhere[:, free]}
    assert explorer.frame(snapshot, 0, walls)["percentiles"]["queue"] == 0.5
