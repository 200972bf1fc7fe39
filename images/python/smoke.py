"""Run in a new python image before it is published."""

import warnings

warnings.simplefilter("error")

import matplotlib
import numpy
import openpyxl
import pandas
import PIL.Image
import scipy.optimize
import scipy.stats
from matplotlib import font_manager, pyplot

# The prepared list of fonts is used: another would go to a new directory.
assert matplotlib.get_cachedir().startswith("/home/"), matplotlib.get_cachedir()
assert "DejaVu Sans" in font_manager.get_font_names()

table = pandas.DataFrame({"x": numpy.arange(10), "y": numpy.arange(10) ** 2})
assert abs(table["y"].std() - 28.30) < 0.01
table.to_excel("/mnt/data/smoke.xlsx")
assert pandas.read_excel("/mnt/data/smoke.xlsx").shape == (10, 3)
assert openpyxl.load_workbook("/mnt/data/smoke.xlsx").active.max_row == 11
assert abs(scipy.optimize.brentq(lambda x: x * x - 2, 0, 2) - 2 ** 0.5) < 1e-9
assert scipy.stats.norm.cdf(0) == 0.5

table.plot(x="x", y="y", title="Größe")
pyplot.savefig("/mnt/data/smoke.png")
pyplot.close("all")
with PIL.Image.open("/mnt/data/smoke.png") as image:
    assert image.size == (640, 480)
print("all is well")
