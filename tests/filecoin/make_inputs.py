#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""make_inputs.py [--check FILE]: the public inputs of statements that nobody proved, one line each, by
tests/cli/filecoin_reference.py, which shares nothing with src/. Prints tests/vectors/filecoin_inputs.txt, or compares it.

    porep NUMBER SIZE k 0 DIGEST        of replica_id, comm_d, comm_r and the nodes of partition k
    window NUMBER SIZE k SECTORS DIGEST
    winning NUMBER SIZE 0 1 DIGEST
    update NUMBER SIZE k 0 DIGEST       and behind the inputs, for each challenge, node and rho
    replica NUMBER MINER SECTOR DIGEST  the replica id itself

DIGEST is the SHA-256 of all values, 32 little-endian bytes each. The statement's own values are drawn from the first words
of the line: see draw()."""
import hashlib, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import filecoin_reference as ref

LG_NODES = {"1KiB": 5, "2KiB": 6, "4KiB": 7, "8KiB": 8, "16KiB": 9, "32KiB": 10, "8MiB": 18, "16MiB": 19, "512MiB": 24,
            "1GiB": 25, "32GiB": 30, "64GiB": 31}
REGISTERED = ["2KiB", "8MiB", "512MiB", "32GiB", "64GiB"]


def draw(*words):
    """32 bytes below 2^254, of some words."""
    digest = bytearray(hashlib.sha256(" ".join(map(str, words)).encode()).digest())
    digest[31] &= 0x3f
    return bytes(digest)


def line(*words, values):
    return " ".join(map(str, words)) + " " + hashlib.sha256(b"".join(map(ref.le, values))).hexdigest()


def porep(registered, size, k):
    """Numbers 0-4 V1, 5-9 V1_1, 10-14 synthetic, 15-19 non-interactive."""
    name = ("porep", registered, size, k)
    nodes, per = 1 << LG_NODES[size], 18 if LG_NODES[size] >= 30 else 2
    replica_id, comm_d, comm_r, seed = (draw(*name, w) for w in ("replica_id", "comm_d", "comm_r", "seed"))
    replica, old, pid = ref.number(replica_id), registered < 5, ref.porep_id(registered)
    if registered < 10:
        challenges = ref.porep_challenges(replica, seed, nodes, k, per)
    elif registered < 15:
        challenges = ref.synthetic_challenges(replica, comm_r, seed, nodes, k, per)
    else:
        challenges = ref.non_interactive_challenges(replica, comm_r, nodes, k, per)
    values = [replica, ref.number(comm_d), ref.number(comm_r)]
    for c in challenges:
        values += [c] + ref.drg_parents(pid, c, old) + ref.expander_parents(pid, c, nodes, old) + [c] * 3
    return line(*name, 0, values=values)


def window(registered, size, k, n_sectors):
    name = ("window", registered, size, k, n_sectors)
    nodes = 1 << LG_NODES[size]
    slots, randomness, values = ref.WINDOW_SLOTS.get(nodes, 2), draw(*name, "randomness"), []
    for i in range(slots):
        place = min(i, n_sectors - 1)  # empty slots repeat the last sector
        sector, first = ref.number(draw(*name, "sector", place)[:8]), 0 if registered >= 10 else (k * slots + place) * 10
        values += [ref.number(draw(*name, "comm_r", place))]
        values += [ref.post_challenge(randomness, sector, first + n, nodes) for n in range(10)]
    return line(*name, values=values)


def winning(registered, size):
    name = ("winning", registered, size, 0, 1)
    sector, comm_r, randomness = ref.number(draw(*name, "sector", 0)[:8]), ref.number(draw(*name, "comm_r", 0)), draw(*name, "randomness")
    values = []
    for n in range(66):
        values += [comm_r, ref.post_challenge(randomness, sector, n, 1 << LG_NODES[size])]
    return line(*name, values=values)


def update(registered, size, k):
    name = ("update", registered, size, k)
    nodes, bits = 1 << LG_NODES[size], LG_NODES[size]
    partitions, n_challenges, h, _ = ref.update_numbers(nodes)
    old, new, data = (ref.number(draw(*name, w)) for w in ("comm_r_old", "comm_r_new", "comm_d_new"))
    select = 1 if h == 1 else 8  # the place of h among 1,1,1,1,1,1 or 7..12
    values = [k | select << (partitions.bit_length() - 1), old, data, new]
    phi = ref.poseidon([data, old], ref.RANDOMNESS_TAG)
    for t in range(n_challenges):
        node = ref.update_challenge(new, nodes, k, t)
        values += [node, ref.poseidon([phi, node >> (bits - h)], ref.RANDOMNESS_TAG)]
    return line(*name, 0, values=values)


def replica(registered, miner, sector):
    name = ("replica", registered, miner, sector)
    return " ".join(map(str, name)) + " " + ref.le(ref.replica_id(miner, sector, draw(*name, "ticket"), draw(*name, "comm_d"), registered)).hex()


def lines():
    for registered in range(20):
        size = REGISTERED[registered % 5]
        large = LG_NODES[size] >= 30
        last = (125 if large else 12) if registered >= 15 else 9 if large else 0
        for k in sorted({0, last // 2, last}):
            yield porep(registered, size, k)
    for size in ("4KiB", "16KiB", "32KiB", "16MiB", "1GiB"):
        yield porep(0, size, 0)
        yield porep(5, size, 0)
    for registered in range(5, 15):
        size = REGISTERED[registered % 5]
        full = ref.WINDOW_SLOTS.get(1 << LG_NODES[size], 2)
        for k, n in ((0, 1), (1, 2), (40, 1), (3, full)):
            yield window(registered, size, k, n)
    for registered in range(5):
        yield winning(registered, REGISTERED[registered])
    for size in LG_NODES:
        partitions = ref.update_numbers(1 << LG_NODES[size])[0]
        for k in sorted({0, partitions - 1}):
            yield update(REGISTERED.index(size) if size in REGISTERED else 0, size, k)
    for registered in range(20):
        for miner, sector in ((0, 0), (127, 1), (128, 1 << 32), (1 << 35, (1 << 64) - 1), ((1 << 64) - 1, 77)):
            yield replica(registered, miner, sector)


if __name__ == "__main__":
    text = "\n".join(lines()) + "\n"
    if sys.argv[1:2] == ["--check"]:
        if open(sys.argv[2]).read() != text:
            sys.exit("%s is not what make_inputs.py writes" % sys.argv[2])
    else:
        sys.stdout.write(text)
