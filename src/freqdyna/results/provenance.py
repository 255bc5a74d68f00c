"""Provenance: the command, date, commit, versions and machine of a result."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any


def provenance(devices: list[Any], **facts: Any) -> dict[str, Any]:
    """The provenance of a run: command, date, commit, versions and machine.

    Args:
        devices: The JAX devices that it uses.
        **facts: Further entries, in types that JSON can represent.

    """
    packages = ("jax", "jaxlib", "equinox", "optax", "numpy", "gymnasium")
    versions = {"python": platform.python_version(), "freqdyna": metadata.version("freqdyna")}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "command": command(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "versions": versions,
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "device_kind": devices[0].device_kind,
        "devices": len(devices),
        **facts,
    }


def command() -> str:
    """The command of this process; "freqdyna" also if it was started as a module."""
    name = Path(sys.argv[0]).name
    return " ".join(["freqdyna" if name == "__main__.py" else name, *sys.argv[1:]])


def commit() -> str | None:
    """The commit of the source tree, with `-dirty` if it was changed; None if installed."""
    where = Path(__file__).parent
    git = ["git", "-C", str(where)]
    try:
        tracked = subprocess.run(
            [*git, "ls-files", "--error-unmatch", __file__], capture_output=True, check=False
        )
        if tracked.returncode:
            return None
        described = subprocess.run(
            [*git, "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return described.stdout.strip()
