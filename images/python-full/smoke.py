"""Run in a new python-full image before it is published."""

import importlib
import os
import shutil
import subprocess
import warnings

warnings.simplefilter("error")

import cv2
import matplotlib
import numpy
import PIL.Image
from matplotlib import font_manager, pyplot

# All libraries that the image promises.
warnings.simplefilter("ignore")
for name in (
        "pandas scipy.stats seaborn sklearn.linear_model statsmodels.api sympy"
        " networkx openpyxl xlrd xlsxwriter docx pypdf reportlab.pdfgen.canvas"
        " pdfminer.high_level lxml.etree bs4 html5lib markdown requests sqlite3"
        " yaml tabulate geopandas shapely nltk h5py tqdm joblib Cython pytest"
).split():
    importlib.import_module(name)
for name in ("bzip2 convert ffmpeg file gcc git jq magick pandoc pdftotext pip"
             " sqlite3 tar tesseract unzip xz zip").split():
    assert shutil.which(name), name

# Nobody becomes somebody else, and nobody changes the image's files.
found = subprocess.run(
    ["find", "/", "-xdev", "-perm", "/6000", "-not", "-path", "/proc/*"],
    capture_output=True, text=True)
assert found.stdout == "", found.stdout
for path in ("/usr/bin/python3", "/etc/passwd", cv2.__file__):
    try:
        open(path, "ab").close()
        raise AssertionError(f"{path} can be written to")
    except PermissionError:
        pass
assert not os.access("/usr/lib/python3/dist-packages", os.W_OK)

# The prepared list of fonts is used, and no character is a box.
assert matplotlib.get_cachedir().startswith("/home/"), matplotlib.get_cachedir()
scripts = {
    "Latin, Greek, Cyrillic": "Größe Ελληνικά Кириллица",
    "Chinese, Japanese": "中文字体 日本語カタカナ",
    "Korean": "한국어 글꼴",
    "Arabic": "اللغة العربية",
    "Devanagari": "हिन्दी देवनागरी",
    "Hebrew": "עברית",
    "Thai": "ภาษาไทย",
    "Emoji": "😀 🚀 🤖 🥳 ❤ ✅ 📈",
}
warnings.simplefilter("error")      # a missing glyph is a warning
figure, axes = pyplot.subplots(figsize=(9, 4))
axes.axis("off")
for row, (script, text) in enumerate(scripts.items()):
    axes.text(0.02, 0.9 - row / 9, f"{script}: {text}", fontsize=14)
    axes.text(0.98, 0.9 - row / 9, text, fontsize=10, ha="right",
              family="sans-serif" if row % 2 else "serif")
pyplot.savefig("/mnt/data/scripts.png")
pyplot.close("all")
with PIL.Image.open("/mnt/data/scripts.png") as image:
    assert image.size == (900, 400)
assert numpy.ptp(cv2.imread("/mnt/data/scripts.png")) == 255
print("all is well")
