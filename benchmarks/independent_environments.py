"""Four small environments: a power grid, a dinghy, a winder for paper, and a borehole."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


def _clip(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value


class IslandGrid(gym.Env[np.ndarray, Any]):
    """Keep the frequency of a small island power grid near 50 Hz.

    Controlled: the set point of a slow diesel generator and a fast but small battery.
    Actions: 0 diesel down, 1 leave, 2 diesel up, 3 battery charges more, 4 battery gives more.
    Observed: frequency deviation (Hz) and its rate (Hz/s), load, wind power, diesel power, diesel
    set point, battery power (all kW), battery charge (kWh).
    Reward: 1 each second, less for deviation, for battery use and for fuel; -20 for a blackout.
    An episode ends by a blackout: the frequency is more than 1.5 Hz off.
    Mean return, 200 episodes of at most 300 steps: random -11, scripted 242.
    """

    diesel_max, battery_max, battery_capacity = 400.0, 60.0, 1.5

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1000.0, 1000.0, (8,), np.float32)
        self.action_space = spaces.Discrete(5)

    def _observation(self) -> np.ndarray:
        frequency = (self.deviation, self.rate)
        powers = (self.load, self.wind, self.diesel, self.set_point, self.battery)
        return np.array((*frequency, *powers, self.charge), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Load and wind are anywhere, and nearly balanced by the diesel."""
        super().reset(seed=seed)
        uniform = self.np_random.uniform
        self.load = self.base_load = uniform(200.0, 320.0)
        self.wind = self.mean_wind = uniform(20.0, 110.0)
        self.diesel = self.set_point = self.load - self.wind + uniform(-20.0, 20.0)
        self.battery, self.charge = 0.0, self.battery_capacity * uniform(0.3, 0.7)
        self.deviation, self.rate = uniform(-0.2, 0.2), 0.0
        return self._observation(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """A second of the grid."""
        random = self.np_random
        if action in (0, 2):
            change = 10.0 if action == 2 else -10.0
            self.set_point = _clip(self.set_point + change, 40.0, self.diesel_max)
        elif action in (3, 4):
            change = 20.0 if action == 4 else -20.0
            self.battery = _clip(self.battery + change, -self.battery_max, self.battery_max)
        if self.charge <= 0.0:  # an empty battery gives nothing, a full one takes nothing
            self.battery = min(self.battery, 0.0)
        elif self.charge >= self.battery_capacity:
            self.battery = max(self.battery, 0.0)
        if random.random() < 0.03:  # a pump or a cold store switches on or off
            self.base_load = _clip(self.base_load + random.uniform(-50.0, 50.0), 180.0, 340.0)
        self.load += 0.5 * (self.base_load - self.load)
        self.wind += 0.05 * (self.mean_wind - self.wind) + 4.0 * random.standard_normal()
        self.wind = max(self.wind, 0.0)
        self.diesel += 0.25 * (self.set_point - self.diesel)
        self.charge -= self.battery / 3600.0
        surplus = self.diesel + self.wind + self.battery - self.load
        self.rate = 0.006 * surplus - 0.15 * self.deviation
        self.deviation += self.rate
        if abs(self.deviation) > 1.5:
            return self._observation(), -20.0, True, False, {}
        reward = 1.0 - 0.8 * abs(self.deviation) - 0.003 * abs(self.battery)
        return self._observation(), reward - 0.0005 * self.diesel, False, False, {}


class DinghyToBuoy(gym.Env[np.ndarray, Any]):
    """Sail a dinghy to a buoy; it cannot sail straight into the wind, so it must tack there.

    Controlled: rudder and sheet (how far the sail is let out).
    Actions: 0 turn left, 1 straight on, 2 turn right, 3 haul the sail in, 4 let the sail out.
    Observed: distance to the buoy (m), bearing of the buoy and direction the wind comes from, both
    off the bow (degrees, clockwise), wind speed and boat speed (m/s), turn rate (degrees/s), sail
    angle (degrees).
    Reward: a tenth of the metres gained towards the buoy, -0.05 each second, +10 at the buoy and
    -10 for leaving the bay. An episode ends within 12 m of the buoy, or beyond 300 m of it.
    Mean return, 200 episodes of at most 250 steps: random -21, scripted 20.
    """

    goal_radius, bay_radius = 12.0, 300.0

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1000.0, 1000.0, (7,), np.float32)
        self.action_space = spaces.Discrete(5)

    @staticmethod
    def _wrap(degrees: float) -> float:
        return (degrees + 180.0) % 360.0 - 180.0

    def _observation(self) -> np.ndarray:
        bearing = self._wrap(math.degrees(math.atan2(-self.east, -self.north)) - self.heading)
        wind_angle = self._wrap(self.wind_from - self.heading)
        boat = (self.speed, self.turn_rate, self.sail)
        return np.array(
            (self.distance, bearing, wind_angle, self.wind_speed, *boat), dtype=np.float32
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The buoy and the wind are in any direction."""
        super().reset(seed=seed)
        uniform = self.np_random.uniform
        self.distance, direction = uniform(100.0, 180.0), uniform(-math.pi, math.pi)
        self.east = self.distance * math.sin(direction)  # position, with the buoy at the origin
        self.north = self.distance * math.cos(direction)
        self.heading, self.wind_from = uniform(-180.0, 180.0), uniform(-180.0, 180.0)
        self.wind_speed, self.sail = uniform(5.0, 9.0), uniform(10.0, 80.0)
        self.speed, self.turn_rate = 1.0, 0.0
        return self._observation(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """A second of sailing."""
        rudder = float(action - 1) if action < 3 else 0.0
        if action >= 3:
            self.sail = _clip(self.sail + (12.0 if action == 4 else -12.0), 5.0, 85.0)
        self.turn_rate += 0.6 * (rudder * (5.0 + 4.0 * self.speed) - self.turn_rate)
        self.heading = self._wrap(self.heading + self.turn_rate)
        self.wind_from = self._wrap(self.wind_from + 0.7 * self.np_random.standard_normal())
        off_wind = abs(self._wrap(self.wind_from - self.heading))
        point_of_sail = _clip((off_wind - 30.0) / 30.0, 0.0, 1.0)  # none close to the wind
        best_sail = _clip(0.6 * (off_wind - 30.0), 5.0, 85.0)
        trim = max(1.0 - abs(self.sail - best_sail) / 70.0, 0.2)
        self.speed += 0.3 * (0.6 * self.wind_speed * point_of_sail * trim - self.speed)
        heading = math.radians(self.heading)
        self.east += self.speed * math.sin(heading)
        self.north += self.speed * math.cos(heading)
        before, self.distance = self.distance, math.hypot(self.east, self.north)
        reward = 0.1 * (before - self.distance) - 0.05
        if self.distance < self.goal_radius:
            return self._observation(), reward + 10.0, True, False, {}
        if self.distance > self.bay_radius:
            return self._observation(), reward - 10.0, True, False, {}
        return self._observation(), reward, False, False, {}


class PaperWinder(gym.Env[np.ndarray, Any]):
    """Keep the tension of a paper web on its target while the roll on the winder grows.

    Mean return, 200 episodes of 200 steps: random -106, scripted 184.
    """

    TORQUE_CHANGES = (0.0, -12.0, -3.0, 3.0, 12.0)  # newton metres per action

    def __init__(self) -> None:
        """Declare the five torque changes and a wide box for the instrument readings."""
        self.action_space = spaces.Discrete(5)
        self.observation_space = spaces.Box(-1e4, 1e4, (8,), np.float32)

    def _observe(self) -> np.ndarray:
        """Return the readings in the units shown on the operator's panel."""
        return np.array(
            (
                self.tension,  # newtons
                self.target,  # newtons
                self.tension_rate,  # newtons per second
                self.torque,  # newton metres
                self.radius * 1000.0,  # millimetres
                self.speed,  # metres per minute
                self.speed_order - self.speed,  # metres per minute
                self.moisture,  # per cent
            ),
            dtype=np.float32,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start a fresh or partly wound roll with a tension away from its target."""
        super().reset(seed=seed)
        draw = self.np_random.uniform
        self.radius = float(draw(0.15, 0.35))
        self.target = 520.0 - 400.0 * self.radius
        self.tension = float(self.target + draw(-150.0, 150.0))
        self.tension_rate = 0.0
        self.speed = self.speed_order = float(draw(400.0, 700.0))
        self.moisture = float(draw(4.0, 8.0))
        self.torque = self.tension * self.radius + 0.03 * self.speed
        return self._observe(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Change the motor torque, wind for one second and score the tension error."""
        change = self.TORQUE_CHANGES[action]
        self.torque = min(max(self.torque + change, 0.0), 300.0)
        if self.np_random.random() < 0.03:
            self.speed_order = float(self.np_random.uniform(400.0, 800.0))
        acceleration = min(max(self.speed_order - self.speed, -15.0), 15.0)
        self.speed += acceleration
        self.radius += 3.0e-6 * self.speed / (2.0 * self.radius)
        self.target = 520.0 - 400.0 * self.radius
        losses = 0.03 * self.speed + 0.8 * acceleration
        settled = max((self.torque - losses) / self.radius, 0.0)
        lag = 0.35 + 0.04 * (8.0 - self.moisture)
        noise = 4.0 * float(self.np_random.standard_normal())
        previous, self.tension = (
            self.tension,
            max(self.tension + lag * (settled - self.tension) + noise, 0.0),
        )
        self.tension_rate = self.tension - previous
        error = abs(self.tension - self.target)
        reward = 1.0 - min(error / 60.0, 2.0) - 0.004 * abs(change)
        return self._observe(), reward, False, False, {}


class BoreholeDrill(gym.Env[np.ndarray, Any]):
    """Drill a borehole to its ordered depth without wearing out the bit or jamming the pipe.

    Mean return, 200 episodes of at most 300 steps: random 13, scripted 46.
    """

    def __init__(self) -> None:
        """Declare the six driller's actions and a generous box for the eight gauges."""
        self.action_space = spaces.Discrete(6)  # hold, weight +/-, speed +/-, flush
        high = np.array((500, 500, 400, 500, 100, 400, 300, 200), dtype=np.float32)
        self.observation_space = spaces.Box(np.array((0, -50, *[0] * 6), np.float32), high)

    def _observe(self) -> np.ndarray:
        """Return the gauges in the units of the driller's cabin."""
        return np.array(
            (
                self.depth,  # metres
                self.goal - self.depth,  # metres
                self.weight,  # kilonewtons
                self.rotation,  # turns per minute
                self.torque,  # kilonewton metres
                self.rate,  # metres per hour
                self.cuttings,  # per cent of the hole's section
                self.wear,  # per cent of the bit's life
            ),
            dtype=np.float32,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start below the casing with a used bit, in rock of unknown hardness."""
        super().reset(seed=seed)
        draw = self.np_random.uniform
        self.depth = float(draw(80.0, 120.0))
        self.goal = self.depth + float(draw(35.0, 50.0))
        self.weight, self.rotation = float(draw(20.0, 50.0)), float(draw(50.0, 90.0))
        self.hardness = float(draw(0.8, 1.3))
        self.wear, self.cuttings = float(draw(0.0, 15.0)), float(draw(0.0, 10.0))
        self.rate = self.torque = 0.0
        return self._observe(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Adjust the rig, drill for one minute and reward the metres gained."""
        flush = action == 5
        self.weight = min(max(self.weight + (0.0, 8.0, -8.0, 0.0, 0.0, 0.0)[action], 5.0), 150.0)
        self.rotation = min(max(self.rotation + (0, 0, 0, 10.0, -10.0, 0)[action], 30.0), 180.0)
        if self.np_random.random() < 0.04:
            self.hardness = float(self.np_random.uniform(0.7, 1.5))
        load = 0.0 if flush else self.weight * (1.0 + 0.1 * float(self.np_random.uniform(-1, 1)))
        sharp = 1.0 - 0.006 * self.wear
        self.rate = 0.0042 * load * self.rotation * sharp / self.hardness
        self.depth += self.rate / 60.0
        self.cuttings += 0.17 * self.rate - (0.35 if flush else 0.05) * self.cuttings
        self.torque = 0.12 * load * self.hardness + 0.3 * self.cuttings + 400.0 / self.rotation
        self.wear += 4e-7 * load * self.rotation**2 * self.hardness**2
        reward = self.rate / 60.0 - 0.05 - 0.01 * max(self.torque - 22.0, 0.0)
        reached = self.depth >= self.goal
        failed = not reached and (self.torque > 32.0 or self.wear >= 100.0)
        reward += 10.0 * reached - 10.0 * failed
        return self._observe(), reward, reached or failed, False, {"reached": reached}


gym.register("IslandGrid-v0", "independent_environments:IslandGrid", max_episode_steps=300)
gym.register("DinghyToBuoy-v0", "independent_environments:DinghyToBuoy", max_episode_steps=250)
gym.register("PaperWinder-v0", "independent_environments:PaperWinder", max_episode_steps=200)
gym.register("BoreholeDrill-v0", "independent_environments:BoreholeDrill", max_episode_steps=300)
