"""The true model: the environment's own transition function."""

from jaxtyping import Array, Float

from freqdyna.agents.models.base import Model, Outcome
from freqdyna.envs.base import Action, Environment
from freqdyna.envs.space import Space


class TrueModel(Model[None]):
    """The environment's own transition function."""

    env: Environment | None = None
    """The environment, see `bind`."""

    def bind(self, space: Space) -> "TrueModel":
        """The model of a compiled environment; see `Model.bind`."""
        assert isinstance(space, Environment)
        return TrueModel(space)

    @property
    def noise_size(self) -> int:
        """One number for the reward, plus those of the environment."""
        assert self.env is not None
        return 1 + self.env.noise_size

    @property
    def is_always_finite(self) -> bool:
        """Yes for built-in environments; a user's own may return anything where it never was."""
        return type(self.env).__module__.startswith("freqdyna.envs.")

    def query(
        self,
        state: None,
        s: Float[Array, " n"],
        action: Action,
        noise: Float[Array, " k"],
    ) -> Outcome:
        """A transition of the environment; see `Model.query`."""
        assert self.env is not None
        return self.env.transition_from_noise(s, action, noise)
