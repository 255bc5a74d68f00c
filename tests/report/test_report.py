import base64
import json
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from conftest import gathered
from small import SWEEP

import freqdyna
from freqdyna import FreqdynaError
from freqdyna.cli.main import main
from freqdyna.envs.picture import Landmark
from freqdyna.report import explorer, page
from freqdyna.report.explorer import explorers
from freqdyna.sweeps.load import load_sweep

EXPLORED = Path(__file__).parents[2] / "results" / "explorer"


def data_of(path):
    """What the page's script will read."""
    return unpacked(path.read_text())


def unpacked(text):
    stored = re.search(r'id="data">([\w+/=]*)</script>', text)[1]
    return json.loads(zlib.decompress(base64.b64decode(stored)))


def numbers(text, columns):
    """The integers of a table that `explorer.packed` wrote."""
    codes = np.array([ord(one) - ord("#") for one in text]).reshape(-1, columns)
    return np.where(codes % 2, -(codes + 1) // 2, codes // 2).cumsum(axis=0)


def test_a_report_of_runs_has_their_curves_facts_and_snapshots(run_folders, tmp_path, capsys):
    twice = [str(run_folders), str(run_folders / "dyna-value")]
    main(["report", *twice, "--out", str(tmp_path / "r.html")])
    assert "report:" in capsys.readouterr().out
    data = data_of(tmp_path / "r.html")
    section, comparison = data["sections"]
    marks = section["chart"]["panels"][0]["marks"]
    assert sorted(mark["label"].split(" ")[0] for mark in marks) == ["dyna-frequency", "dyna-value"]
    result = freqdyna.load(run_folders / "dyna-value")
    own = next(mark for mark in marks if mark["label"].startswith("dyna-value"))
    np.testing.assert_allclose(own["seeds"], result.returns, rtol=1e-3)
    assert len(section["tables"][0]) == 3
    assert "commit" in section["origins"][0]
    runs, pairs = comparison["tables"]
    assert [row[2] for row in runs[1:]] == ["dyna-frequency", "dyna-value"]
    assert pairs[1][:2] == ["GridWorld (30 steps)", "2 − 1"]
    assert any("An interval from 2 seeds is only their range" in n for n in comparison["notes"])
    (explorer,) = data["explorers"]
    assert [run["label"] for run in explorer["runs"]] == ["dyna-value", "dyna-frequency"]
    assert {mark["kind"] for mark in explorer["landmarks"]} == {"wall", "hole", "start", "goal"}


@pytest.mark.default_compiler
def test_stored_runs_are_shown_with_their_snapshots(tmp_path):
    main(["report", str(EXPLORED), "--out", str(tmp_path / "r.html")])
    data = data_of(tmp_path / "r.html")
    assert [shown["env"] for shown in data["explorers"]] == ["MountainCar-v0", "MazeGridWorld"]
    for panel in data["sections"][0]["chart"]["panels"]:
        returns = {
            mark["label"].split(" ")[0]: mark["seeds"] for mark in panel["marks"] if "seeds" in mark
        }
        assert set(returns) == {"dyna-value", "dyna-frequency", "dyna-uniform", "dyna-td-error"}
    for shown in data["explorers"]:
        finds = {run["label"]: run["finds"] for run in shown["runs"]}
        assert list(finds) == ["dyna-value", "dyna-frequency", "dyna-uniform", "dyna-td-error"]
        assert finds["dyna-uniform"] == "sampling the whole space uniformly"
        assert "in proportion to their |TD error|" in finds["dyna-td-error"]
        for run in shown["runs"]:
            climbs = [one["climbs"] for frames in run["frames"] for one in frames]
            assert any(climbs) == run["finds"].startswith("climbing")


def test_no_name_can_leave_the_data(run_folders):
    report = gathered(run_folders)
    text = page.page(report)
    assert "</script><script>hacked" in str(unpacked(text))
    assert "hacked" not in text
    assert text.count("</script>") == 3


def test_a_missing_chart_library_is_told_before_anything_is_analysed(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    monkeypatch.setattr(page, "report", None)
    with pytest.raises(SystemExit, match="2"):
        main(["report", "."])
    assert "pip install '.[report]'" in capsys.readouterr().err


def test_the_page_asks_for_nothing(run_folders):
    text = page.page(gathered(run_folders))
    assert "default-src 'none'" in text
    own = text[: text.index('id="data"')]
    assert not re.search(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="', own)


def test_the_explorer_shows_what_the_snapshots_hold(run_folders):
    result = freqdyna.load(run_folders / "dyna-frequency")
    (explorer,) = explorers([result])
    (run,) = explorer["runs"]
    assert run["steps"] == [10, 40]
    packed = run["frames"][run["seeds"].index(1)][1]  # the second snapshot
    value = result.snapshots[40]["value"][1]
    levels = numbers(packed["value"]["data"], 64)
    least, greatest = packed["value"]["ends"]
    shown = least + levels / 255 * (greatest - least)
    np.testing.assert_allclose(shown, value.T, atol=(greatest - least) / 255)
    g = np.log10(result.snapshots[40]["frequency"][1].T)
    least, greatest = packed["frequency"]["ends"]
    shown = least + numbers(packed["frequency"]["data"], 64) / 127 * (greatest - least)
    np.testing.assert_allclose(shown, g.clip(least), atol=(greatest - least) / 127)
    policy = numbers(packed["policy"], 64)
    np.testing.assert_array_equal(policy, result.snapshots[40]["policy"][1].T)
    queue = np.round(result.snapshots[40]["queue"][1][:500] * 511).tolist()
    assert numbers(packed["queue"], 2).tolist() == sorted(queue)
    assert packed["climbs"]
    assert run["finds"] == "climbing g and V"
    assert explorer["opens"] == 40
    result.snapshots[40]["value"][0] = np.nan  # a seed that ended or diverged
    (run,) = explorers([result])[0]["runs"]
    assert run["seeds"] == [1]
    assert run["frames"][0][1] == packed


def test_a_table_is_packed_as_differences_between_its_rows():
    assert explorer.packed(np.array([[0, 1], [2, -1], [0, -1]])) == "#%'&&#"
    table = np.random.default_rng(0).integers(0, 1024, (500, 2))
    assert numbers(explorer.packed(table), 2).tolist() == table.tolist()
    assert explorer.packed(table[:0]) == ""


def test_how_high_in_g_states_lie_is_measured_where_one_can_be():
    g = np.arange(1.0, 4097).reshape(64, 64)  # grows with the first coordinate
    x, y = np.meshgrid(*2 * [np.linspace(0, 1, 64)], indexing="ij")
    everywhere = np.stack([x, y], axis=-1).reshape(1, -1, 2)
    snapshot = {
        "bounds": np.array([[[0.0, 0.0], [1.0, 1.0]]]),
        "value": g[None],
        "frequency": g[None],
        "policy": np.stack([g, -g], axis=-1)[None],
        "replay": everywhere,
        "queue": everywhere[:, -64:],
        "queue_count": np.array([9]),
    }
    found = explorer.frame(snapshot, 0, [])
    assert found["percentiles"] == {"replay": 0.5, "queue": 0.992}
    assert found["policy"]["ends"] == [1, 4096]  # the first of two continuous actions
    walls = [Landmark("wall", (-0.1, -0.1), (0.5, 1.1)), Landmark("hole", (0.2, 0.2), (0.4, 0.4))]
    free = ((x > 0.5) | ((x > 0.2) & (x < 0.4) & (y > 0.2) & (y < 0.4))).reshape(-1)
    snapshot |= {"queue": everywhere[:, free]}
    assert explorer.frame(snapshot, 0, walls)["percentiles"]["queue"] == 0.5
    snapshot |= {"queue_count": np.array([0]), "climb_states": np.zeros((1, 1, 2, 2))}
    found = explorer.frame(snapshot, 0, [])
    assert (found["queue"], found["climbs"], list(found["percentiles"])) == ("", [], ["replay"])


def test_an_agent_without_snapshots_has_no_explorer(run_folders):
    result = freqdyna.load(run_folders / "dyna-value")
    result.snapshots.clear()
    assert explorers([result]) == []


def test_a_sweep_is_shown_by_what_it_varies(tmp_path, capsys):
    (tmp_path / "sweep.toml").write_text(SWEEP.replace("0.003", "0.01"))
    sweep = [
        "sweep",
        str(tmp_path / "sweep.toml"),
        "--out",
        str(tmp_path / "out"),
        "--workers",
        "1",
    ]
    main(sweep)
    address = (tmp_path / "out").as_uri()
    report = gathered(address, tmp_path / "out")
    labels = [mark["label"] for mark in report.sections[0].chart["panels"][0]["marks"]]
    assert labels == ["er, learning rate 0.001 (2 seeds)", "er, learning rate 0.01 (2 seeds)"]
    assert [origin[:12] for origin in report.sections[0].origins] == ["2 trainings:"]
    (panel,) = report.sections[2].chart["panels"]
    assert (panel["x"]["label"], panel["x"]["log"]) == ("learning rate", True)
    (mark,) = panel["marks"]
    assert (mark["label"], mark["x"]) == ("er (2 seeds)", [0.001, 0.01])
    means = [result.mean_return() for result in load_sweep(str(tmp_path / "out")).values()]
    np.testing.assert_allclose(mark["seeds"], np.transpose(means), rtol=1e-3)
    capsys.readouterr()
    main(["plot", str(tmp_path / "out")])
    shown = capsys.readouterr().out
    assert "er, learning rate 0.001" in shown
    assert "er, learning rate 0.01" in shown
    assert (tmp_path / "out" / "curves.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "folders is empty"),
        (["nowhere"], "'nowhere' has no training; it must be a run folder"),
        (["memory://nowhere"], "'memory://nowhere' is not a sweep"),
        ([".", "--out", "report.pdf"], "it must end in .html"),
        ([".", "--out", "missing/report.html"], "its folder must exist"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(["report", *arguments])
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_page_that_cannot_be_written_is_said(run_folders, tmp_path):
    report = gathered(run_folders)
    with pytest.raises(FreqdynaError, match="cannot be written"):
        page.write(report, tmp_path / "gone" / "r.html")
