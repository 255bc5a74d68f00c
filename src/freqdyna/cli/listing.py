"""The command `freqdyna list`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ListNames:
    """List the algorithms, environments, search-controls, models and presets."""

    def run(self) -> None:
        """Run the command."""
        from freqdyna.agents.algorithms import ALGORITHMS
        from freqdyna.agents.models import MODELS
        from freqdyna.config import PRESETS
        from freqdyna.envs import ENVIRONMENTS
        from freqdyna.search_control import SEARCH_CONTROLS

        names = {
            "algorithms": {name: recipe.summary for name, recipe in ALGORITHMS.items()},
            "environments": {name: env.summary for name, env in ENVIRONMENTS.items()},
            "search-controls": {
                name: SEARCH_CONTROLS.summary(strategy)
                for name, strategy in SEARCH_CONTROLS.items()
            },
            "models": {name: MODELS.summary(model) for name, model in MODELS.items()},
            "presets": {name: preset.summary for name, preset in PRESETS.items()},
        }
        width = max(len(name) for entries in names.values() for name in entries)
        for title, entries in names.items():
            print(f"{title}:")
            for name, text in entries.items():
                print(f"  {name:{width}}  {text}")
