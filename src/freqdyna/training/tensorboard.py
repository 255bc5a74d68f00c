"""Evaluation metrics as TensorBoard events (extra `tensorboard`)."""

from pathlib import Path

from freqdyna.training.evaluation_log import EvaluationLog


class TensorBoardLog(EvaluationLog):
    """Writes the numbers of evaluations as scalars.

    Args:
        folder: The run folder.
        last_step: The step of the last evaluation before; later ones that were written by a process
            that was killed, or before the run was extended, are replaced.

    """

    def __init__(self, folder: Path, last_step: int) -> None:
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=last_step + 1)

    def write(self, step: int, numbers: dict[str, float]) -> None:
        """Add the numbers of one evaluation."""
        for name, number in numbers.items():
            self._writer.add_scalar(name, number, step)

    def close(self) -> None:
        """Write the remaining events and close the file."""
        self._writer.close()
