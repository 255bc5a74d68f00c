"""One run: slices of steps, evaluations and checkpoints, until the end or a signal to stop."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from freqdyna.agents.dyna.state import DynaState
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, RunFailedError, counted, one_line
from freqdyna.core.plugins import module_of
from freqdyna.envs.names import env_label
from freqdyna.results.folder import begin
from freqdyna.results.record import (
    CUSTOM_METRICS,
    DIVERGED_AT,
    INIT_FROM,
    MODEL_NON_FINITE,
    SECONDS,
    CompleteSeeds,
    Snapshots,
    complete_seeds,
    evaluation_steps,
    mark_diverged,
)
from freqdyna.results.result import Result
from freqdyna.training.callbacks import Callback, Evaluation, custom_metrics
from freqdyna.training.checkpoint import Checkpoint, RunOptions, Saver, newest
from freqdyna.training.interrupts import InterruptedRun, stop_requests
from freqdyna.training.logs import TensorBoardLog, WandbLog, logged_numbers
from freqdyna.training.progress import Progress, RunProgress
from freqdyna.training.seeds import Block

SECONDS_A_SLICE = 1.0
"""How long the compiled loop runs before progress and interrupts are handled."""
Logs = list[TensorBoardLog | WandbLog]


@dataclass
class Run:
    """One run; it is complete when it is created, and `execute` trains it."""

    config: Config
    block: Block
    provenance: dict[str, Any]
    callbacks: tuple[Callback, ...] = ()
    """Functions that are called at each evaluation."""
    initial: np.ndarray | None = None
    """The parameters with which the seeds begin, shape (seeds, p); None for random ones."""
    evaluations: list[dict[str, np.ndarray]] = field(init=False, default_factory=list)
    """The metrics of each evaluation so far, each an array over seeds."""
    snapshots: Snapshots = field(init=False, default_factory=dict)
    """The snapshots so far, by step."""
    seconds: float = field(init=False, default=0.0)
    """Wall-clock time of all steps so far, also those before the run was resumed."""

    def execute(
        self,
        folder: Path | None,
        options: RunOptions,
        progress: bool | Progress = False,
        notes: Sequence[str] = (),
    ) -> Result:
        """Train from the newest checkpoint, or from the start, to the end.

        The caller holds the lock of the folder, if there is one. `progress` says whether to show
        the progress, or receives it; it begins with `notes`.
        """
        config = self.config
        again = resume_command(config, self.provenance, folder)
        saver = Saver(folder, options.checkpoint_seconds, again)
        with ExitStack() as closing, _memory_errors_explained(again if folder else None):
            closing.callback(self.block.close)
            state, step, warnings = self._start(folder)
            if not isinstance(progress, Progress):
                progress = RunProgress(config.seeds, config.steps) if progress else Progress()
            closing.callback(progress.close)
            logs: Logs = []
            if options.wandb:  # before the folder has files: it may fail
                logs.append(WandbLog(config, self.provenance, folder))
            if folder is not None:
                begin(folder, config, self.provenance)
                if options.tensorboard:
                    logs.append(TensorBoardLog(folder, self._last_evaluated))
            for log in logs:
                closing.callback(log.close)
            if step or self.initial is not None:
                # Its files may have been those of fewer steps; its first parameters are nowhere.
                self._save(saver, state, step, with_state=not step)
            for note in (*notes, self._announcement(step)):
                progress.note(note)
            for warning in warnings:
                progress.warn(warning)
            with stop_requests(folder is not None) as stop_requested:
                state = self._train(state, step, progress, saver, stop_requested, logs)
            with_state = not self._ends_between_evaluations
            return self._save(saver, state, config.steps, with_state=with_state)

    def _start(self, folder: Path | None) -> tuple[DynaState, int, list[str]]:
        """The state to start from, its step, and warnings for the user."""
        saved: Checkpoint | None = None
        warnings: list[str] = []
        if folder is not None:
            saved, warnings = newest(folder, self.block.state_structure())
        if saved is None:
            if INIT_FROM in self.provenance and self.initial is None:
                raise FreqdynaError(
                    "this run began with the parameters of another one, and no checkpoint can be "
                    "read; start it again"
                )
            state = self.block.init()
            if self.initial is not None:
                state = self.block.with_parameters(state, self.initial)
            return state, 0, warnings
        if saved.devices != self._devices:
            warnings.append(
                f"this run started on {saved.devices} and resumes on {self._devices}: its last "
                "digits may differ from an uninterrupted run"
            )
        self.evaluations, self.snapshots = saved.evaluations, saved.snapshots
        self.seconds = saved.seconds
        return self.block.from_checkpoint(saved.state, saved.facts), saved.step, warnings

    def _train(
        self,
        state: DynaState,
        step: int,
        progress: Progress,
        saver: Saver,
        stop_requested: threading.Event,
        logs: Logs,
    ) -> DynaState:
        """Take all steps in slices, with what is between them."""
        config = self.config
        evaluations = self._evaluation_steps[len(self.evaluations) :]
        snapshots = [s for s in config.snapshot_steps if s >= step]
        progress.note("compiling, up to a minute or two …")
        state = jax.block_until_ready(self.block.advance(state, step, step))
        slice_steps, is_compiled = 1, False
        first_update = self.block.training.agent.first_update_step
        for stop in map(int, np.union1d(evaluations, snapshots)):
            while step < stop:
                if step == first_update:  # from here a step takes longer
                    slice_steps = 1
                    progress.forget_rate()
                before = stop if step >= first_update else min(stop, first_update)
                steps = min(slice_steps, before - step)
                began = time.monotonic()
                state = jax.block_until_ready(self.block.advance(state, step, step + steps))
                seconds = max(time.monotonic() - began, 1e-6)
                if is_compiled:  # the first step of an environment in Python compiles, too
                    self.seconds += seconds
                is_compiled = True
                slice_steps = max(1, min(2 * steps, int(steps * SECONDS_A_SLICE / seconds)))
                step += steps
                self._pass_on(progress)
                if step not in evaluations:  # otherwise its evaluation follows now
                    progress.update(step, self._last_return())
                if stop_requested.is_set():
                    self._save(saver, state, step)
                    raise InterruptedRun(f"stopped at step {step:,}; continue with: {saver.again}")
                if saver.is_due():
                    self._save(saver, state, step, progress)
            if stop in snapshots:
                self.snapshots[stop] = self._without_copies(self.block.snapshot(state, stop))
            if stop in evaluations:
                if stop == config.steps and self._ends_between_evaluations:
                    self._save(saver, state, stop)
                state = self._evaluate(state, stop, progress, logs)
        return state

    def _evaluate(self, state: DynaState, step: int, progress: Progress, logs: Logs) -> DynaState:
        """Evaluate all seeds, call the callbacks, keep the metrics and pass them on."""
        state, measured = self.block.evaluate(state, step)
        self._pass_on(progress)
        before = self.evaluations[-1][DIVERGED_AT] if self.evaluations else None
        parameters = self.block.parameters(state)
        rows = self._without_copies(measured) | {SECONDS: np.full(self.config.seeds, self.seconds)}
        metrics = mark_diverged(rows, step, parameters, before)
        custom = custom_metrics(
            self.callbacks,
            Evaluation(
                step=step,
                config=self.config,
                seeds=self.seeds,
                metrics=dict(metrics),
                parameters=parameters,
                layer_sizes=self.block.training.agent.learner.sizes,
            ),
        )
        if custom:
            names = [*self.provenance.get(CUSTOM_METRICS, []), *custom]
            self.provenance[CUSTOM_METRICS] = list(dict.fromkeys(names))
        self.evaluations.append(metrics | custom)
        for warning in new_warnings(self.seeds, self.evaluations):
            progress.warn(warning)
        numbers = logged_numbers(self.evaluations[-1], self.seeds, self._complete_seeds().kept)
        for log in logs:
            log.write(step, numbers)
        progress.update(step, self._last_return())
        return state

    def _save(
        self,
        saver: Saver,
        state: DynaState,
        step: int,
        progress: Progress | None = None,
        with_state: bool = True,
    ) -> Result:
        """Save the results and, `with_state`, a checkpoint; return the results."""
        result, checkpoint = self.result(state), None
        if with_state and saver.folder is not None:
            checkpoint = Checkpoint(
                step=step,
                state=self.block.to_checkpoint(state),
                evaluations=[
                    {name: values[:, i] for name, values in result.metrics.items()}
                    for i in range(len(self.evaluations))
                ],
                snapshots=self.snapshots,
                facts=self.block.facts(),
                devices=self._devices,
                seconds=self.seconds,
            )
        saver.save(result, checkpoint, progress)
        return result

    def result(self, state: DynaState) -> Result:
        """The result so far."""
        names = dict.fromkeys(name for row in self.evaluations for name in row)
        missing = np.full(self.config.seeds, np.nan)  # of a callback that was added or left out
        return Result(
            config=self.config,
            provenance=self.provenance | self.block.facts(),
            seeds=self.seeds,
            steps=self._evaluation_steps[: len(self.evaluations)],
            metrics={
                name: np.stack([row.get(name, missing) for row in self.evaluations], axis=1)
                for name in names
            },
            parameters=self.block.parameters(state),
            layer_sizes=self.block.training.agent.learner.sizes,
            snapshots=self.snapshots,
        )

    @property
    def name(self) -> str:
        """The agent and the environment."""
        return f"{self.config.agent_name} on {env_label(self.config)}"

    def _announcement(self, step: int) -> str:
        """What is about to be trained, on what, and from which step."""
        config, agent = self.config, self.block.training.agent
        text = (
            f"{self.name}: {counted(config.seeds, 'seed')} × {config.steps:,} steps, "
            f"{counted(agent.planning_steps, 'update')} per step, on {self._devices}"
        )
        if step:
            text += f"; resuming from step {step:,}"
        return text + self.no_learning

    @property
    def no_learning(self) -> str:
        """What announces that a run ends before it learns; usually empty."""
        warmup = self.block.training.agent.warmup_steps
        if warmup < self.config.steps:
            return ""
        return f"; every action is random: the warm-up lasts {warmup:,} steps"

    @property
    def seeds(self) -> np.ndarray:
        """The seeds, shape (seeds,)."""
        return np.arange(self.config.first_seed, self.config.first_seed + self.config.seeds)

    @property
    def _evaluation_steps(self) -> np.ndarray:
        return evaluation_steps(self.config.steps, self.config.eval_every)

    @property
    def _ends_between_evaluations(self) -> bool:
        """Whether a longer run would not be evaluated at the last step.

        Then the last checkpoint has the state before that evaluation, so that more steps can
        follow it as in a run that was longer from the start.
        """
        return self.config.steps % self.config.eval_every != 0

    @property
    def _last_evaluated(self) -> int:
        """The step of the last evaluation; 0 before the first one."""
        return int(self._evaluation_steps[len(self.evaluations) - 1]) if self.evaluations else 0

    @property
    def _devices(self) -> str:
        return f"{self.provenance['devices']} × {self.provenance['device_kind']}"

    def _complete_seeds(self) -> CompleteSeeds:
        """The seeds that have neither diverged nor stopped at the last evaluation."""
        now, stopped = self.evaluations[-1], map(int, self.block.facts().get("ended", {}))
        returns, diverged_at = now["return"][:, None], now[DIVERGED_AT][:, None]
        return complete_seeds(self.seeds, returns, diverged_at, list(stopped))

    def _last_return(self) -> str:
        """The last mean return, its seeds if some are left out, and its step; empty before it."""
        if not self.evaluations:
            return ""
        complete = self._complete_seeds()
        if not complete.kept.any():
            return complete.text("seeds")
        mean = self.evaluations[-1]["return"][complete.kept].mean()
        over = f" over {complete.text('seeds')}" if complete.left_out else ""
        return f"mean return {mean:,.1f}{over} at step {self._last_evaluated:,}"

    def _without_copies(self, arrays: dict[str, Any]) -> dict[str, np.ndarray]:
        """The arrays without the copies that pad the last device."""
        return {name: np.asarray(array)[: self.config.seeds] for name, array in arrays.items()}

    def _pass_on(self, progress: Progress) -> None:
        """Pass on the warnings of the block."""
        for message in self.block.messages:
            progress.warn(message)
        self.block.messages.clear()


@contextmanager
def _memory_errors_explained(again: str | None) -> Iterator[None]:
    """Say in one sentence that the memory did not suffice, and how to resume, if that is known."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "RESOURCE_EXHAUSTED" not in str(error):
            raise
        then = f"; continue from the last checkpoint with: {again}" if again else ""
        raise RunFailedError(
            f"there is not enough memory ({one_line(error)}); free memory, or reduce seeds, "
            f"replay.capacity or planning.queue_size{then}"
        ) from error


_CAUSES = {
    DIVERGED_AT: (-1, "diverged: the loss or the parameters are not finite; left out from now on"),
    "search_outside": (0, "the search-control proposed states outside the state space"),
    "search_non_finite": (0, "the search-control proposed states that are not finite"),
    MODEL_NON_FINITE: (0, "the model returned transitions that are not finite"),
    "model_error": (1.05, "the learned model is worse than the prediction that nothing moves"),
    "trust_refused": (0.9, "the model is hardly trusted: the share of refused transitions is high"),
}
"""What is reported when a metric of a seed is above a number for the first time."""


def new_warnings(seeds: np.ndarray, evaluations: list[dict[str, np.ndarray]]) -> list[str]:
    """What the last evaluation shows for the first time, in a sentence for each cause."""
    warnings = []
    for name, (usual, text) in _CAUSES.items():
        missing = np.full(len(seeds), usual)
        above = np.array([row.get(name, missing) > usual for row in evaluations])
        new = above[-1] & ~above[:-1].any(axis=0)
        if new.any():
            noun, listed = "seed" if new.sum() == 1 else "seeds", ", ".join(map(str, seeds[new]))
            warnings.append(
                f"{noun} {listed}: {text} ({name} {evaluations[-1][name][new].max():.3g})"
            )
    return warnings


def resume_command(config: Config, provenance: dict[str, Any], folder: Path | None) -> str:
    """How to resume: on the command line, unless the environment must be passed in Python."""
    if provenance.get("environment_given"):
        return f"freqdyna.resume({str(folder)!r}, env=...), in Python"
    needs_code = any(module_of(name) is not None for name in config.named.values())
    code = " --allow-code" if needs_code else ""
    return f"freqdyna resume {folder}{code}"
