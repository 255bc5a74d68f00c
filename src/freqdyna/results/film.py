"""An animation of episodes: frames with a line of text below each, written as a GIF."""

import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from freqdyna.core.errors import FreqdynaError
from freqdyna.core.files import write_atomically

MOST_FRAMES = 400
MOST_BYTES = 2_000_000
LONGEST_SIDE = 320
"""Pixels; larger images are scaled down."""
SHORTEST_SIDE = 160
"""Smaller images are scaled up, so that there is space for the text."""
QUICKEST, SLOWEST = 0.03, 0.1
"""Limits of the seconds per frame: viewers slow down faster animations, slower ones stutter."""
LEAST_HUNDREDTHS = 2
"""Hundredths of a second per frame; browsers ignore lower values."""
PAUSE = 1.0
"""Seconds for which the end of an episode is shown."""
LINE_HEIGHT, TEXT_SIZE, NARROWEST = 20, 13, 270
COLORS, PALETTE_FRAMES = 255, 16
"""The size of the palette, one less than a GIF allows, and the number of frames that define it."""
DITHER = Image.Dither.NONE  # dots that change from frame to frame would take up much space
PAPER, RULE, INK = (255, 255, 255), (200, 200, 200), (40, 40, 40)


class Moment(NamedTuple):
    """The state of an episode after some of its steps."""

    step: int
    total: float
    """Sum of the rewards so far."""
    terminal: bool
    over: bool
    """Whether the episode is over, terminated or truncated."""
    draw: Callable[[], np.ndarray]
    """Renders an image of shape (height, width, 3); only valid until the next moment."""


class Frame(NamedTuple):
    """One frame of an animation."""

    step: int
    last: bool
    """Whether it is the last frame of an episode."""
    image: Image.Image


@dataclass
class Film:
    """Frames at equal intervals, including the first and last of each episode."""

    steps_a_second: float
    """The frame rate of the environment."""
    episodes: int
    stride: int = field(init=False)
    """Steps between frames."""
    frames: list[Frame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stride = max(1, math.ceil(QUICKEST * self.steps_a_second))

    @property
    def speed(self) -> float:
        """The speed relative to the environment's frame rate; 1, unless the animation is long."""
        slowest = max(SLOWEST, 1 / self.steps_a_second)  # a slow environment keeps its frame rate
        return max(1.0, self.stride / self.steps_a_second / slowest)

    @property
    def durations(self) -> list[int]:
        """Milliseconds per frame, in multiples of 10, as GIF requires.

        They are differences of rounded times, so that errors do not accumulate.
        """
        shown = []
        for frame, after in zip(self.frames, [*self.frames[1:], None], strict=True):
            if frame.last or after is None:
                shown.append(round(1000 * PAUSE))
            else:
                between = self._hundredths(after.step) - self._hundredths(frame.step)
                shown.append(10 * max(between, LEAST_HUNDREDTHS))
        return shown

    def show(self, episode: int, moment: Moment) -> None:
        """Add a frame if one is due.

        Args:
            episode: The index of the episode.
            moment: The state of the episode.

        """
        if moment.step % self.stride and not moment.over:
            return
        text = (
            f"episode {episode + 1} of {self.episodes}",
            f"step {moment.step}",
            f"return {number(moment.total)}",
        )
        self.frames.append(Frame(moment.step, moment.over, captioned(moment.draw(), text)))
        if len(self.frames) > MOST_FRAMES:
            self.thin()

    def thin(self) -> None:
        """Drop about every second frame."""
        self.stride *= 2
        self.frames = [f for f in self.frames if f.last or f.step % self.stride == 0]

    def encoded(self) -> bytes:
        """The animation as a GIF; frames are dropped until it is small enough."""
        while True:
            data = _gif([frame.image for frame in self.frames], self.durations)
            before = len(self.frames)
            if len(data) <= MOST_BYTES:
                return data
            self.thin()
            if len(self.frames) == before:
                return data

    def _hundredths(self, step: int) -> int:
        return round(100 * step / self.steps_a_second / self.speed)


def number(value: float) -> str:
    """A number with one decimal, or none if that is zero."""
    return f"{value:.1f}".removesuffix(".0")


def captioned(picture: np.ndarray, text: tuple[str, str, str]) -> Image.Image:
    """An image of shape (height, width, 3), scaled to a suitable size, with a line of text."""
    image = Image.fromarray(picture)
    longest = max(image.size)
    if longest > LONGEST_SIDE:
        size = [round(side * LONGEST_SIDE / longest) for side in image.size]
        image = image.resize((max(1, size[0]), max(1, size[1])), Image.Resampling.BILINEAR)
    elif longest < SHORTEST_SIDE:
        times = math.ceil(SHORTEST_SIDE / longest)
        image = image.resize((image.width * times, image.height * times), Image.Resampling.NEAREST)
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


def check_path(path: Path) -> None:
    """Raise an error, before any work, if the animation cannot be written to `path`."""
    if path.suffix.lower() != ".gif":
        raise FreqdynaError(f"out is {str(path)!r}; it must end in .gif")
    if path.is_dir() or not path.parent.is_dir():
        raise FreqdynaError(f"out is {str(path)!r}; it must be a file in a folder that exists")


def write_film(path: Path, data: bytes) -> None:
    """Write an encoded animation."""
    try:
        write_atomically(path, data)
    except OSError as error:
        raise FreqdynaError(f"out is {str(path)!r}, which cannot be written: {error}") from None


def _gif(images: list[Image.Image], durations: list[int]) -> bytes:
    """Encode images with one common palette, which is then stored only once."""
    spread = np.linspace(0, len(images) - 1, min(len(images), PALETTE_FRAMES)).round().astype(int)
    sample = np.concatenate([np.asarray(images[i]) for i in spread])
    palette = Image.fromarray(sample).quantize(COLORS)
    first, *others = (image.quantize(palette=palette, dither=DITHER) for image in images)
    file = io.BytesIO()
    first.save(file, format="GIF", save_all=True, append_images=others, duration=durations, loop=0)
    return file.getvalue()
