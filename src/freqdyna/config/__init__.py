"""The settings of a run: their checks, their presets and what earlier versions did."""

from freqdyna.config.config import Config
from freqdyna.config.history import VERSION
from freqdyna.config.presets import PRESETS

__all__ = ["PRESETS", "VERSION", "Config"]
