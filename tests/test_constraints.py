"""`constraints.txt` has the tested version of everything that the Makefile installs."""

import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LINES = [x for x in (ROOT / "constraints.txt").read_text().splitlines() if x[:1] not in ("", "#")]
PINNED = {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in LINES}


def installed_by_make_test():
    """The requirements of the extra `dev`, which includes others, and of the package itself."""
    extras = PROJECT["project"]["optional-dependencies"]
    required = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    included = ["dev"]
    for extra in included:
        for text in extras[extra]:
            requirement = Requirement(text)
            if requirement.name == "freqdyna":
                included += requirement.extras
            else:
                required.append(text)
    return sorted(set(required))


def test_the_tested_version_satisfies_each_requirement():
    for requirement in map(Requirement, installed_by_make_test()):
        assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)])


def test_the_dependencies_of_dependencies_have_a_version_too():
    names = [Requirement(text).name for text in installed_by_make_test()]
    for name in names:
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # setuptools is needed only to build
            continue
        for text in required:
            inner = Requirement(text)
            if inner.marker is None:
                assert canonicalize_name(inner.name) in PINNED, f"{name} needs {inner.name}"
