/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* THE table of the configuration. Struct, reading, environment, flags, `cuzk config`,
 * examples/cuzk.toml and docs/configuration.md are made from it.
 *
 * X(section, name, type, lo, hi, default, words, live, help)
 *   default  as in a file; words: of a CHOICE "a|b|c", of others the word that stands for 0
 *   live     LIVE: SIGHUP changes it; RESTART */
#ifndef CUZK_SERVER_CONFIG_TABLE_H
#define CUZK_SERVER_CONFIG_TABLE_H

#define CUZK_KIB    1024ull
#define CUZK_MIB    (1024 * CUZK_KIB)
#define CUZK_GIB    (1024 * CUZK_MIB)
#define CUZK_TIB    (1024 * CUZK_GIB)
#define CUZK_US     1000ull
#define CUZK_MS     1000000ull
#define CUZK_SEC    (1000 * CUZK_MS)
#define CUZK_MINUTE (60 * CUZK_SEC)
#define CUZK_DAY    (86400 * CUZK_SEC)

/* clang-format off */
#define CUZK_CONFIG_KEYS(X)                                                                        \
    X(daemon, listen, LIST, 1, 16, "\"unix:///run/curio/cuzk.sock\"", NULL, RESTART,               \
      "Where gRPC is served: unix://PATH, IP:PORT or [IP6]:PORT, or a list of them. Addresses are\n" \
      "literal, names are not looked up. Anything but loopback and sockets needs tls.cert, or\n"   \
      "daemon.allow_plaintext. Sockets that systemd passes take the place of this list.")           \
    X(daemon, allow_plaintext, BOOL, 0, 0, "false", NULL, RESTART,                                 \
      "Serve without TLS on addresses that other machines reach. Whoever reaches them can use the\n" \
      "daemon, unless auth.token_file is set; and then the token travels in the clear.")            \
    X(daemon, status_listen, TEXT, 0, 0, "\"\"", NULL, RESTART,                                    \
      "IP:PORT of the HTTP port: a page, /status, /metrics, /healthz. Empty: none. When it cannot\n" \
      "be had, the daemon says so and goes on without.")                                            \
    X(daemon, socket_mode, NUMBER, 0, 0777, "0o660", NULL, RESTART,                                \
      "Permission bits of Unix sockets.")                                                           \
    X(daemon, socket_owner, TEXT, 0, 0, "\"\"", NULL, RESTART,                                     \
      "Owner of Unix sockets, USER, USER:GROUP or :GROUP. Empty: who runs the daemon.")             \
    X(daemon, drain_time, DURATION, 0, 7 * CUZK_DAY, "\"5m\"", NULL, LIVE,                         \
      "How long running jobs may go on after SIGTERM or SIGINT. What is not done by then stays in\n" \
      "the journal. A second signal stops at once. Keep systemd's TimeoutStopSec above it.")        \
    X(tls, cert, TEXT, 0, 0, "\"\"", NULL, RESTART,                                                \
      "Certificate chain, PEM. With tls.key: gRPC on TCP is TLS only. Renewed files are read at\n"   \
      "SIGHUP.")                                                                                    \
    X(tls, key, TEXT, 0, 0, "\"\"", NULL, RESTART, "Private key of tls.cert, PEM.")                \
    X(tls, client_ca, TEXT, 0, 0, "\"\"", NULL, RESTART,                                           \
      "Certificates, PEM, that clients' certificates must be signed by. Empty: clients need none.") \
    X(auth, token_file, TEXT, 0, 0, "\"\"", NULL, LIVE,                                            \
      "File of tokens, one a line, one of which each call must carry (authorization: Bearer TOKEN).\n" \
      "Empty: calls need none. Unix sockets are guarded by their permissions and need none.")        \
    X(auth, admin_token_file, TEXT, 0, 0, "\"\"", NULL, LIVE,                                      \
      "File of tokens that also allow administration: PreloadSRS, EvictSRS, CancelProof,\n"         \
      "RegisterCircuit; and these over HTTP. Empty: whoever may submit may do them over gRPC, and\n" \
      "nobody over HTTP.")                                                                          \
    X(auth, admin_names, LIST, 0, 64, "[]", NULL, RESTART,                                         \
      "Common names of client certificates that allow administration; needs tls.client_ca.")        \
    X(rpc, max_message, SIZE, CUZK_MIB, 2047 * CUZK_MIB, "\"256MiB\"", NULL, RESTART,             \
      "Largest message that is taken. Curio's client sends up to 256MiB.")                          \
    X(rpc, max_connections, NUMBER, 1, 1000000, "1024", NULL, RESTART,                             \
      "Open connections; more are closed at once. A quarter, at least 16 but not more than half, "  \
      "is for Unix sockets only, where there is one.")                                             \
    X(rpc, max_streams, NUMBER, 1, 100000, "1000", NULL, RESTART,                                  \
      "Calls that may be open at once in one connection.")                                          \
    X(rpc, threads, NUMBER, 1, 64, "2", NULL, RESTART,                                             \
      "Threads that serve calls. They never prove; two are enough.")                                \
    X(rpc, receive_time, DURATION, CUZK_SEC, CUZK_DAY, "\"20s\"", NULL, RESTART,                     \
      "How long a message may take to arrive while others wait for the memory to receive theirs.")  \
    X(rpc, reflection, BOOL, 0, 0, "true", NULL, RESTART,                                          \
      "Answer server reflection, which grpcurl and other tools need.")                              \
    X(http, allow_remote, BOOL, 0, 0, "false", NULL, RESTART,                                      \
      "Let daemon.status_listen be an address that other machines reach. HTTP has neither TLS nor\n" \
      "tokens here: put a proxy in front.")                                                         \
    X(http, max_connections, NUMBER, 1, 10000, "64", NULL, RESTART,                                \
      "Open HTTP connections.")                                                                     \
    X(http, max_body, SIZE, 0, CUZK_GIB, "\"64MiB\"", NULL, RESTART,                               \
      "Largest body of a POST: a circom witness. Four of them, but at most a sixteenth of the memory\n" \
      "budget, are set aside where circom circuits are served.")                                                  \
    X(http, prove, BOOL, 0, 0, "true", NULL, RESTART,                                              \
      "Take circom witnesses over HTTP, too.")                                                      \
    X(srs, param_cache, TEXT, 0, 0, "\"/data/zk/params\"", NULL, RESTART,                          \
      "Folder of Filecoin's parameter files, .params and .vk.")                                     \
    X(srs, circuit_cache, TEXT, 0, 0, "\"\"", NULL, RESTART,                                       \
      "Folder where compiled circuits are kept, so that a restart need not compile them. Empty:\n"  \
      "they are compiled in memory when they are first used.")                                      \
    X(srs, preload, LIST, 0, 64, "[]", NULL, LIVE,                                                 \
      "Circuits to load at start and to keep ready: porep-32g, wpost-32g, winning-32g, snap-32g,\n" \
      "or circom:NAME, a registered circuit. /readyz answers yes once they are there. They take\n" \
      "their part of the budget until `cuzk evict`, also when they leave the list.")           \
    X(srs, allow_test_keys, BOOL, 0, 0, "false", NULL, RESTART,                                    \
      "Prove with keys that are not of the network's trusted setup. For tests: no chain takes such\n" \
      "proofs.")                                                                                    \
    X(circom, folder, TEXT, 0, 0, "\"/data/zk/circom\"", NULL, RESTART,                            \
      "Folder of the .zkey files that may be registered under a name (RegisterCircuit). What is\n"   \
      "registered is kept in its circuits.txt. A folder that is not there: no circom circuits.")   \
    X(memory, total_budget, SIZE, 256 * CUZK_MIB, 64 * CUZK_TIB, "\"auto\"", "auto", RESTART,      \
      "Host memory for parameters, witnesses and working memory together. auto: what the machine\n" \
      "and the process' cgroups allow, less memory.safety_margin.")                                 \
    X(memory, safety_margin, SIZE, 0, CUZK_TIB, "\"5GiB\"", NULL, RESTART,                         \
      "Left to others when the budget is auto; on a machine with less than four times as much, a\n" \
      "quarter of its memory.")                                                                     \
    X(memory, eviction_min_idle, DURATION, 0, 7 * CUZK_DAY, "\"5m\"", NULL, RESTART,               \
      "Parameters are not evicted before nobody used them for so long, unless by a call, for\n" \
      "what is critical, or when nothing is proved or loaded and what waits needs their memory.")          \
    X(memory, pinned_budget, SIZE, CUZK_MIB, 64 * CUZK_TIB, "\"auto\"", "auto", RESTART,             \
      "Host memory that may be pinned for devices: buffers on the way to a card, and keys that are\n" \
      "streamed through one because they do not fit. auto: half of the budget.")                     \
    X(memory, intake, SIZE, CUZK_MIB, CUZK_TIB, "\"auto\"", "auto", RESTART,                       \
      "The part of the budget that requests and decoded inputs may take. auto: an eighth, but at\n"  \
      "least 2GiB, or half of a budget that is too small for that.")                                \
    X(gpus, devices, LIST, 0, 16, "[]", NULL, RESTART,                                             \
      "Devices to prove on: ordinals of GPUs, or \"cpu\". Empty: all GPUs, or the CPU where\n"   \
      "there is none. One that cannot be used is tried again; without any the daemon refuses.")            \
    X(gpus, gpu_workers_per_device, NUMBER, 1, 8, "2", NULL, RESTART,                              \
      "Threads that drive a device: one's copies and host work overlap the other's kernels. One more\n" \
      "is kept for CRITICAL jobs.")       \
    X(gpus, gpu_threads, NUMBER, 0, 1024, "0", NULL, RESTART,                                      \
      "CPU threads that one proof's host part, and a proof on the CPU, are spread over. 0: one a\n"  \
      "processor.")                                                                                 \
    X(gpus, split_from, DURATION, 0, CUZK_DAY, "\"250ms\"", "never", RESTART,                     \
      "A proof that is alone is made on two GPUs, of which the second one is idle and has its key,\n" \
      "where that is predicted to save so much time, as with a Window PoSt of 32GiB. never: always\n" \
      "on one.")                                                                                   \
    X(gpus, numa, CHOICE, 0, 0, "\"auto\"", "auto|off", RESTART,                                     \
      "auto: threads that work for a GPU, and memory pinned for it, are on its NUMA node, and\n"   \
      "witness makers are spread over the nodes; nothing where there is one node, hwloc is not\n"   \
      "there, or the daemon was started with a memory policy of its own. off: left to the system.") \
    X(synthesis, threads, NUMBER, 0, 1024, "0", NULL, RESTART,                                     \
      "Threads that make witnesses, each one of its own. 0: one a processor.")                                            \
    X(pipeline, synthesis_concurrency, NUMBER, 0, 256, "0", NULL, RESTART,                         \
      "Requests that are decoded and checked at once. 0: one a device, but at least 2.")                                             \
    X(pipeline, max_parallel_synthesis, NUMBER, 0, 256, "0", NULL, RESTART,                        \
      "The most witnesses that are made at once, whatever synthesis.threads says. 0: 18, or 4 a\n"  \
      "device where that is more.")          \
    X(pipeline, max_gpu_queue_depth, NUMBER, 0, 256, "0", NULL, RESTART,                           \
      "Witnesses a device that may wait for it while its workers are busy. 0: as many as it has\n"  \
      "workers.")                                                                                   \
    X(pipeline, finish_threads, NUMBER, 0, 64, "0", NULL, RESTART,                                 \
      "Threads that finish proofs on the host. 0: one a device, but at least 2.")                                                    \
    X(pipeline, verify_threads, NUMBER, 0, 64, "0", NULL, RESTART,                                 \
      "Threads that verify proofs. 0: one a device, but at least 2.")  \
    X(pipeline, attempts, NUMBER, 1, 10, "2", NULL, RESTART,                                       \
      "Times that a partition is proved before its job fails, when a proof does not verify or a\n"  \
      "device fails.")                                                                              \
    X(pipeline, device_faults, NUMBER, 1, 1000, "2", NULL, RESTART,                                \
      "Bad proofs before a device is no longer used.")                                              \
    X(jobs, abandon_time, DURATION, 0, 30 * CUZK_DAY, "\"30m\"", "never", RESTART,                 \
      "A job that is still queued and whose callers all went away is dropped after this.")          \
    X(journal, path, TEXT, 0, 0, "\"auto\"", "none", RESTART,                                      \
      "The journal, which keeps jobs and results over a crash. auto: journal.db in systemd's state\n" \
      "folder, or in /var/lib/cuzk (another user than root: ~/.local/state/cuzk). none: no journal.") \
    X(journal, keep_time, DURATION, 0, 3650 * CUZK_DAY, "\"7d\"", NULL, RESTART,                   \
      "How long results are kept.")                                                                 \
    X(journal, keep_bytes, SIZE, 0, CUZK_TIB, "\"1GiB\"", NULL, RESTART,                           \
      "Bytes that kept results may take; the oldest go first.")                                     \
    X(logging, level, CHOICE, 0, 0, "\"info\"", "error|warn|info|debug", LIVE,               \
      "What is logged: error (somebody must act), warn, info (a few lines a job), debug.")   \
    X(logging, format, CHOICE, 0, 0, "\"text\"", "text|json", LIVE,                                \
      "One line an event: key=value, or a JSON object.")                                            \
    X(logging, rate, NUMBER, 0, 1000000, "20", NULL, LIVE,                                         \
      "Lines a second of one message and level; what is left out is counted. 0: no limit. Errors\n" \
      "are never left out.")                                            \
    X(logging, timeline, BOOL, 0, 0, "false", NULL, LIVE,                                          \
      "Also write TIMELINE lines to standard error, for the tools that draw them.")                 \
    X(recording, path, TEXT, 0, 0, "\"none\"", "none", RESTART,                                   \
      "Record what every stage, worker and device does when, into this file, for cuzk timeline.\n" \
      "A file that is there becomes PATH.old.")                                                     \
    X(recording, limit, SIZE, CUZK_MIB, CUZK_TIB, "\"256MiB\"", NULL, RESTART,                    \
      "Bytes of recording.path and PATH.old together: what is older is deleted.")                   \
    X(recording, memory, SIZE, 0, CUZK_GIB, "\"16MiB\"", NULL, RESTART,                           \
      "Bytes of the last minutes' recording that are kept in memory for the HTTP port's pages, at\n" \
      "most 1/192 of the memory budget; looking at them takes twice as much. 0: none.")             \
    X(otel, endpoint, TEXT, 0, 0, "\"none\"", "none", RESTART,                                   \
      "Export jobs and the stages of their partitions as OpenTelemetry spans to this URL, such as\n" \
      "http://localhost:4318/v1/traces: OTLP over HTTP, in JSON.")                                  \
    X(otel, service_name, TEXT, 0, 0, "\"cuzk\"", NULL, RESTART,                                   \
      "service.name of what is exported.")                                                          \
    X(otel, queue, NUMBER, 16, 1000000, "4096", NULL, RESTART,                                     \
      "Spans that wait to be sent, half a kilobyte each; more are dropped and counted.")            \
    X(test, faults, LIST, 0, 64, "[]", NULL, RESTART,                                              \
      "Faults to inject. Of the tests' program only; the daemon refuses it.")

/* Keys of the reference daemon without effect here. X(key, what stands in its place) */
#define CUZK_CONFIG_DEAD_KEYS(X)                                                                   \
    X("memory.working_memory_budget", "memory.total_budget covers everything")                     \
    X("scheduler.max_batch_size", "partitions of all jobs share the devices without batches")      \
    X("scheduler.max_batch_wait_ms", "partitions of all jobs share the devices without batches")   \
    X("scheduler.sort_by_type", "jobs are ordered by priority and age")                            \
    X("synthesis.partition_workers", "pipeline.max_parallel_synthesis is the limit")               \
    X("pipeline.enabled", "there is no other mode")                                                \
    X("pipeline.synthesis_lookahead", "pipeline.max_gpu_queue_depth is the limit")                 \
    X("pipeline.slot_size", "partitions are proved one by one")
/* clang-format on */

#endif
