"""Episodes of a trained policy as an animation, for `freqdyna watch`: a GIF with a line of text."""

import io
import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, SupportsInt

import jax
import numpy as np
from jaxtyping import PRNGKeyArray
from PIL import Image, ImageDraw, ImageFont, ImageOps

from freqdyna import envs
from freqdyna.core.errors import FreqdynaError, counted, one_line
from freqdyna.envs import Environment
from freqdyna.envs.base import Policy, advance_episode, start_episode
from freqdyna.envs.gym import WATCHING, EnvironmentFailed, HostSpace, Slot, close_env, make_env
from freqdyna.envs.picture import MODE, Painter, cannot_be_drawn, rendered
from freqdyna.envs.picture import steps_a_second as frame_rate
from freqdyna.envs.space import Factory, Space
from freqdyna.results.folder import write_output
from freqdyna.results.policy import environment_of_result, greedy_policy
from freqdyna.results.record import Record

MOST_EPISODES = 100
MOST_FRAMES = 400
LONGEST_SIDE, SHORTEST_SIDE = 320, 160
"""Pixels; larger images are scaled down, smaller ones up, so that there is space for the text."""
QUICKEST, SLOWEST = 0.03, 0.1
"""Limits of the seconds per frame: viewers slow down faster animations, slower ones stutter."""
PAUSE = 1000
"""Milliseconds for which the end of an episode is shown."""
LINE_HEIGHT, TEXT_SIZE, NARROWEST = 20, 13, 270
COLORS = 255
"""The size of the palette, one less than a GIF allows."""
PAPER, RULE, INK = (255, 255, 255), (200, 200, 200), (40, 40, 40)
STREAM = 3
"""A stream of keys, separate from training (0), evaluation (1) and snapshots (2)."""


class Frame(NamedTuple):
    """The state of an episode after some of its steps."""

    step: int
    total: float
    """Sum of the rewards so far."""
    terminal: bool
    over: bool
    """Whether the episode is over, terminated or truncated."""
    draw: Callable[[], np.ndarray]
    """Renders an image of shape (height, width, 3); only valid until the next step."""


Player = Callable[[int], Iterator[Frame]]
"""From the number of an episode to its frames, one for each step."""


@dataclass
class Animation:
    """Images at equal intervals, including the first and the last of each episode."""

    steps_a_second: float
    """The frame rate of the environment."""
    episodes: int
    stride: int = field(init=False)
    """Steps between images."""
    images: list[tuple[int, bool, Image.Image]] = field(default_factory=list)
    """The step of each image, whether it is the last of an episode, and the image."""

    def __post_init__(self) -> None:
        self.stride = max(1, math.ceil(QUICKEST * self.steps_a_second))

    @property
    def durations(self) -> list[int]:
        """Milliseconds per image, in multiples of 10, as GIF requires; a long one is sped up."""
        slowest = max(SLOWEST, 1 / self.steps_a_second)  # a slow environment keeps its frame rate
        usual = 10 * round(100 * min(slowest, self.stride / self.steps_a_second))
        return [PAUSE if last else usual for _, last, _ in self.images]

    def add(self, episode: int, frame: Frame) -> None:
        """Add the image of a frame if one is due; of long animations, every second image goes."""
        if frame.step % self.stride and not frame.over:
            return
        text = (
            f"episode {episode + 1} of {self.episodes}",
            f"step {frame.step}",
            f"return {_short(frame.total)}",
        )
        self.images.append((frame.step, frame.over, captioned(frame.draw(), text)))
        if len(self.images) > MOST_FRAMES:
            self.stride *= 2
            self.images = [one for one in self.images if one[1] or one[0] % self.stride == 0]

    def gif(self) -> bytes:
        """The animation as a GIF."""
        images = [image for _, _, image in self.images]
        sample = np.concatenate([np.asarray(image) for image in (images[0], images[-1])])
        palette = Image.fromarray(sample).quantize(COLORS)  # one for all images is stored once
        first, *others = (
            image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images
        )
        look: dict[str, Any] = {"save_all": True, "duration": self.durations, "loop": 0}
        file = io.BytesIO()
        first.save(file, format="GIF", append_images=others, **look)
        return file.getvalue()


def captioned(picture: np.ndarray, text: tuple[str, str, str]) -> Image.Image:
    """An image of shape (height, width, 3), scaled to a suitable size, with a line of text."""
    image = Image.fromarray(picture)
    longest = max(image.size)
    if longest > LONGEST_SIDE:
        image = ImageOps.contain(image, (LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.BILINEAR)
    elif longest < SHORTEST_SIDE:
        times = math.ceil(SHORTEST_SIDE / longest)
        image = ImageOps.scale(image, times, Image.Resampling.NEAREST)
    width = max(image.width, NARROWEST)
    whole = Image.new("RGB", (width, image.height + LINE_HEIGHT), PAPER)
    whole.paste(image, ((width - image.width) // 2, 0))
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(TEXT_SIZE)
    draw.line((0, image.height, width, image.height), RULE)
    middle = image.height + LINE_HEIGHT // 2 + 1
    # The positions do not depend on the numbers: moving text is hard to read.
    for start, words in zip((0.02, 0.44, 0.68), text, strict=True):
        draw.text((round(start * width), middle), words, INK, font, anchor="lm")
    return whole


def write_animation(
    result: Record,
    path: Path,
    seed: SupportsInt | None,
    episodes: int,
    env: Any,
    say: Callable[[str], object],
) -> np.ndarray:
    """Write episodes of a seed's greedy policy as a GIF; see `Result.watch`."""
    if path.suffix.lower() != ".gif":
        raise FreqdynaError(f"out is {str(path)!r}; it must end in .gif")
    if not isinstance(episodes, int) or not 1 <= episodes <= MOST_EPISODES:
        raise FreqdynaError(
            f"episodes is {episodes!r}; it must be an integer from 1 to {MOST_EPISODES}"
        )
    if path.is_dir() or not path.parent.is_dir():
        raise FreqdynaError(f"out is {str(path)!r}; it must be a file in a folder that exists")
    chosen = int(result.seeds[0]) if seed is None else int(seed)
    if not np.isfinite(result.seed_parameters(chosen)).all():
        raise FreqdynaError(
            f"seed is {chosen}, which diverged: its parameters are not finite; choose another"
        )
    returns = []
    with ExitStack() as closing:
        play, steps_a_second = _player(result, chosen, env, closing)
        age = f"seed {chosen} after {result.steps[-1]:,} steps"
        say(f"the greedy policy of {result.config.agent_name} on {result.env_name}, {age}")
        animation = Animation(steps_a_second, episodes)
        for episode in range(episodes):
            for frame in play(episode):
                animation.add(episode, frame)
            end = "terminal" if frame.terminal else "truncated"
            total = _short(frame.total)
            say(f"episode {episode + 1}: return {total}, {counted(frame.step, 'step')}, {end}")
            returns.append(frame.total)
    write_output(path, animation.gif())
    say(f"animation: {path} ({sum(animation.durations) / 1000:.0f} s)")
    return np.array(returns)


def _player(result: Record, seed: int, env: Any, closing: ExitStack) -> tuple[Player, float]:
    """What plays episodes of a seed's greedy policy, and the frame rate of the environment."""
    config = result.config
    played, space = environment_of_result(result, env)
    policy = greedy_policy(config, space, result.seed_parameters(seed))
    if isinstance(played, Environment):
        painter = played.painter()
        return _compiled_player(played, painter, seed, policy), painter.steps_a_second
    if env is None:
        options = config.of_component("env") | {"render_mode": MODE}
        options.pop("episode_limit", None)
        played = envs.gymnasium_factory(config.env, **options)
    drawn = _drawable(played, config.env)
    closing.callback(close_env, drawn)
    return _host_player(drawn, space, config.env, seed, policy), frame_rate(drawn)


def _compiled_player(env: Environment, painter: Painter, seed: int, policy: Policy) -> Player:
    start = jax.jit(lambda key: start_episode(env, key))
    advance = jax.jit(lambda key, now: advance_episode(env, policy, key, now))

    def play(episode: int) -> Iterator[Frame]:
        key = watch_key(seed, episode)
        now, over = start(key), False
        while not over:
            state, step, terminal = np.asarray(now.state), int(now.length), bool(now.terminal)
            over = terminal or step >= env.episode_limit
            yield Frame(step, float(now.total), terminal, over, partial(painter.draw, state))
            now = now if over else advance(key, now)

    return play


def _drawable(factory: Factory, name: str) -> Any:
    """A Gymnasium environment that returns images."""
    try:
        env = make_env(factory)
    except Exception as error:  # in the user's code, or MuJoCo without graphics
        raise cannot_be_drawn(name, one_line(error)) from error
    if env.render_mode != MODE:
        close_env(env)
        modes = list(env.metadata.get("render_modes") or [])
        why = f"it was created without render_mode={MODE!r}; its render modes are {modes}"
        raise cannot_be_drawn(name, why)
    return env


def _host_player(env: Any, space: Space, name: str, seed: int, policy: Policy) -> Player:
    assert isinstance(space, HostSpace)
    slot = Slot(env, space, seed, WATCHING)
    act, draw = jax.jit(policy), partial(rendered, env, name)

    def play(episode: int) -> Iterator[Frame]:
        key, total, terminal, over = watch_key(seed, episode), 0.0, False, False
        try:
            observation = slot.begin(episode)
            yield Frame(0, total, terminal, over, draw)
            while not over:
                action = np.asarray(act(observation, jax.random.fold_in(key, slot.length)))
                observation, reward, terminal, over = slot.step(action)
                total += reward
                yield Frame(slot.length, total, terminal, over, draw)
        except EnvironmentFailed as error:
            raise FreqdynaError(f"env is {name!r}, which fails: {error}") from error

    return play


def watch_key(seed: int, episode: int) -> PRNGKeyArray:
    """The random key of an episode."""
    return jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), STREAM), episode)


def _short(value: float) -> str:
    """A number with one decimal, or none if that is zero."""
    return f"{value:.1f}".removesuffix(".0")
