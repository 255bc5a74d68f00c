"""After how many steps episodes of the built-in environments are truncated."""

GYMNASIUMS_LIMITS = {
    "MountainCar-v0": 200,
    "CartPole-v1": 500,
    "Acrobot-v1": 500,
    "Pendulum-v1": 200,
}
"""After how many steps Gymnasium truncates episodes of the environments that are built in, too."""
EPISODE_LIMITS = {
    **GYMNASIUMS_LIMITS,
    **dict.fromkeys(("MountainCar-v0", "GridWorld", "MazeGridWorld", "DynaMaze"), 2000),
    **{f"TubeGridWorld-{n}": 2000 for n in (2, 3, 4, 6, 8)},
    "PuddleWorld": 200,
}
"""After how many steps episodes of the built-in environments are truncated by default."""
