"""The tables of settings on the page docs/settings.md, from the classes that declare them."""

import re
from collections.abc import Mapping

from freqdyna.agents.dyna.agent import Dyna
from freqdyna.agents.dyna.planning import Planning
from freqdyna.agents.learners import DQN, NAF
from freqdyna.agents.models import MODELS
from freqdyna.agents.replay import ReplayBuffer
from freqdyna.agents.sac import SAC
from freqdyna.agents.trust import TRUSTS
from freqdyna.config import ALIASES, Config, Setting, docs_of, settings_of
from freqdyna.core.errors import FreqdynaError
from freqdyna.envs import ENVIRONMENTS
from freqdyna.search_control import SEARCH_CONTROLS

GROUPS: dict[str, tuple[str, Mapping[str, type]]] = {
    "The run": ("", {"every run": Config}),
    "The agent": ("", {"every agent": Dyna}),
    "The environment": ("env", ENVIRONMENTS),
    "The learner": ("learner", {"discrete actions": DQN, "continuous actions": SAC, "NAF": NAF}),
    "The replay buffer": ("replay", {"every agent": ReplayBuffer}),
    "Planning": ("planning", {"every dyna": Planning}),
    "The search-control": ("search_control", SEARCH_CONTROLS),
    "The model": ("model", MODELS),
    "Trust": ("trust", TRUSTS),
}
"""The title of each group, the prefix of its settings, and the classes that declare them."""


def tables() -> str:
    """One section for each group, with tables of its settings, in Markdown."""
    lines: list[str] = []
    for title, (kind, classes) in GROUPS.items():
        lines += [f"### {title}", ""]
        shared = _shared(kind, classes)
        for of, rows in sorted(shared.items(), key=lambda one: len(one[0]) < len(classes)):
            names = ", ".join(dict.fromkeys(map(_family, of)))
            if len(shared) > 1:
                lines += ["*all*" if len(of) == len(classes) else f"*{names}*", ""]
            lines += ["| setting | default | allowed | meaning |", "|---|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _shared(kind: str, classes: Mapping[str, type]) -> dict[tuple[str, ...], list[str]]:
    """The rows of a group, by the names of the classes that share a declaration."""
    declared: dict[str, list[str]] = {}
    for of, component in classes.items():
        for name, setting in settings_of(component).items():
            full = f"{kind}.{name}" if kind else name
            names = [full, *(alias for alias, meant in ALIASES.items() if meant == full)]
            default = " ".join(map(str, setting.default)) if _is_tuple(setting) else setting.default
            cells = (
                ", ".join(f"`{one}`" for one in names),
                f"`{default}`" if default != "" else "none",
                _allowed(setting),
                docs_of(component).get(name, ""),
            )
            row = "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
            declared.setdefault(row, []).append(of)
    shared: dict[tuple[str, ...], list[str]] = {}
    for row, of_row in declared.items():
        shared.setdefault(tuple(of_row), []).append(row)
    return shared


def _family(name: str) -> str:
    """Environments that differ in their number of coordinates alone have one name."""
    return re.sub(r"^(TubeGridWorld)-\d+$", r"\1-n", name)


def _is_tuple(setting: Setting) -> bool:
    return isinstance(setting.default, tuple)


def _allowed(setting: Setting) -> str:
    """What the check of a setting says about a value that nothing allows."""
    try:
        setting.check(setting.name, object())
    except FreqdynaError as error:
        allowed = str(error).partition("it must be ")[2]
        return f"{allowed}, or None" if setting.may_be_none else allowed
    return ""
