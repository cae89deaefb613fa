# SPDX-License-Identifier: MIT OR Apache-2.0
"""kill -9 at random instants over a stream of small jobs: none is lost, none is wrong, no finished partition is
proved again (BC-117). 20 kills, fewer under a sanitizer, 200 with CUZK_NIGHTLY; once plain, once with faults of the device."""
import os, random, shutil, sqlite3, threading, time
import daemon, harness
from daemon import COMPLETED, NIGHTLY, SANITIZED, SLOW, Client, Daemon, null_proof, wait_until
import grpc


class Stream:
    """Clients that behave like Curio: each asks for one job after the other and asks again until it has the answer."""

    def __init__(self, d, n_clients, rng):
        self.d, self.stopping, self.problems, self.lock = d, threading.Event(), [], threading.Lock()
        self.done, self.asked, self.next = {}, {}, 0  # by id: proof; text
        self.rng = rng
        self.threads = [threading.Thread(target=self.run, daemon=True) for _ in range(n_clients)]
        for t in self.threads:
            t.start()

    def run(self):
        try:
            while not self.stopping.is_set():
                with self.lock:
                    n, self.next = self.next, self.next + 1
                    units = self.rng.randrange(1, 13)
                    text = "n=%d units=%d prove_us=%d witness_us=%d" % (n, units, self.rng.randrange(6000),
                                                                       self.rng.randrange(500))
                    self.asked["k%d" % n] = text
                self.one("k%d" % n, text, units, n % 2 == 0)
        except BaseException as e:
            self.problems.append(e)
            raise

    def one(self, id, text, units, by_prove):
        submitted = False
        deadline = time.monotonic() + 600 * SLOW
        while True:
            assert time.monotonic() < deadline, "no answer for %s" % id
            try:
                with Client(self.d.target()) as c:
                    if by_prove:
                        r = c("Prove", submit=self.d.null(text, id)).result
                    else:
                        if not submitted:
                            assert c("SubmitProof", self.d.null(text, id)).job_id == id
                            submitted = True
                        r = c("AwaitProof", job_id=id)  # NOT_FOUND: it was accepted and is lost
                assert r.status == COMPLETED and r.job_id == id, r
                assert r.proof == null_proof(text.encode(), units), "another proof for %s" % id
                with self.lock:
                    self.done[id] = r.proof
                return
            except grpc.RpcError as e:
                if e.code() != grpc.StatusCode.UNAVAILABLE:
                    raise AssertionError("%s: %s: %s" % (id, e.code(), e.details()))
                time.sleep(0.01)

    def finish(self):
        self.stopping.set()
        for t in self.threads:
            t.join()
        if self.problems:
            raise self.problems[0]


def journalled(d):
    """What the journal of a dead daemon holds: units that are finished as (text's number, unit); ended ids."""
    copy = d.folder + "/copy.db"
    for suffix in ("", "-wal"):
        if os.path.exists(d.folder + "/journal.db" + suffix):
            shutil.copy(d.folder + "/journal.db" + suffix, copy + suffix)
        elif os.path.exists(copy + suffix):
            os.unlink(copy + suffix)
    db = sqlite3.connect(copy)
    ids = {seq: id.decode() for seq, id in db.execute("SELECT seq, job_id FROM job")}
    ended = {ids[seq] for seq, in db.execute("SELECT seq FROM job WHERE ended_ms IS NOT NULL")}
    units = {(ids[key >> 12], key & 4095) for key, in db.execute("SELECT key FROM unit")}
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    return units, ended


def kill_often(cuzk, n_kills, faults):
    seed = random.getrandbits(32)
    print("seed", seed)
    rng = random.Random(seed)
    config = {"test.faults": faults, "pipeline.device_faults": 1000, "pipeline.attempts": 5, "logging.level": "warn",
              "gpus.gpu_workers_per_device": 4}
    d = Daemon(cuzk, test=True, config=config, http=False)
    d.start()
    stream = Stream(d, 8, rng)
    finished_before = ended_before = 0
    try:
        for i in range(n_kills):
            time.sleep(rng.random() * 0.15)
            if i % 2 == 0:  # on a slow machine, too, the others meet work that is under way
                done = len(stream.done)
                wait_until("a job to be done", lambda: len(stream.done) > done or stream.problems)
            d.kill()
            units, ended = journalled(d)
            trace_at = d.trace_bytes()
            finished_before += len(units)
            ended_before += len(ended)
            d.start()
            assert "damaged" not in d.log(), d.log()
            time.sleep(rng.random() * 0.1)
            for stage, unit, text in d.trace(trace_at):
                if stage == "prove":
                    id = "k" + text.split(" ")[0][2:]
                    assert (id, unit) not in units, "unit %d of %s was finished and is proved again" % (unit, id)
                    assert id not in ended, "%s had ended and is proved again" % id
            assert not stream.problems
        stream.finish()
        assert set(stream.done) == set(stream.asked)
        print("%d jobs, %d kills; at a kill %.1f finished partitions of unfinished jobs on average" %
              (len(stream.done), n_kills, finished_before / n_kills))
        assert finished_before > 0 and ended_before > 0
        # the answers are still there
        d.stop()
        d.start()
        for id, proof in stream.done.items():
            assert d.c("AwaitProof", job_id=id).proof == proof, id
        assert d.unfinished() == 0
    finally:
        stream.stopping.set()
    assert d.stop() == 0


def test_kill(cuzk):
    kill_often(cuzk, 200 if NIGHTLY else 6 if SANITIZED else 20, [])


def test_kill_with_faults(cuzk):
    kill_often(cuzk, 200 if NIGHTLY else 4 if SANITIZED else 8, ["proof+3*2 prove+11*3:E_DEVICE journal+9*2:E_FILE verify+20~5"])


def test_damaged_journal(cuzk):
    """What it still gives is taken, the file is set aside, the daemon starts and says so everywhere."""
    d = Daemon(cuzk, test=True)
    with d:
        for i in range(30):
            assert d.prove(d.null("n=%d" % i, "j%d" % i)).status == COMPLETED
        d.stop()
        path = d.folder + "/journal.db"
        with open(path, "r+b") as f:
            data = bytearray(f.read())
            at = data.index(b"j17j17") + 20  # inside one row
            data[at] ^= 1
            f.seek(0)
            f.write(data)
        d.start()
        names = os.listdir(d.folder)
        aside = [n for n in names if n.startswith("journal.db.damaged-") and not n.endswith("-wal")]
        assert len(aside) == 1 and harness.read(d.folder + "/" + aside[0]) == bytes(data), names
        assert "damaged" in d.log() and aside[0] in d.log(), d.log()
        assert any("journal" in name and "damage" in name or "salvage" in name for name in d.metrics()), d.metrics()
        for i in range(30):
            if i != 17:
                assert d.c("AwaitProof", job_id="j%d" % i).proof == null_proof(b"n=%d" % i)
        d.c.fails("NOT_FOUND", "j17", "AwaitProof", job_id="j17")


def test_journal_of_another(cuzk):
    """A journal that is in use, one of a newer version, a folder: the daemon says why and does not start."""
    d = Daemon(cuzk, test=True)
    with d:
        other = Daemon(cuzk, test=True, name="other", config={"journal.path": d.folder + "/journal.db"})
        other.spawn()
        assert other.wait_end() != 0
        assert "another process" in other.log() and "journal.db" in other.log(), other.log()
        d.stop()
        db = sqlite3.connect(d.folder + "/journal.db")
        db.executescript("PRAGMA user_version = 9; UPDATE meta SET value = 9 WHERE name = 'version'")
        db.close()
        other.spawn()
        assert other.wait_end() != 0 and "version 9" in other.log(), other.log()
        other.config["journal.path"] = d.folder
        other.spawn()
        assert other.wait_end() != 0
        other.config["journal.path"] = "none"
        other.start()
        assert other.prove(other.null("")).status == COMPLETED
        other.stop()
        d.config["journal.path"] = d.folder + "/fresh.db"
        d.start()


if __name__ == "__main__":
    harness.main(globals())
