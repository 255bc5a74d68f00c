import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from freqdyna.training.tensorboard import Events


def test_numbers_that_are_not_finite_are_left_out_without_a_warning(tmp_path, caplog):
    events = Events(tmp_path, first_seed=5, last_step=0)
    loss = np.full(2, np.nan)  # there was no update during the warm-up
    events.write(10, {"return": np.array([1.0, 3.0]), "loss": loss}, np.array([True, True]))
    returns = np.array([4.0, np.nan])  # the second seed stopped
    events.write(20, {"return": returns, "loss": np.array([0.5, 0.1])}, np.array([True, False]))
    events.close()
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
