# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk devices and --device, with a driver whose device is the host (tests/cuda/emulator)."""
import os
import harness
from harness import read


def driver(cuzk, fault=None):
    """Environment in which the program finds that driver."""
    env = {"LD_LIBRARY_PATH": os.path.join(cuzk.build, "tests", "cuda", "libcuda")}
    if fault:
        env["CUZK_EMULATED_FAULT"] = fault
    return env


def inputs(cuzk, curve="bn254"):
    return [cuzk.circom(curve, "multiplier2", n) for n in ("circuit.zkey", "witness.wtns", "verification_key.json")]


def test_list(cuzk):
    r = cuzk.ok("devices", env=driver(cuzk))
    assert "cuda:0: Emulated 0, 2.0 GiB (1.0 GiB free), compute capability 9.0, driver 13.0, PCI 0000:41:00.0, NUMA node unknown; self-test passed" in r.out, r
    j = cuzk.ok("devices", "--json", env=driver(cuzk)).json()
    assert len(j["devices"]) == 1 and j["devices"][0]["usable"] and j["no_device"] == "", j


TWO_NODES = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" gp_index="1" {all}>
<object type="Package" os_index="0" gp_index="2" {0}><object type="NUMANode" os_index="0" gp_index="3" {0}/>
<object type="PU" os_index="0" gp_index="4" {0}/></object>
<object type="Package" os_index="1" gp_index="5" {1}><object type="NUMANode" os_index="1" gp_index="6" {1}/>
<object type="PU" os_index="1" gp_index="7" {1}/>
<object type="PCIDev" gp_index="8" pci_busid="0000:41:00.0" pci_type="0302 [10de:2335] [10de:18be] a1"/></object>
</object>
</topology>
"""


def test_numa_node(cuzk):
    """The node that a device's place on the bus is closest to."""
    sets = 'cpuset="0x{0:x}" complete_cpuset="0x{0:x}" nodeset="0x{0:x}" complete_nodeset="0x{0:x}"'
    xml = TWO_NODES.format(sets.format(1), sets.format(2),
                           all=sets.format(3) + ' allowed_cpuset="0x3" allowed_nodeset="0x3"')
    env = dict(driver(cuzk), HWLOC_XMLFILE=cuzk.write("machine.xml", xml.encode()))
    if "CUZK_HWLOC_INCLUDE:PATH=/" not in open(os.path.join(cuzk.build, "CMakeCache.txt")).read():
        assert "NUMA node unknown" in cuzk.ok("devices", env=env).out
        raise harness.Skip("built without hwloc")
    assert "NUMA node 1; self-test passed" in cuzk.ok("devices", env=env).out
    j = cuzk.ok("devices", "--json", env=env).json()["devices"][0]
    assert j["pci"] == "0000:41:00.0" and j["numa_node"] == 1, j


def test_proofs_verify(cuzk):
    for curve in ("bn254", "bls12381"):
        zkey, wtns, vkey = inputs(cuzk, curve)
        r = cuzk.ok("prove", zkey, wtns, "p.json", "pub.json", "--device", "cuda:0", "--no-self-check", env=driver(cuzk))
        assert "self-check" in r.out and ", device cuda:0\non cuda:0, ms: " in r.out, r
        cuzk.ok("verify", vkey, "pub.json", "p.json")


def test_bench(cuzk):
    zkey, wtns, _ = inputs(cuzk)
    r = cuzk.ok("bench", zkey, wtns, "--runs", "1", "--device", "cuda:0", env=driver(cuzk))
    assert "\ndevice " in r.out and "\nH " not in r.out, r


TRAPDOOR = {"tau": "5", "alpha": "70001", "beta": "3", "gamma": "1", "delta": "123456789123456789"}


def test_setup(cuzk):
    """Keys of both kinds and curves from a given trapdoor: the CPU's bytes; fresh ones prove."""
    t = cuzk.write_json("t.json", TRAPDOOR)
    for curve, names in (("bn254", ["k.test.zkey"]), ("bls12381", ["--params", "k.test.params", "--vk", "k.test.vk"])):
        r1cs = cuzk.circom(curve, "multiplier2", "circuit.r1cs")
        cuzk.ok("setup", r1cs, *names, "--test-trapdoor", t, "--device", "cpu")
        expected = [read(cuzk.path(n)) for n in names if n[0] != "-"]
        cuzk.ok("setup", r1cs, *names, "--test-trapdoor", t, "--device", "cuda:0", env=driver(cuzk))
        assert [read(cuzk.path(n)) for n in names if n[0] != "-"] == expected, curve
    cuzk.ok("setup", r1cs, "k.zkey", "--vkey", "vk.json", "--device", "cuda:0", env=driver(cuzk))
    cuzk.ok("prove", "k.zkey", cuzk.circom(curve, "multiplier2", "witness.wtns"), "p.json", "pub.json")
    cuzk.ok("verify", "vk.json", "pub.json", "p.json")


def test_setup_refusals(cuzk):
    """A device that is not there or at fault is named, before a circuit is read or made, and leaves no files."""
    r1cs = cuzk.circom("bn254", "multiplier2", "circuit.r1cs")
    commands = [["setup", r1cs, "k.zkey"], ["params", "setup", "porep", "32GiB", "--folder", "."]]
    for command in commands:
        for fault, text in (("none", "CUDA_ERROR_NO_DEVICE"), ("bit", "self-test: a transform on bn254 is wrong")):
            cuzk.fails(1, ['device "cuda:0"', text], *command, "--device", "cuda:0", env=driver(cuzk, fault))
        cuzk.fails(1, 'device "cuda:1": opening CUDA device 1: the driver has 1 devices', *command, "--device", "cuda:1",
                   env=driver(cuzk))
        for bad in ("auto", "auto:5", "cuda", "gpu"):
            cuzk.fails(2, "expected cpu", *command, "--device", bad)
    cuzk.fails(1, ['device "cuda:0"', "CUDA_ERROR_OUT_OF_MEMORY"], *commands[0], "--device", "cuda:0", env=driver(cuzk, "memory"))
    cuzk.write("now", b"")
    cuzk.fails(1, ['device "cuda:0"', "(700)"], *commands[0], "--device", "cuda:0",
               env=driver(cuzk, "lost@" + cuzk.path("now")))
    assert cuzk.names() == [], cuzk.names()


def test_driver_is_left_alone(cuzk):
    """Only what asks for a device opens the driver."""
    zkey, wtns, vkey = inputs(cuzk)
    env = driver(cuzk, "init")
    cuzk.ok("prove", zkey, wtns, "p.json", "pub.json")
    for args in (["help"], ["--help"], ["version"], ["--version"], ["inspect", zkey], ["check", zkey], ["export", "vk", zkey],
                 ["verify", vkey, "pub.json", "p.json"], ["params", "list", "2KiB"],
                 ["gen-vanilla", "winning", "w.json", "--sector-size", "2KiB"], ["prove", zkey, wtns, "p.json", "pub.json"],
                 ["prove", zkey, wtns, "p.json", "pub.json", "--device", "cpu"],
                 ["setup", cuzk.circom("bn254", "multiplier2", "circuit.r1cs"), "k.zkey"]):
        cuzk.ok(*args, env=env)
    assert cuzk("devices", env=env).code < 0  # and this is how it would look


def test_faults(cuzk):
    """A device that is not there or at fault is named, and leaves no files."""
    zkey, wtns, _ = inputs(cuzk)
    for fault, text in (("none", "CUDA_ERROR_NO_DEVICE"), ("memory", "CUDA_ERROR_OUT_OF_MEMORY"),
                        ("image", "cuModuleLoadData"), ("bit", "self-test: a transform on bn254 is wrong")):
        r = cuzk.ok("devices", env=driver(cuzk, fault))
        assert text in r.out and "passed" not in r.out, r
        cuzk.fails(1, ['device "cuda:0"', text], "prove", zkey, wtns, "p.json", "pub.json", "--device", "cuda:0",
                   env=driver(cuzk, fault))
        assert cuzk.names() == []
    cuzk.fails(1, 'device "cuda:1": opening CUDA device 1: the driver has 1 devices', "prove", zkey, wtns, "p.json",
               "pub.json", "--device", "cuda:1", env=driver(cuzk))


def test_auto(cuzk):
    """A card for circuits from so many constraints on that it is faster, or as many as are named; else the CPU."""
    zkey, wtns, vkey = inputs(cuzk)
    for device, env, expected in (("auto", driver(cuzk), "cpu"), ("auto:1", driver(cuzk), "cuda:0"),
                                  ("auto:2", driver(cuzk), "cpu"), ("auto:1", driver(cuzk, "none"), "cpu"),
                                  ("auto:0", driver(cuzk, "memory"), "cpu"), ("auto:0", driver(cuzk, "bit"), "cpu")):
        r = cuzk.ok("prove", zkey, wtns, "p.json", "pub.json", "--device", device, "--json", env=env).json()
        assert r["device"] == expected and ("device_stages" in r) == (expected != "cpu"), (device, r)
        cuzk.ok("verify", vkey, "pub.json", "p.json")
    r = cuzk.ok("prove", zkey, wtns, "p.json", "pub.json", "--device", "auto", env=driver(cuzk, "init"))  # no driver is asked
    assert ", device cpu\n" in r.out, r
    said = "device auto: cpu for 1 constraints: cards are taken from %d on (another limit: auto:N)"
    for threads in (1, 3):
        r = cuzk.ok("prove", zkey, wtns, "p.json", "pub.json", "--device", "auto", "-v", "--threads", threads, env=driver(cuzk))
        assert said % (threads << 17) in r.err, r
    r = cuzk.ok("bench", zkey, wtns, "--device", "auto", "-v", "--runs", "1", env=driver(cuzk))
    assert said % 256 in r.err, r
    for bad in ("auto:", "auto:x", "auto:1x", "auto:12345678901", "autox", "auto:-1"):
        cuzk.fails(2, "expected cpu, cuda:N, auto or auto:N", "prove", zkey, wtns, "p.json", "pub.json", "--device", bad)


def test_plan(cuzk):
    """What cards of given sizes do needs no driver; a device's free memory is planned for, too."""
    j = cuzk.ok("devices", "--plan", "--memory", "8,16,80", "--json", env=driver(cuzk, "init")).json()
    assert [c["card"] for c in j["cards"]] == ["a card of 8 GiB", "a card of 16 GiB", "a card of 80 GiB"], j
    of = [{p["circuit"]: p for p in c["plans"]} for c in j["cards"]]
    assert [o["porep-32g"]["plan"] for o in of] == ["refused", "streamed", "resident"], j
    assert [o["winning-32g"]["plan"] for o in of] == ["resident"] * 3, j
    assert of[0]["circom bn128 2^24"]["plan"] == of[0]["circom bls12381 2^24"]["plan"] == "streamed", j
    p = of[1]["porep-32g"]
    assert p["total_bytes"] == sum(p[k + "_bytes"] for k in ("resident", "circuit", "table", "staging", "witness", "workspace"))
    assert p["resident_bytes"] == 0 and p["staging_bytes"] > 0 and p["key_bytes"] > 44 << 30, p
    r = cuzk.ok("devices", "--plan", "--memory", "16", env=driver(cuzk, "init"))
    assert "a card of 16 GiB, 15.4 GiB free:\n" in r.out and "porep-32g" in r.out, r
    r = cuzk.ok("devices", "--plan", env=driver(cuzk))
    assert "cuda:0, 1.0 GiB free:\n" in r.out, r
    for bad in ("", "x", "16,", "0", "16 GiB", "5000"):
        cuzk.fails(2, "--memory", "devices", "--plan", "--memory", bad)
    cuzk.fails(2, "--memory goes with --plan", "devices", "--memory", "16")


def test_broken_witness(cuzk):
    zkey, wtns, _ = inputs(cuzk)
    data = bytearray(read(wtns))
    data[-1 - 31] ^= 1  # the last value
    bad = cuzk.write("bad.wtns", data)
    cuzk.fails(1, ["with sums from cuda:0", "does not verify"], "prove", zkey, bad, "p.json", "pub.json", "--device", "cuda:0",
               env=driver(cuzk))
    assert cuzk.names() == ["bad.wtns"]


if __name__ == "__main__":
    harness.main(globals())
