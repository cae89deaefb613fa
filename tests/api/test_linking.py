# SPDX-License-Identifier: MIT OR Apache-2.0
"""BC-040: what the libraries export, the archive inside a shared object, another language, C++, an
installed tree with pkg-config, and the examples."""
import ctypes, json, os, re, shutil, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import harness
from harness import Skip, read

CC = os.environ.get("CUZK_TEST_CC", "cc")
FLAGS = os.environ.get("CUZK_TEST_LINK_FLAGS", "").split()
API = os.path.join("src", "api")
HEADERS = ["cuzk.h", "cuzk_filecoin.h", "cuzk_params.h", "cuzk_status.h", "cuzk_synthetic.h", "cuzk_timeline.h", "prover.h", "verifier.h"]


def library(cuzk, name):
    return os.path.join(cuzk.build, API, name)


def header_functions():
    """Names that the public headers declare."""
    names = set()
    for header in HEADERS:
        text = read(os.path.join(harness.TOP, "include", header)).decode()
        text = re.sub(r"/\*.*?\*/|^#[^\n]*", "", text, flags=re.S | re.M)
        for declaration in re.findall(r"CUZK_(?:PROVER_|VERIFIER_)?API\s+([^;#]*?)\(", text):
            names.add(declaration.split()[-1].lstrip("*"))
    return names


def symbols(args):
    out = harness.run(["nm"] + args).out
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if len(line.split()) >= 3 and
            line.split()[-2] in "TDBRVW"}


def test_shared_library_exports(cuzk):
    wanted = header_functions()
    assert len(wanted) > 30 and "cuzk_prove" in wanted and "groth16_prover" in wanted
    found = symbols(["-D", "--defined-only", library(cuzk, "libcuzk.so")])
    # a sanitizer build exports the sanitizer's own names
    found = {n for n in found if n.startswith(("cuzk", "groth16")) or not harness.SANITIZED}
    found.discard("CUZK_0")
    assert found == wanted, (found - wanted, wanted - found)


def test_static_library_exports(cuzk):
    found = symbols(["-g", "--defined-only", library(cuzk, "libcuzk.a")])
    wanted = header_functions()
    assert wanted <= found, wanted - found
    others = {n for n in found - wanted if not n.startswith(("__asan", "__odr", "__ubsan", "__tsan", "__gcov"))}
    assert not others or harness.SANITIZED, others


def test_libc_of_debian_12(cuzk):
    """Nothing newer than the C library of Debian 12 is asked for."""
    if shutil.which("readelf") is None or harness.SANITIZED or harness.EMULATOR:
        raise Skip("no readelf, or a sanitizer build")
    for name in ("cuzk", "src/api/libcuzk.so"):
        found = re.findall(r"GLIBC_(\d+)\.(\d+)", harness.run(["readelf", "-V", os.path.join(cuzk.build, name)]).out)
        newest = max((int(a), int(b)) for a, b in found)
        assert newest <= (2, 36), (name, newest)


def test_soname(cuzk):
    out = harness.run(["objdump", "-p", library(cuzk, "libcuzk.so")]).out
    assert re.search(r"SONAME\s+libcuzk\.so\.0\n", out), out
    needed = re.findall(r"NEEDED\s+(\S+)", out)
    heavy = [n for n in needed if not n.startswith(("libc.", "libm.", "libpthread", "libdl", "ld-linux", "libasan",
                                                      "libubsan", "libtsan", "libgcc"))]
    assert not heavy, needed


def call_from_python(path, cuzk):
    """Prove and verify through rapidsnark's interface, from another language."""
    lib = ctypes.CDLL(path)
    zkey, wtns, vkey = (read(cuzk.circom("bn254", "multiplier2", n))
                        for n in ("circuit.zkey", "witness.wtns", "verification_key.json"))
    size = ctypes.c_ulonglong
    n_proof, n_public = size(4096), size(4096)
    proof, public, error = (ctypes.create_string_buffer(4096) for _ in range(3))
    code = lib.groth16_prover(zkey, size(len(zkey)), wtns, size(len(wtns)), proof, ctypes.byref(n_proof), public,
                              ctypes.byref(n_public), error, size(4096))
    assert code == 0, error.value
    assert json.loads(public.value) == ["33"] and len(proof.value) == n_proof.value
    assert lib.groth16_verify(proof, public, vkey, error, ctypes.c_ulong(4096)) == 0, error.value


def test_from_another_language(cuzk):
    if harness.SANITIZED:
        raise Skip("a sanitizer's library must be loaded first")
    call_from_python(library(cuzk, "libcuzk.so"), cuzk)


def test_archive_inside_a_shared_object(cuzk):
    if harness.SANITIZED:
        raise Skip("a sanitizer's library must be loaded first")
    source = cuzk.write("wrap.c", "const char *wrap_version(void);\n#include <cuzk.h>\n"
                        "const char *wrap_version(void) { return cuzk_version(); }\n")
    out = cuzk.path("libwrap.so")
    r = harness.run([CC, "-shared", "-fPIC", "-I", os.path.join(harness.TOP, "include"), source, "-o", out,
                     "-Wl,--whole-archive", library(cuzk, "libcuzk.a"), "-Wl,--no-whole-archive", "-Wl,-z,defs",
                     "-lpthread", "-ldl", "-lm"] + FLAGS)
    assert r.code == 0, r
    lib = ctypes.CDLL(out)
    lib.wrap_version.restype = ctypes.c_char_p
    assert lib.wrap_version().decode().count(".") == 2
    call_from_python(out, cuzk)
    textrel = harness.run(["objdump", "-p", out]).out
    assert "TEXTREL" not in textrel


def test_headers_alone(cuzk):
    """Each header compiles alone, as C11 and as C++11, without a warning."""
    cxx = shutil.which("g++") or shutil.which("c++")
    for header in HEADERS:
        text = "#include <%s>\n#include <%s>\nint main(void) { return 0; }\n" % (header, header)
        runs = [[CC, "-std=c11", cuzk.write("x.c", text)]]
        if cxx is not None:
            runs.append([cxx, "-std=c++11", cuzk.write("x.cc", text.replace("void", ""))])
        for command in runs:
            r = harness.run(command + ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror", "-fsyntax-only", "-I",
                                       os.path.join(harness.TOP, "include")])
            assert r.code == 0, r


CPP = """
#include <cuzk.h>
#include <prover.h>
#include <verifier.h>
#include <cstdio>
int main() {
    cuzk_error err{};
    cuzk_ctx_options options = CUZK_CTX_OPTIONS_INIT;
    cuzk_key_options key_options = CUZK_KEY_OPTIONS_INIT;
    cuzk_prove_options prove_options = CUZK_PROVE_OPTIONS_INIT;
    cuzk_setup_options setup_options = CUZK_SETUP_OPTIONS_INIT;
    cuzk_ctx *ctx = nullptr;
    unsigned long long size = 0;
    groth16_proof_size(&size);
    if (cuzk_ctx_create(&ctx, &options, &err) != CUZK_OK || size == 0) {
        std::puts(err.text);
        return 1;
    }
    cuzk_ctx_destroy(ctx);
    return key_options.drop_pages || prove_options.no_self_check || setup_options.zkey_path != nullptr;
}
"""


def test_installed_tree(cuzk):
    """make install, then a program in C and one in C++ against it with pkg-config alone."""
    if harness.SANITIZED or harness.EMULATOR:
        raise Skip("sanitizer build or emulator")
    prefix = cuzk.path("prefix")
    r = harness.run(["cmake", "--install", cuzk.build, "--prefix", prefix])
    assert r.code == 0, r
    for name in ("bin/cuzk", "bin/prover", "bin/verifier", "include/cuzk.h", "include/prover.h"):
        assert os.path.exists(os.path.join(prefix, name)), name
    r = harness.run([os.path.join(prefix, "bin", "prover")])
    assert r.code == 1 and "Usage: prover" in r.err, r
    if shutil.which("pkg-config") is None:
        raise Skip("no pkg-config")
    folder = next(os.path.dirname(os.path.join(d, "cuzk.pc")) for d, _, files in os.walk(prefix) if "cuzk.pc" in files)
    env = {"PKG_CONFIG_PATH": folder, "LD_LIBRARY_PATH": os.path.dirname(folder)}
    zkey, wtns, vkey = (cuzk.circom("bn254", "multiplier2", n)
                        for n in ("circuit.zkey", "witness.wtns", "verification_key.json"))
    flags = harness.run(["pkg-config", "--cflags", "--libs", "cuzk"], env=env).out.split()
    assert flags, "pkg-config knows no cuzk"
    source = os.path.join(harness.TOP, "examples", "rapidsnark_client.c")
    assert harness.run([CC, source, "-o", cuzk.path("client")] + flags, env=env).code == 0
    r = harness.run([cuzk.path("client"), zkey, wtns, vkey], env=env)
    assert r.code == 0 and '["33"]' in r.out, r
    static = harness.run(["pkg-config", "--static", "--cflags", "--libs", "cuzk"], env=env).out.split()
    cxx = shutil.which("g++")
    if cxx is None:
        raise Skip("no g++")
    lib = [f.replace("-lcuzk", os.path.join(os.path.dirname(folder), "libcuzk.a")) for f in static]
    r = harness.run([cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", cuzk.write("x.cc", CPP), "-o", cuzk.path("x")] + lib)
    assert r.code == 0, r
    assert harness.run([cuzk.path("x")]).code == 0


def test_examples(cuzk):
    zkey, wtns, vkey, public, proof = (cuzk.circom("bn254", "poseidon2", n) for n in (
        "circuit.zkey", "witness.wtns", "verification_key.json", "public.json", "proof.json"))
    run = lambda name, *args: harness.run(harness.EMULATOR + [os.path.join(cuzk.build, "examples", "example_" + name)] +
                                          list(args))
    r = run("prove", zkey, wtns)
    assert r.code == 0 and '"pi_a"' in r.out, r
    assert run("prove", wtns, zkey).code == 1
    r = run("verify_batch", vkey, public, proof, public, proof)
    assert r.code == 0 and r.out == "2 valid proofs\n", r
    r = run("verify_batch", vkey, public, proof, cuzk.write("x.json", '["1"]'), proof)
    assert r.code == 1 and "invalid" in r.out, r
    r = run("rapidsnark_client", zkey, wtns, vkey)
    assert r.code == 0 and '"protocol":"groth16"' in r.out, r


def test_example_of_filecoin(cuzk):
    case = "cases/window-2k-3sectors-4/"
    files = [cuzk.fixture(case + "vanilla-%d.bincode" % i) for i in range(3)]
    e = json.loads(read(cuzk.fixture(case + "expected.json")))
    cuzk.ok("params", "setup", "window", "2KiB", "--folder", cuzk.scratch)
    params = next(n for n in cuzk.names() if n.endswith(".test.params"))
    program = harness.EMULATOR + [os.path.join(cuzk.build, "examples", "example_window_post"), cuzk.path(params), "10"]
    r = harness.run(program + [e["randomness"]] + files)
    assert r.code == 0 and len(r.out) == 2 * 384 + 1, r
    request = {"registered_proof": 10, "randomness": e["randomness"],
               "sectors": [{"sector_number": n, "comm_r": c} for n, c in zip(e["sectors"], e["comm_r"])]}
    cuzk.ok("verify", "window", cuzk.write("proof.txt", r.out), "--request", cuzk.write_json("request.json", request),
            "--vk", params, "--allow-test-key")
    r = harness.run(program + ["00" * 32] + files)
    assert r.code == 1 and "sector 271895 (place 0)" in r.err and r.out == "", r


if __name__ == "__main__":
    harness.main(globals())
