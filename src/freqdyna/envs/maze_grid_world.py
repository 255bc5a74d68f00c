"""MazeGridWorld: the paper's maze of three walls, each with one hole (section 5.2, appendix)."""

from typing import ClassVar

from freqdyna.envs.walled_square import Wall, WalledSquare


class MazeGridWorld(WalledSquare):
    """The unit square with three walls; the state is (x, y)."""

    name: ClassVar[str] = "MazeGridWorld"
    summary: ClassVar[str] = "unit square, three walls with a hole each; 2 coordinates, 4 actions"
    # The paper gives each hole by its left-top corner: (0.2, 0.5), (0.4, 1.0) and (0.7, 0.2).
    walls: ClassVar[tuple[Wall, ...]] = (
        Wall(0.2, 0.3, bottom=0.4, top=0.5),
        Wall(0.4, 0.5, bottom=0.9, top=1.0),
        Wall(0.7, 0.8, bottom=0.1, top=0.2),
    )
