from types import SimpleNamespace

from freqdyna.experiments import unit_progress


def test_lines_come_now_and_then_and_at_the_end(monkeypatch, capsys):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(unit_progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    told = []
    with unit_progress.Watch("F1 curves") as shown:
        # Begun 40 s ago, so the first report is due; what is left is counted from it on.
        for at, done in ((140.0, 200), (150.0, 300), (154.9, 400), (160.0, 600), (161.0, 1000)):
            clock.now = at
            shown.report(done, 1000)
            told.append(capsys.readouterr().out)
    assert told == [
        "F1 curves: 200 of 1,000\n",
        "",
        "",
        "F1 curves: 600 of 1,000 | 20 s left\n",
        "F1 curves: 1,000 of 1,000 | 0 s left\n",
    ]
