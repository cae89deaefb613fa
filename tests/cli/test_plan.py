# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk plan: what fits, what limits, and how many machines it takes."""
import os
import harness

RECORDING = os.path.join(harness.TOP, "tests/fuzz/corpus/recording/jobs")  # eight circom jobs on the CPU
POREPS = os.path.join(harness.TOP, "tests/vectors/gpu_porep_32g_jobs.rec.gz")  # seven PoReps on an H200


def plan(cuzk, jobs, *more):
    r = cuzk("plan", "--jobs", jobs, "--json", *more)
    if r.code != 0 and "without CUDA" in r.err:
        raise harness.Skip("no planner of cards in this build")
    assert r.code == 0, r
    return r.json()


def test_measured(cuzk):
    """Four H200 and the durations of docs/performance.md: numbers that can be checked by hand."""
    j = plan(cuzk, "porep:20/h,snap:10/h", "--gpus", "4", "--ram", "512GiB", "--cores", "64")
    assert [(k["name"], k["partitions"], k["key"]) for k in j["jobs"]] == [
        ("porep-32g", 10, "resident"), ("snap-32g", 16, "resident")], j["jobs"]
    # 82 and 66 GiB (docs/performance.md) are more than a card has: two daemons, each with cards of its own
    assert j["shared"] is True and j["machines"] == 1 and [g["devices"] for g in j["groups"]] == [2, 2], j
    assert sum(g["budget_bytes"] + g["host_key_bytes"] for g in j["groups"]) <= j["budget_bytes"] == (512 - 5) << 30
    for g, per_h, lane in zip(j["groups"], (200, 160), (0.869, 0.842)):
        one = g["one"]
        assert one["keeps_up"] and g["machines"] == 1 and one["times"][0]["late"] == 0, one
        hours = one["seconds"] / 3600
        share = one["partitions"] * lane / (2 * one["seconds"])
        assert abs(one["needs"]["devices"] - share) < 1e-4 and abs(one["partitions"] - per_h * hours) < 0.2 * per_h * hours
        assert one["times"][0]["worst_ns"] > 1e9
    assert "gpu_partitions_h200" in j["durations"]
    apart = plan(cuzk, "porep:20/h,snap:10/h", "--gpus", "1")
    assert apart["shared"] is False and apart["machines"] == 2 and [g["devices"] for g in apart["groups"]] == [1, 1], apart
    text = cuzk.ok("plan", "--jobs", "porep:20/h,snap:10/h", "--gpus", "2").out
    assert "with cards of its own" in text and "porep-32g: 24 hours on 1 of one machine's 2 GPUs" in text and text.endswith("\n1 machine\n"), text


def test_posts_and_their_deadlines(cuzk):
    j = plan(cuzk, "wpost:2/h*3,winning:4/h", "--gpus", "2", "--cores", "16", "--ram", "256GiB")
    assert j["machines"] == 1, j
    wpost, winning = j["jobs"]
    assert wpost["deadline_ns"] == 1800e9 and winning["deadline_ns"] == 30e9 and wpost["per_hour"] == 6, j["jobs"]
    late = plan(cuzk, "wpost:20/h*400", "--gpus", "1", "--machines", "3", "--hours", "5")
    assert late["machines"] == 0 and late["groups"][0]["one"]["keeps_up"] is False, late
    enough = plan(cuzk, "wpost:20/h*400", "--gpus", "1", "--hours", "5")
    n = enough["groups"][0]["machines"]
    assert 8000 * 3.52 / 3600 < n < 20 and enough["groups"][0]["each"]["keeps_up"], enough
    text = cuzk.ok("plan", "--jobs", "wpost:20/h*400", "--hours", "5").out
    assert "one machine is not enough" in text and "%d machines are enough" % n in text and "first limit: devices" in text, text


def test_what_is_not_possible(cuzk):
    plan(cuzk, "porep:1/h")  # or it is skipped
    cuzk.fails(1, ["porep-32g", "fits no card with 7.4 GiB free", "takes"], "plan", "--jobs", "porep:1/h", "--card", "8")
    cuzk.fails(1, ["porep-32g", "is streamed, of which no durations"], "plan", "--jobs", "porep:1/h", "--card", "24")
    cuzk.fails(1, "porep-64g: no durations of it were measured", "plan", "--jobs", "porep-64g:1/h")
    cuzk.fails(1, ["wpost-32g", "in host memory", "1.0 GiB are there"], "plan", "--jobs", "wpost:1/h", "--ram", "6GiB")


def test_recorded(cuzk):
    """Durations of a recording; more than a machine can do takes several."""
    options = ["--gpus", "0", "--recording", RECORDING, "--hours", "1", "--cores", "8"]
    j = plan(cuzk, "circom:20/s", *options)
    one = j["groups"][0]["one"]
    assert j["machines"] == 1 and one["keeps_up"] and one["speed"] > 10, j
    assert abs(one["partitions"] / 72000 - 1) < 0.05 and j["durations"] == RECORDING, one
    j = plan(cuzk, "circom:20000/s", *options)
    one, n = j["groups"][0]["one"], j["machines"]
    assert n > 1 and not one["keeps_up"] and one["needs"][one["limit"]] > 1, j
    assert j["groups"][0]["each"]["keeps_up"] and 1 / one["speed"] < n < 2 + 1.2 / one["speed"], (n, one)
    text = cuzk.ok("plan", "--jobs", "circom:20/s", *options).out
    assert "one machine is enough" in text and text.endswith("\n1 machine\n"), text
    cuzk.fails(1, 'no whole job of the kind "porep-c2"', "plan", "--jobs", "porep:1/h", *options)
    cuzk.fails(1, "No such file", "plan", "--jobs", "porep:1/h", "--gpus", "0", "--recording", "none")


def test_both_spellings(cuzk):
    """A kind as a recording names it, or as the other options do: the same jobs."""
    options = ["--gpus", "0", "--recording", POREPS, "--hours", "2", "--ram", "1TiB"]
    for short, long in (("porep", "porep-c2"), ("porep-32g", "porep-c2-32g"), ("porep", "porep-32g")):
        a, b = plan(cuzk, short + ":20/h", *options), plan(cuzk, long + ":20/h", *options)
        assert a == b and a["jobs"][0]["name"] == "porep-32g" and a["jobs"][0]["partitions"] == 10, (a, b)
    # recorded lanes of 0.86 s a partition
    one = a["groups"][0]["one"]
    assert abs(one["needs"]["devices"] - one["partitions"] * 0.86 / one["seconds"]) < 0.01, one
    cuzk.fails(2, "porep-32g is there twice", "plan", "--jobs", "porep:1/h,porep-c2-32g:1/h", *options)
    for kind in ("snap-update", "window-post", "winning-post"):
        cuzk.fails(1, 'no whole job of the kind "%s"' % kind, "plan", "--jobs", kind + ":1/h", *options)
    for wrong, name in (("porep-c2-3g", "porep-3g"), ("porep-c2x", "porep-c2x"), ("porep-c2-", "porep-")):
        cuzk.fails(1, 'no circuit "%s"' % name, "plan", "--jobs", wrong + ":1/h", *options)
    cuzk.fails(1, 'no whole job of the kind "porepc2"', "plan", "--jobs", "porepc2:1/h", *options)


def test_usage(cuzk):
    cuzk.fails(2, "which jobs?", "plan")
    for jobs, text in (("porep", "not KIND:RATE"), ("porep:", "is no rate"), ("porep:20", "is no rate"), ("porep:x/h", "no rate"),
                       ("porep:0/h", "no rate"), ("porep:1/w", "no rate"), ("porep:1/h*0", "no rate"), (":1/h", "no kind"),
                       ("porep:1/h*3x", "no rate"), ("porep:1/h,porep:2/h", "twice"),
                       ("porep:1/h,", "not KIND:RATE"), (",".join("k%d:1/h" % i for i in range(9)), "more than 8")):
        cuzk.fails(2, text, "plan", "--gpus", "0", "--recording", RECORDING, "--jobs", jobs)
    cuzk.fails(1, ["no circuit", "porep-64g"], "plan", "--gpus", "0", "--recording", RECORDING, "--jobs", "porep-3g:1/h")
    cuzk.fails(1, "give a recording", "plan", "--gpus", "0", "--jobs", "porep:1/h")
    for option, value in (("--ram", "12"), ("--ram", "0GiB"), ("--hours", "0"), ("--hours", "x"), ("--gpus", "65"),
                          ("--cores", "0"), ("--card", "0"), ("--machines", "0"), ("--workers", "9")):
        cuzk.fails(2, option, "plan", "--jobs", "porep:1/h", option, value)


if __name__ == "__main__":
    harness.main(globals())
