"""The design of the study: which search-controls are compared where, and with which settings."""

from typing import Any, NamedTuple

CONTROLS = (
    *("replay", "value", "frequency", "uniform"),
    *("td-error", "td-climb", "prioritized-sweeping", "parallel-frequency"),
)
"""The search-controls that are compared, by their names in `freqdyna list`."""
ER = "ER"
"""Experience replay without a model, the reference: one training for all models."""
DOMAINS: dict[str, dict[str, Any]] = {
    "MountainCar-v0": {},
    "GridWorld": {},
    "MazeGridWorld": {},
    "Acrobot-v1": {},
    "CartPole-v1": {},
    # Costs of up to 81 dominate the squared loss: docs/environments.md.
    "PuddleWorld": {"loss": "huber", "scale_observations": True},
}
"""The domains with the settings that differ there from those of all trainings.

Updates per step (d) and queue states per step (m) are the defaults of the domain: d = 30 and
m = 50 on MazeGridWorld, d = 10 and m = 20 elsewhere.
"""
FIRST_FIVE = tuple(DOMAINS)[:5]
"""The domains of the second of the goals, see `goals`."""
MODELS = ("true", "learned")
FURTHER_MODEL = "ensemble"
"""In stage 3."""
NOISE = 0.1
"""The standard deviation of the reward noise in stage 3."""
DIMENSIONS = (2, 3, 4, 6, 8)
"""The n of TubeGridWorld-n, in stage 2: a task that stays the same while the box grows."""
IN_TUBES = ("uniform", "frequency", "td-error", "parallel-frequency", "replay", ER)
"""What is compared there. ER shows how much harder it is to learn with n inputs."""
VARIED_IN = ("MountainCar-v0", "GridWorld")
VARIED_WITH = ("uniform", "td-error", "frequency")
VARIED: dict[str, tuple[int, ...]] = {"planning_steps": (5, 20), "search_states": (10, 40)}
"""Stage 4: half and twice the default of d and of m, one at a time, with the true model."""
CONTINUOUS = "Pendulum-v1"
"""The domain of stage 7, with continuous actions: NAF takes the place of DQN, with d = 5.

Its model is set even if it is the true one, because in the preset of all trainings it is learned,
as it was in version 0.1.
"""
WITH_NAF = ("uniform", "frequency", "td-error", "value", "replay", ER)
"""What is compared there; ER is NAF with experience replay alone."""
SIZE: dict[str, Any] = {"seeds": 30, "steps": 30_000}
"""Of every training except those for tuning; the seeds are 0 to 29."""
WAITING = {"learn_in_warmup": False}
"""Updates begin after the warm-up of 5,000 steps everywhere, as in the paper's published code."""


class Cell(NamedTuple):
    """What search-controls are compared in: all trainings of a cell differ only in the control."""

    domain: str
    model: str = "true"
    noise: float = 0.0

    def __str__(self) -> str:
        """Such as "GridWorld, learned model"."""
        noise = f", σ = {self.noise:g}" if self.noise else ""
        return f"{self.domain}, {self.model} model{noise}"


FIRST_STAGE = tuple(Cell(domain, model) for model in MODELS for domain in DOMAINS)
TUBES = {n: Cell(f"TubeGridWorld-{n}") for n in DIMENSIONS}
NOISY = tuple(Cell(domain, model, NOISE) for model in MODELS for domain in DOMAINS)
"""In stage 3, of all search-controls: they are rows of the programs of stage 1 and cost little."""
ENSEMBLE = tuple(Cell(domain, FURTHER_MODEL) for domain in DOMAINS)
"""In stage 3, of the five best of stage 1."""
PENDULUMS = tuple(Cell(CONTINUOUS, model) for model in MODELS)
"""In stage 7. They are no part of the hypotheses and goals, which were written before it."""


def settings(control: str, cell: Cell, own: dict[str, Any], **varied: Any) -> dict[str, Any]:
    """The settings of a training, without its size.

    Args:
        control: One of CONTROLS, or ER.
        cell: Where it is trained.
        own: The settings of the search-control itself that are not the default.
        **varied: Further settings.

    """
    found: dict[str, Any] = {"env": cell.domain, **_agent(control, cell.domain)}
    found |= WAITING | DOMAINS.get(cell.domain, {}) | own | varied
    is_continuous = cell.domain == CONTINUOUS
    if control != ER and (cell.model != "true" or is_continuous):
        found["model"] = cell.model
    if control != ER and cell.model != "true" and is_continuous:
        found["model_termination"] = "known"  # no state is terminal
    if cell.noise:
        found["reward_noise"] = cell.noise
    return found


def _agent(control: str, domain: str) -> dict[str, str]:
    """The settings that name an agent with this search-control."""
    if domain != CONTINUOUS:
        return {"algorithm": "er" if control == ER else f"dyna-{control}"}
    return (
        {"algorithm": "naf"} if control == ER else {"algorithm": "dyna", "search_control": control}
    )
