"""Quickstart: train on MountainCar without and with search-control, and compare."""

import shutil
from pathlib import Path

from freqdyna.cli.main import main

FOLDER = Path("runs/quickstart")
ALGORITHMS = ("er", "dyna-frequency", "dyna-uniform", "dyna-td-error")


def quickstart() -> None:
    """Train the algorithms, then print a table and draw a plot."""
    count = len(ALGORITHMS)
    print(f"MountainCar, 6 seeds of each of {count} algorithms: three to five minutes on 2 cores.")
    shutil.rmtree(FOLDER, ignore_errors=True)  # this folder belongs to the quickstart alone
    for algorithm in ALGORITHMS:
        main(
            [
                "train",
                f"--algorithm={algorithm}",
                "--env=MountainCar-v0",
                "--seeds=6",
                "--steps=4000",
                "--eval-every=250",
                f"--out={FOLDER / algorithm}",
            ]
        )
    runs = [str(FOLDER / algorithm) for algorithm in ALGORITHMS]
    main(["plot", *runs, f"--out={FOLDER / 'curves.png'}"])


if __name__ == "__main__":
    quickstart()
