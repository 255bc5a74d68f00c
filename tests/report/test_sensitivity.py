"""How the report shows the effect of a varied setting."""

import json

import numpy as np
from hand_made import result

from freqdyna.report.runs import curves_section, sensitivity_section

FAR, CLOSE = [-30.0, -30.0, -30.0], [-30.0, -20.0, -10.0]


def test_a_point_is_the_return_after_the_warm_up_of_each_seed():
    runs = [
        result([FAR, CLOSE], warmup_steps=10, learner={"learning_rate": rate})
        for rate in (0.001, 0.01)
    ]
    (panel,) = sensitivity_section(runs).chart["panels"]
    assert panel["marks"][0]["seeds"] == [[-30, -30], [-15, -15]]


def test_varied_episode_limits_are_one_line():
    runs = [result([FAR, CLOSE], **{"env.episode_limit": limit}) for limit in (100, 200)]
    (panel,) = sensitivity_section(runs).chart["panels"]
    assert panel["title"].endswith(": env episode limit")


def test_a_value_without_a_complete_seed_does_not_hide_the_others():
    lost = [np.nan] * 3
    good = [result([FAR, CLOSE], learner={"learning_rate": rate}) for rate in (0.001, 0.01)]
    section = sensitivity_section([*good, result([lost, lost], learner={"learning_rate": 1e25})])
    (panel,) = section.chart["panels"]
    assert len(panel["marks"][0]["x"]) == 2
    assert "all 2 seeds" in section.notes[-1]
    partly = result([FAR, lost], learner={"learning_rate": 1.0})
    (panel,) = sensitivity_section([*good, partly]).chart["panels"]
    assert "1 of 2 seeds" in panel["marks"][0]["label"]
    json.dumps(curves_section([partly], ["there"]).chart, allow_nan=False)
