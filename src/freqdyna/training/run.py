"""One run: compiled training in slices, with progress, evaluations and checkpoints."""

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from freqdyna.agents.base import AgentState
from freqdyna.config import Config, history
from freqdyna.core.arrays import DamagedFileError, load_arrays
from freqdyna.core.code_names import module_of
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs.resolve import needs_env_argument
from freqdyna.results import run_folder
from freqdyna.results.record import evaluation_steps
from freqdyna.results.result import Result
from freqdyna.training import checkpoint
from freqdyna.training.block import Block
from freqdyna.training.interrupts import InterruptedRun, stop_requests
from freqdyna.training.progress import Progress, RunProgress, make_display
from freqdyna.training.saver import RunOptions, Saver
from freqdyna.training.tensorboard import Events
from freqdyna.training.training import Training

SECONDS_A_SLICE = 1.0
"""How long the compiled loop runs before progress and interrupts are handled."""


@dataclass
class Run:
    """The state of one run."""

    config: Config
    training: Training
    block: Block
    provenance: dict[str, Any]
    curves: list[dict[str, np.ndarray]] = field(default_factory=list)
    """The metrics of each evaluation so far, each an array over seeds."""
    snapshots: dict[int, dict[str, np.ndarray]] = field(default_factory=dict)
    """The snapshots so far, by step."""
    reported: set[int] = field(default_factory=set)
    """Seeds whose divergence was reported."""

    def execute(
        self, folder: Path | None, options: RunOptions, progress: Progress | None = None
    ) -> Result:
        """Train from the newest checkpoint, or from the start, to the end.

        Args:
            folder: The run folder, or None if nothing is stored.
            options: How progress is shown and the run is saved.
            progress: Receives progress instead of the terminal.

        Returns:
            The finished training.

        """
        state, step, notes = self._start(folder)
        if folder is not None:
            run_folder.write_provenance(folder, self.provenance)
        if progress is None:
            display = make_display(options.progress)
            progress = RunProgress(display, self.config.seeds, self.config.steps, step)
        events = None
        try:
            if options.tensorboard and folder is not None:
                events = Events(folder, self.config.first_seed, step)
            progress.note(self._announcement(step))
            for note in notes:
                progress.warn(note)
            with stop_requests(folder is not None) as stop_requested:
                saver = Saver(folder, options.checkpoint_seconds)
                state = self._train(state, step, progress, saver, stop_requested, events)
            result = self.result(state)
            self._save(saver, state, self.config.steps)
        finally:
            progress.close()
            self.block.close()
            if events is not None:
                events.close()
        return result

    def _train(
        self,
        state: AgentState,
        step: int,
        progress: Progress,
        saver: Saver,
        stop_requested: threading.Event,
        events: Any,
    ) -> AgentState:
        evaluations = evaluation_steps(self.config.steps, self.config.eval_every)
        evaluations = evaluations[len(self.curves) :]
        snapshots = [s for s in self.config.snapshot_steps if s >= step]
        state = jax.block_until_ready(self.block.advance(state, step, step))  # compiles
        progress.start()
        slice_steps, mean_return = 1, None
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
                progress.update(step, mean_return)
                if stop_requested.is_set():
                    self._save(saver, state, step)
                    raise InterruptedRun(
                        f"stopped at step {step:,}; continue with: {self._again(saver)}"
                    )
                if saver.is_due():
                    self._save(saver, state, step)
            if stop in snapshots:
                shown = self.block.snapshot(state, stop)
                self.snapshots[stop] = self._own_rows(shown)
                saver.save_snapshot(stop, self.snapshots[stop])
            if stop not in evaluations:
                continue
            state, metrics = self.block.evaluate(state, stop)
            self._pass_on(progress)
            self.curves.append(self._own_rows(metrics))
            returns = self.curves[-1]["return"]
            there = np.isfinite(returns)
            # Only the seeds that are still training: a seed that stopped has no return.
            mean_return = float(returns[there].mean()) if there.any() else None
            self._report_diverged(progress)
            if events is not None:
                events.write(stop, self.curves[-1])
            progress.update(step, mean_return)
        return state

    def _save(self, saver: Saver, state: AgentState, step: int) -> None:
        if saver.folder is not None:
            saved = self.block.to_checkpoint(state)
            saver.save(step, self.result(state), saved, self.block.facts())

    def _start(self, folder: Path | None) -> tuple[AgentState, int, list[str]]:
        """The state to start from, its step, and warnings for the user."""
        notes = []
        for path in checkpoint.checkpoints(folder) if folder is not None else []:
            try:
                note = load_arrays(path)[1]
                step = int(note["step"])
            except (DamagedFileError, KeyError) as error:
                notes.append(f"{error}; trying the one before it")
                checkpoint.set_aside(path)
                continue
            # The note has all settings, except for those that its version did not have.
            saved = note.get("config")
            if not isinstance(saved, dict) or (
                Config.of(saved, version=history.FIRST) != self.config
            ):
                raise FreqdynaError(f"config.toml was changed since {path.name} was written")
            saved, curves, _ = checkpoint.load(path, self.block.state_structure())
            if note["device_kind"] != self.provenance["device_kind"] or (
                note["devices"] != self.provenance["devices"]
            ):
                notes.append(
                    f"this run started on {note['devices']} × {note['device_kind']} and resumes on "
                    f"{self.provenance['devices']} × {self.provenance['device_kind']}: "
                    "its last digits may differ from an uninterrupted run"
                )
            self.snapshots = run_folder.read_snapshots(path.parent)
            names = list(curves)
            rows = len(curves[names[0]]) if names else 0
            self.curves = [{name: curves[name][i] for name in names} for i in range(rows)]
            return self.block.from_checkpoint(saved, note.get("facts", {})), step, notes
        if notes:
            notes.append("no checkpoint could be read: starting from the first step")
        return self.block.init(), 0, notes

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
        names = self.curves[0] if self.curves else {}
        evaluations = evaluation_steps(self.config.steps, self.config.eval_every)
        first = self.config.first_seed
        return Result(
            config=self.config,
            provenance=self.provenance | self.block.facts(),
            seeds=np.arange(first, first + self.config.seeds),
            steps=evaluations[: len(self.curves)],
            metrics={name: np.stack([row[name] for row in self.curves], axis=1) for name in names},
            parameters=self.block.parameters(state),
            layer_sizes=self.training.agent.layer_sizes,
            snapshots=self.snapshots,
        )

    def _announcement(self, step: int) -> str:
        config, facts = self.config, self.provenance
        text = (
            f"{config.algorithm} on {config.env}: {config.seeds} seeds × {config.steps:,} steps, "
            f"{config.planning_steps} planning updates per step, "
            f"on {facts['devices']} × {facts['device_kind']}"
        )
        if step:
            text += f"; resuming from step {step:,}"
        if config.warmup_steps >= config.steps:
            text += f"; every action is random: the warm-up lasts {config.warmup_steps:,} steps"
        return text

    def _again(self, saver: Saver) -> str:
        """How to resume: on the command line, unless the environment must be passed in Python."""
        if needs_env_argument(self.config, self.provenance):
            return f"freqdyna.resume({str(saver.folder)!r}, env=...), in Python"
        names = (self.config.env, self.config.search_control or "")
        code = " --allow-code" if any(module_of(name) is not None for name in names) else ""
        return f"freqdyna resume {saver.folder}{code}"

    def _report_diverged(self, progress: Progress) -> None:
        for row, step in enumerate(self.curves[-1]["diverged_at"]):
            seed = self.config.first_seed + row
            if step >= 0 and seed not in self.reported:
                self.reported.add(seed)
                progress.warn(
                    f"seed {seed} diverged at step {int(step):,}: its loss is not finite; "
                    "the other seeds continue"
                )
