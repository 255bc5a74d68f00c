import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from freqdyna.training.logs import TensorBoardLog, logged_numbers


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
