"""The command `freqdyna import`."""

from dataclasses import dataclass
from pathlib import Path

import tyro

from freqdyna.core.errors import counted


@dataclass(frozen=True)
class ImportCurves:
    """Import learning curves of other programs, to plot, compare and report them like runs."""

    files: tyro.conf.Positional[tuple[Path, ...]]
    """CSV files with one row for each seed and step; or for each seed one evaluations.npz or one
    monitor file of Stable-Baselines3, one TensorBoard event file, or a folder with one of these."""
    name: str | None = None
    """The name of the algorithm. If unset: that of the file or folder."""
    env: str | None = None
    """The name of the environment; with its episode limit if that was not Gymnasium's, such as
    "MountainCar-v0 (2000 steps)". If unset: that in monitor files."""
    out: Path | None = None
    """A new folder for the curves. If unset: a free name in runs/."""
    seed_column: str = "seed"
    """CSV only: the column of the seed."""
    step_column: str = "step"
    """CSV only: the column of the environment steps."""
    return_column: str = "return"
    """CSV only: the column of the return."""
    tag: str | None = None
    """TensorBoard only: the name of the scalar. If unset: eval/mean_reward, rollout/ep_rew_mean or
    charts/episodic_return."""
    every: int | None = None
    """Average returns over intervals of so many steps. If unset: only if the seeds have different
    steps, over up to 100 intervals."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.results.import_curves import UNKNOWN, free_folder, import_curves
        from freqdyna.results.record import IMPORTED
        from freqdyna.results.table import print_table

        result = import_curves(
            *self.files,
            name=self.name,
            env=self.env,
            seed_column=self.seed_column,
            step_column=self.step_column,
            return_column=self.return_column,
            tag=self.tag,
            every=self.every,
        )
        out = self.out or free_folder(result)
        result.save(out)
        facts = result.provenance[IMPORTED]
        print(f"imported from {result.imported_from}")
        if "averaged_over_steps" in facts:
            every = facts["averaged_over_steps"]
            print(f"returns are averaged over intervals of {counted(every, 'step')}")
        if facts["env"] == UNKNOWN:
            print(
                "the environment is not known, so it is compared with no other; set it with --env"
            )
        print_table([(out, result)])
