# SPDX-License-Identifier: Apache-2.0
"""Results in the forms that IPython knows."""

import json

from cases import needs_module


def forms_of(e):
    """By MIME type; each result has its own."""
    return {mime: data for _, mime, data, _ in e.displays}


def every_form_that_ipython_makes_is_told(g):
    e = g.run("""
class Rich:
    def __repr__(self): return 'plain'
    def _repr_html_(self): return '<b>é</b>'
    def _repr_markdown_(self): return '**m**'
    def _repr_svg_(self): return '<svg xmlns="http://www.w3.org/2000/svg"/>'
    def _repr_json_(self): return {'a': [1, None, 'é']}
    def _repr_latex_(self): return '$x$'
    def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n'
    def _repr_jpeg_(self): return b'\\xff\\xd8\\xff\\xe0'
Rich()
""", exec_id=b"exec_rich")
    forms = forms_of(e)
    assert json.loads(forms.pop("application/json")) == {"a": [1, None, "é"]}
    assert forms == {
        "text/plain": b"plain",
        "text/html": "<b>é</b>".encode(),
        "text/markdown": b"**m**",
        "image/svg+xml": b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        "text/latex": b"$x$",
        "image/png": b"figure-exec_rich-1.png",
        "image/jpeg": b"figure-exec_rich-2.jpg"}, forms
    assert {bundle for bundle, *_ in e.displays} == {0}
    assert g.get("figure-exec_rich-1.png")[1] == b"\x89PNG\r\n\x1a\n"
    assert g.get("figure-exec_rich-2.jpg")[1] == b"\xff\xd8\xff\xe0"


def display_objects_of_ipython_are_told(g):
    e = g.run("""
from IPython.display import *
display(SVG('<svg xmlns="http://www.w3.org/2000/svg"/>'), JSON({'k': 1}),
        Markdown('*m*'), HTML('<i>h</i>'), Math('x'))
display({'text/plain': 'raw', 'application/json': {'r': [1]}}, raw=True)
Image(b'GIF89a' + bytes(20), format='gif')
""", exec_id=b"exec_disp")
    forms = [(bundle, mime, data) for bundle, mime, data, _ in e.displays]
    assert [d for _, m, d in forms if m == "image/svg+xml"][0][:4] == b"<svg"
    assert [json.loads(d) for _, m, d in forms if m == "application/json"] \
        == [{"k": 1}, {"r": [1]}]
    assert (2, "text/markdown", b"*m*") in forms
    assert (3, "text/html", b"<i>h</i>") in forms
    assert (5, "text/plain", b"raw") in forms
    assert (6, "image/gif", b"figure-exec_disp-1.gif") in forms, forms
    assert g.get("figure-exec_disp-1.gif")[1] == b"GIF89a" + bytes(20)


def a_form_that_fails_spoils_no_other(g):
    e = g.run("""
loop = {}; loop['loop'] = loop
class Odd:
    def __repr__(self): return 'odd'
    def _repr_json_(self): return loop
    def _repr_png_(self): return 'no base64'
    def _repr_svg_(self): raise RuntimeError('svg')
    def _repr_html_(self): return 5
Odd()
""")
    assert e.status == "ok", e.error
    assert forms_of(e) == {"text/plain": b"odd"}, e.displays
    assert "application/json" in e.stderr and "svg" in e.stderr


def results_that_bite_are_errors_within_the_execution(g):
    for body, status in (("while True: pass", "timeout"),
                         ("raise SystemExit(3)", "error"),
                         ("raise RuntimeError", "ok"), ("return 5", "ok"),
                         ("print('said'); return 'r'", "ok")):
        e = g.run(f"class R:\n def __repr__(self):\n  {body}\nR()", timeout=2)
        assert e.status == status, (body, e.status, e.error)
        assert not e.done["state_lost"]
    assert g.run("l = []; l.append(l); l").displays[0][2] == b"[[...]]"


def a_table_of_any_size_is_a_page(g):
    needs_module(g, "pandas")
    e = g.run("""
import numpy, pandas
pandas.DataFrame({'a': numpy.arange(1_000_000), 'b': 'x' * 10_000})
""")
    forms = forms_of(e)
    assert b"1000000 rows" in forms["text/plain"]
    assert all(len(data) < 32768 for data in forms.values())
    assert b"<table" in forms["text/html"]
    e = g.run("pandas.DataFrame(numpy.zeros((1000, 2000)))")
    forms = forms_of(e)
    assert b"2000 columns" in forms["text/html"]
    assert all(len(data) < 65536 for data in forms.values()), \
        [len(data) for data in forms.values()]
    e = g.run("pandas.Series(numpy.arange(1_000_000)), numpy.zeros(10**6)")
    assert len(forms_of(e)["text/plain"]) < 4096


def figures_are_files_and_are_closed(g):
    needs_module(g, "matplotlib")
    e = g.run("""
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.figure(); plt.plot([2, 1]); plt.show()
plt.figure(); plt.bar([1, 2], [3, 4]);
""", exec_id=b"exec_fig", timeout=100)
    images = [(bundle, data, flags) for bundle, mime, data, flags in e.displays
              if mime == "image/png"]
    assert images == [(n, b"figure-exec_fig-%d.png" % (n + 1), 1)
                      for n in range(3)], (images, e.error)
    assert sorted(e.names) == [f"figure-exec_fig-{n}.png" for n in (1, 2, 3)]
    for name in e.names:
        assert g.get(name)[1].startswith(b"\x89PNG\r\n\x1a\n")
    e = g.run("print(plt.get_fignums())")
    assert e.stdout == "[]\n" and e.displays == []


def a_figure_that_cannot_be_drawn_is_an_error_once(g):
    needs_module(g, "matplotlib")
    e = g.run("import matplotlib.pyplot as plt\nplt.title('$\\\\frac{$');",
              timeout=100)
    assert e.status == "error" or e.stderr
    e = g.run("1")
    assert e.status == "ok" and len(e.displays) == 1 and not e.stderr
