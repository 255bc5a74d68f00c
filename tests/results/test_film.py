import io

import numpy as np
import pytest
from PIL import Image, ImageSequence

from freqdyna import FreqdynaError
from freqdyna.results import film as films
from freqdyna.results.film import Film, Moment, captioned, check_path, write_film

TEXT = ("episode 1 of 1", "step 0", "return 0")


def picture(step, size=32):
    """A square that wanders over noise, which no compression makes small."""
    drawn = np.random.default_rng(step).integers(0, 256, (size, size, 3), np.uint8)
    drawn[step % size] = 255
    return drawn


def shot(steps, episodes=1, steps_a_second=25.0, size=32):
    film = Film(steps_a_second, episodes)
    for episode in range(episodes):
        for step in range(steps + 1):
            over = step == steps
            moment = Moment(step, -float(step), over, over, lambda s=step: picture(s, size))
            film.show(episode, moment)
    return film


def test_a_short_film_has_every_step_at_the_speed_of_the_environment():
    film = shot(steps=10, episodes=2)
    assert [frame.step for frame in film.frames] == [*range(11)] * 2
    assert film.durations == ([40] * 10 + [1000]) * 2
    shown = Image.open(io.BytesIO(film.encoded()))
    assert shown.n_frames == 22
    assert shown.info["loop"] == 0
    assert [f.info["duration"] for f in ImageSequence.Iterator(shown)] == film.durations


def test_rounding_does_not_change_the_speed():
    film = shot(steps=60, steps_a_second=30.0)
    assert set(film.durations) == {30, 40, 1000}
    assert sum(film.durations) == 1000 * 60 / 30 + 1000


def test_a_slow_environment_is_shown_slowly():
    film = shot(steps=5, steps_a_second=5.0)
    assert film.speed == 1
    assert film.durations == [200] * 5 + [1000]


def test_a_quick_environment_has_fewer_frames_not_quicker_ones():
    film = shot(steps=101, steps_a_second=100.0)
    assert film.stride == 3
    assert [frame.step for frame in film.frames] == [*range(0, 100, 3), 101]
    assert film.speed == 1
    assert min(film.durations) >= 20


def test_a_long_film_is_thinned_evenly_and_keeps_first_and_last():
    film = shot(steps=2001, episodes=2, steps_a_second=10.0, size=4)
    assert len(film.frames) <= films.MOST_FRAMES
    assert film.stride == 16
    assert [frame.step for frame in film.frames] == [*range(0, 2001, 16), 2001] * 2
    assert film.speed == 16
    assert max(film.durations[:100]) == 100


def test_too_many_bytes_are_thinned_too(monkeypatch):
    film = shot(steps=40)
    whole = len(film.encoded())
    assert len(film.frames) == 41
    monkeypatch.setattr(films, "MOST_BYTES", whole // 3)
    assert len(film.encoded()) <= whole // 3
    assert [frame.step for frame in film.frames] == [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40]
    monkeypatch.setattr(films, "MOST_BYTES", 1)
    assert Image.open(io.BytesIO(film.encoded())).n_frames == 2


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ((400, 400), (320, 340)),
        ((200, 300), (300, 220)),
        ((8, 8), (270, 180)),
        ((600, 100), (270, 340)),
    ],
)
def test_pictures_have_a_handy_size_and_text_under_them(shape, size):
    image = captioned(np.full((*shape, 3), 90, np.uint8), TEXT)
    assert image.size == size
    pixels = np.asarray(image).astype(int)
    above, below = pixels[:-20], pixels[-19:]
    width = 320 * shape[1] // max(shape) if max(shape) > 320 else shape[1]
    width = 160 if max(shape) < 160 else width
    assert (above == 90).all(-1).all(0).sum() == width  # nothing is written over the picture
    assert (below.sum(-1) < 3 * 100).any()
    changed = captioned(
        np.full((*shape, 3), 90, np.uint8), ("episode 1 of 1", "step 7", "return 0")
    )
    moved = (np.asarray(changed) != np.asarray(image)).any(axis=(0, 2)).nonzero()[0]
    assert 0.44 * size[0] < moved.min() <= moved.max() < 0.68 * size[0]  # the rest stays put


@pytest.mark.parametrize(
    "name", ["film", "film.png", "film.gif.txt", "", "none/film.gif", "folder.gif"]
)
def test_what_no_film_can_be_written_to_is_refused(name, tmp_path):
    (tmp_path / "folder.gif").mkdir()
    with pytest.raises(FreqdynaError, match=r"out is .*; it must"):
        check_path(tmp_path / name)
    check_path(tmp_path / "Film.GIF")


def test_a_film_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(FreqdynaError, match=r"which cannot be written: .*File name too long"):
        write_film(tmp_path / f"{'x' * 250}.gif", b"GIF")
    assert not list(tmp_path.iterdir())
