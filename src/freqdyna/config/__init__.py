"""The settings of a run: their checks, presets, and the history of their defaults."""

from freqdyna.config.config import Config
from freqdyna.config.history import VERSION
from freqdyna.config.presets import PRESETS

__all__ = ["PRESETS", "VERSION", "Config"]
