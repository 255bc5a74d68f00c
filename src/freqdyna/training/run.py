"""One run: compiled training in slices, with progress, evaluations and checkpoints."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from freqdyna.agents.base import AgentState
from freqdyna.agents.diagnostics import Diagnostics
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError
from freqdyna.results.folder import begin
from freqdyna.results.record import CUSTOM_METRICS, INIT_FROM, Record
from freqdyna.results.result import Result
from freqdyna.training.callbacks import Callback, Evaluation, custom_metrics
from freqdyna.training.checkpoint import RunCheckpoint
from freqdyna.training.curves import Curves
from freqdyna.training.evaluation_warnings import new_warnings
from freqdyna.training.extension import state_structure, with_grown_replay
from freqdyna.training.initial_parameters import initial_parameters, source_facts
from freqdyna.training.interrupts import InterruptedRun, stop_requests
from freqdyna.training.logs import EvaluationLog, TensorBoardLog, WandbLog, logged_numbers
from freqdyna.training.newest_checkpoint import newest_checkpoint
from freqdyna.training.progress import Progress, RunProgress
from freqdyna.training.run_messages import announcement, resume_command
from freqdyna.training.saver import RunOptions, Saver
from freqdyna.training.seeds import Block, Training

SECONDS_A_SLICE = 1.0
"""How long the compiled loop runs before progress and interrupts are handled."""


@dataclass(frozen=True)
class _Unevaluated:
    """What an evaluation changes, as it was before.

    The last checkpoint has the state before a last evaluation that is not at a multiple of
    `eval_every`, so that the run can be extended as if it had been longer from the start.
    """

    diagnostics: Diagnostics
    facts: dict[str, Any]
    """What `Block.facts` returned."""
    evaluations: int


@dataclass
class Run:
    """The state of one run."""

    config: Config
    training: Training
    block: Block
    provenance: dict[str, Any]
    curves: Curves = field(init=False)
    """The metrics of the evaluations so far."""
    snapshots: dict[int, dict[str, np.ndarray]] = field(default_factory=dict)
    """The snapshots so far, by step."""
    last_warning: str | None = None
    """The warning of the last attempt to save the run, if it failed."""
    initial: np.ndarray | None = None
    """The parameters with which the seeds begin, shape (seeds, p); None for random ones."""
    callbacks: tuple[Callback, ...] = ()
    """Functions that are called at each evaluation."""
    unevaluated: "_Unevaluated | None" = None
    """What the last evaluation changed, if a longer run would not be evaluated at that step."""

    def __post_init__(self) -> None:
        self.curves = Curves(self.config)

    def begin_with(self, source: Record) -> None:
        """Begin with the trained parameters of another run."""
        agent = self.training.agent
        size = jax.eval_shape(
            lambda key: agent.parameters(agent.init(key)), jax.random.key(0)
        ).shape[0]
        self.initial = initial_parameters(source, self.config, agent.env, agent.layer_sizes, size)
        self.provenance[INIT_FROM] = source_facts(source, self.initial)

    def execute(
        self,
        folder: Path | None,
        options: RunOptions,
        progress: Progress | None = None,
        messages: Sequence[str] = (),
    ) -> Result:
        """Train from the newest checkpoint, or from the start, to the end.

        Args:
            folder: The run folder, whose lock the caller holds, or None if nothing is stored.
            options: How progress is shown and the run is saved.
            progress: Receives progress instead of the terminal.
            messages: Messages about the folder for the user.

        Returns:
            The finished training.

        Raises:
            RunFailedError: If the results cannot be saved, or code of the user fails in a callback.

        """
        state, step, warnings = self._start(folder)
        saver = Saver(
            folder, options.checkpoint_seconds, resume_command(self.config, self.provenance, folder)
        )
        if folder is not None:
            try:
                begin(folder, self.config, self.provenance)
            except OSError as error:
                raise saver.failed(error) from None
        if progress is None:
            seeds, steps = self.config.seeds, self.config.steps
            progress = RunProgress(seeds, steps, step) if options.progress else Progress()
        logs: list[EvaluationLog] = []
        try:
            if options.tensorboard and folder is not None:
                try:
                    logs.append(TensorBoardLog(folder, self.curves.last_step))
                except OSError as error:
                    raise saver.failed(error) from None
            if options.wandb:
                logs.append(WandbLog(self.config, self.provenance, folder))
            if self.initial is not None:  # they are not stored elsewhere
                self._save(saver, state, step)
            for message in (*messages, announcement(self.config, self.provenance, step)):
                progress.note(message)
            for warning in warnings:
                progress.warn(warning)
            saver.last = time.monotonic()
            with stop_requests(folder is not None) as stop_requested:
                state = self._train(state, step, progress, saver, stop_requested, logs)
            result = self.result(state)
            self._save(saver, state, self.config.steps)
        finally:
            progress.close()
            self.block.close()
            for log in logs:
                log.close()
        return result

    def _train(
        self,
        state: AgentState,
        step: int,
        progress: Progress,
        saver: Saver,
        stop_requested: threading.Event,
        logs: list[EvaluationLog],
    ) -> AgentState:
        evaluations = self.curves.steps_left
        snapshots = [s for s in self.config.snapshot_steps if s >= step]
        state = jax.block_until_ready(self.block.advance(state, step, step))  # compiles
        progress.start()
        slice_steps, last = 1, self.curves.last_evaluation(self._stopped())
        for stop in map(int, np.union1d(evaluations, snapshots)):
            while step < stop:
                steps = min(slice_steps, stop - step)
                began = time.monotonic()
                state = jax.block_until_ready(self.block.advance(state, step, step + steps))
                seconds = time.monotonic() - began
                slice_steps = max(
                    1, min(2 * steps, int(steps * SECONDS_A_SLICE / max(seconds, 1e-6)))
                )
                step += steps
                self._pass_on(progress)
                if step not in evaluations:  # otherwise its evaluation follows now
                    progress.update(step, last)
                if stop_requested.is_set():
                    self._save(saver, state, step)
                    raise InterruptedRun(f"stopped at step {step:,}; continue with: {saver.again}")
                if saver.is_due():
                    self._save(saver, state, step, progress)
            if stop in snapshots:
                shown = self.block.snapshot(state, stop)
                self.snapshots[stop] = self._own_rows(shown)
            if stop not in evaluations:
                continue
            state = self._evaluate(state, stop, progress)
            curves, stopped = self.curves, self._stopped()
            kept = curves.complete_seeds(stopped).kept
            numbers = logged_numbers(curves.rows[-1], curves.seeds, kept)
            for log in logs:
                log.write(stop, numbers)
            last = curves.last_evaluation(stopped)
            progress.update(step, last)
        return state

    def _evaluate(self, state: AgentState, stop: int, progress: Progress) -> AgentState:
        """Evaluate all seeds after `stop` steps, call the callbacks, and keep the metrics."""
        if stop % self.config.eval_every:
            self.unevaluated = _Unevaluated(
                jax.tree.map(jnp.copy, state.diagnostics),
                self.block.facts(),
                len(self.curves.rows),
            )
        state, metrics = self.block.evaluate(state, stop)
        self._pass_on(progress)
        curves, parameters = self.curves, self.block.parameters(state)
        now = curves.marked(self._own_rows(metrics), stop, parameters)
        layers = self.training.agent.layer_sizes
        shown = Evaluation(stop, self.config, curves.seeds, dict(now), parameters, layers)
        custom = custom_metrics(self.callbacks, shown)
        if custom:
            names = [*self.provenance.get(CUSTOM_METRICS, []), *custom]
            self.provenance[CUSTOM_METRICS] = list(dict.fromkeys(names))
        curves.rows.append(now | custom)
        for warning in new_warnings(curves.seeds, curves.rows):
            progress.warn(warning)
        return state

    def _save(
        self, saver: Saver, state: AgentState, step: int, progress: Progress | None = None
    ) -> None:
        """Save the run; with `progress`, a failure is only a warning, because it is not the end."""
        if saver.folder is None:
            return
        record = self.result(state)
        facts, evaluations = self.block.facts(), len(self.curves.rows)
        if self.unevaluated is not None:
            facts, evaluations = self.unevaluated.facts, self.unevaluated.evaluations
            state = eqx.tree_at(lambda s: s.diagnostics, state, self.unevaluated.diagnostics)
        saved = RunCheckpoint(
            step,
            self.block.to_checkpoint(state),
            [{k: v[:, i] for k, v in record.metrics.items()} for i in range(evaluations)],
            facts,
            record.provenance["device_kind"],
            record.provenance["devices"],
            dict(self.snapshots),
        )
        if progress is None:
            saver.save(record, saved)
            return
        warning = saver.try_to_save(record, saved)
        self._tell_new(progress, warning)
        self.last_warning = warning

    def _tell_new(self, progress: Progress, warning: str | None) -> None:
        """Show a warning about saving, unless it is the same as the last one."""
        if warning is not None and warning != self.last_warning:
            progress.warn(warning)
            self.last_warning = warning

    def _start(self, folder: Path | None) -> tuple[AgentState, int, list[str]]:
        """The state to start from, its step, and warnings for the user."""
        if folder is None:
            return self._first_state(), 0, []
        agent = self.training.agent
        structure = partial(state_structure, self.block, agent)
        found = newest_checkpoint(folder, self.config, structure, self.provenance)
        if found.checkpoint is None:
            return self._first_state(), 0, found.warnings
        saved = found.checkpoint
        self.curves.rows, self.snapshots = saved.curves, saved.snapshots
        state = self.block.from_checkpoint(with_grown_replay(saved.state, agent), saved.facts)
        return state, saved.step, found.warnings

    def _first_state(self) -> AgentState:
        """The state before the first step."""
        if INIT_FROM in self.provenance and self.initial is None:
            raise FreqdynaError(
                "this run began with the parameters of another one, and no checkpoint can be read; "
                "start it again"
            )
        state = self.block.init()
        return state if self.initial is None else self.block.with_parameters(state, self.initial)

    def _own_rows(self, arrays: dict[str, Any]) -> dict[str, np.ndarray]:
        """The arrays without the copies that pad the last device."""
        return {name: np.asarray(array)[: self.config.seeds] for name, array in arrays.items()}

    def _pass_on(self, progress: Progress) -> None:
        """Pass on the warnings of the block."""
        for message in self.block.messages:
            progress.warn(message)
        self.block.messages.clear()

    def result(self, state: AgentState) -> Result:
        """The result so far."""
        return Result(
            config=self.config,
            provenance=self.provenance | self.block.facts(),
            seeds=self.curves.seeds,
            steps=self.curves.steps,
            metrics=self.curves.metrics(),
            parameters=self.block.parameters(state),
            layer_sizes=self.training.agent.layer_sizes,
            snapshots=self.snapshots,
        )

    def _stopped(self) -> list[int]:
        """The seeds whose environment failed."""
        return [int(seed) for seed in self.block.facts().get("ended", {})]
