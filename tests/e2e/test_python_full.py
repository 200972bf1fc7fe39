"""The image of many libraries: every type of file, every script, and pip."""

import io
import json
import os
import pathlib
import subprocess
import tarfile
import time
import zipfile

import pytest

from cupola import SOURCE, image_is_there, running

MODULE = "cupola_test_wheel"


pytestmark = pytest.mark.skipif(
    not image_is_there("python-full"), reason="the image python-full is not"
    " there: contrib/check --images makes it")


def archive(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as z:
        for name, text in files.items():
            z.writestr(name, text)
    return data.getvalue()


def wheel():
    """As small as one can be."""
    info = f"{MODULE}-1.0.dist-info"
    return archive({
        f"{MODULE}.py": "ANSWER = 42\n",
        f"{info}/METADATA":
            f"Metadata-Version: 2.1\nName: {MODULE}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\n"
                         "Root-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": f"{MODULE}.py,,\n{info}/METADATA,,\n"
                          f"{info}/WHEEL,,\n{info}/RECORD,,\n",
    })


@pytest.fixture(scope="module")
def analyst(tmp_path_factory):
    """A daemon with a wheelhouse."""
    place = tmp_path_factory.mktemp("wheels")
    (place / f"{MODULE}-1.0-py3-none-any.whl").write_bytes(wheel())
    disk = pathlib.Path("/var/lib/cupola") / f"test-{os.getpid()}.erofs"
    subprocess.run([SOURCE / "images/wheelhouse", place, disk], check=True)
    try:
        with running(image="python-full",
                     settings={"pool.default.memory": "1G",
                               "pool.default.wheelhouse": disk}) as d:
            yield d
    finally:
        disk.unlink()


@pytest.fixture(scope="module")
def box(analyst):
    made = analyst.container()
    yield made
    made.delete()


def put(box, name, data):
    if isinstance(data, str):
        data = data.encode()
    box.json("POST", "/files", files={"file": (name, data)})


def run(box, code, **fields):
    done = box.run(code, timeout_s=280, **fields)
    assert done["status"] == "ok", done
    return done["stdout"]


# Text of programs and pages: a lexer of its language knows every character.
TEXTS = {
    ".c": '#include <stdio.h>\nint main(void) { return puts("größer") < 0; }\n',
    ".cpp": "#include <vector>\nint main() { std::vector<int> v{1}; }\n",
    ".java": "class A { public static void main(String[] a) {} }\n",
    ".php": "<?php echo strlen('größer'); ?>\n",
    ".rb": "puts [1, 2].map { |x| x * 2 }.inspect\n",
    ".tex": "\\documentclass{article}\\begin{document}$x^2$\\end{document}\n",
    ".css": "body { color: #fff; }\n",
    ".js": "const f = x => x ** 2;\n",
    ".ts": "const f = (x: number): number => x ** 2;\n",
}


def test_programs_are_read_by_their_languages_lexer(box):
    for suffix, text in TEXTS.items():
        put(box, "program" + suffix, text)
    out = run(box, f"""
from pygments.lexers import get_lexer_for_filename
from pygments.token import Error
for suffix in {list(TEXTS)}:
    name = "program" + suffix
    text = open(name, encoding="utf-8").read()
    tokens = list(get_lexer_for_filename(name, text).get_tokens(text))
    assert len(tokens) > 5 and not [t for t in tokens if t[0] is Error], tokens
    print(suffix)
""")
    assert out.split() == list(TEXTS)


def test_a_c_program_is_compiled_and_a_python_file_is_a_module(box):
    put(box, "hello.c", TEXTS[".c"])
    put(box, "helper.py", "def double(x):\n    return 2 * x\n")
    out = run(box, """
import subprocess, helper, ast
subprocess.run(["gcc", "-Wall", "-Werror", "hello.c", "-o", "hello"], check=True)
print(subprocess.run(["./hello"], capture_output=True, text=True).stdout.strip())
print(helper.double(21), type(ast.parse(open("helper.py").read())).__name__)
""")
    assert out.split() == ["größer", "42", "Module"]


def test_plain_and_marked_text(box):
    put(box, "plain.txt", "Grüße\r\naus Köln\n")
    put(box, "page.md", "# Größe\n\n* eins\n* zwei\n")
    put(box, "page.html", "<html><head><meta charset='iso-8859-1'></head><body>"
        "<p class=a>Größe</p><p>zwei</body>".encode("latin-1"))
    put(box, "data.xml", '<?xml version="1.0" encoding="utf-16"?>'
        '<a xmlns="urn:x"><b n="1">Größe</b></a>'.encode("utf-16"))
    put(box, "data.json", json.dumps({"größe": [1, 2.5, None]}))
    out = run(box, """
import json, markdown, lxml.etree
from bs4 import BeautifulSoup
print(open("plain.txt").read().splitlines())
page = markdown.markdown(open("page.md").read())
print(BeautifulSoup(page, "html5lib").h1.text, page.count("<li>"))
soup = BeautifulSoup(open("page.html", "rb").read(), "lxml")
print(soup.find("p", class_="a").text, len(soup.find_all("p")))
tree = lxml.etree.parse("data.xml")
print(tree.find("{urn:x}b").text, tree.find("{urn:x}b").get("n"))
print(json.load(open("data.json"))["größe"])
""")
    assert out.splitlines() == ["['Grüße', 'aus Köln']", "Größe 2", "Größe 2",
                                "Größe 1", "[1, 2.5, None]"]


TABLE = "name;größe\nÄpfel;1,5\nÖl;2,5\n"


@pytest.mark.parametrize("encoding, options", [
    ("utf-8", {}), ("utf-8-sig", {"encoding": "utf-8-sig"}),
    ("utf-16", {"encoding": "utf-16"}), ("utf-16-le", {"encoding": "utf-16-le"}),
    ("latin-1", {"encoding": "latin-1"}), ("cp1252", {"encoding": "cp1252"}),
])
def test_a_table_is_read_in_any_encoding(box, encoding, options):
    put(box, "table.csv", TABLE.encode(encoding))
    out = run(box, f"""
import csv, pandas, chardet
t = pandas.read_csv("table.csv", sep=None, engine="python", decimal=",",
                    **{options!r})
print(list(t["name"]), t["größe"].sum())
rows = list(csv.DictReader(open("table.csv", newline="",
    encoding={options.get("encoding", "utf-8")!r}), delimiter=";"))
print(rows[1]["größe"])
""")
    assert out.splitlines() == ["['Äpfel', 'Öl'] 4.0", "2,5"]


def test_documents_of_offices(box):
    out = run(box, """
import docx, openpyxl, pandas, zipfile, lxml.etree, xlsxwriter
d = docx.Document()
d.add_heading("Bericht"); d.add_paragraph("Größe")
d.add_table(rows=1, cols=2).cell(0, 1).text = "Zelle"
d.save("made.docx")
""")
    assert out == ""
    # The bytes make the way of any upload: out, and in again.
    put(box, "again.docx", box.content(name_of(box, "made.docx")))
    out = run(box, """
d = docx.Document("again.docx")
print([p.text for p in d.paragraphs], d.tables[0].cell(0, 1).text)
b = openpyxl.Workbook()
b.active.append(["a", "b"]); b.active.append([1, "=A2*2"])
b.save("made.xlsx")
print(pandas.read_excel("made.xlsx")["a"].tolist(),
      openpyxl.load_workbook("made.xlsx").active["B2"].value)
""")
    assert out.splitlines() == ["['Bericht', 'Größe'] Zelle", "[1] =A2*2"]


def name_of(box, name):
    """The id of a file of that name."""
    for f in box.files():
        if f["path"].endswith("/" + name):
            return f["id"]
    raise AssertionError(f"no file {name}")


SLIDE = ('<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/'
         'main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
         '<p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>Größe {}</a:t></a:r>'
         '</a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>')


def test_slides_are_read_as_what_they_are(box):
    """Debian has no python-pptx: it is one for the wheelhouse. Without it a
    presentation is an archive of XML."""
    put(box, "slides.pptx", archive({
        "[Content_Types].xml": "<Types/>",
        **{f"ppt/slides/slide{n}.xml": SLIDE.format(n) for n in (1, 2)}}))
    out = run(box, """
import zipfile, lxml.etree
with zipfile.ZipFile("slides.pptx") as z:
    for name in sorted(z.namelist()):
        if name.startswith("ppt/slides/slide"):
            tree = lxml.etree.fromstring(z.read(name))
            print(" ".join(tree.xpath("//*[local-name()='t']/text()")))
""")
    assert out.splitlines() == ["Größe 1", "Größe 2"]


def test_pdf_is_made_and_read(box):
    out = run(box, """
from reportlab.pdfgen import canvas
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
import glob, pypdf, pdfminer.high_level, subprocess
path = glob.glob("/usr/share/fonts/**/DejaVuSans.ttf", recursive=True)[0]
pdfmetrics.registerFont(TTFont("D", path))
c = canvas.Canvas("made.pdf")
c.setFont("D", 20); c.drawString(100, 700, "Größe Ω 42"); c.showPage(); c.save()
print(pypdf.PdfReader("made.pdf").pages[0].extract_text().strip())
print(pdfminer.high_level.extract_text("made.pdf").strip())
print(subprocess.run(["pdftotext", "made.pdf", "-"], capture_output=True,
                     text=True).stdout.strip())
""")
    assert out.splitlines() == ["Größe Ω 42"] * 3


def test_pictures(box):
    out = run(box, """
from PIL import Image, ImageDraw
import cv2, subprocess
im = Image.new("RGB", (40, 30), "red")
for name in ("a.png", "a.jpg", "a.jpeg", "a.gif"):
    im.save(name)
    with Image.open(name) as again:
        print(name, again.format, again.size, again.convert("RGB").getpixel((9, 9))[0] > 250)
print(cv2.imread("a.jpg").shape, cv2.imwrite("b.png", cv2.imread("a.png")))
print(subprocess.run(["magick", "identify", "-format", "%m %w", "a.gif"],
                     capture_output=True, text=True).stdout)
""")
    assert out.splitlines() == [
        "a.png PNG (40, 30) True", "a.jpg JPEG (40, 30) True",
        "a.jpeg JPEG (40, 30) True", "a.gif GIF (40, 30) True",
        "(30, 40, 3) True", "GIF 40"]


def test_archives(box):
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as t:
        info = tarfile.TarInfo("größe.txt")
        info.size = 2
        t.addfile(info, io.BytesIO(b"42"))
    put(box, "a.tar", tar.getvalue())
    put(box, "a.zip", archive({"größe.txt": "42"}))
    out = run(box, """
import tarfile, zipfile, subprocess
print(tarfile.open("a.tar").extractfile("größe.txt").read().decode(),
      zipfile.ZipFile("a.zip").read("größe.txt").decode())
print(subprocess.run("tar tf a.tar; unzip -p a.zip; zip -q b.zip a.tar; file -b b.zip",
                     shell=True, capture_output=True, text=True).stdout)
""")
    assert "42 42" in out and "Zip archive" in out


SCRIPTS = {
    "latin": "Größe", "chinese": "中文字体", "japanese": "日本語カタカナ",
    "korean": "한국어", "arabic": "العربية", "devanagari": "हिन्दी",
    "hebrew": "עברית", "thai": "ภาษาไทย", "emoji": "😀🚀🤖🥳❤✅",
}


def test_no_character_of_any_script_is_a_box(box):
    """matplotlib warns of each glyph that it does not find. Neither a theme of
    seaborn nor a family of one's own changes what is fallen back to."""
    out = run(box, f"""
import warnings, seaborn, matplotlib.pyplot as plt
scripts = {SCRIPTS!r}
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for theme in (None, "darkgrid"):
        if theme:
            seaborn.set_theme(style=theme)
        for family in (None, "serif", "monospace", "Liberation Sans"):
            fig, ax = plt.subplots()
            for n, text in enumerate(scripts.values()):
                ax.text(0, n / 9, text, family=family)
            fig.savefig("scripts.png"); fig.savefig("scripts.pdf"); plt.close(fig)
print([str(w.message) for w in seen if "lyph" in str(w.message)])
""")
    assert out.strip() == "[]"


def test_a_package_of_the_wheelhouse_is_installed_and_imported(box):
    code = f"%pip install {MODULE}\nimport {MODULE}\nprint({MODULE}.ANSWER)"
    assert run(box, code).splitlines()[-1] == "42"
    # A process of its own finds it too.
    out = run(box, f"""
import subprocess, sys
pip = [sys.executable, "-m", "pip"]
subprocess.run([*pip, "uninstall", "-y", "-q", "{MODULE}"], check=True)
subprocess.run([*pip, "install", "-q", "{MODULE}"], check=True)
print(subprocess.run(["python3", "-c", "import {MODULE} as m; print(m.ANSWER)"],
                     capture_output=True, text=True).stdout)
""")
    assert out.strip() == "42"
    done = box.run("!pip install nothing_of_the_kind", timeout_s=280)
    assert "The wheelhouse has: cupola-test-wheel 1.0" in \
        done["stdout"] + done["stderr"]
    # Nobody writes to it.
    error = box.run("open('/opt/wheels/x', 'w')", timeout_s=60)["error"]
    assert "Read-only" in error["value"], error


def test_without_a_wheelhouse_pip_says_at_once_what_is_there(daemon):
    box = daemon.container()
    run(box, "1")
    for code in ("%pip install nothing_of_the_kind",
                 "!python3 -m pip install nothing_of_the_kind"):
        start = time.monotonic()
        done = box.run(code, timeout_s=60)
        took = time.monotonic() - start
        said = done["stdout"] + done["stderr"]
        assert "no network" in said and "nothing_of_the_kind" in said
        assert "ipython 8" in said, said
        assert took < 10, took      # emulated, on a busy host
    assert "is there already" in run(box, "!pip install ipython")
    box.delete()


def test_a_request_fails_at_once_and_says_why(box):
    start = time.monotonic()
    done = box.run("import requests\nrequests.get('https://example.org')",
                   timeout_s=280)
    assert done["error"]["name"] == "ConnectionError"
    assert "there is no network here" in done["error"]["value"]
    again = time.monotonic()
    box.run("requests.get('https://example.org')", timeout_s=60)
    assert time.monotonic() - again < 10, (again - start)
