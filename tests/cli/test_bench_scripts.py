# SPDX-License-Identifier: MIT OR Apache-2.0
"""What bench/ does without a card: circuits of any size, and the scripts that measure one card beside other programs,
with stand-ins for the card's tool and for those programs."""
import csv, json, os
import harness
from harness import TOP

SMI = r"""#!/bin/sh
case "$*" in
*-lms*)
    for i in 1 2; do
        echo "2026/12/01 08:00:00.000, 345, 3201, 70.10, 35, 0, 0x0000000000000001"
        echo "2026/12/01 08:00:00.200, 1980, 3201, 620.12, 55, 100, 0x0000000000000000"
        echo "2026/12/01 08:00:00.400, 1965, 3201, 600.00, 57, 50, 0x0000000000000000"
        echo "2026/12/01 08:00:00.400, [N/A], 3201, 600.00, 57, 50, 0x0000000000000000"
    done ;;
*) echo 'A "card" \ of some kind, 580.1, 143771, 700.00, 9.0' ;;
esac
"""


def program(cuzk, name, text):
    path = cuzk.write(name, text.encode())
    os.chmod(path, 0o755)
    return path


def script(cuzk, name, *args, **env):
    os.makedirs(cuzk.path("bin"), exist_ok=True)
    program(cuzk, "bin/nvidia-smi", SMI)
    env = dict(env, PATH=cuzk.path("bin") + ":" + os.environ["PATH"])
    return harness.run(["bash", os.path.join(TOP, "bench", name), *args], cwd=cuzk.scratch, env=env)


def test_result(cuzk):
    """Facts, clocks of the samples at work, numbers and text of tables."""
    cuzk.write("t.csv", b'# "quoted" \\ note\n\nname,n,share,odd\nab,1,0.500,47%\nno table\n-,-2,007,1e5\n')
    cuzk.write("empty.csv", b"")
    cuzk.write("do.sh", b'. "$1/bench/gpu_result.sh"\ngpu_clocks_begin c\nwait $gpu_sampler\ngpu_clocks_end\n'
                        b'gpu_result r.json c first=t.csv second=empty.csv third=missing.csv\n')
    os.makedirs(cuzk.path("bin"))
    program(cuzk, "bin/nvidia-smi", SMI)
    env = {"PATH": cuzk.path("bin") + ":" + os.environ["PATH"], "COMMIT": "abc\"d"}
    r = harness.run(["bash", "-eu", "do.sh", TOP], cwd=cuzk.scratch, env=env)
    assert r.code == 0 and r.err == "", r
    j = json.load(open(cuzk.path("r.json")))
    assert j["commit"] == 'abc"d' and j["date"].endswith("Z") and j["host"]["processors"] >= 1, j
    assert j["device"] == {"name": 'A "card" \\ of some kind', "driver": "580.1", "memory_mib": "143771",
                           "power_limit_w": "700.00", "compute_capability": "9.0"}, j
    assert j["clocks"] == {"samples": 6, "at_work": 4, "sm_mhz_min": 1965, "sm_mhz_max": 1980, "power_w_max": 620.1,
                           "temperature_c_max": 57, "reasons": ["0x0000000000000000"]}, j
    assert list(j["tables"]) == ["first"], j
    assert j["tables"]["first"] == {"notes": ['# "quoted" \\ note', "no table"], "rows": [
        {"name": "ab", "n": 1, "share": 0.5, "odd": "47%"}, {"name": "-", "n": -2, "share": "007", "odd": "1e5"}]}, j


def test_peers(cuzk):
    """Rounds in turn, medians and ratio; what is not given is named; a wrong result and a failure fail."""
    os.makedirs(cuzk.path("b/bench"))
    os.makedirs(cuzk.path("p"))
    program(cuzk, "b/bench/bench_gpu_steps", "#!/bin/sh\necho ours >>$ORDER\n"
            "echo curve,operation,lg_n,median_ms,floor_ms,share,result\necho bls12_381,msm g1,20,8.000,3.6,47%,right\n"
            "echo '# sort 1'\necho bls12_381,bits g1,20,1,1,1,right\necho bls12_381,msm g1,26,300.000,170.0,47%,right\n")
    peer = ("#!/bin/sh\necho peer >>$ORDER\necho bls12_381,msm g1,20,$((20 + 2 * $(grep -c peer $ORDER))).000,1,1,3,%s\n"
            "echo bls12_381,msm g1,22,5,1,1,3,right\n")
    program(cuzk, "p/sppark_msm_g1", peer % "right")
    def compare(*steps, **env):
        return script(cuzk, "gpu_peers.sh", cuzk.path("b"), cuzk.path("p"), cuzk.path("o"), *steps, ORDER=cuzk.path("order"), **env)

    r = compare("g1", "g2")
    assert r.code == 0, r
    lines = open(cuzk.path("order")).read().split("\n")
    assert lines[:4] == ["peer", "ours", "peer", "ours"], lines
    assert "sppark_msm_g2: not given, skipped" in r.out, r
    rows = list(csv.DictReader(open(cuzk.path("o/gpu_peers_summary.csv"))))
    assert rows == [{"curve": "bls12_381", "operation": "msm g1", "lg_n": "20", "peer_ms": "23.000", "peer_spread": "1.091",
                     "ours_ms": "8.000", "ours_spread": "1.000", "peer_over_ours": "2.88"}], rows
    j = json.load(open(cuzk.path("o/gpu_peers.json")))
    assert j["tables"]["summary"]["rows"][0]["peer_over_ours"] == 2.88, j
    program(cuzk, "p/sppark_msm_g1", peer % "WRONG")
    program(cuzk, "b/bench/bench_gpu_steps", "#!/bin/sh\necho no card >&2\nexit 3\n")
    r = compare("g1", ROUNDS="1")
    assert r.code == 1 and "1 results are wrong" in r.out and "no card" in r.err, r


def test_small_circuits(cuzk):
    """Circuits of both kinds are satisfied, their proofs verify; a peer's proof is verified, too."""
    os.makedirs(cuzk.path("p"))
    # stands for the peer: our own prover
    program(cuzk, "p/rapidsnark_prover", '#!/bin/sh\nexec "%s" prove --allow-test-key "$@"\n' % cuzk.program)
    env = dict(DEVICES="cpu", RUNS="1", SQUARES="3", XORS="6", PEER_FROM="6", FLOOR="", CIRCUITS="multiplier2:1:2 none:1:1")
    r = script(cuzk, "gpu_small_circuits.sh", cuzk.build, cuzk.path("o"), cuzk.path("p"), **env)
    assert r.code == 0 and "rapidsnark_loop: not given, skipped" in r.out and "none: not given, skipped" in r.out, r
    rows = [line.split(",") for line in open(cuzk.path("o/gpu_small_circuits.csv")).read().split("\n")]
    names = [row[:4] for row in rows if len(row) == 7]
    assert names[1:] == [["squares 2^3", "6", "cuzk", "cpu"], ["xors 2^6", "62", "cuzk", "cpu"],
                         ["xors 2^6", "62", "rapidsnark", "cpu"], ["multiplier2", "1", "cuzk", "cpu"]], rows
    program(cuzk, "p/rapidsnark_prover", '#!/bin/sh\n"%s" prove --allow-test-key "$@"\necho \'["7"]\' >"$4"\n' % cuzk.program)
    env.update(SQUARES="", CIRCUITS="")
    r = script(cuzk, "gpu_small_circuits.sh", cuzk.build, cuzk.path("o"), cuzk.path("p"), **env)
    assert r.code == 1 and "xors 2^6,62,rapidsnark" not in r.out, r


def test_full(cuzk):
    """Whole proofs: what each kind's programs are told, tables as JSON, recordings packed; a failure is named and fails."""
    os.makedirs(cuzk.path("b/bench"))
    program(cuzk, "b/cuzk", '#!/bin/sh\necho "$FIL_PROOFS_PARAMETER_CACHE" cuzk "$@" >>"$CALLS"\n'
            'case $1 in gen-vanilla) : >"$3" ;; verify) [ -s "$3" ] && echo valid ;; esac\n')
    bench = ('#!/bin/sh\necho bench "$@" >>"$CALLS"\necho proof >"$4/$1.bin"\necho spans >"$4/$1.cuzkrec"\n'
             'echo "# a note"\necho kind,step,median\necho "$1,total,1.5"\n[ "$1" != "$BAD" ]\n')
    program(cuzk, "b/bench/bench_gpu_full", bench)
    def full(*steps, **env):
        return script(cuzk, "gpu.sh", cuzk.path("b"), cuzk.path("o"), *steps, CALLS=cuzk.path("calls"), **env)

    r = full("full:window", "full:winning", BAD="winning")
    assert r.code == 1 and r.out.count("\nvalid\n") == 2, r
    assert "bench_full_window: exit code 0" in r.out and "bench_full_winning: exit code 1" in r.out, r
    calls = [line.split() for line in open(cuzk.path("calls")).read().split("\n")]
    made, proved, verified, looked = calls[:4]
    work = os.path.dirname(made[3])
    assert made == ["cuzk", "gen-vanilla", "window", work + "/window.van", "--request", work + "/window.req", "--sector-size",
                    "32GiB", "--sectors", "2349"], made
    assert proved[:5] == ["bench", "window", work + "/window.van", work + "/window.req", work], proved
    assert verified == [work, "cuzk", "verify", "window", work + "/window.bin", "--request", work + "/window.req",
                        "--allow-test-key"], verified
    assert looked == ["cuzk", "timeline", work + "/window.cuzkrec"], looked
    assert "--sectors" not in calls[4] and "1000" in calls[5], calls
    assert not os.path.exists(work), work
    tables = json.load(open(cuzk.path("o/full.json")))["tables"]
    assert tables["bench_full_window"] == {"notes": ["# a note"], "rows": [
        {"kind": "window", "step": "total", "median": 1.5}]}, tables
    assert os.path.getsize(cuzk.path("o/full_winning.cuzkrec.gz")) > 0
    program(cuzk, "b/bench/bench_gpu_steps", '#!/bin/sh\necho steps "$@" >"$CALLS"\necho curve,operation,lg_n,median_ms\n'
            'echo "bls12_381,ntt forward,20,0.2"\nexit "$CODE"\n')
    r = full("transforms", CODE="0")
    assert r.code == 0 and "bls12_381,ntt forward,20,0.2\n" in r.out, r
    assert open(cuzk.path("calls")).read() == "steps --step ntt --tiles 1 --runs 7\n"
    assert json.load(open(cuzk.path("o/transforms.json")))["tables"]["bench_transforms"]["rows"] == [
        {"curve": "bls12_381", "operation": "ntt forward", "lg_n": 20, "median_ms": 0.2}]
    assert full("transforms", CODE="1").code == 1
    r = full("fool")
    assert r.code == 2 and "full or full:KIND" in r.err, r


def cards(cuzk, rates, alone, lost="# device 1 was lost and begun anew: why", loss_rates=None):
    """Stand-ins for a machine of several cards: partitions a second and ms of a proof alone by number of cards."""
    os.makedirs(cuzk.path("c/bench"), exist_ok=True)
    program(cuzk, "c/cuzk", """#!/bin/sh
echo cuzk "$@" >>"$CALLS"
case $1 in
devices) for i in 1 2 3 4; do printf '{"id": "cuda:0", "usable": true}, '; done; echo '{"usable": false}' ;;
gen-vanilla) : >"$3" ;;
verify) [ -s "$3" ] ;;
simulate) [ -s "$2" ] && echo '{"variants": [{"units_per_s": '"$(echo "$4 * $ONE" | bc -l)"', "limit": "lanes"}]}' ;;
esac
""".replace('"$(echo "$4 * $ONE" | bc -l)"', '"$(awk "BEGIN { print $4 * $ONE }")"'))
    cases = "".join("%d) rate=%s; alone=%s; lost=%s ;;\n" % (n, rates[n], alone[n], (loss_rates or rates)[n]) for n in rates)
    program(cuzk, "c/bench/bench_gpu_full", """#!/bin/sh
echo bench "$@" >>"$CALLS"
case $6 in
%sesac
echo proof >"$4/porep.bin"
echo "spans of $6" >"$4/porep.cuzkrec"
echo "kind,size,group,jobs,step,median,least,most"
echo "porep,32GiB,cold,1,total,99999,1,2"
echo "porep,32GiB,warm,3,total,$alone,1,2"
case "$*" in *--fault*) rate=$lost; echo "%s" ;; esac
echo "porep,32GiB,queue,8,partitions a second,$rate,,"
[ "$6" != "${BAD:-}" ]
""" % (cases, lost))


def test_cards(cuzk):
    """Runs on 1, 2 and 4 of the cards that are there, each behind its prediction, with goals held; a loss from two on."""
    cards(cuzk, {1: 1.2, 2: 2.38, 4: 4.7}, {1: 8400, 2: 4300, 4: 2700}, loss_rates={1: 0, 2: 1.7, 4: 4.2})
    def measure(*counts, **env):
        return script(cuzk, "gpu_cards.sh", cuzk.path("c"), cuzk.path("o"), *counts, CALLS=cuzk.path("calls"), ONE="1.2", **env)

    os.makedirs(cuzk.path("bin"), exist_ok=True)
    program(cuzk, "bin/nproc", "#!/bin/sh\necho 40\n")
    cuzk.write("cpu.max", b"1350000 100000\n")
    r = measure(CPU_MAX=cuzk.path("cpu.max"))
    assert r.code == 0, r
    rows = list(csv.DictReader(open(cuzk.path("o/cards.csv"))))
    assert [row["cards"] for row in rows] == ["1", "2", "4"], rows
    assert rows[1] == {"cards": "2", "partitions_per_s": "2.38", "of_one_card": "1.9833", "goal": "1.95", "alone_ms": "4300",
                       "alone_of_one_card": "0.5119", "predicted_per_s": "2.4", "off_percent": "0.84", "limit": "lanes"}, rows
    loss = list(csv.DictReader(open(cuzk.path("o/loss.csv"))))
    assert [(row["cards"], row["of_the_rest_expected"]) for row in loss] == [("2", "1.4167"), ("4", "1.1667")], loss
    calls = open(cuzk.path("calls")).read().split("\n")
    runs = [line for line in calls if line.startswith("bench")]
    assert [line.split("--devices ")[1] for line in runs] == [
        "1 --runs 3 --queue 4", "2 --runs 3 --queue 8", "2 --runs 0 --queue 8 --fault prove@1+13*1:E_DEVICE_LOST",
        "4 --runs 3 --queue 16", "4 --runs 0 --queue 16 --fault prove@1+13*1:E_DEVICE_LOST"], runs
    at = [next(i for i, line in enumerate(calls) if line.startswith("cuzk simulate") and "--devices 4" in line),
          next(i for i, line in enumerate(calls) if line.startswith("bench") and "--devices 4" in line)]
    assert " --cores 14 --witness-threads 14 --finishers 4 " in calls[at[0]], calls
    assert at[0] < at[1] and "--repeat 4" in calls[at[0]] and "--backlog" in calls[at[0]], calls
    assert len([line for line in calls if line.startswith("cuzk verify porep")]) == 5, calls
    j = json.load(open(cuzk.path("o/cards.json")))
    assert j["tables"]["cards"]["rows"][2]["of_one_card"] == 3.9167 and len(j["tables"]["loss"]["rows"]) == 2, j
    assert os.path.getsize(cuzk.path("o/cards_4.cuzkrec.gz")) > 0
    for text in ("max 100000\n", None):  # no quota; no such file
        if text is None:
            os.remove(cuzk.path("cpu.max"))
        else:
            cuzk.write("cpu.max", text.encode())
        r = measure("1", "2", CPU_MAX=cuzk.path("cpu.max"), LOSS="no")
        assert r.code == 0, r
        last = [line for line in open(cuzk.path("calls")) if line.startswith("cuzk simulate") and "--devices 2" in line][-1]
        assert " --cores 40 --witness-threads 18 " in last, last
    r = measure("2")
    assert r.code == 2 and "one card comes first" in r.err, r


def test_cards_miss(cuzk):
    """What misses its goal is named: throughput, latency, prediction, loss; and so is a run that fails."""
    def miss(text, rates, alone=None, code=1, **more):
        env = {k: more.pop(k) for k in list(more) if k in ("BAD", "LOSS")}
        cards(cuzk, rates, alone or {1: 8400, 2: 4300}, **more)
        r = script(cuzk, "gpu_cards.sh", cuzk.path("c"), cuzk.path("o"), "1", "2", CALLS=cuzk.path("calls"), ONE="1.2", **env)
        assert r.code == code and text in r.out, r
        return r

    good = {1: 1.2, 2: 2.38}
    r = miss("2 cards: 1.9167 times the throughput of one; the goal is 1.95", {1: 1.2, 2: 2.3}, LOSS="no")
    assert "the prediction is" not in r.out and "--fault" not in open(cuzk.path("calls")).read(), r
    miss("2 cards: one proof takes 0.5952 of one card's time; the goal is 0.55", good, {1: 8400, 2: 5000})
    miss("2 cards: the prediction is -7.69 % off; the goal is 5", {1: 1.2, 2: 2.6})
    miss("loss_2: the other cards made 0.7500 of what they make", good, loss_rates={1: 0, 2: 0.9})
    miss("loss_2: no card was lost", good, lost="# nothing happened")
    miss("cards_2: exit code 1", good, BAD="2")


def test_host_side(cuzk):
    """The host's steps of a PoRep, of 2KiB here: times and bytes of each with one thread and two, and what cards need."""
    if not os.path.exists(os.path.join(cuzk.build, "bench", "bench_host_side")):
        raise harness.Skip("bench_host_side is not built")
    r = script(cuzk, "host_side.sh", cuzk.build, "4", "500", SECTOR="2KiB")
    assert r.code == 0, r
    rows = list(csv.DictReader(line for line in r.out.split("\n") if line and line[0] != "#"))
    assert [(row["step"], row["threads"]) for row in rows] == [
        (step, n) for n in "12" for step in ("decode", "witness", "copy", "finish", "verify")], rows
    assert all(float(row["cpu_ms"]) > 0 for row in rows if row["step"] != "copy"), rows
    mb = {row["step"]: float(row["mb"]) for row in rows}
    assert mb["witness"] > 1 and mb["copy"] > 1 and mb["verify"] == 0, mb
    notes = [line for line in r.out.split("\n") if line.startswith("# ")]
    assert "# 4 cards, 500 ms a partition each: 8.00 partitions a second" in notes, notes
    all_ms = sum(float(row["cpu_ms"]) for row in rows if row["threads"] == "1")
    need = next(line for line in notes if line.startswith("# the cards need"))
    assert abs(float(need.split()[4]) - 8 * all_ms / 1e3) < 0.02, (need, all_ms)
    assert sum("the daemon has 4 with 64 processors" in line for line in notes) == 3, notes
    r = script(cuzk, "host_side.sh", cuzk.build, "0", SECTOR="2KiB")
    assert r.code == 2 and "usage: bench_host_side" in r.err, r


def test_recording_pairs(cuzk):
    """Rounds of every state; medians, intervals that hold what was planted, and their verdicts."""
    import importlib.util, random
    spec = importlib.util.spec_from_file_location("recording_pairs", os.path.join(TOP, "bench/recording_pairs.py"))
    pairs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pairs)
    random.seed(7)
    assert pairs.median([3, 1, 2]) == 2 and pairs.median([4, 1, 2, 3]) == 2.5
    low, high = pairs.interval([random.gauss(2, 1) for _ in range(200)])
    assert 1.5 < low < 2 < high < 2.5, (low, high)
    assert [pairs.verdict(*x) for x in ((-0.3, 0.4, 20), (0.6, 2, 20), (-0.1, 0.6, 20), (0, 0, 7))] == [
        "under 0.5 %", "over 0.5 %", "not resolved", "too few rounds"]
    say = "echo {n} jobs, 50 a second; median 3 ms"
    r = harness.run(["python3", os.path.join(TOP, "bench/recording_pairs.py"), "--rounds", "3", "--csv", cuzk.path("r.csv"),
                     "null", "7"] + ["%s=%d=%s" % (state, os.getpid(), say) for state in ("off", "on")])
    assert r.code == 0 and "null: 3 rounds of twice 7 jobs in each state" in r.out and "jobs a second +0.00 % [+0.00, +0.00]" in r.out, r
    assert "(too few rounds)" in r.out, r
    rows = [line.split(",") for line in open(cuzk.path("r.csv"))]
    assert [row[:5] for row in rows] == [["null", state, str(i), "7", "50.000"] for i in (1, 2, 3) for state in ("off", "on")], rows
    r = harness.run(["python3", os.path.join(TOP, "bench/recording_pairs.py"), "null", "7", "off=%d=false" % os.getpid()])
    assert r.code != 0, r


if __name__ == "__main__":
    harness.main(globals())
