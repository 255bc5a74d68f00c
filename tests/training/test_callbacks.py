import sys
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest
import small
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import freqdyna
from freqdyna import FreqdynaError
from freqdyna.config import Config
from freqdyna.report.runs import metric_sections
from freqdyna.training.callbacks import Evaluation, custom_metrics

SMALL = small.SMALL | {"progress": False}


@pytest.fixture(scope="module")
def wandb():
    """A module that keeps what a run sends to Weights & Biases."""
    sent = SimpleNamespace(started=[], logged=[], finished=[])

    def init(**facts):
        sent.started.append(facts)
        return SimpleNamespace(
            log=lambda numbers, step: sent.logged.append((step, numbers)),
            finish=lambda: sent.finished.append(facts["id"]),
        )

    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
        yield sent


@pytest.fixture(scope="module")
def run(tmp_path_factory, wandb):
    """A run with callbacks: its folder, its result and what the first callback received."""
    received, folder = [], tmp_path_factory.mktemp("callbacks") / "run"

    def norms(evaluation):
        received.append(evaluation)
        return {"norm": np.linalg.norm(evaluation.parameters, axis=1), "progress": 1.0}

    result = freqdyna.train(
        out=folder, tensorboard=True, wandb=True, callback=[norms, lambda _: None], **SMALL
    )
    return folder, result, received


@pytest.mark.slow
def test_a_callback_receives_every_evaluation(run):
    _, result, received = run
    assert [evaluation.step for evaluation in received] == result.steps.tolist()
    last = received[-1]
    np.testing.assert_array_equal(last.parameters, result.parameters)
    np.testing.assert_array_equal(last.metrics["return"], result.returns[:, -1])
    np.testing.assert_array_equal(last.seeds, result.seeds)
    state = jnp.zeros(2)
    np.testing.assert_array_equal(last.network(2)(state), result.network(2)(state))
    with pytest.raises(FreqdynaError, match="seed"):
        last.network(9)


@pytest.mark.slow
def test_what_it_returns_is_in_the_metrics_tensorboard_and_the_report(run):
    folder, result, _ = run
    stored = freqdyna.load(folder)
    np.testing.assert_allclose(
        stored.metrics["norm"][:, -1], np.linalg.norm(result.parameters, axis=1), rtol=1e-6
    )
    assert (stored.metrics["progress"] == 1).all()
    assert stored.custom_metrics == ["norm", "progress"]
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    shown = [event.value for event in events.Scalars("mean/norm")]
    np.testing.assert_allclose(shown, stored.metrics["norm"].mean(axis=0), rtol=1e-6)
    sections = metric_sections([stored])
    assert [section.name for section in sections] == ["metric-norm", "metric-progress"]
    (mark,) = sections[0].chart["panels"][0]["marks"]
    np.testing.assert_allclose(mark["seeds"], stored.metrics["norm"], rtol=1e-3)


@pytest.mark.slow
def test_weights_and_biases_receives_the_same_numbers_and_a_resumed_run_its_id(run, wandb):
    folder, result, _ = run
    (started,) = wandb.started
    assert (started["project"], started["name"], started["dir"]) == ("freqdyna", "run", str(folder))
    assert started["config"]["env"] == "GridWorld"
    assert started["id"] == freqdyna.load(folder).provenance["wandb_run"]
    steps, numbers = zip(*wandb.logged, strict=True)
    assert list(steps) == result.steps.tolist()
    assert numbers[-1]["mean/return"] == pytest.approx(result.returns[:, -1].mean())
    assert numbers[-1]["mean/progress"] == 1
    assert wandb.finished == [started["id"]]
    again = freqdyna.resume(folder, wandb=True, progress=False, steps=110)
    assert wandb.started[1]["id"] == started["id"]
    assert again.custom_metrics == ["norm", "progress"]
    np.testing.assert_array_equal(again.metrics["norm"][:, :4], result.metrics["norm"][:, :4])
    assert np.isnan(again.metrics["norm"][:, 4:]).all()  # the callback was not passed


@pytest.mark.slow
def test_weights_and_biases_that_cannot_be_started_is_one_sentence(monkeypatch):
    def init(**facts):
        raise RuntimeError("nobody is logged in")

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    with pytest.raises(FreqdynaError, match="nobody is logged in"):
        freqdyna.train(wandb=True, **SMALL)


def evaluation(diverged_at=(-1, -1)):
    metrics = {"return": np.zeros(2), "diverged_at": np.array(diverged_at)}
    return Evaluation(10, Config(), np.arange(2), metrics, np.zeros((2, 3)), ())


def test_metrics_of_seeds_that_diverged_are_missing():
    found = custom_metrics([lambda _: {"a": [1, 2]}], evaluation((5, -1)))
    np.testing.assert_array_equal(found["a"], [np.nan, 2])


def test_an_error_in_a_callback_keeps_its_class_and_gets_a_note():
    for callback in (lambda _: 3, lambda _: {"a": [1, 2, 3]}):
        with pytest.raises((ValueError, TypeError)) as raised:
            custom_metrics([callback], evaluation())
        assert len(raised.value.__notes__) == 1


@pytest.mark.parametrize("name", ["return", "a b"])
def test_the_name_of_a_metric_must_be_new_and_a_name(name):
    with pytest.raises(FreqdynaError, match=f"{name!r}"):
        custom_metrics([lambda _: {name: 1}], evaluation())
