"""Quickstart: train on MountainCar without and with search-control, and compare."""

import shutil
from pathlib import Path

from freqdyna.cli.main import main

FOLDER = Path("runs/quickstart")
ALGORITHMS = ("er", "dyna-frequency", "dyna-uniform", "dyna-td-error")


def quickstart() -> None:
    """Train the algorithms, then print a table and draw a plot."""
    count = len(ALGORITHMS)
    print(f"MountainCar, 6 seeds of each of {count} algorithms: two to four minutes on 2 cores.")
    shutil.rmtree(FOLDER, ignore_errors=True)  # this folder belongs to the quickstart alone
    for algorithm in ALGORITHMS:
        main(
            [
                "train",
                f"--algorithm={algorithm}",
                "--env=MountainCar-v0",
                "--seeds=6",
                "--steps=15000",
                # Waiting for the end of the warm-up takes a third of so short a run, and ER then
                # learns on few seeds (docs/not-learning.md).
                "--learn-in-warmup",
                f"--out={FOLDER / algorithm}",
            ]
        )
    runs = [str(FOLDER / algorithm) for algorithm in ALGORITHMS]
    main(["plot", *runs, f"--out={FOLDER / 'curves.png'}"])


if __name__ == "__main__":
    quickstart()
