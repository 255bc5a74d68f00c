"""Playing and rendering episodes of a trained policy, for `freqdyna watch`."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, SupportsInt

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from freqdyna import envs
from freqdyna.config import Config
from freqdyna.core.errors import FreqdynaError, counted
from freqdyna.envs import Environment
from freqdyna.envs.base import Policy, advance_episode, start_episode
from freqdyna.envs.names import check_same_environment, environment_of_run, space_of_run
from freqdyna.envs.space import Factory, Space
from freqdyna.results.film import Film, Moment, number
from freqdyna.results.policy import greedy_policy
from freqdyna.results.record import Record

MOST_EPISODES = 100
STREAM = 3
"""A stream of keys, separate from training (0), evaluation (1) and snapshots (2)."""

Player = Callable[[int], Iterator[Moment]]
"""From the index of an episode to its moments."""


@dataclass(frozen=True)
class Stage:
    """An environment that can be played and rendered."""

    space: Space
    player: Callable[[Policy], Player]
    """Plays episodes with a policy."""
    steps_a_second: float
    limit: int
    """Steps after which an episode is truncated."""
    close: Callable[[], object]


def film_policy(
    result: Record,
    seed: SupportsInt | None,
    episodes: int,
    env: Any,
    tell: Callable[[str], object],
) -> tuple[Film, np.ndarray]:
    """Play episodes of a seed's greedy policy.

    Args:
        result: The training.
        seed: The seed; None for the first one.
        episodes: The number of episodes.
        env: The environment, if it cannot be found by the name in the configuration.
        tell: Called with progress messages.

    Returns:
        The animation, and the return of each episode, shape (episodes,).

    """
    is_integer = isinstance(episodes, int) and not isinstance(episodes, bool)
    if not is_integer or not 1 <= episodes <= MOST_EPISODES:
        raise FreqdynaError(
            f"episodes is {episodes!r}; it must be an integer from 1 to {MOST_EPISODES}"
        )
    chosen = int(result.seeds[0]) if seed is None else int(seed)
    parameters = result.seed_parameters(chosen)
    if not np.isfinite(parameters).all():
        raise FreqdynaError(
            f"seed is {chosen}, which diverged: its parameters are not finite; choose another"
        )
    config = result.config
    stage = set_up(config, chosen, env, result.provenance)
    done = int(result.steps[-1])
    age = f"after {done:,} steps" if done == config.steps else "not yet trained to the end"
    tell(
        f"{config.agent_name} on {result.env_name}, seed {chosen}, {age}: "
        f"{counted(episodes, 'episode')} of the greedy policy, at most "
        f"{stage.limit:,} steps each"
    )
    policy = greedy_policy(config, stage.space, parameters)
    play, film, returns = stage.player(policy), Film(stage.steps_a_second, episodes), []
    try:
        for episode in range(episodes):
            for moment in play(episode):
                film.show(episode, moment)
            end = "terminal" if moment.terminal else "truncated"
            tell(
                f"episode {episode + 1}: return {number(moment.total)}, {moment.step} steps, {end}"
            )
            returns.append(moment.total)
    finally:
        stage.close()
    return film, np.array(returns)


def set_up(config: Config, seed: int, env: Any, facts: dict[str, Any]) -> Stage:
    """Prepare the environment of a run for playing and rendering.

    Args:
        config: The settings of the run.
        seed: The seed.
        env: The environment, or None to find it by its name.
        facts: The provenance of the run.

    Raises:
        FreqdynaError: If the run was trained in another environment, as far as that is known.

    """
    watch = "watch it there with freqdyna.load(...).watch(..., env=...)"
    found = environment_of_run(config, env, facts, watch)
    if isinstance(found, Environment):
        stage = _compiled_stage(found, seed)
    else:
        stage = _host_stage(config, seed, found, env is not None, facts)
    try:
        check_same_environment(stage.space, facts)
    except FreqdynaError:
        stage.close()
        raise
    return stage


def _compiled_stage(env: Environment, seed: int) -> Stage:
    painter = env.painter()
    start = jax.jit(lambda key: start_episode(env, key))

    def player(policy: Policy) -> Player:
        advance = jax.jit(lambda key, now: advance_episode(env, policy, key, now))

        def play(episode: int) -> Iterator[Moment]:
            key = watch_key(seed, episode)
            now, over = start(key), False
            while not over:
                state, step, terminal = np.asarray(now.state), int(now.length), bool(now.terminal)
                over = terminal or step >= env.episode_limit
                yield Moment(step, float(now.total), terminal, over, partial(painter.draw, state))
                now = now if over else advance(key, now)

        return play

    return Stage(env, player, painter.steps_a_second, env.episode_limit, lambda: None)


def _host_stage(
    config: Config, seed: int, plain: Factory, given: bool, facts: dict[str, Any]
) -> Stage:
    from freqdyna.envs.gym import WATCHING, EnvironmentFailed, HostSpace, Slot, close_env, make_env
    from freqdyna.envs.picture import (
        MODE,
        cannot_be_drawn,
        needs_mujoco,
        rendered,
        steps_a_second,
    )

    drawn = plain
    if not given:
        options = config.of_component("env") | {"render_mode": MODE}
        options.pop("episode_limit", None)
        drawn = envs.gymnasium_factory(config.env, **options)
    try:
        example = make_env(plain)
    except FreqdynaError as error:
        library = os.environ.get("MUJOCO_GL")
        if library is None or not needs_mujoco(config.env):
            raise
        raise cannot_be_drawn(config.env, f"MUJOCO_GL is {library!r}, but {error}") from error
    modes = list(example.metadata.get("render_modes") or [])
    close_env(example)
    if MODE not in modes:
        raise cannot_be_drawn(config.env, f"its render modes are {modes}, without {MODE!r}")
    shown = make_env(drawn)
    if shown.render_mode != MODE:
        close_env(shown)
        raise cannot_be_drawn(config.env, f"it was created without render_mode={MODE!r}")
    space = space_of_run(plain, config)
    assert isinstance(space, HostSpace)
    slot = Slot(shown, space, seed, WATCHING)

    def draw() -> np.ndarray:
        return rendered(shown, config.env)

    def player(policy: Policy) -> Player:
        act = jax.jit(policy)

        def play(episode: int) -> Iterator[Moment]:
            key, total, terminal, over = watch_key(seed, episode), 0.0, False, False
            try:
                observation = slot.begin(episode)
                yield Moment(0, total, terminal, over, draw)
                while not over:
                    action = np.asarray(act(observation, jax.random.fold_in(key, slot.length)))
                    observation, reward, terminal, over = slot.step(action)
                    total += reward
                    yield Moment(slot.length, total, terminal, over, draw)
            except EnvironmentFailed as error:
                raise FreqdynaError(f"env is {config.env!r}, which fails: {error}") from error

        return play

    return Stage(
        space, player, steps_a_second(shown), space.episode_limit, lambda: close_env(shown)
    )


def watch_key(seed: int, episode: int) -> PRNGKeyArray:
    """The random key of an episode."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), STREAM), episode)
