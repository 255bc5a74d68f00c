"""GridWorld: one wall with a hole, a domain that the paper adopts from HC-Dyna (appendix)."""

from typing import ClassVar

from freqdyna.envs.walled_square import Wall, WalledSquare


class GridWorld(WalledSquare):
    """The unit square with one wall; the state is (x, y)."""

    name: ClassVar[str] = "GridWorld"
    summary: ClassVar[str] = "unit square, one wall with a hole; 2 coordinates, 4 actions"
    walls: ClassVar[tuple[Wall, ...]] = (Wall(0.5, 0.6, bottom=0.4, top=0.5),)
