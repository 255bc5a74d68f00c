"""A film of episodes: pictures with a line of text under each, thinned out, written as a GIF."""

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
"""Pixels; greater pictures are shrunk."""
SHORTEST_SIDE = 160
"""Smaller pictures are enlarged, or the text would find no room."""
QUICKEST, SLOWEST = 0.03, 0.1
"""Seconds that a frame is shown: viewers slow down what is quicker, what is slower stutters."""
LEAST_HUNDREDTHS = 2
"""Of a second: browsers take less for none given."""
PAUSE = 1.0
"""Seconds that the end of an episode is shown."""
LINE_HEIGHT, TEXT_SIZE, NARROWEST = 20, 13, 270
COLORS, PALETTE_FRAMES = 255, 16
"""Of the palette, one less than a GIF can have; and from how many frames it is taken."""
DITHER = Image.Dither.NONE  # dots that come and go from frame to frame would take much room
PAPER, RULE, INK = (255, 255, 255), (200, 200, 200), (40, 40, 40)


class Moment(NamedTuple):
    """An episode after some of its steps."""

    step: int
    total: float
    """Sum of the rewards so far."""
    terminal: bool
    over: bool
    """Whether this is the episode's end: terminal, or truncated."""
    draw: Callable[[], np.ndarray]
    """The picture of this moment, shape (height, width, 3); only valid until the next one."""


class Frame(NamedTuple):
    """One picture of a film."""

    step: int
    last: bool
    """Whether the episode ends here."""
    image: Image.Image


@dataclass
class Film:
    """Frames at even distances in time, and the first and last of each episode."""

    steps_a_second: float
    """How fast the environment is to be shown."""
    episodes: int
    stride: int = field(init=False)
    """Steps between two frames."""
    frames: list[Frame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stride = max(1, math.ceil(QUICKEST * self.steps_a_second))

    @property
    def speed(self) -> float:
        """How many times as fast as the environment says the film is played; 1, unless long."""
        slowest = max(SLOWEST, 1 / self.steps_a_second)  # a slow environment is shown as it is
        return max(1.0, self.stride / self.steps_a_second / slowest)

    @property
    def durations(self) -> list[int]:
        """Milliseconds that each frame is shown: whole hundredths of a second, as a GIF has them.

        They are differences of rounded times, so that no error adds up.
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
        """Take a picture of `moment` in the episode of that number, from 0, if one is due."""
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
        """The film as a GIF, thinned until it is small enough or nothing is left to drop."""
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
    """To one decimal, or none if it is whole."""
    return f"{value:.1f}".removesuffix(".0")


def captioned(picture: np.ndarray, text: tuple[str, str, str]) -> Image.Image:
    """A picture, shape (height, width, 3), of a handy size, with a line of text under it."""
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
    # Where each begins does not depend on the numbers: text that moves is hard to read.
    for start, words in zip((0.02, 0.44, 0.68), text, strict=True):
        draw.text((round(start * width), middle), words, INK, font, anchor="lm")
    return whole


def check_path(path: Path) -> None:
    """Refuse, before any work, what no film can be written to."""
    if path.suffix.lower() != ".gif":
        raise FreqdynaError(f"out is {str(path)!r}; it must end in .gif")
    if path.is_dir() or not path.parent.is_dir():
        raise FreqdynaError(f"out is {str(path)!r}; it must be a file in a folder that exists")


def write_film(path: Path, data: bytes) -> None:
    """Write an encoded film."""
    try:
        write_atomically(path, lambda file: file.write(data))
    except OSError as error:
        raise FreqdynaError(f"out is {str(path)!r}, which cannot be written: {error}") from None


def _gif(images: list[Image.Image], durations: list[int]) -> bytes:
    """All in the colours of one palette, which then is stored once."""
    spread = np.linspace(0, len(images) - 1, min(len(images), PALETTE_FRAMES)).round().astype(int)
    sample = np.concatenate([np.asarray(images[i]) for i in spread])
    palette = Image.fromarray(sample).quantize(COLORS)
    first, *others = (image.quantize(palette=palette, dither=DITHER) for image in images)
    file = io.BytesIO()
    first.save(file, format="GIF", save_all=True, append_images=others, duration=durations, loop=0)
    return file.getvalue()
