# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the HTTP port tells while a job is waited for: progress where it is the daemon's, and a wait that ends well
whatever else it is."""
import json, threading, time

from every_command import good_answers
from fake_daemon import Daemon, completed, unix
from hostile import RawServer, answer_with, http
import harness



def progress_with(cuzk, body, look_twice=True):
    """stderr of await --progress with an HTTP port that answers with this."""
    looks = threading.Semaphore(0)

    def data():
        looks.release()
        return body if isinstance(body, bytes) else http(json.dumps(body).encode())

    def answer(request):
        assert looks.acquire(timeout=60 * harness.SLOW)
        if look_twice:
            assert looks.acquire(timeout=60 * harness.SLOW)
        return completed(request.job_id)
    with Daemon(unix(cuzk), dict(good_answers(cuzk), AwaitProof=answer)), RawServer(answer_with(data)) as s:
        return cuzk.ok("await", "id", "--connect", unix(cuzk), "--status", s.address, "--progress").err


def test_progress(cuzk):
    def job(done, total):
        return {"pipelines": [{"job_id": "id", "total_partitions": total, "partitions_done": done}]}
    assert "cuzk await:  30 % of the job: 3 of 10 partitions\n" in progress_with(cuzk, job(3, 10), False)
    # told again only when something changed
    assert progress_with(cuzk, job(3, 10)).count("3 of 10") == 1
    assert "  0 % of the job: 0 of 0 partitions" in progress_with(cuzk, job(0, 0), False)
    # more than there are: never more than all of it
    assert "100 % of the job" in progress_with(cuzk, job(12, 10), False)


def test_progress_is_a_matter_of_comfort(cuzk):
    """Whatever the port answers, the wait goes on and ends well."""
    for data in (b"", b"HTTP/1.1 404 Not Found\r\n\r\n", http(b"{"), http(b"{}"), http(b'{"pipelines": [{}]}'),
                 http(b'{"pipelines": [{"job_id": "ide", "partitions_done": 1}]}')):
        assert progress_with(cuzk, data, False) == "", data


def test_a_silent_port_is_left_alone(cuzk):
    """A look that takes long is not taken again at once: the daemon's answer would wait for it."""
    given_up, n_looks = threading.Event(), []

    def silent(connection, n):
        n_looks.append(n)
        while connection.recv(65536):
            pass
        given_up.set()

    def answer(request):
        assert given_up.wait(60 * harness.SLOW)
        time.sleep(0.3)  # three times as long as the client sleeps between two looks
        return completed(request.job_id)
    with Daemon(unix(cuzk), dict(good_answers(cuzk), AwaitProof=answer)), RawServer(silent) as s:
        cuzk.ok("await", "id", "--connect", unix(cuzk), "--status", s.address, "--progress")
        assert n_looks == [0], n_looks


if __name__ == "__main__":
    harness.main(globals())
