# SPDX-License-Identifier: MIT OR Apache-2.0
"""The scripts of make check and make coverage: what is not run, or not covered, is said."""
import os, re, shutil, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import harness
from harness import Skip

CHECK = os.path.join(harness.TOP, "tools", "check.sh")


def shell(cuzk, line, **kw):
    return harness.run(["bash", "-c", line, "bash", CHECK], cwd=cuzk.scratch, **kw)


def test_skipped_stage_is_named(cuzk):
    r = shell(cuzk, '. "$1"; run_or_skip "a stage" sh -c "exit 77"; run_or_skip other true; summary')
    assert r.code == 0 and "all stages passed" in r.out, r
    assert r.out.rstrip().endswith("not run:\n  a stage: the whole stage, see above"), r
    r = shell(cuzk, '. "$1"; run_or_skip other true; summary')
    assert r.code == 0 and "not run" not in r.out, r


def test_failed_stage_stops(cuzk):
    r = shell(cuzk, '. "$1"; run_or_skip "a stage" sh -c "exit 3"; summary')
    assert r.code == 3 and "passed" not in r.out, r


def test_skipped_tests_are_named(cuzk):
    log = cuzk.write("log", """
 1/3 Test #41: test_base .........   Passed    0.03 sec
 2/3 Test #12: test_ntt.adx ......***Skipped   0.00 sec
test_read_only_folder                                0.00 s  skipped: root writes everywhere
test_devices                                         0.03 s  ok
[  SKIPPED ] test_big_circuits
[       OK ] test_small_circuits
""")
    r = shell(cuzk, '. "$1"; note_skipped release "%s"; summary' % log)
    assert r.out.splitlines()[-4:] == ["not run:", "  release: test_big_circuits",
                                       "  release: test_ntt.adx",
                                       "  release: test_read_only_folder: root writes everywhere"], r


def test_peers_without_npm(cuzk):
    """Without node the comparison with other programs is skipped, and that is not success."""
    empty = cuzk.path("bin")
    os.mkdir(empty)
    for tool in ("dirname", "mkdir", "bash", "env", "cat", "echo"):
        for folder in ("/usr/bin", "/bin"):
            if os.path.exists(os.path.join(folder, tool)) and not os.path.exists(os.path.join(empty, tool)):
                os.symlink(os.path.join(folder, tool), os.path.join(empty, tool))
    r = harness.run([os.path.join(empty, "bash"), os.path.join(harness.TOP, "tests", "peers", "run.sh"), cuzk.build],
                    env={"PATH": empty})
    assert r.code == 77 and "skipped: comparison with snarkjs and noble: node is not installed" in r.out, r


def test_charts_without_npm(cuzk):
    """Where npm is not there, or does not get the library, the page is built without it, and that is said; CUZK_NPM=ON insists."""
    npm, folder = cuzk.path("npm"), cuzk.path("page")
    def charts(script, *options):
        if script is not None:
            with open(npm, "w") as f:
                f.write("#!/bin/sh\n" + script)
            os.chmod(npm, 0o755)
        return harness.run(["cmake", "-DFOLDER=" + folder, "-DCUZK_NPM_PROGRAM=" + npm, *options,
                            "-P", os.path.join(harness.TOP, "cmake", "charts.cmake")])
    fails = "echo npm error ENOTFOUND; echo npm error more; exit 3\n"
    r = charts(fails)
    assert r.code == 0 and "page: without charts: npm ci failed (3): npm error ENOTFOUND\n" in r.out + r.err, r
    assert harness.read(folder + "/uPlot.js") == b"/* built without it */\n"
    r = charts(fails, "-DCUZK_NPM=ON")
    assert r.code != 0 and "CUZK_NPM is ON, but: npm ci failed (3)" in r.err, r
    r = charts(None, "-DCUZK_NPM=OFF")
    assert r.code == 0 and "page: without charts: CUZK_NPM is OFF" in r.out + r.err, r
    r = charts(None, "-DCUZK_NPM_PROGRAM=CUZK_NPM_PROGRAM-NOTFOUND", "-DCMAKE_FIND_ROOT_PATH=" + folder, "-DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=ONLY")
    assert r.code == 0 and "page: without charts: npm not found" in r.out + r.err, r
    # it is fetched once: then npm is not asked again
    fetches = ("echo ran >> %s/asked; mkdir -p node_modules/uplot/dist; cd node_modules/uplot; echo LICENSE > LICENSE;"
               "printf 'a;\\\\b [c] ${d} \"e\"' > dist/uPlot.iife.min.js; echo .a{} > dist/uPlot.min.css" % cuzk.scratch)
    for _ in range(2):
        r = charts(fetches)
        assert r.code == 0 and "page: with charts" in r.out + r.err, r
    assert harness.read(cuzk.path("asked")) == b"ran\n"
    assert harness.read(folder + "/uPlot.js") == b'/*! uPlot\n\nLICENSE\n\n*/\na;\\b [c] ${d} "e"'
    r = charts(fails, "-DCUZK_NPM=OFF")
    assert harness.read(folder + "/uPlot.css") == b"/* built without it */\n", r


def test_nvcc_that_does_not_fit(cuzk):
    """BC-124: configuring says what is built and why not; an nvcc is tried with the options of the kernels."""
    nvcc = cuzk.path("nvcc")
    def configure(script, *options):
        if script is not None:
            with open(nvcc, "w") as f:
                f.write("#!/bin/sh\n" + script)
            os.chmod(nvcc, 0o755)
        r = harness.run(["cmake", "-DCUZK_NVCC=" + nvcc, "-DCUZK_CUDA_INCLUDE=" + cuzk.scratch, *options,
                         "-P", os.path.join(harness.TOP, "cmake", "cuda.cmake")], cwd=cuzk.scratch)
        return r.code, " ".join((r.out + r.err).split())
    code, text = configure("exit 0\n")
    assert code == 0 and "CUDA: %s, architectures 90" % nvcc in text, text
    # one that is too old for a card of the release, known before anything is built
    old = 'case "$*" in *sm_120*) echo "Unsupported gpu architecture compute_120"; exit 1;; esac\n'
    code, text = configure(old, "-DCUZK_CUDA_ARCHITECTURES=release")
    assert code == 0 and "CUDA: not built, %s does not compile for architectures 75;" % nvcc in text, text
    assert "Unsupported gpu architecture compute_120" in text, text
    code, text = configure(old)
    assert code == 0 and "architectures 90" in text and "not built" not in text, text
    # a host compiler that it does not take
    code, text = configure("echo 'unsupported GNU version! gcc versions later than 11 are not supported!'; exit 1\n")
    assert code == 0 and "not built" in text and "NVCC_CCBIN" in text and "unsupported GNU version" in text, text
    code, text = configure(None, "-DCUZK_CUDA=ON")
    assert code != 0 and "CUDA: asked for, but" in text and "NVCC_CCBIN" in text, text
    for options, reason in ((["-DCUZK_CUDA=OFF"], "CUZK_CUDA is OFF"), (["-DCMAKE_CROSSCOMPILING=1"], "not in cross")):
        code, text = configure(None, *options)
        assert code == 0 and "CUDA: not built, " + reason in text, text


def test_coverage_floor(cuzk):
    sys.path.insert(0, os.path.join(harness.TOP, "tools"))
    import coverage_table as c
    folders = ("field", "curve", "poly", "msm", "formats", "r1cs", "gadget", "filecoin")
    files = {"src/%s/a.c" % f: (95, 100) for f in folders}
    files["src/cli/main.c"] = (1, 100)
    assert c.table(files) == []
    assert c.table(dict(files, **{"src/msm/a.c": (94, 100)})) == ["src/msm"]
    assert c.table(dict(files, **{"src/msm/b.c": (9, 10)})) == ["src/msm"]
    del files["src/field/a.c"]
    assert c.table(files) == ["src/field"]
    assert c.ranges([3, 4, 5, 9, 11, 12]) == "3-5 9 11-12"


def test_coverage_counts(cuzk):
    """A line counts as run when one of the programs that hold it ran it."""
    import coverage_table as c
    if shutil.which("gcov") is None or shutil.which("gcc") is None:
        raise Skip("no gcc, no gcov")
    os.makedirs(cuzk.path("src"))
    cuzk.write("src/shared.h", "static int f(int x)\n{\n    if (x > 1) {\n        return 1;\n    }\n    return 2;\n}\n")
    cuzk.write("src/a.c", '#include "shared.h"\nint main(int n, char **v)\n{\n    (void)v;\n    return f(n) * 0;\n}\n')
    build = cuzk.path("build")
    os.makedirs(build + "/src")
    for name in ("one", "two"):
        r = harness.run(["gcc", "--coverage", "-c", cuzk.path("src/a.c"), "-o", build + "/src/%s.o" % name])
        assert r.code == 0 and harness.run(["gcc", "--coverage", build + "/src/%s.o" % name, "-o", cuzk.path(name)]).code == 0, r
    top, c.TOP = c.TOP, cuzk.scratch
    try:
        assert harness.run([cuzk.path("one")]).code == 0
        lines = c.read_all(build, 1)
        assert lines["src/shared.h"] == {1: True, 3: True, 4: False, 6: True}, lines
        assert harness.run([cuzk.path("two"), "x"]).code == 0
        lines = c.read_all(build, 1)
        assert lines["src/shared.h"][4] and all(lines["src/a.c"].values()), lines
    finally:
        c.TOP = top


def test_index_of_cases(cuzk):
    """docs/cases.md names tests that exist; every case that a test names is in some page of docs."""
    with open(os.path.join(harness.TOP, "docs", "cases.md")) as f:
        text = f.read()
    rows = dict(re.findall(r"^\| (BC-\d+) \|(.*)$", text, re.M))
    assert len(rows) >= 36 and list(rows) == sorted(rows), list(rows)
    named = re.findall(r"`([\w/]+\.\w+)`: ((?:\w+(?: \([^)]*\))?(?:, )?)+)", text)
    assert len(named) > 60, len(named)
    for path, tests in named:
        with open(os.path.join(harness.TOP, "tests", path)) as f:
            source = f.read()
        for test in re.findall(r"\b(?:test_\w+|write\w+|bothWays)", tests):
            assert re.search(r"(def|void|function) %s\(" % test, source), "%s has no %s" % (path, test)
    pages = ""
    for page in os.listdir(os.path.join(harness.TOP, "docs")):
        if page.endswith(".md"):
            with open(os.path.join(harness.TOP, "docs", page)) as f:
                pages += f.read()
    for folder, _, files in os.walk(os.path.join(harness.TOP, "tests")):
        for name in files:
            if name.endswith((".c", ".py", ".mjs")):
                with open(os.path.join(folder, name)) as f:
                    for case in set(re.findall(r"BC-\d\d\d", f.read())):
                        assert case in pages, "%s: %s is in no page of docs" % (name, case)


if __name__ == "__main__":
    harness.main(globals())
