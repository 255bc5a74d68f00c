"""The settings of a run: their checks and presets."""

from freqdyna.config.config import Config
from freqdyna.config.presets import PRESETS

__all__ = ["PRESETS", "Config"]
