"""Images of root file systems that somebody else packed: built, published,
and run in sessions. What they are packed from is the root of python-minimal, so
that no network is needed."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from cupola import BUILD, SOURCE, running

PYTHON_MINIMAL = pathlib.Path("/var/lib/cupola/images/python-minimal")
CACHE = pathlib.Path("/var/cache/cupola")
TAG = f"test-{os.getpid()}"
BUILD_SECONDS = 1200

# Of both recipes: every kind of line that changes what a session finds.
RECIPE = """
suite           trixie
root            {root}
compression     lz4
wheels          *.whl
files           table /usr/share/ours
run             python3 -c 'print(6 * 7)' >/usr/share/ours/answer
exclude         /usr/share/zoneinfo/right
environment     OURS_MODE=sandbox
preimport       IPython.core.interactiveshell ours
pool            memory=640M disk=1G
"""
OURS = "MODE = __import__('os').environ.get('OURS_MODE')\n"
SMOKE = "import ours\nassert ours.MODE == 'sandbox', ours.MODE\n"


def call(*argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True, check=False,
                          timeout=BUILD_SECONDS, **options)
    assert done.returncode == 0, f"{argv}:\n{done.stdout}{done.stderr}"
    return done.stdout


def wheel(path):
    """As small as one can be."""
    import zipfile
    info = "ours-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ours.py", OURS)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\n"
                         "Name: ours\nVersion: 1.0\nLicense: MIT\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
                         "Root-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"ours.py,,\n{info}/METADATA,,\n"
                         f"{info}/WHEEL,,\n{info}/RECORD,,\n")


def write_recipe(directory, root):
    (directory / "table").mkdir(parents=True)
    (directory / "table" / "of.csv").write_text("a,b\n1,2\n")
    (directory / "recipe").write_text(RECIPE.format(root=root))
    (directory / "smoke.py").write_text(SMOKE)
    wheel(directory / "ours-1.0-py3-none-any.whl")


def make_tar(directory, tree):
    """One archive, with what no guest is to get."""
    (tree / "usr/bin/becomes-root").write_text("#!/bin/sh\n")
    (tree / "usr/bin/becomes-root").chmod(0o6755)
    os.mknod(tree / "usr/lib/disk", 0o600 | 0o060000, os.makedev(8, 0))
    try:
        call("tar", "-C", tree, "-czf", directory / "root.tar.gz", ".")
    finally:
        (tree / "usr/bin/becomes-root").unlink()
        (tree / "usr/lib/disk").unlink()


def make_layout(directory, tree):
    """Four layers: a base, something above it, and both kinds of whiteout. Its
    Python is where those are that were not Debian's."""
    layout = directory / "layout"
    image = f"{layout}:base"
    more = directory.parent / "more"
    (more / "deep").mkdir(parents=True, exist_ok=True)
    for name in ("gone", "kept", "deep/hidden"):
        (more / name).write_text(name)
    (tree / "usr/bin/python3").unlink()
    (tree / "usr/local/bin/python3").symlink_to("/usr/bin/python3.13")
    call("umoci", "init", "--layout", layout)
    call("umoci", "new", "--image", image)
    call("umoci", "config", "--image", image, "--os", "linux",
         "--architecture", "amd64")
    call("umoci", "insert", "--image", image, tree, "/")
    call("umoci", "insert", "--image", image, more, "/srv")
    call("umoci", "insert", "--image", image, "--whiteout", "/srv/gone")
    (more / "deep/hidden").rename(more / "deep/new")
    call("umoci", "insert", "--image", image, "--opaque", more / "deep",
         "/srv/deep")


@contextlib.contextmanager
def images_directory():
    """Short, and everybody may look into it: cupola-vmd is nobody's user."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="cup-images-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)
        for left in CACHE.glob(f"{TAG}-*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Recipes in directories of the images' names, each with its input."""
    place = tmp_path_factory.mktemp("inputs")
    tree = place / "tree"
    call("fsck.erofs", f"--extract={tree}", PYTHON_MINIMAL / "root.erofs")
    write_recipe(place / f"{TAG}-tar", "tar:root.tar.gz")
    make_tar(place / f"{TAG}-tar", tree)
    write_recipe(place / f"{TAG}-oci", "oci:layout:base")
    make_layout(place / f"{TAG}-oci", tree)
    shutil.rmtree(tree)
    yield place
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def images(inputs):
    """Both, built by the command that people have, and booted by it once."""
    with images_directory() as out:
        for kind in ("tar", "oci"):
            call(BUILD / "cupolactl", "images", "build",
                 inputs / f"{TAG}-{kind}", "--out", out,
                 "--agent", BUILD / "cupola-guest")
        yield out


@pytest.fixture(scope="module")
def analyst(images):
    with running(image=f"{TAG}-oci", env={"CUPOLA_IMAGES": str(images)},
                 settings={"pool.tar.image": f"{TAG}-tar",
                           "pool.tar.ready": "0"}) as d:
        yield d


def manifest(images, kind):
    return json.loads((images / f"{TAG}-{kind}/manifest.json").read_text())


# What a session of either image says of itself.
LOOK = """
import os, subprocess, sys
print("ours" in sys.modules, os.environ["OURS_MODE"])
import ours
print(ours.MODE, open("/usr/share/ours/answer").read().strip(),
      open("/usr/share/ours/of.csv").read().split()[1])
print(os.path.exists("/usr/share/zoneinfo/right"),
      [os.access(p, os.W_OK) for p in ("/", "/usr/share/ours/of.csv")])
print(subprocess.run(["find", "/", "-xdev", "(", "-perm", "/6000", "-o", "-type",
                      "b", ")"], capture_output=True, text=True).stdout)
"""
LOOKED = ["True sandbox", "sandbox 42 1,2", "False [False, False]"]


def test_a_session_of_an_oci_image(analyst, images):
    box = analyst.container()
    done = box.run(LOOK)
    assert done["stdout"].split("\n")[:3] == LOOKED, done
    assert done["stdout"].split("\n")[3:] == ["", ""], done
    found = box.run("for d, _, names in sorted(os.walk('/srv')):\n"
                    "    print(d, sorted(names))")["stdout"]
    assert found.splitlines() == ["/srv ['kept']", "/srv/deep ['new']"]
    told = manifest(images, "oci")
    assert box.get()["session"]["image"] == f"{TAG}-oci@{told['digest']}"
    assert told["packages"]["python:ours"] == "1.0"
    assert told["licences"]["python:ours"] == "MIT"
    assert told["pool"] == {"memory": "640M", "disk": "1G"}
    box.delete()


def test_a_session_of_a_root_archive(analyst, images):
    answer = analyst.json(
        "POST", "/pools/tar/executions?api-version=2025-10-02-preview"
        "&identifier=one", json={"properties": {
            "codeInputType": "inline", "executionType": "synchronous",
            "code": LOOK, "timeoutInSeconds": 200}})
    told = json.dumps(answer)
    for line in LOOKED:
        assert line in told, answer
    assert "becomes-root" not in told and "disk" not in told
    # What the recipe wishes counts where the settings say nothing.
    memory = {p["name"]: p["memory_mib"]
              for p in analyst.admin("GET", "/pools")["pools"]}
    assert memory == {"default": 512, "tar": 640}
    digest = manifest(images, "tar")["digest"]
    assert f"{TAG}-tar@{digest}" in json.dumps(analyst.admin("GET", "/sessions"))


def test_who_uses_an_image_is_named_when_it_is_to_go(analyst, images):
    box = analyst.container()
    box.run("1")
    for kind, users in (("oci", ["pool 'default'", f"session '{box.id}'"]),
                        ("tar", ["pool 'tar'"])):
        done = subprocess.run(
            [BUILD / "cupolactl", "images", "rm", f"{TAG}-{kind}"],
            capture_output=True, text=True, check=False, timeout=60,
            env=dict(os.environ, CUPOLA_IMAGES=str(images)))
        assert done.returncode == 1, done
        assert all(user in done.stderr for user in users), done.stderr
        assert "process" not in done.stderr, done.stderr
    box.delete()


def test_other_forms_of_the_layout_are_the_same_root(inputs, tmp_path):
    """As skopeo packs it: what foreign.py makes of them is one file."""
    layout = inputs / f"{TAG}-oci" / "layout"
    sources = [f"oci:{layout}:base"]
    for kind in ("oci-archive", "docker-archive"):
        sources.append(f"{kind}:{tmp_path}/{kind}")
        call("skopeo", "copy", "--quiet", "--insecure-policy", sources[0],
             f"{sources[-1]}:image:1")
    flat = []
    for source in sources:
        flat.append(tmp_path / "flat.tar")
        call(SOURCE / "images/lib/foreign.py", source, flat[-1])
        flat[-1] = call("sha256sum", flat[-1]).split()[0]
    assert len(set(flat)) == 1, flat


def test_what_cannot_be_an_image_is_refused_in_a_sentence(inputs):
    """And leaves nothing: neither a directory nor a part of one."""
    with images_directory() as out:
        bad = inputs / f"{TAG}-bad"
        bad.mkdir()
        for recipe, sentence in (
                ("root tar:none.tar", "there is no file 'none.tar'"),
                ("root tar:recipe", "this root is refused"),
                ("root tar:empty.tar", "no 'sh' that runs")):
            call("tar", "-cf", bad / "empty.tar", "-T", "/dev/null")
            (bad / "recipe").write_text(
                f"suite trixie\ncompression none\n{recipe}\n")
            done = subprocess.run(
                [BUILD / "cupolactl", "images", "build", bad, "--offline",
                 "--out", out, "--agent", BUILD / "cupola-guest"],
                capture_output=True, text=True, check=False, timeout=300)
            assert done.returncode == 1 and sentence in done.stderr, done
            assert list(out.iterdir()) == []
