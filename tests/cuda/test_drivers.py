# SPDX-License-Identifier: MIT OR Apache-2.0
"""Driver libraries that cannot be used: each is named with its reason, by every command that asks for a device."""
import os, sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli")]
import harness


def check(cuzk, folder, text):
    env = {"LD_LIBRARY_PATH": folder}
    zkey, wtns = (cuzk.circom("bn254", "multiplier2", n) for n in ("circuit.zkey", "witness.wtns"))
    r = cuzk.ok("devices", env=env)
    assert text in r.out and "cpu" in r.out.lower(), r
    j = cuzk.ok("devices", "--json", env=env).json()
    assert j["devices"] == [] and text in j["no_device"], j
    before = cuzk.names()
    for command in (["prove", zkey, wtns, "p.json", "pub.json"], ["bench", zkey, wtns, "--runs", "1"]):
        cuzk.fails(1, ['device "cuda:0"', text], *command, "--device", "cuda:0", env=env)
        r = cuzk(*command, "--device", "cuda:0", "--json", env=env)
        assert r.code == 1 and r.json()["status"] == "E_DEVICE" and text in r.json()["error"], r
        cuzk.ok(*command, "--device", "cpu", env=env)
    for name in ("p.json", "pub.json"):
        os.remove(cuzk.path(name))
    assert cuzk.names() == before


def test_too_old(cuzk):
    check(cuzk, os.path.join(cuzk.build, "tests", "cuda", "old_libcuda"),
          "opening the CUDA driver: it has no function cuDriverGetVersion; it is too old")


def test_no_library(cuzk):
    """Files of the right name that are none; the loader says what they are."""
    for data in (b"", b"\x7fELF", b"not a library\n" * 1000):
        os.makedirs(cuzk.path("lib"), exist_ok=True)
        cuzk.write("lib/libcuda.so.1", data)
        r = cuzk.ok("devices", env={"LD_LIBRARY_PATH": cuzk.path("lib")})
        if "opening the CUDA driver: " not in r.out:  # the loader goes on to a driver of the machine
            raise harness.Skip("there is a driver on this machine")
        check(cuzk, cuzk.path("lib"), "opening the CUDA driver: ")


if __name__ == "__main__":
    harness.main(globals())
