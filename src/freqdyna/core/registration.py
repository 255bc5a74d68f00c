"""Registers the mazes with Gymnasium; it runs on import and must be fast."""

import gymnasium


def register() -> None:
    """Make `gymnasium.make("freqdyna/MazeGridWorld-v0")` and the other mazes work."""
    for name in ("GridWorld", "MazeGridWorld", "DynaMaze"):
        gymnasium.register(
            id=f"freqdyna/{name}-v0",
            entry_point="freqdyna.envs.gymnasium_env:GymnasiumEnv",
            kwargs={"name": name},
            max_episode_steps=2000,
        )
