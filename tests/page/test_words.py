"""A number has one text: the page writes it as Python does."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from icefield.wording.values import number_text

WORDS = Path(__file__).parents[2] / "page" / "source" / "words.js"
SAID = f"""import {{numberText, said}} from {json.dumps(WORDS.as_uri())};
let text = ""; for await (const chunk of process.stdin) text += chunk;
process.stdout.write(JSON.stringify(JSON.parse(text).map((v) => [said(v), numberText(v, 3)])));"""


@pytest.mark.other_processes
def test_the_page_writes_numbers_as_python_does() -> None:
    if shutil.which("node") is None:
        pytest.skip("no Node on this machine")
    rng = np.random.default_rng(3)
    sizes = 10.0 ** rng.uniform(-7, 12, 3000)
    halves = rng.integers(0, 2**14, 500) / 2.0 ** rng.integers(1, 8, 500)  # exactly between two texts, often
    short = np.round(sizes[:500], 3)
    values = [
        0.0,
        1.0,
        -1.0,
        9999.5,
        99999.5,
        0.99995,
        1e-4,
        1e9,
        1234.5,
        1235.5,
        1.0625,
        *sizes,
        *-sizes[:300],
        *halves,
        *short,
    ]
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", SAID],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    for value, (four, three) in zip(values, json.loads(ran.stdout)):
        assert (value, four) == (value, number_text(value, 4))
        assert (value, three) == (value, number_text(value))
