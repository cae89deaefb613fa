# SPDX-License-Identifier: MIT OR Apache-2.0
"""What Filecoin's vanilla proofs state, checked in the plainest way with Python's integers and hashlib: Poseidon from its
constants up, the stacked graph, labels, challenges, trees. It shares nothing with src/. Numbers of the field are Python
integers; digests in files are 32 little-endian bytes.

Every check raises Wrong with what does not hold."""
import functools, hashlib, math, struct

R = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001


class Wrong(Exception):
    pass


def expect(condition, *what):
    if not condition:
        raise Wrong(" ".join(map(str, what)))


def number(data):
    return int.from_bytes(bytes(data), "little")


def field(data):
    value = number(data)
    expect(value < R, "not below the order of the field:", bytes(data).hex())
    return value


def le(value):
    return value.to_bytes(32, "little")


# ---------------------------------------------------------------- Poseidon

FULL, PARTIAL = 8, {3: 55, 5: 56, 9: 57}


@functools.lru_cache(None)
def poseidon_tables(t):
    """Round constants, row by row, from the Grain LFSR; and the Cauchy matrix 1/(i + j + t)."""
    partial = PARTIAL[t]
    bits = []
    for value, width in ((1, 2), (1, 4), (255, 12), (t, 12), (FULL, 10), (partial, 10), ((1 << 30) - 1, 30)):
        bits += [value >> (width - 1 - i) & 1 for i in range(width)]

    def step():
        bit = bits[62] ^ bits[51] ^ bits[38] ^ bits[23] ^ bits[13] ^ bits[0]
        bits.pop(0)
        bits.append(bit)
        return bit

    for _ in range(160):
        step()

    def output():
        while step() == 0:
            step()
        return step()

    constants = []
    while len(constants) < (FULL + partial) * t:
        value = 0
        for _ in range(255):
            value = value << 1 | output()
        if value < R:
            constants.append(value)
    rows = [constants[i:i + t] for i in range(0, len(constants), t)]
    return rows, [[pow(i + j + t, -1, R) for i in range(t)] for j in range(t)]


def poseidon(values, tag=None):
    t = len(values) + 1
    constants, matrix = poseidon_tables(t)
    state = [(1 << len(values)) - 1 if tag is None else tag] + list(values)
    for i, row in enumerate(constants):
        state = [(x + c) % R for x, c in zip(state, row)]
        whole = i < FULL // 2 or i >= len(constants) - FULL // 2
        for k in range(t if whole else 1):
            square = state[k] * state[k] % R
            state[k] = square * square % R * state[k] % R
        state = [sum(x * m for x, m in zip(state, column)) % R for column in matrix]
    return state[1]


RANDOMNESS_TAG = 1 << 40


def sha256_number(data):
    digest = bytearray(hashlib.sha256(data).digest())
    digest[31] &= 0x3f
    return number(digest)


# ---------------------------------------------------------------- Merkle paths


class Path:
    """A Merkle proof: root, leaf, and steps of (siblings, index), leaf to root."""

    def __init__(self, root, leaf, steps):
        self.root, self.leaf, self.steps = root, leaf, steps

    @staticmethod
    def of_json(proof):
        (kind, data), = proof["data"].items()
        parts = {"Single": ["path"], "Sub": ["base_proof", "sub_proof"], "Top": ["base_proof", "sub_proof", "top_proof"]}[kind]
        steps = [([field(h) for h in e["hashes"]], e["index"]) for part in parts for e in data[part]["path"]]
        return Path(field(data["root"]), field(data["leaf"]), steps)

    @staticmethod
    def of_reader(reader):
        kind = reader.u32()
        expect(kind <= 2, "proof of kind", kind)
        head = (reader.digest(), reader.digest()) if kind == 0 else None
        steps = []
        for _ in range(kind + 1):
            for _ in range(reader.u64()):
                hashes = [reader.digest() for _ in range(reader.u64())]
                steps.append((hashes, reader.u64()))
        root, leaf = head or (reader.digest(), reader.digest())
        return Path(root, leaf, steps)

    def index(self):
        """Place of the leaf: the lowest digit is that of the lowest step."""
        total, weight = 0, 1
        for hashes, at in self.steps:
            expect(0 <= at <= len(hashes), "index", at, "among", len(hashes) + 1)
            total += at * weight
            weight *= len(hashes) + 1
        return total

    def check(self, hash_node, arities):
        """That the path has this shape and leads from the leaf to the root."""
        expect([len(h) + 1 for h, _ in self.steps] == arities, "shape", [len(h) + 1 for h, _ in self.steps], "expected", arities)
        node = self.leaf
        for hashes, at in self.steps:
            node = hash_node(hashes[:at] + [node] + hashes[at:])
        expect(node == self.root, "a path does not lead to its root")


def sha256_node(children):
    return sha256_number(b"".join(le(c) for c in children))


def tree_r_arities(n_nodes):
    """Trees C and R: arity 8 up to what is left of the nodes, which is one more level, or two."""
    if n_nodes >= 1 << 30:
        return [8] * 9 + [8] + ([2] if n_nodes == 1 << 31 else [])
    levels = int(math.log2(n_nodes)) // 3
    left = n_nodes >> 3 * levels
    if left == 1:
        return [8] * levels
    return {128: [8, 8, 2], 512: [8, 8, 8], 1024: [8, 8, 8, 2]}.get(n_nodes, [8] * levels + [left])


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        expect(self.at + n <= len(self.data), "the proof ends at", len(self.data))
        self.at += n
        return self.data[self.at - n:self.at]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def digest(self):
        return field(self.take(32))


# ---------------------------------------------------------------- graph


def chacha_block(key, tail, rounds):
    """16 words of the stream: of the state whose last four words are `tail`."""
    start = list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", key)) + list(tail)
    s = list(start)

    def quarter(a, b, c, d):
        for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & 0xffffffff
            v = s[z] ^ s[x]
            s[z] = (v << n | v >> (32 - n)) & 0xffffffff

    for _ in range(rounds // 2):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(x + y) & 0xffffffff for x, y in zip(s, start)]


def chacha_words(key, rounds):
    """The stream of 32-bit words of ChaCha with a 64-bit counter from 0 and stream 0."""
    counter = 0
    while True:
        yield from chacha_block(key, (counter & 0xffffffff, counter >> 32, 0, 0), rounds)
        counter += 1


def drg_parents(porep_id, node, old_order):
    if node < 2:
        return [0] * 6
    key = hashlib.sha256(b"Filecoin_DRSample" + porep_id).digest()[:28] + struct.pack("<I", node)
    words = chacha_words(key, 8)
    u64 = lambda: next(words) | next(words) << 32
    x = 5 * node
    buckets = math.ceil(math.log2(x))
    parents = []
    for _ in range(5):
        bucket = u64() % buckets + 1
        big = min(x, 1 << bucket)
        small = max(2, big >> 1)
        parent = (x - (small + u64() % (big - small + 1))) // 5
        parents.append(node - 1 if parent == node else parent)
    return parents + [node - 1] if old_order else [node - 1] + parents


def expander_parents(porep_id, node, n_nodes, truncates):
    keys = struct.unpack("<4Q", hashlib.sha256(b"Filecoin_Feistel" + porep_id).digest())[:3]
    total, half = 8 * n_nodes, 1
    while 4 ** half < total:
        half += 1
    mask = (1 << half) - 1

    def encode(v):
        left, right = v >> half & mask, v & mask
        for k in keys:
            f = int.from_bytes(hashlib.blake2b(struct.pack(">QQ", right, k)).digest()[:8], "big")
            left, right = right, left ^ (f & mask)
        return left << half | right

    parents = []
    for i in range(8):
        v = encode(8 * node + i)
        while v >= total:
            v = encode(v)
        parents.append((v & 0xffffffff if truncates else v) // 8)
    return parents


# ---------------------------------------------------------------- PoRep


def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def prover_id(miner):
    return varint(miner).ljust(32, b"\0")


def porep_id(registered):
    return struct.pack("<QQ", registered, 0) + bytes(16)


def replica_id(miner, sector_number, ticket, comm_d, registered):
    return sha256_number(prover_id(miner) + struct.pack(">Q", sector_number) + ticket + comm_d + porep_id(registered))


def to_challenge(data, n_nodes):
    return number(data) % (n_nodes - 1) + 1


def porep_challenges(replica, seed, n_nodes, partition, per_partition):
    return [to_challenge(hashlib.sha256(le(replica) + seed + struct.pack("<I", per_partition * partition + i)).digest(), n_nodes)
            for i in range(per_partition)]


def non_interactive_challenges(replica, comm_r, n_nodes, partition, per_partition):
    tag = b"filecoin.io|PoRep|1|NonInteractive|1" + le(replica) + comm_r
    return [to_challenge(hashlib.sha256(tag + struct.pack("<I", per_partition * partition + i)).digest(), n_nodes)
            for i in range(per_partition)]


def synthetic_stream(purpose, replica, other, first, n):
    """Bytes first .. first + n of a keystream: ChaCha20 with a 96-bit nonce."""
    key = hashlib.blake2b(le(replica) + other, digest_size=32, key=b"filecoin.io|PoRep|1|Synthetic|1|" + purpose).digest()
    nonce = struct.unpack("<3I", b"synth-porep\0")
    block = struct.pack("<16I", *chacha_block(key, (first // 64,) + nonce, 20))
    return block[first % 64:first % 64 + n]


def synthetic_challenges(replica, comm_r, seed, n_nodes, partition, per_partition):
    """Of the min(nodes, 2^18) that comm_r gives the seed picks some."""
    chosen = [number(synthetic_stream(b"Selection", replica, seed, 4 * (per_partition * partition + i), 4)) %
              min(n_nodes, 1 << 18) for i in range(per_partition)]
    return [to_challenge(synthetic_stream(b"Generation", replica, comm_r, 32 * i, 32), n_nodes) for i in chosen]


def label(replica, layer, node, parents):
    """parents: the labels that a parent list names, before they are repeated to 37."""
    data = le(replica) + struct.pack(">IQ", layer, node) + bytes(20)
    if node > 0:
        data += b"".join(le(parents[i % len(parents)]) for i in range(37))
    return sha256_number(data)


def check_column(proof, comm_c, arities):
    rows = [field(h) for h in proof["column"]["rows"]]
    path = Path.of_json(proof["inclusion_proof"])
    expect(path.leaf == poseidon(rows), "a column's hash is not the leaf of its path")
    expect(path.root == comm_c, "a column's path leads to another root")
    path.check(poseidon, arities)
    expect(path.index() == proof["column"]["index"], "a column's path is of", path.index(), "not", proof["column"]["index"])
    return path.index(), rows


def check_porep(c1, miner, sector_number, registered, n_nodes, per_partition):
    """A whole commit-phase-1 output."""
    digest = {n: bytes(c1[n]) for n in ("comm_d", "comm_r", "replica_id", "seed", "ticket")}
    replica = replica_id(miner, sector_number, digest["ticket"], digest["comm_d"], registered)
    expect(replica == number(digest["replica_id"]), "replica id")
    pid, arities = porep_id(registered), tree_r_arities(n_nodes)
    (_, partitions), = c1["vanilla_proofs"].items()
    old = registered < 5
    for k, challenges in enumerate(partitions):
        expected = porep_challenges(replica, digest["seed"], n_nodes, k, per_partition)
        expect(len(challenges) == per_partition, "challenges of a partition")
        for challenge, proof in zip(expected, challenges):
            data = Path.of_json(proof["comm_d_proofs"])
            data.check(sha256_node, [2] * int(math.log2(n_nodes)))
            expect(data.index() == challenge and data.root == number(digest["comm_d"]), "data path")
            columns = proof["replica_column_proofs"]
            comm_c = Path.of_json(columns["c_x"]["inclusion_proof"]).root
            index, own = check_column(columns["c_x"], comm_c, arities)
            expect(index == challenge, "the challenged column is", index, "not", challenge)
            parents = drg_parents(pid, challenge, old) + expander_parents(pid, challenge, n_nodes, old)
            rows = []
            for node, column in zip(parents, columns["drg_parents"] + columns["exp_parents"], strict=True):
                index, labels = check_column(column, comm_c, arities)
                expect(index == node, "a parent's column is", index, "not", node)
                rows.append(labels)
            for layer in range(1, len(own) + 1):
                inputs = [r[layer - 1] for r in rows[:6]] + ([r[layer - 2] for r in rows[6:]] if layer > 1 else [])
                expect(own[layer - 1] == label(replica, layer, challenge, inputs), "label of layer", layer)
            last = Path.of_json(proof["comm_r_last_proof"])
            last.check(poseidon, arities)
            expect(last.index() == challenge, "replica path")
            expect(last.leaf == (own[-1] + data.leaf) % R, "the replica is not key plus data")
            expect(number(digest["comm_r"]) == poseidon([comm_c, last.root]), "comm_r")


# ---------------------------------------------------------------- PoSt

WINDOW_SLOTS = {1 << 30: 2349, 1 << 31: 2300}


def post_challenge(randomness, sector, q, n_nodes):
    digest = hashlib.sha256(randomness + struct.pack("<QQ", sector, q)).digest()
    return number(digest[:8]) % n_nodes


def check_post(record, sector, comm_r, randomness, n_nodes, challenges, sample=None):
    """One sector's record. challenges: their numbers q; sample: which of the paths to follow (all of them)."""
    reader = Reader(record)
    expect(reader.u64() == sector, "sector")
    expect(reader.digest() == number(comm_r), "comm_r of the record")
    expect(reader.u64() == 1, "sector entries")
    expect(reader.u64() == len(challenges), "number of inclusion proofs")
    paths = [Path.of_reader(reader) for _ in challenges]
    comm_c, comm_r_last = reader.digest(), reader.digest()
    expect(reader.at == len(record), "bytes behind the proof")
    expect(number(comm_r) == poseidon([comm_c, comm_r_last]), "comm_r")
    for i, (path, q) in enumerate(zip(paths, challenges)):
        expect(path.root == comm_r_last, "root of proof", i)
        expected = post_challenge(randomness, sector, q, n_nodes)
        expect(path.index() == expected, "proof", i, "is of", path.index(), "not", expected)
        if sample is None or i in sample:
            path.check(poseidon, tree_r_arities(n_nodes))


# ---------------------------------------------------------------- sector updates


def update_numbers(n_nodes):
    """Partitions, challenges of each, h, apex leaves."""
    partitions = 1 if n_nodes <= 1 << 8 else 2 if n_nodes <= 1 << 10 else 4 if n_nodes <= 1 << 19 else 16
    return (partitions, 10 if n_nodes <= 1 << 19 else 86, 1 if n_nodes <= 1 << 10 else 10, 8 if n_nodes <= 1 << 8 else 128)


def update_challenge(comm_r_new, n_nodes, k, t):
    """The t-th challenged node of partition k."""
    partitions, n_challenges, _, _ = update_numbers(n_nodes)
    per_challenge = int(math.log2(n_nodes)) - int(math.log2(partitions))
    per_digest = 254 // per_challenge
    digest = poseidon([comm_r_new, k * -(-n_challenges // per_digest) + t // per_digest], RANDOMNESS_TAG)
    return (digest >> (t % per_digest * per_challenge) & ((1 << per_challenge) - 1)) + (k << per_challenge)


def check_update(records, comm_r_old, comm_r_new, comm_d_new, n_nodes, sample=None):
    """The records of all partitions."""
    old, new, data_root = number(comm_r_old), number(comm_r_new), number(comm_d_new)
    partitions, n_challenges, h, n_apex = update_numbers(n_nodes)
    bits = int(math.log2(n_nodes))
    partition_bits, apex_bits = int(math.log2(partitions)), int(math.log2(n_apex))
    per_challenge = bits - partition_bits
    phi = poseidon([data_root, old], RANDOMNESS_TAG)
    expect(len(records) == partitions, "partitions")
    for k, record in enumerate(records):
        reader = Reader(record)
        comm_c = reader.digest()
        expect(reader.u64() == n_apex, "apex leaves")
        apex = [reader.digest() for _ in range(n_apex)]
        expect(reader.u64() == n_challenges, "challenge proofs")
        for t in range(n_challenges):
            r_old, data, r_new = (Path.of_reader(reader) for _ in range(3))
            challenge = update_challenge(new, n_nodes, k, t)
            for name, path in (("old", r_old), ("data", data), ("new", r_new)):
                expect(path.index() == challenge, "challenge", t, "of partition", k, name, path.index(), "not", challenge)
            expect(data.root == data_root, "comm_d_new")
            expect(old == poseidon([comm_c, r_old.root]) and new == poseidon([comm_c, r_new.root]), "commitments")
            rho = poseidon([phi, challenge >> (bits - h)], RANDOMNESS_TAG)
            expect(r_new.leaf == (r_old.leaf + data.leaf * rho) % R, "the new replica is not old plus data times rho")
            if sample is None or t in sample:
                for path in (r_old, r_new):
                    path.check(poseidon, tree_r_arities(n_nodes))
                data.check(sha256_node, [2] * bits)
            # the data path passes the apex leaf of its part
            node, at = data.leaf, challenge
            for hashes, side in data.steps[:per_challenge - apex_bits]:
                node, at = sha256_node([hashes[0], node] if side else [node, hashes[0]]), at >> 1
            expect(node == apex[at % n_apex], "apex leaf", at % n_apex)
            if t == 0:  # the apex leaves are a row of the data tree
                row = apex
                while len(row) > 1:
                    row = [sha256_node(row[i:i + 2]) for i in range(0, len(row), 2)]
                Path(data_root, row[0], data.steps[bits - partition_bits:]).check(sha256_node, [2] * partition_bits)
        expect(reader.at == len(record), "bytes behind the proof")
