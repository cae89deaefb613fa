# SPDX-License-Identifier: MIT OR Apache-2.0
"""Two devices (tests/cuda/emulator) on a machine that hwloc is told of: two NUMA nodes with a processor of this machine
each. The daemon's threads stand beside their devices, or where the system wants them."""
import os, shutil, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import daemon
from daemon import Daemon, harness, read, wait_until

MACHINE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" gp_index="1" {all} allowed_cpuset="0x{cpus:x}" allowed_nodeset="0x3">
{nodes}</object>
</topology>
"""
NODE = """<object type="Package" os_index="{n}" gp_index="1{n}" {sets}><object type="NUMANode" os_index="{n}" gp_index="2{n}" {sets}/>
<object type="PU" os_index="{cpu}" gp_index="3{n}" {sets}/>
<object type="PCIDev" gp_index="4{n}" pci_busid="0000:4{card}:00.0" pci_type="0302 [10de:2335] [10de:18be] a1"/></object>
"""


def start(cuzk, **config):
    """A daemon on that machine: cuda:0 is on node 1, cuda:1 on node 0."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise harness.Skip("one processor")
    cache = open(os.path.join(cuzk.build, "CMakeCache.txt")).read()
    if "CUZK_HWLOC_INCLUDE:PATH=/" not in cache:
        raise harness.Skip("built without hwloc")
    sets = lambda c, n: 'cpuset="0x%x" complete_cpuset="0x%x" nodeset="0x%x" complete_nodeset="0x%x"' % (c, c, n, n)
    nodes = "".join(NODE.format(n=n, cpu=cpus[n], card=2 - n, sets=sets(1 << cpus[n], 1 << n)) for n in (0, 1))
    every = sum(1 << c for c in cpus)
    path = cuzk.write("machine.xml", MACHINE.format(all=sets(every, 3), cpus=every, nodes=nodes).encode())
    env = {"LD_LIBRARY_PATH": os.path.join(cuzk.build, "tests", "cuda", "libcuda"), "CUZK_EMULATED_DEVICES": "2",
           "HWLOC_XMLFILE": path, "HWLOC_THISSYSTEM": "1"}
    d = Daemon(cuzk, config=dict({"gpus.gpu_workers_per_device": 1}, **config), env=env)
    shutil.copy(cuzk.circom("bn254", "multiplier2", "circuit.zkey"), d.folder + "/circom/mul.zkey")
    return d, cpus


def allowed(d):
    """The processors that each thread of the daemon may run on."""
    found = set()
    for task in os.listdir("/proc/%d/task" % d.process.pid):
        for line in open("/proc/%d/task/%s/status" % (d.process.pid, task)):
            if line.startswith("Cpus_allowed_list:"):
                found.add(line.split()[1])
    return found


def prove(cuzk, d, n):
    """Jobs at once, so that both devices are at work."""
    witness = read(cuzk.circom("bn254", "multiplier2", "witness.wtns"))
    calls = [d.c.start("ProveWitness", circuit="mul", witness=witness, request_id="j%d" % i) for i in range(n)]
    for call in calls:
        assert call.result(timeout=300).status == daemon.COMPLETED


def test_placed(cuzk):
    """Threads stand on either node, none anywhere else than on one of them or on all."""
    d, cpus = start(cuzk)
    with d:
        d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/mul.zkey")
        status = d.status()
        assert status["numa"] == "2 NUMA nodes: 0, 1", status["numa"]
        assert [device["numa_node"] for device in status["devices"]] == [1, 0], status["devices"]
        log = read(d.log_path).decode()
        assert 'numa="2 NUMA nodes: 0, 1"' in log and "numa_node=1" in log and "numa_node=0" in log, log
        everywhere = allowed(d)
        assert len(everywhere) == 1, everywhere
        seen = set()

        def both():
            prove(cuzk, d, 4)
            seen.update(allowed(d))
            return seen >= {str(cpus[0]), str(cpus[1])}

        wait_until("threads on both nodes", both)
        assert seen <= everywhere | {str(cpus[0]), str(cpus[1])}, seen


def test_off(cuzk):
    """gpus.numa = off: what the system does is left alone."""
    d, _ = start(cuzk, **{"gpus.numa": "off"})
    with d:
        d.c("RegisterCircuit", name="mul", zkey_path=d.folder + "/circom/mul.zkey")
        prove(cuzk, d, 2)
        assert d.status()["numa"] == "off" and len(allowed(d)) == 1, (d.status()["numa"], allowed(d))


if __name__ == "__main__":
    harness.main(globals())
