# SPDX-License-Identifier: MIT OR Apache-2.0
"""A daemon for tests of the client: gRPC and protobuf of Python's packages, which share no code with ours.

It keeps every request and answers as the test tells it: answers[METHOD] is a message, bytes in its place, an (code, text)
pair that becomes the call's status, or a function of the request that gives one of both, or raises Hang.
"""
import concurrent.futures, http.server, importlib, os, re, shutil, socket, subprocess, sys, tempfile, threading

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import harness
from harness import Skip, TOP

for name in ("CUZK_LISTEN", "CUZK_STATUS_LISTEN"):
    os.environ.pop(name, None)

try:
    import grpc
except ImportError:
    grpc = None


made = []  # what messages() returns


class Hang(Exception):
    """The call gets no answer while its client waits."""


def messages():
    """The modules of the wire messages, made by protoc."""
    if made:
        return made
    folder = tempfile.mkdtemp(prefix="cuzk-proto-")
    proto = os.path.join(TOP, "proto")
    try:
        subprocess.run(["protoc", "-I" + proto, "--python_out=" + folder, proto + "/cuzk/v1/proving.proto",
                        proto + "/cuzk/v1/circom.proto"], check=True)
        sys.path.insert(0, folder)
        made.extend(importlib.import_module("cuzk.v1.%s_pb2" % name) for name in ("proving", "circom"))
        return made
    except (FileNotFoundError, ImportError) as reason:
        raise Skip("no protobuf for Python: %s" % reason)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Daemon:
    """with Daemon(address, answers) as d: … d.requests is a list of (method, message, metadata)."""

    def __init__(self, address, answers, credentials=None, http_status=None):
        if grpc is None:
            raise Skip("python3-grpcio is missing")
        self.proving, self.circom = messages()
        self.answers, self.requests = answers, []
        limits = [("grpc.max_receive_message_length", 256 << 20), ("grpc.max_send_message_length", 256 << 20)]
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(32), options=limits)
        for module, service in ((self.proving, "ProvingEngine"), (self.circom, "Circom")):
            methods = {}
            for m in module.DESCRIPTOR.services_by_name[service].methods:
                request = getattr(module, m.input_type.name)
                methods[m.name] = grpc.unary_unary_rpc_method_handler(
                    self._handler(m.name), request_deserializer=request.FromString,
                    response_serializer=lambda m: m if isinstance(m, bytes) else m.SerializeToString())
            self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("cuzk.v1." + service, methods),))
        self.port = (self.server.add_secure_port(address, credentials) if credentials
                     else self.server.add_insecure_port(address))
        self.http = None
        if http_status is not None:
            self._start_http(http_status)

    def _handler(self, name):
        def handle(request, context):
            self.requests.append((name, request, dict(context.invocation_metadata())))
            answer = self.answers.get(name, (grpc.StatusCode.UNIMPLEMENTED, "not scripted"))
            if callable(answer):
                try:
                    answer = answer(request)
                except Hang:
                    while context.is_active():
                        threading.Event().wait(0.02)
                    return None
            if isinstance(answer, tuple):
                context.abort(*answer)
            return answer
        return handle

    def _start_http(self, status):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                code, body = status() if callable(status) else status
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http_address = "127.0.0.1:%d" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        self.server.start()
        return self

    def __exit__(self, *args):
        self.server.stop(0).wait()
        if self.http:
            self.http.shutdown()
            self.http.server_close()

    def of(self, method):
        """The requests of one method."""
        return [r for m, r, _ in self.requests if m == method]


class Lost(threading.Thread):
    """with Lost(cuzk) as l: a daemon on the socket of unix(cuzk) that is killed, as its client sees it, when it has
    received the id that a client made for a request. l.wait() gives the bytes before the id, and the id."""

    def __init__(self, cuzk):
        super().__init__(daemon=True)
        self.path, self.received = cuzk.path("sock"), b""
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(1)

    def run(self):
        connection, _ = self.listener.accept()
        with connection:
            connection.sendall(bytes((0, 0, 0, 4, 0, 0, 0, 0, 0)))  # HTTP/2: settings, none
            while not self.parts():
                data = connection.recv(65536)
                assert data, self.received
                self.received += data
            self.listener.close()
            os.unlink(self.path)

    def parts(self):
        return re.match(rb"(?s)(.*)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", self.received)

    def wait(self):
        self.join()
        return self.parts()[1], self.parts()[2].decode()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *args):
        self.listener.close()


# ---------------------------------------------------------------- what tests send and get


def vanilla_files(cuzk, case):
    """Paths of a golden case's vanilla proofs."""
    if harness.find_fixture("cases/%s/c1.json" % case):
        return [cuzk.fixture("cases/%s/c1.json" % case)]
    paths = []
    while harness.find_fixture("cases/%s/vanilla-%d.bincode" % (case, len(paths))):
        paths.append(cuzk.fixture("cases/%s/vanilla-%d.bincode" % (case, len(paths))))
    return paths


def completed(job_id="job-1", proof=b"p" * 192, **more):
    proving, _ = messages()
    return proving.AwaitProofResponse(job_id=job_id, status=1, proof=proof, total_ms=1234, queue_wait_ms=34,
                                      synthesis_ms=400, gpu_compute_ms=800, **more)


def scripted(proof=b"p" * 192, **answers):
    proving, circom = messages()
    script = {
        "SubmitProof": lambda r: proving.SubmitProofResponse(job_id=r.request_id, queue_position=3),
        "AwaitProof": lambda r: completed(r.job_id, proof),
        "Prove": lambda r: proving.ProveResponse(result=completed(r.submit.request_id, proof)),
    }
    script.update(answers)
    return script


def unix(cuzk):
    return "unix:" + cuzk.path("sock")
