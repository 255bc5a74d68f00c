"""Three more small environments: a telescope that turns to a star, an anaesthetic, and yeast."""

from __future__ import annotations

import math
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


def _clip(value: float, low: float, high: float) -> float:
    return low if value < low else high if value > high else value


class StarPointing(gym.Env[np.ndarray, Any]):
    """Turn a telescope satellite to a star and hold it there, with a wheel that can run too fast.

    Controlled: the torque of a reaction wheel, and gas jets that take over when the wheel is fast.
    Actions: wheel torque 0 strong left, 1 weak left, 2 none, 3 weak right, 4 strong right; 5 jet
    left, 6 jet right.
    Observed: pointing error (degrees), turn rate (degrees/s), wheel speed (rpm), wheel torque
    (mNm), bend of the solar panel (mm) and its rate (mm/s), gas left (g), time on the star (s).
    Reward: -0.1 each second, -0.005 for each degree of error, -0.2 for each gram of gas; +50 when
    the star was held for 5 s, -50 for a failure. The star is held within 0.5 degrees and below
    0.1 degrees/s. The wheel fails above 6000 rpm, the star is lost beyond 90 degrees.
    Mean return, 200 episodes of at most 250 steps: random -83, scripted 44.
    """

    WHEEL_TORQUES = (-0.2, -0.03, 0.0, 0.03, 0.2, 0.0, 0.0)  # newton metres per action
    body_inertia, wheel_inertia, jet_torque, jet_gas = 40.0, 0.005, 0.3, 2.0

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1e4, 1e4, (8,), np.float32)
        self.action_space = spaces.Discrete(7)

    def _observation(self) -> np.ndarray:
        """Return the readings, with the noise of the star tracker and of the gyro."""
        noise = self.np_random.standard_normal
        error, rate = self.error + 0.03 * noise(), self.rate + 0.005 * noise()
        wheel = (self.wheel_speed, 1000.0 * self.wheel_torque)
        panel = (self.bend, self.bend_rate)
        return np.array((error, rate, *wheel, *panel, self.gas, self.held), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The star is to the left or right, and the wheel already turns."""
        super().reset(seed=seed)
        uniform = self.np_random.uniform
        self.error, self.rate = uniform(-50.0, 50.0), uniform(-0.5, 0.5)
        self.wheel_speed, self.wheel_torque = uniform(-3000.0, 3000.0), 0.0
        self.bend, self.bend_rate = uniform(-5.0, 5.0), 0.0
        self.sunlight_torque = uniform(-0.004, 0.004)
        self.gas, self.held = uniform(30.0, 60.0), 0.0
        return self._observation(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """A second of the turn."""
        jet = float(2 * action - 11) if action >= 5 and self.gas >= self.jet_gas else 0.0
        gas_used = self.jet_gas * abs(jet)
        self.gas -= gas_used
        self.wheel_torque += 0.7 * (self.WHEEL_TORQUES[action] - self.wheel_torque)
        self.wheel_speed -= self.wheel_torque / self.wheel_inertia * 60.0 / math.tau
        torque = self.wheel_torque + self.jet_torque * jet + self.sunlight_torque
        torque += 0.003 * self.bend + 0.001 * self.np_random.standard_normal()
        acceleration = math.degrees(torque / self.body_inertia)
        # The panel swings with a period of about 9 s, and each push of the body bends it.
        self.bend_rate -= 0.5 * self.bend + 0.06 * self.bend_rate + 8.0 * acceleration
        self.bend += self.bend_rate
        self.rate += acceleration
        self.error += self.rate
        on_star = abs(self.error) < 0.5 and abs(self.rate) < 0.1
        self.held = self.held + 1.0 if on_star else 0.0
        reward = -0.1 - 0.005 * abs(self.error) - 0.2 * gas_used
        if self.held >= 5.0:
            return self._observation(), reward + 50.0, True, False, {}
        if abs(self.wheel_speed) > 6000.0 or abs(self.error) > 90.0:
            return self._observation(), reward - 50.0, True, False, {}
        return self._observation(), reward, False, False, {}


class AnaesthesiaPumps(gym.Env[np.ndarray, Any]):
    """Keep a patient asleep and the blood pressure up through an operation, with two pumps.

    Controlled: the rates of the hypnotic, which also lowers the pressure, and of the pressor.
    Actions: 0 leave, 1 hypnotic down, 2 hypnotic up, 3 pressor down, 4 pressor up, 5 a shot of
    20 mg of the hypnotic.
    Observed: depth index (0 to 100, below 60 is asleep) and its change, mean blood pressure (mmHg)
    and its change, heart rate (beats/min), hypnotic rate (mg/min), pressor rate (ug/min), hypnotic
    given in all (mg), weight (kg).
    Reward, each 10 s: 1, less 0.04 for each point of the index off 50, less 0.05 for each mmHg
    outside 70 to 90, less 0.01 for each mg of the hypnotic, and less 2 above an index of 70.
    Mean return, 200 episodes of 240 steps: random -125, scripted 155.
    """

    rate_max, pressor_max, shot = 30.0, 20.0, 20.0

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1000.0, 5000.0, (9,), np.float32)
        self.action_space = spaces.Discrete(6)

    def _observation(self) -> np.ndarray:
        patient = (self.index, self.index_change, self.pressure, self.pressure_change, self.pulse)
        pumps = (self.hypnotic_rate, self.pressor_rate, self.given)
        return np.array((*patient, *pumps, self.weight), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The patient just fell asleep; how much this patient needs is not known."""
        super().reset(seed=seed)
        uniform = self.np_random.uniform
        self.weight = uniform(50.0, 110.0)
        self.half_effect = uniform(2.2, 4.2)  # ug/ml of the hypnotic that halve the index
        self.rest_pressure, self.rest_pulse = uniform(85.0, 110.0), uniform(60.0, 80.0)
        self.in_blood = self.in_brain = uniform(2.0, 5.0)  # ug/ml
        self.hypnotic_rate, self.pressor_rate = uniform(4.0, 16.0), uniform(0.0, 6.0)
        self.pressor_effect = self.stimulus = self.stimulus_order = self.given = 0.0
        self.index, self.index_change = uniform(35.0, 70.0), 0.0
        self.pressure, self.pressure_change = uniform(60.0, 95.0), 0.0
        self.pulse = self.rest_pulse
        return self._observation(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Ten seconds of the operation."""
        random = self.np_random
        if action in (1, 2):
            change = 1.5 if action == 2 else -1.5
            self.hypnotic_rate = _clip(self.hypnotic_rate + change, 0.0, self.rate_max)
        elif action in (3, 4):
            change = 1.0 if action == 4 else -1.0
            self.pressor_rate = _clip(self.pressor_rate + change, 0.0, self.pressor_max)
        dose = self.hypnotic_rate / 6.0 + (self.shot if action == 5 else 0.0)  # mg
        self.given += dose
        if random.random() < 0.025:  # the surgeon cuts, pauses or sews
            self.stimulus_order = random.uniform(0.0, 1.0)
        self.stimulus += 0.3 * (self.stimulus_order - self.stimulus)
        # The hypnotic leaves the blood within minutes and reaches the brain a minute late.
        self.in_blood += dose / (0.25 * self.weight) - 0.035 * self.in_blood
        self.in_brain += 0.12 * (self.in_blood - self.in_brain)
        self.pressor_effect += 0.2 * (self.pressor_rate * 70.0 / self.weight - self.pressor_effect)
        strength = (self.in_brain / (self.half_effect * (1.0 + 0.4 * self.stimulus))) ** 2
        index_before, pressure_before = self.index, self.pressure
        settled = 97.0 / (1.0 + strength)
        index = self.index + 0.4 * (settled - self.index) + 1.5 * random.standard_normal()
        self.index = _clip(index, 0.0, 100.0)
        settled = self.rest_pressure - 7.0 * self.in_blood + 4.0 * self.pressor_effect
        settled += 20.0 * self.stimulus
        pressure = self.pressure + 0.25 * (settled - self.pressure) + random.standard_normal()
        self.pressure = _clip(pressure, 20.0, 200.0)
        self.index_change = self.index - index_before
        self.pressure_change = self.pressure - pressure_before
        self.pulse = self.rest_pulse + 25.0 * self.stimulus - 0.4 * (self.pressure - 80.0)
        outside = max(70.0 - self.pressure, self.pressure - 90.0, 0.0)
        awake = 2.0 if self.index > 70.0 else 0.0
        reward = 1.0 - 0.04 * abs(self.index - 50.0) - 0.05 * outside - 0.01 * dose - awake
        return self._observation(), reward, False, False, {}


class YeastFeed(gym.Env[np.ndarray, Any]):
    """Grow baker's yeast to a harvest by feeding syrup, with enough air and not too much foam.

    Controlled: the feed of syrup, the stirrer that brings air in, and shots of antifoam. Yeast that
    gets more sugar than it can burn makes ethanol, which slows its growth.
    Actions: 0 leave, 1 feed down, 2 feed up, 3 stirrer down, 4 stirrer up, 5 a shot of antifoam.
    Observed: yeast (g/l), sugar (g/l), ethanol (g/l), dissolved oxygen (% of full), broth (l),
    feed (l/h), stirrer (rpm), foam (cm).
    Reward, each 6 minutes: 0.005 for each gram of yeast gained, less 0.1, less 0.02 for each g/l of
    ethanol, less up to 0.1 for the stirrer, less 0.5 for a shot; +50 for the harvest at 45 g/l, -50
    for a failure: oxygen below 5 %, foam above 40 cm, or more than 150 l of broth.
    Mean return, 200 episodes of at most 240 steps: random -57, scripted 48.
    """

    hours, feed_max, stirrer_max = 0.1, 6.0, 900.0
    syrup, burn_limit = 500.0, 0.5  # g of sugar per litre; g of sugar per g of yeast and hour

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-10.0, 2000.0, (8,), np.float32)
        self.action_space = spaces.Discrete(6)

    def _observation(self) -> np.ndarray:
        broth = (self.yeast, self.sugar, self.ethanol, self.oxygen, self.volume)
        return np.array((*broth, self.feed, self.stirrer, self.foam), dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The starter culture is in, and some sugar and ethanol came with it."""
        super().reset(seed=seed)
        uniform = self.np_random.uniform
        self.yeast, self.volume = uniform(3.0, 6.0), uniform(80.0, 110.0)
        self.sugar, self.ethanol = uniform(0.0, 3.0), uniform(0.0, 3.0)
        self.oxygen, self.foam = uniform(60.0, 90.0), uniform(0.0, 10.0)
        self.feed, self.stirrer = uniform(0.0, 0.6), uniform(400.0, 600.0)
        return self._observation(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Six minutes of growth."""
        noise = self.np_random.standard_normal
        if action in (1, 2):
            self.feed = _clip(self.feed + (0.2 if action == 2 else -0.2), 0.0, self.feed_max)
        elif action in (3, 4):
            change = 40.0 if action == 4 else -40.0
            self.stirrer = _clip(self.stirrer + change, 200.0, self.stirrer_max)
        speed = self.stirrer / self.stirrer_max
        poured = self.feed * self.hours * (1.0 + 0.1 * noise())  # the pump is uneven
        thinner = self.volume / (self.volume + poured)
        self.volume += poured
        self.yeast, self.ethanol = self.yeast * thinner, self.ethanol * thinner
        self.sugar = self.sugar * thinner + self.syrup * poured / self.volume
        # Sugar that the oxygen cannot burn turns to ethanol; spare oxygen burns ethanol again.
        appetite = 2.5 * self.yeast * self.hours
        eaten = appetite * self.sugar / (appetite + self.sugar)
        burnable = self.burn_limit * self.yeast * self.hours * self.oxygen / (self.oxygen + 10.0)
        burnt = min(eaten, burnable)
        left = eaten - burnt
        ethanol_burnt = min(0.4 * (burnable - burnt), 0.3 * self.ethanol)
        self.sugar -= eaten
        self.ethanol += 0.45 * left - ethanol_burnt
        growth = (0.48 * burnt + 0.05 * left + 0.6 * ethanol_burnt) * (1.0 - self.ethanol / 100.0)
        self.yeast += growth
        breathed = (0.4 * burnt + ethanol_burnt) / self.hours  # g of oxygen per litre and hour
        settled = 100.0 - 11.0 * breathed / speed**2
        self.oxygen = _clip(self.oxygen + 0.4 * (settled - self.oxygen) + noise(), 0.0, 100.0)
        foam = 0.96 * self.foam + 0.1 * self.yeast * speed**2 + 0.3 * noise()
        self.foam = foam if foam > 0.0 else 0.0
        if action == 5:  # antifoam also keeps air out of the broth for a while
            self.foam, self.oxygen = 0.3 * self.foam, max(self.oxygen - 12.0, 0.0)
        costs = 0.1 + 0.02 * self.ethanol + 0.1 * speed**3 + (0.5 if action == 5 else 0.0)
        reward = 0.005 * growth * self.volume - costs
        if self.oxygen < 5.0 or self.foam > 40.0 or self.volume > 150.0:
            return self._observation(), reward - 50.0, True, False, {}
        if self.yeast >= 45.0:
            return self._observation(), reward + 50.0, True, False, {}
        return self._observation(), reward, False, False, {}


gym.register("StarPointing-v0", "more_environments:StarPointing", max_episode_steps=250)
gym.register("AnaesthesiaPumps-v0", "more_environments:AnaesthesiaPumps", max_episode_steps=240)
gym.register("YeastFeed-v0", "more_environments:YeastFeed", max_episode_steps=240)
