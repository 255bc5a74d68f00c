import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from freqdyna.training.logs import TensorBoardLog, logged_numbers
from freqdyna.training.run import new_warnings


def test_numbers_that_are_not_finite_are_left_out_without_a_warning(tmp_path, caplog):
    log, seeds = TensorBoardLog(tmp_path, last_step=0), np.array([5, 6])
    loss = np.full(2, np.nan)  # there was no update during the warm-up
    metrics = {"return": np.array([1.0, 3.0]), "loss": loss}
    log.write(10, logged_numbers(metrics, seeds, np.array([True, True])))
    metrics = {"return": np.array([4.0, np.nan]), "loss": np.array([0.5, 0.1])}  # seed 6 stopped
    log.write(20, logged_numbers(metrics, seeds, np.array([True, False])))
    log.close()
    assert caplog.records == []
    stored = EventAccumulator(str(tmp_path / "tensorboard"))
    stored.Reload()
    found = {
        tag: [(event.step, event.value) for event in stored.Scalars(tag)]
        for tag in stored.Tags()["scalars"]
    }
    assert found == {
        "mean/return": [(10, 2.0), (20, 4.0)],
        "mean/loss": [(20, 0.5)],
        "seeds/left_out": [(10, 0.0), (20, 1.0)],
        "return/seed_5": [(10, 1.0), (20, 4.0)],
        "return/seed_6": [(10, 3.0)],
    }


def test_a_seed_is_reported_when_something_is_wrong_with_it_for_the_first_time():
    evaluations, told = [], []
    for diverged_at, counts in (
        ([-1, -1, -1], [0, 0, 0]),
        ([-1, 25, -1], [0, 0, 1200]),
        ([-1, 25, 55], [7, 70, np.nan]),
        ([-1, 25, 55], [9, 80, 80]),
    ):
        evaluations.append(
            {"diverged_at": np.array(diverged_at), "model_non_finite": np.array(counts)}
        )
        warnings = new_warnings(np.array([3, 4, 5]), evaluations)
        told.append([text.partition(":")[0] for text in warnings])
    assert told == [[], ["seed 4", "seed 5"], ["seed 5", "seeds 3, 4"], []]
