"""The true model: the environment's own transition function."""

from typing import ClassVar

from jaxtyping import Array, Float, PRNGKeyArray

from freqdyna.agents.models.base import Model, Outcome
from freqdyna.envs.base import Action, Environment


class TrueModel(Model[None]):
    """The environment as a model; it does not learn."""

    learn_batch: ClassVar[int] = 0
    env: Environment

    @property
    def noise_size(self) -> int:
        """One number for the reward, plus those of the environment."""
        return 1 + self.env.noise_size

    def init(self, key: PRNGKeyArray) -> None:
        """The model has no state."""

    def query(
        self,
        state: None,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " k"],
    ) -> Outcome:
        """A transition of the environment; see `Model.query`."""
        return self.env.transition_from_noise(s, action, noise)

    def learn(self, state: None, rows: Float[Array, "batch width"]) -> None:
        """The model does not learn."""
