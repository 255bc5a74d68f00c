"""The report as one HTML file."""

import base64
import json
import re
import zlib

import pytest
from small import SWEEP

from freqdyna.cli.main import main


def data_of(text):
    """What the page's script will read."""
    stored = re.search(r'id="data">([\w+/=]*)</script>', text)[1]
    return json.loads(zlib.decompress(base64.b64decode(stored)))


@pytest.mark.default_compiler
def test_the_command_writes_a_page_of_every_run_once(hostile, tmp_path):
    out = tmp_path / "r.html"
    main(["report", str(hostile), str(hostile / "one"), "--out", str(out), "--baseline", "1"])
    text = out.read_text()
    data = data_of(text)
    assert len(data["explorers"]) == 1  # the other run has no snapshots
    (table,) = data["sections"][1]["tables"].values()
    assert len(table) == 3
    # No name or fact can leave the data, and the page asks for nothing.
    assert "</script><script>hacked" in str(data)
    assert "hacked" not in text
    assert text.count("</script>") == 3
    assert "default-src 'none'" in text
    before = text[: text.index('id="data"')]
    assert not re.search(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="', before)


@pytest.mark.parametrize("arguments", [["nowhere"], ["unfinished"], [".", "--out", "r.pdf"]])
def test_bad_input_is_refused(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unfinished").mkdir()
    (tmp_path / "unfinished" / "sweep.toml").write_text(SWEEP)
    with pytest.raises(SystemExit, match="2"):
        main(["report", *arguments])
