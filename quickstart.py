"""Quickstart: train on MountainCar without planning, with a learned and with the true model."""

import shutil
from pathlib import Path

from freqdyna.cli.main import main

FOLDER = Path("runs/quickstart")
RUNS = {
    "er": ["--algorithm=er"],
    "dyna": ["--algorithm=dyna"],
    "dyna-true-model": ["--algorithm=dyna", "--model=true"],
    "dyna-frequency-true-model": ["--algorithm=dyna-frequency", "--model=true"],
}


def quickstart() -> None:
    """Train the algorithms, then print a table and draw a plot."""
    print(f"MountainCar, 5 seeds of each of {len(RUNS)} agents: a few minutes on 2 cores.")
    shutil.rmtree(FOLDER, ignore_errors=True)  # this folder belongs to the quickstart alone
    common = ["--env=MountainCar-v0", "--seeds=5", "--steps=3000", "--eval-every=250"]
    for name, options in RUNS.items():
        main(["train", *options, *common, f"--out={FOLDER / name}"])
    main(["plot", *(str(FOLDER / name) for name in RUNS), f"--out={FOLDER / 'curves.png'}"])


if __name__ == "__main__":
    quickstart()
