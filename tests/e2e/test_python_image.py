"""The image that people use: pandas in, a chart out."""

import pathlib

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def analyst(request):
    from cupola import running
    with running(image="python",
                 settings={"pool.default.memory": "1G"}) as d:
        yield d


def test_the_quarterly_example(analyst, tmp_path):
    import csv
    import math
    import statistics
    out = tmp_path / "out"
    done = analyst.ctl("run", str(SOURCE / "examples/quarterly.py"), "--file",
                       str(SOURCE / "examples/quarterly_results.csv"),
                       "--out", str(out))
    with open(SOURCE / "examples/quarterly_results.csv",
              encoding="utf-8") as f:
        values = [float(r["operating_profit"]) for r in csv.DictReader(f)
                  if r["operating_profit"].strip()]
    deviation = statistics.stdev(values)
    assert f"{deviation:.2f}" in done.stdout.replace(",", ""), done.stdout
    assert str(math.factorial(100)) in done.stdout
    assert len(str(math.factorial(100))) == 158
    charts = list(out.glob("*.png"))
    assert charts and charts[0].read_bytes().startswith(b"\x89PNG")


def test_a_shown_figure_becomes_a_file(analyst):
    box = analyst.container()
    done = box.run("import matplotlib.pyplot as plt\n"
                   "plt.plot([1, 4, 9]); plt.title('größer')\n"
                   "plt.show()\n"
                   "import numpy, pandas, scipy, openpyxl, PIL\n"
                   "pandas.DataFrame({'a': [1, 2]})", timeout_s=280)
    assert done["status"] == "ok", done
    mimes = [m for r in done["results"] for m in r]
    assert "image/png" in mimes and "text/html" in mimes
    figure = [r["image/png"] for r in done["results"] if "image/png" in r][0]
    assert box.content(figure["file_id"]).startswith(b"\x89PNG")
    assert done["stderr"] == ""
    box.delete()


def test_arrays_may_take_most_of_the_memory(analyst):
    box = analyst.container()
    done = box.run("import numpy as np\n"
                   "a = np.ones(72 << 20)\n"
                   "for i in range(3): a += 1\n"
                   "print(a.nbytes >> 20, a.sum() / a.size)", timeout_s=280)
    assert done["stdout"] == "576 4.0\n", done
    box.delete()
