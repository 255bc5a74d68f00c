"""Settings of small runs that many tests share, so that their programs are compiled once."""

SMALL = {
    "env": "GridWorld",
    "seeds": 3,
    "steps": 90,
    "planning_steps": 1,
    "learner.hidden": (4,),
    "batch_size": 4,
    "warmup_steps": 10,
    "eval_every": 20,
    "env.episode_limit": 30,
}

QUICK = {
    "env": "CartPole-v1",
    "seeds": 2,
    "steps": 200,
    "planning_steps": 1,
    "learner.hidden": (2,),
    "learner.n_step": 1,
    "replay.capacity": 100,
    "replay.prioritized_share": 0.0,
    "batch_size": 2,
    "warmup_steps": 10,
    "eval_every": 100,
    "devices": 1,
}
"""A small program even for the compiler that users have."""

SWEEP = """
[settings]
algorithm = "er"
steps = 400
planning_steps = 1
batch_size = 4
warmup_steps = 100
eval_every = 100
env = {name = "GridWorld", episode_limit = 50}
learner.hidden = [8]
replay.capacity = 1_000

[vary]
learner.learning_rate = [0.001, 0.003]

[seeds]
number = 2
block = 1
"""
"""A sweep of four units."""


def options(settings):
    """Settings as options of the command line."""
    values = {k: v[0] if isinstance(v, tuple) else v for k, v in settings.items()}
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]
