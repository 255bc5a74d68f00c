"""The two-command start: learn MountainCar with two kinds of replay, and compare them."""

import shutil
from pathlib import Path

from freqdyna.cli import main

FOLDER = Path("runs/quickstart")


def quickstart() -> None:
    """Train both algorithms (about three minutes on 2 cores), then print a table and a picture."""
    print("MountainCar, 6 seeds of each algorithm, about three minutes on 2 cores.")
    shutil.rmtree(FOLDER, ignore_errors=True)  # our own folder, made anew at each quickstart
    for algorithm in ("er", "prioritized-er"):
        main(
            [
                "train",
                f"--algorithm={algorithm}",
                "--env=MountainCar-v0",
                "--seeds=6",
                "--steps=30000",
                f"--out={FOLDER / algorithm}",
            ]
        )
    runs = [str(FOLDER / name) for name in ("er", "prioritized-er")]
    main(["plot", *runs, f"--out={FOLDER / 'curves.png'}"])


if __name__ == "__main__":
    quickstart()
