"""The figure of the study."""

from freqdyna.experiments.parts.controls.cells import Study
from freqdyna.results.chart import Chart, Panel


def chart(found: Study) -> Chart:
    """A chart with the number of cells that are stored."""
    return Chart([Panel(f"C: {len(found.cells)} cells are stored")])
