"""What a run says about itself."""

from pathlib import Path
from typing import Any

from freqdyna.config import Config
from freqdyna.core.errors import counted
from freqdyna.core.plugins import module_of
from freqdyna.envs.resolve import needs_env_argument


def announcement(config: Config, provenance: dict[str, Any], step: int) -> str:
    """What is about to be trained, on what, and from which step.

    Args:
        config: The settings of the run, all of them set.
        provenance: Its provenance.
        step: The step from which it starts or resumes.

    """
    text = (
        f"{config.agent_name} on {config.env_name}: {counted(config.seeds, 'seed')} × "
        f"{config.steps:,} steps, {config.planning_steps} planning updates per step, "
        f"episodes of at most {config.episode_limit:,} steps, "
        f"on {provenance['devices']} × {provenance['device_kind']}"
    )
    if step:
        text += f"; resuming from step {step:,}"
    if config.warmup_steps >= config.steps:
        text += f"; every action is random: the warm-up lasts {config.warmup_steps:,} steps"
    return text


def resume_command(config: Config, provenance: dict[str, Any], folder: Path | None) -> str:
    """How to resume: on the command line, unless the environment must be passed in Python.

    Args:
        config: The settings of the run.
        provenance: Its provenance.
        folder: Its folder.

    """
    if needs_env_argument(config, provenance):
        return f"freqdyna.resume({str(folder)!r}, env=...), in Python"
    names = (config.env, config.search_control, config.model)
    code = " --allow-code" if any(module_of(name) is not None for name in names) else ""
    return f"freqdyna resume {folder}{code}"
