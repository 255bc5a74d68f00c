"""The trainings of F4, F5 and F8: what is trained, and how eight interpretations are combined."""

from freqdyna.envs.resolve import named_environment, resolved_by_name
from freqdyna.experiments import registry
from freqdyna.experiments.parts import maze
from freqdyna.experiments.readings import IN_THE_MAZE
from freqdyna.search_control.hill_climb import HillClimb


def test_every_interpretation_reaches_the_environment_and_the_climb():
    units = {unit.name: unit for unit in registry.find("F4").units(False)}
    assert len(units) == 8 * 2 + 2 * 2 + 1
    seen = set()
    for reading in IN_THE_MAZE:
        walls, edge, sigma = reading.split(", ")
        for name in maze.BOTH:
            (unit,) = (
                unit
                for unit in units.values()
                if unit.settings == {"seeds": 100, "steps": 50_000} | maze.settings(reading, name)
            )
            config = resolved_by_name(unit.meaning(unit.settings))
            env, climb = named_environment(config), HillClimb.from_config(config)
            inside = walls == "walls inside"
            assert env.walls_in_state_space == inside
            assert env.collision == ("end_point" if inside else "segment")
            assert climb.boundary == {"restart": "restart", "clip": "project"}[edge]
            assert climb.preconditioner == {"Σ": "covariance", "I": "identity"}[sigma]
            assert (config.planning_steps, config.hidden) == (30, (64, 64))
            seen.add((unit.name, env.walls_in_state_space, climb.boundary, climb.preconditioner))
    assert len(seen) == 16


def test_the_longer_trainings_and_the_learned_model_have_30_seeds():
    others = [u for u in registry.find("F4").units(False) if u.settings["seeds"] == 30]
    assert [(u.name, u.settings["steps"]) for u in others] == [
        ("MazeGridWorld-dyna-frequency-steps-100000", 100_000),
        ("MazeGridWorld-dyna-value-steps-100000", 100_000),
        *(
            (
                f"MazeGridWorld-{algorithm}-climb-boundary-project-climb-preconditioner-identity-"
                "collision-end_point-walls-in-state-space-True-steps-100000",
                100_000,
            )
            for algorithm in ("dyna-frequency", "dyna-value")
        ),
        ("MazeGridWorld-dyna-frequency-model-learned", 50_000),
    ]
