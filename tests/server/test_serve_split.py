# SPDX-License-Identifier: MIT OR Apache-2.0
"""A daemon with two cards (a driver whose devices are the host, tests/cuda/emulator): a proof that is alone is made by both,
the recording shows both at work for it, and its sums add up; one that is lost costs no proof."""
import os, shutil, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import daemon
from daemon import Daemon, harness, read, wait_until
from test_serve_record import check_sums, report


def start(cuzk, name, split_from, **env):
    d = Daemon(cuzk, name=name, config={"gpus.split_from": split_from, "recording.path": "rec"},
               env={"LD_LIBRARY_PATH": os.path.join(cuzk.build, "tests", "cuda", "libcuda"), "CUZK_EMULATED_DEVICES": "2",
                    "CUZK_EMULATED_PEERS": "none", **env})
    shutil.copy(cuzk.circom("bn254", "poseidon2", "circuit.zkey"), d.folder + "/circom/p.zkey")
    return d


def load(d):
    d.c("RegisterCircuit", name="p", zkey_path=d.folder + "/circom/p.zkey")
    d.c("PreloadSRS", circuit_id="circom:p")


def prove(cuzk, d, name):
    answer = d.c("ProveWitness", circuit="p", witness=read(cuzk.circom("bn254", "poseidon2", "witness.wtns")), request_id=name)
    assert answer.status == daemon.COMPLETED, answer
    cuzk.write("proof.json", answer.proof_json.encode())
    cuzk.write("public.json", answer.public_json.encode())
    cuzk.ok("verify", cuzk.circom("bn254", "poseidon2", "verification_key.json"), "public.json", "proof.json")


def test_two_cards(cuzk):
    """Kernels of both, and the time of each job, gap and slice is shared out exactly."""
    with start(cuzk, "two", "1us") as d:
        load(d)
        for i in range(2):
            prove(cuzk, d, "id-%d" % i)
        assert "did not make its part" not in read(d.log_path).decode()
    j = report(cuzk, d.folder + "/rec")
    check_sums(j)
    assert j["units_done"] == 2 and sum(one["units"] for one in j["devices"]) == 2, j["devices"]
    times = {t["span"]: t for t in j["span_times"]}
    assert times["prove.start"]["number"] == times["prove.help"]["number"] == 2 and times["lane"]["number"] == 4, times
    assert [job["attempts"] for job in j["jobs"]] == [1, 1], j["jobs"]
    for one in j["devices"]:
        assert one["kernel_ns"] > 0 and one["lane_ns"] > 0 and one["worker_ns"] >= one["lane_ns"], one
    cuzk.ok("simulate", d.folder + "/rec", "--devices", "2")


def test_one_card(cuzk):
    """Where it would not save enough, and where it is switched off."""
    for split_from in ("1s", "never"):
        with start(cuzk, "one-" + split_from, split_from) as d:
            load(d)
            prove(cuzk, d, "id")
        times = {t["span"]: t for t in report(cuzk, d.folder + "/rec")["span_times"]}
        assert times["prove.start"]["number"] == 1 and "prove.help" not in times, times


def test_lost(cuzk):
    """A card is lost in the middle of a proof of both: the client has its proof, and the card comes back."""
    trigger = cuzk.path("trigger")
    with start(cuzk, "lost", "1us", CUZK_EMULATED_FAULT="lost@%s" % trigger) as d:
        load(d)
        prove(cuzk, d, "before")
        cuzk.write("trigger", b"")
        prove(cuzk, d, "meanwhile")
        assert not os.path.exists(trigger)
        wait_until("the card", lambda: sum(one["renewals"] for one in d.status()["devices"]) == 1)
        assert not any(one["out"] or one["faults"] for one in d.status()["devices"]), d.status()["devices"]
        prove(cuzk, d, "after")


if __name__ == "__main__":
    harness.main(globals())
