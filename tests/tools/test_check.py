# SPDX-License-Identifier: MIT OR Apache-2.0
"""The scripts of make check and make coverage: what is not run, or not covered, is said."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import harness

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


def test_coverage_floor(cuzk):
    table = os.path.join(harness.TOP, "tools", "coverage_table.py")
    folders = ("field", "curve", "poly", "msm", "formats", "r1cs")
    entry = lambda name, run, total: {"filename": name, "line_covered": run, "line_total": total}
    files = [entry("src/%s/a.c" % f, 95, 100) for f in folders] + [entry("src/cli/main.c", 1, 100)]
    summary = cuzk.write_json("summary.json", {"files": files})
    r = harness.run([sys.executable, table, summary])
    assert r.code == 0 and "src/cli/main.c: 1 of 100 lines run" in r.out, r
    files[3]["line_covered"] = 94
    r = harness.run([sys.executable, table, cuzk.write_json("summary.json", {"files": files})])
    assert r.code == 1 and "below 95 %: src/msm" in r.err and "src/msm/a.c: 94 of 100" in r.out, r
    r = harness.run([sys.executable, table, cuzk.write_json("summary.json", {"files": files[4:]})])
    assert r.code == 1 and "src/field" in r.err, r


if __name__ == "__main__":
    harness.main(globals())
