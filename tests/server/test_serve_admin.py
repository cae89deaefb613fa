# SPDX-License-Identifier: MIT OR Apache-2.0
"""Administration over HTTP: who may, what it answers, and what a browser cannot be made to send."""
import http.client, json, os, shutil, signal, socket, threading, urllib.parse

import daemon
from daemon import harness, Daemon, wait_until, COMPLETED, CANCELLED, SOON

ADMIN, SUBMIT = "admin-token-0123456789", "submit-token-012345678"


def post(d, action, token=ADMIN, method="POST", headers=None, **fields):
    """(code, headers, answer) of /admin/ACTION."""
    c = http.client.HTTPConnection("127.0.0.1", d.http_port, timeout=SOON)
    all_headers = {"Authorization": "Bearer " + token} if token else {}
    all_headers.update(headers or {})
    c.request(method, "/admin/%s?%s" % (action, urllib.parse.urlencode(fields)), headers=all_headers)
    r = c.getresponse()
    text = r.read().decode()
    c.close()
    answer = json.loads(text) if r.getheader("Content-Type") == "application/json" else {"error": text}
    if method == "POST" and r.status != 405:
        assert answer["ok"] == (r.status == 200) and r.getheader("Access-Control-Allow-Origin") is None, (r.status, answer)
    return r.status, dict(r.getheaders()), answer


def code(d, *args, **kw):
    return post(d, *args, **kw)[0]


def administered(cuzk, name="admin", **config):
    tokens = cuzk.write("admin-tokens", ADMIN + "\n")
    all_tokens = cuzk.write("tokens", SUBMIT + "\n")
    os.chmod(tokens, 0o600)
    return Daemon(cuzk, test=True, name=name, config=dict({"auth.admin_token_file": tokens, "auth.token_file": all_tokens}, **config))


def test_not_configured(cuzk):
    """Without admin tokens there is nothing, whatever is sent, and the page is told so."""
    with Daemon(cuzk, test=True, name="none") as d:
        assert d.status()["admin"] is False
        for token in (None, ADMIN):
            for action in ("check", "cancel", "preload", "evict", "drain", "add", "nothing"):
                status, _, answer = post(d, action, token, job="x", circuit="null-a", device="cpu")
                assert status == 403 and "auth.admin_token_file" in answer["error"], (action, answer)
        assert d.status()["allocations"]["srs"] == [] and d.status()["devices"][0]["state"] == "used"


def test_rights(cuzk):
    """401 without a token or with an unknown one, 403 where the token may only submit, or a browser's page is another's."""
    with administered(cuzk) as d:
        assert d.status()["admin"] is True
        host = "127.0.0.1:%d" % d.http_port
        for headers, token, expected in (
                ({}, ADMIN, 200), ({}, None, 401), ({}, ADMIN + "x", 401), ({}, ADMIN[:-1], 401), ({}, "", 401), ({}, SUBMIT, 403),
                ({"Authorization": "Basic " + ADMIN}, None, 401), ({"Authorization": ADMIN}, None, 401),
                ({"Authorization": "bearer " + ADMIN}, None, 200), ({"Cookie": "token=" + ADMIN}, None, 401),
                ({"Origin": "http://" + host}, ADMIN, 200), ({"Origin": "https://" + host}, ADMIN, 200),
                ({"Origin": "http://" + host}, None, 401), ({"Origin": "http://elsewhere.example"}, ADMIN, 403),
                ({"Origin": "http://elsewhere.example"}, None, 403), ({"Origin": "null"}, ADMIN, 403),
                ({"Origin": "http://127.0.0.1"}, ADMIN, 403), ({"Origin": host}, ADMIN, 403),
                ({"Origin": "http://" + host + ".example"}, ADMIN, 403),
                ({"Origin": "http://prover.example", "Host": "prover.example"}, ADMIN, 200)):
            status, answer_headers, answer = post(d, "check", token, headers=headers)
            assert status == expected, (headers, token, status, answer)
            assert (answer_headers.get("WWW-Authenticate") == "Bearer") == (status == 401), answer_headers
        assert ADMIN not in d.log() and SUBMIT not in d.log()
        assert "administration over HTTP is refused" in d.log()
        # nothing but POST, and no other origin is let in by a preflight
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS"):
            status, headers, _ = post(d, "evict", method=method, circuit="null-a", headers={
                "Origin": "http://elsewhere.example", "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization"})
            assert status == 405 and not [h for h in headers if h.startswith("Access-Control")], (method, status, headers)
        for action, fields in (("nothing", {}), ("", {}), ("check/x", {}), ("cancelx", {"job": "x"})):
            status, _, answer = post(d, action, **fields)
            assert status == 404 and "there are check, cancel" in answer["error"], (action, answer)
        for action, fields in (("cancel", {}), ("cancel", {"job": ""}), ("cancel", {"circuit": "x"}), ("preload", {}), ("evict", {}),
                               ("cancel", {"job": "x" * 5000}), ("register", {"name": "x"}), ("drain", {}), ("add", {"job": "x"})):
            assert code(d, action, **fields) == 400, (action, fields)
        # without a Host
        with socket.create_connection(("127.0.0.1", d.http_port), SOON) as s:
            s.sendall(("POST /admin/check HTTP/1.0\r\nAuthorization: Bearer %s\r\nOrigin: http://x\r\n\r\n" % ADMIN).encode())
            assert b" 403 " in s.recv(100)


def test_new_tokens(cuzk):
    """SIGHUP: tokens that were taken away are unknown at once; without a file there is no administration."""
    d = administered(cuzk)
    with d:
        assert code(d, "check") == 200
        new = "another-token-0123456789"
        cuzk.write("admin-tokens", new + "\n")
        d.process.send_signal(signal.SIGHUP)
        wait_until("the new tokens", lambda: code(d, "check", new) == 200, SOON)
        assert code(d, "check") == 401
        d.config["auth.admin_token_file"] = ""
        d.write_config()
        d.process.send_signal(signal.SIGHUP)
        wait_until("no tokens", lambda: code(d, "check", new) == 403 and not d.status()["admin"], SOON)


def test_cancel(cuzk):
    with administered(cuzk) as d:
        assert d.prove(d.null("units=1", "done")).status == COMPLETED
        for job in ("held", "a b&job=done/\u00e9\"'%2"):
            call = d.c.start("Prove", submit=d.null("gate=open k=%s" % len(job), job))
            wait_until("it to run", lambda: any(w["current_job"] == job for w in d.status()["gpu_workers"]), SOON)
            assert post(d, "cancel", job=job)[::2] == (200, {"ok": True})
            assert call.result().result.status == CANCELLED
            status, _, answer = post(d, "cancel", job=job)
            assert status == 409 and "has ended" in answer["error"], answer
        assert code(d, "cancel", job="done") == 409
        status, _, answer = post(d, "cancel", job="unknown")
        assert status == 404 and '"unknown"' in answer["error"], answer
        assert 'action=cancel of=held status=200' in d.log(), d.log()


def test_parameters(cuzk):
    """Loading takes its time and nothing else waits for it; a few at once; what cannot be loaded is said."""
    with administered(cuzk) as d:
        status, _, answer = post(d, "preload", circuit="null-a")
        assert status == 200 and answer["already_loaded"] is False, answer
        assert post(d, "preload", circuit="null-a")[2]["already_loaded"] is True
        assert post(d, "evict", circuit="null-a")[2] == {"ok": True, "was_loaded": True, "freed_bytes": 1000000}
        wait_until("it to go", lambda: d.status()["allocations"]["srs"] == [], SOON)
        assert post(d, "evict", circuit="null-a")[2] == {"ok": True, "was_loaded": False, "freed_bytes": 0}
        for circuit, expected, text in (("null-x", 404, "null-x"), ("null-large", 409, "can never have them"), ("null-missing", 500, "null-missing")):
            status, _, answer = post(d, "preload", circuit=circuit)
            assert status == expected and text in answer["error"], (status, answer)
        assert code(d, "evict", circuit="null-x") == 404
        answers, n = [], 4

        def load():
            status = 503  # while an eviction that is tried below has the last thread
            while status == 503:
                status = code(d, "preload", circuit="null-slow")
            answers.append(status)
        threads = [threading.Thread(target=load, daemon=True) for _ in range(n)]
        for t in threads:
            t.start()
        wait_until("all threads to be taken", lambda: code(d, "evict", circuit="null-b") == 503, SOON)
        assert answers == [] and code(d, "check") == 200 and code(d, "cancel", job="unknown") == 404
        d.open_gate("null-slow")
        for t in threads:
            t.join(SOON)
        assert answers == n * [200], answers
        assert code(d, "evict", circuit="null-b") == 200


def test_end_while_loading(cuzk):
    """A parameter that is being loaded does not hold up the end."""
    d = administered(cuzk)
    with d:

        def load():
            try:
                post(d, "preload", circuit="null-slow")
            except (OSError, http.client.HTTPException):
                pass  # the end of the daemon
        t = threading.Thread(target=load, daemon=True)
        t.start()
        wait_until("it to load", lambda: any(r["state"] == "loading" for r in d.status()["allocations"]["srs"]), SOON)
        d.process.terminate()
        assert d.wait_end() == 0 and "parameters are being loaded" in d.log(), d.log()
        d.process = None
        t.join(SOON)


def test_devices(cuzk):
    """Drained and added at once, whatever that takes; why it could not be opened is said."""
    d = administered(cuzk, **{"test.faults": ["open@1*1:E_DEVICE"]})
    d.env["CUZK_TEST_DEVICES"] = "2"
    with d:
        def device(id):
            return next(x for x in d.status()["devices"] if x["id"] == id)

        def state(id):
            return device(id)["state"]
        held = [d.c.start("Prove", submit=d.null("gate=open held=%d" % i, "held-%d" % i)) for i in range(4)]
        wait_until("both are busy", lambda: sum(w["state"] != "idle" for w in d.status()["gpu_workers"]) == 4, SOON)
        assert post(d, "drain", device="1")[::2] == (200, {"ok": True, "device": "null:1", "was": "used"})
        assert state("null:1") == "draining" and state("cpu") == "used"
        d.open_gate("open")
        assert [h.result().result.status for h in held] == [COMPLETED] * 4
        wait_until("it is drained", lambda: state("null:1") == "drained", SOON)
        assert post(d, "drain", device="null:1")[2]["was"] == "drained"
        added = (200, {"ok": True, "device": "null:1", "was": "drained"})
        assert post(d, "add", device="null:1")[::2] == added
        wait_until("it was tried", lambda: device("null:1")["reason"] == "not opened: a fault was asked for at open", SOON)
        assert state("null:1") == "drained"
        assert post(d, "add", device="1")[::2] == added
        wait_until("it is used", lambda: state("null:1") == "used", SOON)
        assert post(d, "add", device="null:1")[2]["was"] == "used"
        for action in ("drain", "add"):
            status, _, answer = post(d, action, device="2")
            assert status == 404 and "there are cpu, null:1" in answer["error"], answer
            assert code(d, action, token=SUBMIT, device="1") == 403
        assert state("null:1") == "used" and 'action=drain of=1 status=200' in d.log(), d.log()


def test_circuits(cuzk):
    with administered(cuzk) as d:
        zkey = d.folder + "/circom/mul.zkey"
        shutil.copy(cuzk.circom("bn254", "multiplier2", "circuit.zkey"), zkey)
        shutil.copy(cuzk.circom("bn254", "poseidon2", "circuit.zkey"), d.folder + "/circom/pos.zkey")
        assert post(d, "check")[2]["circom"] is True
        assert post(d, "register", name="mul", zkey=zkey)[2] == {"ok": True, "already_registered": False, "constraints": 1}
        assert post(d, "register", name="mul", zkey=zkey)[2]["already_registered"] is True
        for name, path, expected in (("mul", d.folder + "/circom/pos.zkey", 409), ("x/y", zkey, 400), ("no", d.folder + "/circom/no.zkey", 400)):
            status, _, answer = post(d, "register", name=name, zkey=path)
            assert status == expected and answer["error"], (status, answer)
        assert [c.name for c in d.c("ListCircuits").circuits] == ["mul"]


if __name__ == "__main__":
    harness.main(globals())
