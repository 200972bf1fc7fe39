#!/usr/bin/python3
"""What Prometheus and Grafana get to read, as TAP.

A daemon that has served everything once tells its figures; they are read by the
rules of the text format and of promtool's lint. The manual, the dashboard and the
alert rules name what is there, and nothing else. Processes stand for VMs.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(os.environ.get("abs_top_srcdir", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("abs_top_builddir", os.environ.get("CUPOLA_BUILD", "build"))).resolve()
os.environ.setdefault("CUPOLA_BUILD", str(BUILD))
sys.path.insert(0, str(TOP / "tests" / "chaos"))
sys.path.insert(0, str(TOP / "tests" / "upstream"))

import tap  # noqa: E402
from host import serving, wait_until  # noqa: E402
from model import Model  # noqa: E402

PATIENCE = 60
MONITORING = TOP / "contrib" / "monitoring"
DASHBOARD = MONITORING / "grafana-dashboard.json"
RULES = MONITORING / "prometheus-rules.yml"

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
PARTS = ("_bucket", "_sum", "_count")


def serve_everything(host):
    key = {"Content-Type": "application/json"}
    container = host.json("POST", "/v1/containers", {"name": "x"})["id"]
    state = f"/admin/v1/sessions/{container}"
    wait_until(lambda: host.json("GET", state, admin=True)["state"] == "running", PATIENCE, "the container")
    assert host.json("POST", f"/v1/containers/{container}/exec", {"code": "count"})["status"] == "ok"
    for model in ("m", 'strange "\\ name'):
        asked = json.dumps({"model": model, "input": "hello"})
        assert host.json("POST", "/v1/responses", asked, headers=key)["status"] == "completed"


@contextlib.contextmanager
def daemon():
    with Model() as model, serving({"pool.other.image": "python", "pool.other.ready": "0", "pool.other.min": "0",
                                    "model.url": model.url, "model.name": "m", "model.second.url": model.url,
                                    "model.second.name": 'strange "\\ name'}) as host:
        yield host


FIGURES = None


def figures():
    """Asked for once: the tests only read."""
    global FIGURES
    if FIGURES is None:
        with daemon() as host:
            serve_everything(host)
            FIGURES = host.call("GET", "/metrics", admin=True).decode()
    return FIGURES


class Family:
    def __init__(self, name, text):
        self.name, self.help = name, text
        self.type = None
        self.samples = []   # (name, {label: value}, number)


def read(text):
    """By the rules of the format: anything else than these lines raises."""
    families = []
    assert text.endswith("\n") and not text.startswith("\n")
    for line in text[:-1].split("\n"):
        words = line.split(" ", 3)
        if words[:2] == ["#", "HELP"]:
            families.append(Family(words[2], words[3]))
        elif words[:2] == ["#", "TYPE"]:
            family = families[-1]
            assert words[2] == family.name and family.type is None and not family.samples, line
            family.type = words[3]
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            labels = LABEL.findall(match[2] or "")
            assert len(labels) == len(dict(labels)), line
            families[-1].samples.append((match[1], dict(labels), float(match[3])))
    return families


def check_family(family):
    name = family.name
    assert family.help and family.type in ("counter", "gauge", "histogram"), name
    assert name.startswith("cupola_") and not name.endswith(PARTS), name
    assert (family.type == "counter") == name.endswith("_total"), f"{name} is a {family.type}"
    assert not re.search(r"_(ms|msec|milliseconds|usec|minutes|kb|mb|mib|counter|gauge|histogram)(_|$)", name), name
    assert family.samples, f"{name} has no samples"
    suffixes = PARTS if family.type == "histogram" else ("",)
    series = set()
    for sample, labels, value in family.samples:
        assert sample in [name + s for s in suffixes], f"{sample} among those of {name}"
        assert value >= 0, sample
        one = (sample, tuple(sorted(labels.items())))
        assert one not in series, f"twice: {one}"
        series.add(one)


def check_histogram(family):
    """Buckets grow to the count, which stands in the last one."""
    rows = {}
    for sample, labels, value in family.samples:
        bound = labels.pop("le", None)
        row = rows.setdefault(tuple(sorted(labels.items())), {"buckets": []})
        if bound is None:
            row[sample.rsplit("_", 1)[1]] = value
        else:
            row["buckets"].append((float(bound), value))
    for labels, row in rows.items():
        bounds = [bound for bound, _ in row["buckets"]]
        counts = [count for _, count in row["buckets"]]
        assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), f"{family.name} {labels}: {bounds}"
        assert counts == sorted(counts) and counts[-1] == row["count"], f"{family.name} {labels}: {row}"
        assert row["count"] > 0 or row["sum"] == 0, f"{family.name} {labels}: {row}"


def figures_are_what_prometheus_reads():
    families = read(figures())
    names = [family.name for family in families]
    assert len(names) == len(set(names)), "the figures of a family are not in a row"
    for family in families:
        check_family(family)
        if family.type == "histogram":
            check_histogram(family)


def value(name, **labels):
    return sum(number for family in read(figures()) for sample, has, number in family.samples
               if sample == name and labels.items() <= has.items())


def what_was_served_is_counted():
    assert value("cupola_create_seconds_count", pool="default", found="nothing") == 1
    assert value("cupola_create_seconds_count") == value("cupola_claims_total") == 1
    assert value("cupola_execution_seconds_count", pool="default") == value("cupola_executions_total", status="ok") == 1
    assert value("cupola_boot_seconds_count", pool="default", stage="total") == 1
    assert value("cupola_boot_seconds_count", pool="other") == 0
    assert value("cupola_model_answer_seconds_count", model="m") == 1
    assert value("cupola_model_answers_total", model='strange \\"\\\\ name', finish="stop") == 1
    assert value("cupola_http_requests_total", code="2xx") >= 4
    assert value("cupola_ready") == 1


def promtool(*argv, data=None):
    if not shutil.which("promtool"):
        raise tap.Skip("promtool is not installed")
    done = subprocess.run(["promtool", *argv], input=data, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0 and not done.stderr, done


def promtool_finds_nothing_in_the_figures():
    promtool("check", "metrics", data=figures())


def promtool_finds_nothing_in_the_rules():
    promtool("check", "rules", str(RULES))


def share(name, labels, rest, percent):
    """A hundred a minute, so many of which have these labels."""
    return {f"{name}{{{labels}}}": f"0+{percent}x60", f"{name}{{{rest}}}": f"0+{100 - percent}x60"}


def slow(name, labels, percent):
    """A hundred a minute, so many of which take more than 5 s."""
    bounds = {"5": 100 - percent, "10": 100, "+Inf": 100}
    return {f'{name}_bucket{{{labels},le="{bound}"}}': f"0+{count}x60" for bound, count in bounds.items()}


DIED = ('reason="vm_crashed"', 'reason="idle"')
FOUND = ('found="nothing"', 'found="ready"')
FINISH = ('model="m",finish="failed"', 'model="m",finish="stop"')

# An hour that is no matter, and one that is: just below the threshold, and above.
HOURS = {
    "CupolaDown": ({'up{job="cupola"}': "1x57 0 1x2"}, {'up{job="cupola"}': "0x60"}),
    "CupolaNotReady": ({"cupola_ready": "0x60", "cupola_draining": "1x60"},
                       {"cupola_ready": "0x60", "cupola_draining": "0x60"}),
    "CupolaRequestsFail": (share("cupola_http_requests_total", 'code="5xx"', 'code="2xx"', 4),
                           share("cupola_http_requests_total", 'code="5xx"', 'code="2xx"', 6)),
    "CupolaCreatesRefused": ({'cupola_creates_refused_total{why="late"}': "7x60"},
                             {'cupola_creates_refused_total{why="late"}': "0+1x60"}),
    "CupolaVmsDie": ({**share("cupola_sessions_ended_total", *DIED, 1), "cupola_sessions_created_total": "0+100x60"},
                     {**share("cupola_sessions_ended_total", *DIED, 3), "cupola_sessions_created_total": "0+100x60"}),
    "CupolaBootsFail": ({"cupola_boots_failed_total": "0x50 2x10"}, {"cupola_boots_failed_total": "0x50 5x10"}),
    "CupolaPoolCold": (share("cupola_claims_total", *FOUND, 40), share("cupola_claims_total", *FOUND, 60)),
    "CupolaBootsSlow": (slow("cupola_boot_seconds", 'pool="p",stage="total"', 4),
                        slow("cupola_boot_seconds", 'pool="p",stage="total"', 10)),
    "CupolaMemoryTaken": ({"cupola_memory_taken_bytes": "89x60", "cupola_memory_bytes": "100x60"},
                          {"cupola_memory_taken_bytes": "91x60", "cupola_memory_bytes": "100x60"}),
    "CupolaHarvestSlow": (slow("cupola_harvest_seconds", 'of="execution"', 4),
                          slow("cupola_harvest_seconds", 'of="execution"', 10)),
    "CupolaModelFails": (share("cupola_model_answers_total", *FINISH, 9),
                         share("cupola_model_answers_total", *FINISH, 11)),
    "CupolaAuditLost": ({'cupola_log_lost_total{of="log"}': "0+1x60", 'cupola_log_lost_total{of="audit"}': "1x60"},
                        {'cupola_log_lost_total{of="audit"}': "0x55 1x5"}),
    "CupolaLogLost": ({'cupola_log_lost_total{of="log"}': "1x60", 'cupola_log_lost_total{of="audit"}': "0+1x60"},
                      {'cupola_log_lost_total{of="log"}': "0x55 1x5"}),
    "CupolaKeysGuessed": ({"cupola_auth_failures_total": "0+59x60"}, {"cupola_auth_failures_total": "0+62x60"}),
}


def hour(name, series, fires):
    return {"name": f"{name} {'fires' if fires else 'is silent'}", "interval": "1m",
            "input_series": [{"series": one, "values": values} for one, values in series.items()],
            "promql_expr_test": [{"expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}}) or vector(0)',
                                  "eval_time": "59m", "exp_samples": [{"labels": "{}", "value": int(fires)}]}]}


def each_alert_fires_above_its_threshold_and_not_below():
    assert set(HOURS) == {name for name, _, _ in rules()}
    hours = [hour(name, series, fires) for name, both in HOURS.items() for series, fires in zip(both, (False, True))]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": hours}, file)
        file.flush()
        promtool("test", "rules", file.name)


def known():
    """Each sample's name, with its labels."""
    there = {}
    for family in read(figures()):
        for sample, labels, _ in family.samples:
            there.setdefault(sample, set()).update(labels)
    return there


def check_expression(where, expression):
    """Names that exist, and labels that those have."""
    there = known()
    names = set(re.findall(r"\bcupola_[a-z_]+\b", expression))
    # That we are there at all is Prometheus' own figure.
    assert names or expression.startswith("up{"), f"{where} is about nothing of ours"
    if not names:
        return
    assert names <= set(there), f"{where}: no such figure: {sorted(names - set(there))}"
    has = set().union(*(there[name] for name in names)) | {"instance", "job"}
    used = set(re.findall(r"[{,]\s*([a-z_]+)\s*(?:=~|!~|!=|=)", expression))
    for group in re.findall(r"\b(?:by|without|on)\s*\(([^)]*)\)", expression):
        used |= {label.strip() for label in group.split(",") if label.strip()}
    assert used <= has, f"{where}: no such label: {sorted(used - has)}"


def strings(value, key=None):
    """All pairs of a key and a string in it, however deep."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner, key)
    elif isinstance(value, str):
        yield key, value


def the_dashboard_shows_what_there_is():
    board = json.loads(DASHBOARD.read_text())
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in panels:
        assert panel["title"] and panel.get("description"), panel["id"]
        assert panel["targets"], panel["title"]
    for key, text in strings(board):
        if key == "expr":
            check_expression(f"'{text}'", text)
        # A variable is asked for as label_values(figure, label).
        if key in ("query", "definition") and "cupola_" in text:
            figure, label = re.fullmatch(r"label_values\((cupola_[a-z_]+), ([a-z_]+)\)", text).groups()
            assert label in known()[figure] | {"instance", "job"}, text
    for panel in panels:
        for target in panel["targets"]:
            legend = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
            assert not legend or legend <= set(re.findall(r"\w+", target["expr"])) | {"instance"}, panel["title"]


# Of Grafana's own names, those in use here.
PANELS = {"row", "stat", "timeseries"}
UNITS = {"short", "percentunit", "ops", "reqps", "s", "Bps"}


def overlap(one, other):
    return (one["x"] < other["x"] + other["w"] and other["x"] < one["x"] + one["w"]
            and one["y"] < other["y"] + other["h"] and other["y"] < one["y"] + one["h"])


def check_panel(panel, variables):
    title, place = panel["title"], panel["gridPos"]
    assert panel["type"] in PANELS, title
    assert all(isinstance(place[key], int) for key in "xywh") and place["x"] + place["w"] <= 24 and place["h"] > 0, title
    if panel["type"] == "row":
        assert panel["collapsed"] is False and panel["panels"] == [], title
        return
    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, title
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS and "overrides" in panel["fieldConfig"], title
    refs = [target["refId"] for target in panel["targets"]]
    assert refs == sorted(set(refs)), title
    for target in panel["targets"]:
        assert target["datasource"] == panel["datasource"], title
        used = set(re.findall(r"\$\{?(\w+)", target["expr"]))
        assert used <= variables | {"__rate_interval", "__range"}, f"{title}: {used - variables}"


def the_dashboard_is_one_that_grafana_takes():
    """As far as can be told without one: the parts of its JSON model that it would not show, or show wrongly."""
    board = json.loads(DASHBOARD.read_text())
    assert isinstance(board["schemaVersion"], int) and board["title"] and board["uid"] == "cupola"
    assert "id" not in board, "a number of one Grafana's database: another would refuse it, or replace what has it"
    variables = {variable["name"] for variable in board["templating"]["list"]}
    assert len(variables) == len(board["templating"]["list"])
    for panel in board["panels"]:
        check_panel(panel, variables)
    places = [(panel["title"], panel["gridPos"]) for panel in board["panels"]]
    for i, (title, place) in enumerate(places):
        for other_title, other in places[:i]:
            assert not overlap(place, other), f"'{title}' lies on '{other_title}'"


def rules():
    """Without a parser for YAML where there is none: the file is simple enough."""
    text = RULES.read_text()
    for block in re.split(r"^\s+- alert: ", text, flags=re.M)[1:]:
        name = block.split("\n", 1)[0].strip()
        expression = re.search(r"^\s+expr: (?:>-\n((?:\s{10,}.*\n)+)|(.*)\n)", block, re.M)
        yield name, (expression[1] or expression[2]), block


def the_rules_are_about_what_there_is():
    found = list(rules())
    assert len(found) >= 8 and len({name for name, _, _ in found}) == len(found)
    for name, expression, block in found:
        check_expression(name, expression)
        assert re.match(r".*\n\s+# \w", block), f"{name} lacks why its numbers are these"
        for needed in ("severity: ", "summary: ", "description: "):
            assert needed in block, f"{name} lacks {needed}"


def operators_are_told_what_to_do():
    guide = (TOP / "doc" / "operations.md").read_text()
    told = re.findall(r"^\| (Cupola\w+) \|", guide, re.M)
    assert told == [name for name, _, _ in rules()], told


def the_manual_names_each_figure():
    page = (TOP / "doc" / "cupolad.8").read_text()
    section = page.split(".Sh METRICS\n")[1].split("\n.Sh ")[0]
    told = set(re.findall(r"\bLi (cupola_[a-z_]+)", section))
    there = {family.name for family in read(figures())}
    assert there - told == set(), f"not in cupolad(8): {sorted(there - told)}"
    assert told - there == set(), f"no such figure: {sorted(told - there)}"


def with_user(test):
    tap.need_user()
    test()


if __name__ == "__main__":
    sys.exit(tap.run([figures_are_what_prometheus_reads,
                      what_was_served_is_counted,
                      promtool_finds_nothing_in_the_figures,
                      promtool_finds_nothing_in_the_rules,
                      each_alert_fires_above_its_threshold_and_not_below,
                      the_dashboard_shows_what_there_is,
                      the_dashboard_is_one_that_grafana_takes,
                      the_rules_are_about_what_there_is,
                      operators_are_told_what_to_do,
                      the_manual_names_each_figure], with_user))
