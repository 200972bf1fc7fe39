"""What analysts have a model write: a dozen whole programs on files that came by
upload, each judged by what it prints and by the files that it leaves."""

import csv
import io
import math
import random
import sqlite3
import wave
import zipfile

import pytest

from cupola import image_is_there, running

pytestmark = pytest.mark.skipif(
    not image_is_there("python-full"), reason="the image python-full is not"
    " there: contrib/check --images makes it")


@pytest.fixture(scope="module")
def box():
    with running(image="python-full",
                 settings={"pool.default.memory": "1G"}) as d:
        made = d.container()
        yield made
        made.delete()


def run(box, code, *made):
    """Return: what it printed, and the bytes of the files that it made."""
    done = box.run(code, timeout_s=280)
    assert done["status"] == "ok", done
    ids = {f["path"].rpartition("/")[2]: f["id"] for f in box.files()}
    files = [box.content(ids[name]) for name in made]
    return (done["stdout"], *files)


def is_picture(data):
    return data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) > 5000


def as_csv(rows):
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def sales():
    """Twelve months of three regions; the sums are told without pandas."""
    chance = random.Random(7)
    return [(f"2025-{month:02}-{day:02}", region, chance.randrange(100, 900))
            for month in range(1, 13) for day in (5, 20)
            for region in ("North", "South", "Überlingen")]


def test_groups_and_a_chart(box):
    rows = sales()
    box.put("sales.csv", as_csv([("date", "region", "amount"), *rows]))
    out, chart = run(box, """
import matplotlib.pyplot as plt, pandas as pd, seaborn as sns
df = pd.read_csv("sales.csv", parse_dates=["date"])
by = df.groupby("region")["amount"].agg(["sum", "mean", "count"])
print(by["sum"].to_dict(), by["count"].unique().tolist())
monthly = df.pivot_table(index=df["date"].dt.to_period("M"), columns="region",
                         values="amount", aggfunc="sum")
sns.set_theme()
ax = monthly.plot(kind="bar", stacked=True, figsize=(9, 4), title="Umsatz je Monat")
ax.set_ylabel("€"); plt.tight_layout(); plt.savefig("sales.png")
print(monthly.shape)
""", "sales.png")
    sums = {}
    for _, region, amount in rows:
        sums[region] = sums.get(region, 0) + amount
    assert out.splitlines() == [f"{sums} [24]", "(12, 3)"]
    assert is_picture(chart)


def test_a_model_is_fitted_and_judged(box):
    out, chart = run(box, """
import matplotlib.pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
x, y = load_iris(return_X_y=True)
a, b, c, d = train_test_split(x, y, random_state=0, stratify=y)
line = make_pipeline(StandardScaler(), LogisticRegression()).fit(a, c)
forest = RandomForestClassifier(30, random_state=0).fit(a, c)
print(line.score(b, d) > 0.9, forest.score(b, d) > 0.9,
      cross_val_score(line, x, y, cv=5).mean().round(2))
ConfusionMatrixDisplay.from_estimator(line, b, d); plt.savefig("matrix.png")
""", "matrix.png")
    assert out.startswith("True True 0.9")
    assert is_picture(chart)


def test_a_report_in_word(box):
    out, report = run(box, """
import docx
from docx.shared import Cm
import matplotlib.pyplot as plt
plt.figure(); plt.plot([1, 4, 9], marker="o"); plt.savefig("curve.png"); plt.close()
d = docx.Document()
d.add_heading("Quarterly report", 0)
d.add_paragraph("Größe and growth, in numbers.", style="Intense Quote")
t = d.add_table(rows=1, cols=2, style="Light Grid Accent 1")
t.rows[0].cells[0].text, t.rows[0].cells[1].text = "Quarter", "Profit"
for q, p in (("Q1", 10), ("Q2", 20)):
    row = t.add_row().cells
    row[0].text, row[1].text = q, str(p)
d.add_picture("curve.png", width=Cm(8))
d.save("report.docx")
again = docx.Document("report.docx")
print(len(again.tables[0].rows), len(again.inline_shapes))
""", "report.docx")
    assert out == "3 1\n"
    with zipfile.ZipFile(io.BytesIO(report)) as z:
        assert "Größe and growth" in z.read("word/document.xml").decode()
        assert any(n.startswith("word/media/") for n in z.namelist())


def test_a_workbook_with_a_chart_and_formulas(box):
    out, book = run(box, """
import pandas as pd
df = pd.DataFrame({"month": ["Jan", "Feb", "Mar"], "sold": [10, 30, 20]})
with pd.ExcelWriter("book.xlsx", engine="xlsxwriter") as w:
    df.to_excel(w, sheet_name="Sales", index=False)
    sheet = w.sheets["Sales"]
    sheet.write_formula("B5", "=SUM(B2:B4)")
    chart = w.book.add_chart({"type": "column"})
    chart.add_series({"categories": "=Sales!$A$2:$A$4", "values": "=Sales!$B$2:$B$4"})
    sheet.insert_chart("D2", chart)
import openpyxl
again = openpyxl.load_workbook("book.xlsx")["Sales"]
print(again["B5"].value, len(again._charts), again["A3"].value)
""", "book.xlsx")
    assert out == "=SUM(B2:B4) 1 Feb\n"
    with zipfile.ZipFile(io.BytesIO(book)) as z:
        assert "xl/charts/chart1.xml" in z.namelist()


def test_the_text_and_the_tables_of_a_pdf(box):
    out, page = run(box, """
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table
rows = [["Item", "Price"], ["Apple", "1.50"], ["Pear", "2.25"]]
SimpleDocTemplate("invoice.pdf", pagesize=A4).build(
    [Paragraph("Invoice 2025-17", getSampleStyleSheet()["Title"]), Table(rows)])
import subprocess, re, pypdf
text = subprocess.run(["pdftotext", "-layout", "invoice.pdf", "-"],
                      capture_output=True, text=True, check=True).stdout
prices = [float(x) for x in re.findall(r"\\d+[.]\\d\\d", text)]
print(pypdf.PdfReader("invoice.pdf").pages[0].extract_text().split("\\n")[0],
      sum(prices))
subprocess.run(["pdftoppm", "-r", "50", "-png", "-singlefile", "invoice.pdf", "page"],
               check=True)
""", "page.png")
    assert out == "Invoice 2025-17 3.75\n"
    assert page.startswith(b"\x89PNG")


def test_text_is_recognised_in_a_picture(box):
    out, _ = run(box, """
from PIL import Image, ImageDraw, ImageFont
import subprocess
font = ImageFont.truetype("DejaVuSans.ttf", 40)
im = Image.new("L", (900, 200), 255)
ImageDraw.Draw(im).multiline_text((20, 30), "Total amount due\\n1234.56 EUR",
                                  font=font, fill=0)
im.save("scan.png")
done = subprocess.run(["tesseract", "scan.png", "-", "--psm", "6"],
                      capture_output=True, text=True, check=True)
print(done.stdout.strip())
""", "scan.png")
    assert out.split("\n")[:2] == ["Total amount due", "1234.56 EUR"]


def test_sound_is_converted_and_measured(box):
    sound = io.BytesIO()
    with wave.open(sound, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(8000)
        w.writeframes(b"".join(
            int(9000 * math.sin(2 * math.pi * 440 * n / 8000)).to_bytes(
                2, "little", signed=True) for n in range(8000)))
    box.put("tone.wav", sound.getvalue())
    out, video = run(box, """
import json, subprocess, numpy as np, scipy.io.wavfile, scipy.signal
def ffmpeg(*words):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *words], check=True)
ffmpeg("-i", "tone.wav", "-c:a", "libmp3lame", "tone.mp3")
ffmpeg("-i", "tone.mp3", "-ar", "16000", "back.wav")
rate, data = scipy.io.wavfile.read("back.wav")
f, p = scipy.signal.periodogram(data.astype(float), rate)
print(rate, round(f[np.argmax(p)]))
ffmpeg("-f", "lavfi", "-i", "testsrc=size=160x120:rate=10:duration=1",
       "-pix_fmt", "yuv420p", "clip.mp4")
probe = subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-show_streams",
                        "clip.mp4"], capture_output=True, check=True).stdout
s = json.loads(probe)["streams"][0]
print(s["codec_name"], s["width"], s["nb_frames"])
""", "clip.mp4")
    assert out.splitlines() == ["16000 440", "h264 160 10"]
    assert video[4:8] == b"ftyp"


def test_documents_are_converted(box):
    box.put("notes.md", "# Größe\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n$x^2$\n")
    out, document = run(box, """
import subprocess
for name in ("notes.docx", "notes.html", "notes.epub", "notes.odt"):
    subprocess.run(["pandoc", "-s", "--mathml", "--metadata", "title=Notes",
                    "notes.md", "-o", name], check=True)
back = subprocess.run(["pandoc", "notes.docx", "-t", "gfm"], check=True,
                      capture_output=True, text=True).stdout
html = open("notes.html").read()
print("Größe" in back, "| 1" in back, "<math" in html, "<table" in html)
""", "notes.docx")
    assert out == "True True True True\n"
    assert document.startswith(b"PK")


def test_equations_are_solved_exactly(box):
    out, = run(box, """
from sympy import Eq, Function, Matrix, dsolve, integrate, latex, oo, solve, symbols
from sympy import exp, cos, series, Rational
x, a = symbols("x a", positive=True)
f = Function("f")
print(solve(Eq(x**2 - 5*x, -6), x), integrate(exp(-a*x**2), (x, -oo, oo)))
print(dsolve(f(x).diff(x) - f(x), f(x)), series(cos(x), x, 0, 5))
print(Matrix([[2, 1], [1, 2]]).eigenvals(), latex(Rational(3, 4)))
""")
    assert out.splitlines() == [
        "[2, 3] sqrt(pi)/sqrt(a)",
        "Eq(f(x), C1*exp(x)) 1 - x**2/2 + x**4/24 + O(x**5)",
        "{3: 1, 1: 1} \\frac{3}{4}"]


def test_places_are_joined_to_areas_and_drawn(box):
    box.put("places.csv", "name,x,y\na,1,1\nb,5,5\nc,1.5,0.5\nd,9,9\n".encode())
    out, chart, shapes = run(box, """
import geopandas as gpd, matplotlib.pyplot as plt, pandas as pd
from shapely.geometry import box as rectangle
areas = gpd.GeoDataFrame({"area": ["west", "east"]}, crs=25832,
    geometry=[rectangle(0, 0, 3, 3), rectangle(4, 4, 7, 7)])
p = pd.read_csv("places.csv")
places = gpd.GeoDataFrame(p, geometry=gpd.points_from_xy(p.x, p.y), crs=25832)
joined = gpd.sjoin(places, areas, how="left", predicate="within")
print(joined["area"].fillna("none").tolist(), areas.area.tolist(),
      round(areas.to_crs(4326).total_bounds[0], 3))
ax = areas.plot(column="area", legend=True, edgecolor="k"); places.plot(ax=ax, color="r")
plt.savefig("map.png"); areas.to_file("areas.geojson", driver="GeoJSON")
print(len(gpd.read_file("areas.geojson")))
""", "map.png", "areas.geojson")
    assert out.splitlines()[0].startswith(
        "['west', 'east', 'west', 'none'] [9.0, 9.0] 4.511"), out
    assert out.splitlines()[1] == "2"
    assert is_picture(chart) and b'"FeatureCollection"' in shapes


def test_a_network_is_measured_and_drawn(box):
    out, chart = run(box, """
import matplotlib.pyplot as plt, networkx as nx
g = nx.karate_club_graph()
best = sorted(nx.betweenness_centrality(g).items(), key=lambda x: -x[1])[:2]
parts = nx.community.greedy_modularity_communities(g)
print([n for n, _ in best], len(parts), nx.shortest_path_length(g, 16, 26))
plt.figure()
nx.draw_networkx(g, nx.spring_layout(g, seed=1), node_size=200,
                 node_color=[next(i for i, p in enumerate(parts) if n in p) for n in g])
plt.savefig("club.png")
nx.write_graphml(g, "club.graphml")
""", "club.png")
    assert out == "[0, 33] 3 5\n"
    assert is_picture(chart)


def test_a_database_is_asked(box, tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as db:
        db.execute("CREATE TABLE sale (day TEXT, region TEXT, amount INT)")
        db.executemany("INSERT INTO sale VALUES (?,?,?)", sales())
        best = db.execute("SELECT region, SUM(amount) s FROM sale GROUP BY 1"
                          " ORDER BY s DESC LIMIT 1").fetchone()
    db.close()
    box.put("shop.db", (tmp_path / "shop.db").read_bytes())
    out, made = run(box, """
import pandas as pd, sqlite3, subprocess
db = sqlite3.connect("shop.db")
df = pd.read_sql("SELECT region, day, SUM(amount) OVER (PARTITION BY region ORDER BY"
                 " day ROWS UNBOUNDED PRECEDING) AS running FROM sale", db)
last = df.groupby("region")["running"].max()
print((last.idxmax(), int(last.max())))
last.to_frame().to_sql("totals", db, if_exists="replace"); db.commit()
print(subprocess.run(["sqlite3", "-csv", "shop.db", "SELECT count(*) FROM totals"],
                     capture_output=True, text=True, check=True).stdout.strip())
""", "shop.db")
    assert out.splitlines() == [str(best), "3"]
    (tmp_path / "back.db").write_bytes(made)
    db = sqlite3.connect(tmp_path / "back.db")
    assert db.execute("SELECT running FROM totals WHERE region = ?",
                      best[:1]).fetchone() == best[1:]
    db.close()
