"""Packs what a machine without a network needs to train, beside its own JAX, NumPy and SciPy.

    python benchmarks/pack.py runs/packages.tar.gz --python 3.12

There, in a copy of this repository:

    mkdir packages && tar xzf runs/packages.tar.gz -C packages
    PYTHONPATH=packages:src:benchmarks python3 benchmarks/pool.py train FOLDER

Versions are those of constraints.txt. A pool with 8 to 16 processes needs NVIDIA's MPS, and
`JAX_COMPILATION_CACHE_DIR` saves a minute per program if its folder is kept.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
from importlib import metadata
from pathlib import Path

PACKAGES = (
    *("gymnasium", "farama-notifications", "cloudpickle", "typing-extensions"),
    *("equinox", "optax", "absl-py", "jaxtyping", "wadler-lindig", "filelock", "fsspec"),
    *("tyro", "typeguard", "docstring-parser", "rich", "markdown-it-py", "mdurl", "pygments"),
    *("mujoco", "mujoco-core", "etils", "importlib-resources", "zipp", "glfw"),
    *("box2d", "pygame-ce", "imageio", "packaging"),
)
PLATFORMS = "manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"
NOT_NEEDED = "mujoco/doc", "mujoco/introspect", "mujoco/include", "Box2D/examples"


def pack(file: Path, python: str) -> None:
    """Install the packages for another Python into a folder, and write it as an archive."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--quiet", "--no-deps", "--no-compile", "--only-binary=:all:"]
        options += [f"--python-version={python}", *(f"--platform={name}" for name in PLATFORMS)]
        options += ["--constraint=constraints.txt", f"--target={folder}"]
        command = [sys.executable, "-m", "pip", "install", *options, *PACKAGES]
        subprocess.run(command, check=True)
        # Runs record this package's version, which is only known of an installed package.
        version = metadata.version("freqdyna")
        info = Path(folder) / f"freqdyna-{version}.dist-info"
        info.mkdir()
        text = f"Metadata-Version: 2.1\nName: freqdyna\nVersion: {version}\n"
        (info / "METADATA").write_text(text)

        def wanted(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
            return None if member.name.removeprefix("./").startswith(NOT_NEEDED) else member

        file.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(file, "w:gz") as archive:
            archive.add(folder, ".", filter=wanted)
    print(f"{file}: {file.stat().st_size / 2**20:.0f} MiB")


def main() -> None:
    """Pack."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--python", default="3.12")
    options = parser.parse_args()
    pack(options.file, options.python)


if __name__ == "__main__":
    main()
