"""Environments: the built-in ones, by name, and the interface for others.

To add a built-in environment, decorate its class with `@built_in` in a file of this folder and add
an import below.
"""

# The built-in environments, in the order in which they are listed.
# isort: off
from freqdyna.envs.mountain_car import MountainCar as MountainCar
from freqdyna.envs.cart_pole import CartPole as CartPole
from freqdyna.envs.acrobot import Acrobot as Acrobot
from freqdyna.envs.pendulum import Pendulum as Pendulum
from freqdyna.envs.mazes import GridWorld as GridWorld
from freqdyna.envs.mazes import MazeGridWorld as MazeGridWorld
from freqdyna.envs.mazes import TubeGridWorld as TubeGridWorld
from freqdyna.envs.puddle_world import PuddleWorld as PuddleWorld
# isort: on

from freqdyna.envs.base import Environment as Environment
from freqdyna.envs.names import ENVIRONMENTS as ENVIRONMENTS
from freqdyna.envs.names import built_in as built_in
from freqdyna.envs.names import gymnasium_factory as gymnasium_factory
from freqdyna.envs.names import make as make
from freqdyna.envs.space import Action as Action
from freqdyna.envs.space import Space as Space
