/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The table of the commands that speak to a daemon. */
#include "client/commands.h"

#include "cli/options.h"
#include "client/client_main.h"

#define OPTIONS_SUBMIT                                                                             \
    {"--wait", NULL, NULL, "wait for the proof and write it"},                                     \
        {"--request-id", NULL, "ID", "name of the job: the same again finds it"},                  \
        {"--priority", NULL, "P", "low, normal, high, critical (default: the kind's)"},            \
        {"--out", NULL, "PROOF", "the file to write (default: proof.bin here)"},                   \
    {                                                                                              \
        "--format", NULL, "FORM", "of PROOF: raw (default), hex, base64, json"                     \
    }
#define OPTIONS_PROVE_REMOTE                                                                       \
    {"--params", NULL, "FILE", ".params or .vk, to verify with"},                                  \
        {"--request-id", NULL, "ID", "name of the job: the same again finds it"},                  \
        {"--priority", NULL, "P", "low, normal, high, critical (default: the kind's)"},            \
        {"--out", NULL, "PROOF", "the file to write (default: proof.bin here)"},                   \
        {"--format", NULL, "FORM", "of PROOF: raw (default), hex, base64, json"},                  \
        OPTION_ALLOW_TEST_KEY

#define OPTIONS_OF(kind, KIND)                                                                     \
    static const cuzk_cli_option submit_##kind##_options[] = {OPTIONS_##KIND, OPTIONS_SUBMIT,      \
                                                              OPTIONS_SERVER, OPTION_END};         \
    static const cuzk_cli_option prove_##kind##_options[] = {OPTIONS_##KIND, OPTIONS_PROVE_REMOTE, \
                                                             OPTIONS_SERVER, OPTION_END};
OPTIONS_OF(porep, POREP)
OPTIONS_OF(snap, SNAP)
OPTIONS_OF(window, WINDOW)
OPTIONS_OF(winning, WINNING)

static const cuzk_cli_option submit_circom_options[] = {
    {"--request-id", NULL, "ID", "name of the job: the same again finds it"},
    {"--priority", NULL, "P", "low, normal (default), high, critical"},
    {"--out", NULL, "PROOF", "the proof (default: proof.json here)"},
    {"--public", NULL, "PUBLIC", "the public values (default: public.json here)"},
    OPTIONS_SERVER,
    OPTION_END,
};

static const cuzk_cli_option prove_circom_options[] = {
    {"--circuit", NULL, "NAME", "at the daemon (default: KEY's file name without .zkey)"},
    {"--format", NULL, "FORM", "of PROOF: snarkjs, compact (JSON), bytes (192, bls12381)"},
    {"--request-id", NULL, "ID", "name of the job: the same again finds it"},
    {"--priority", NULL, "P", "low, normal (default), high, critical"},
    OPTION_ALLOW_TEST_KEY,
    OPTIONS_SERVER,
    OPTION_END,
};

static const cuzk_cli_option await_options[] = {
    {"--out", NULL, "PROOF", "the file to write (default: only tell)"},
    {"--public", NULL, "PUBLIC", "of a circom job: the public values"},
    {"--format", NULL, "FORM", "of a Filecoin PROOF: raw (default), hex, base64, json"},
    OPTIONS_SERVER,
    OPTION_END,
};

static const cuzk_cli_option status_options[] = {
    {"--watch", NULL, NULL, "again and again, until interrupted"},
    {"--every", NULL, "SECONDS", "how often (default 1)"},
    OPTIONS_SERVER,
    OPTION_END,
};

static const cuzk_cli_option devices_options[] = {
    {"--server", NULL, NULL, "those of a running daemon: this command"},
    OPTIONS_SERVER,
    OPTION_END,
};

static const cuzk_cli_option drain_options[] = {
    {"--no-wait", NULL, NULL, "do not wait until nothing is on it any more"},
    OPTIONS_SERVER,
    OPTION_END,
};

static const cuzk_cli_option add_options[] = {
    {"--no-wait", NULL, NULL, "do not wait until it was opened and tested"},
    OPTIONS_SERVER,
    OPTION_END,
};

static const cuzk_cli_option server_options[] = {OPTIONS_SERVER, OPTION_END};

static const cuzk_cli_option record_options[] = {
    {"--seconds", NULL, "N", "how many (default 60, at most 600)"},
    OPTIONS_SERVER,
    OPTION_END,
};

static const cuzk_cli_option bench_options[] = {
    {"--server", NULL, NULL, "load a running daemon: this command"},
    {"--jobs", NULL, "N", "how many (default 20)"},
    {"--concurrency", NULL, "N", "closed loop: jobs that are open at once (default 4)"},
    {"--rate", NULL, "R", "open loop: jobs a second, whether or not others have ended"},
    {"--mix", NULL, "MIX", "weights by kind: \"porep:1,winning:3\" (default: one each)"},
    {"--porep", NULL, "FILE", "commit-phase-1 output of the PoRep jobs"},
    {"--snap", NULL, "FILE", "vanilla proofs: a JSON array of base64 strings"},
    {"--window", NULL, "FILE", "the same, or one sector's bincode"},
    {"--winning", NULL, "FILE", "the same"},
    {"--porep-request", NULL, "FILE", "fields of the PoRep jobs, as JSON"},
    {"--snap-request", NULL, "FILE", "fields of the others"},
    {"--window-request", NULL, "FILE", ""},
    {"--winning-request", NULL, "FILE", ""},
    {"--circom", NULL, "NAME=WTNS", "registered circuit and witness file of the circom jobs"},
    {"--priority", NULL, "P", "of all jobs (default: the kind's)"},
    {"--csv", NULL, NULL, "print one CSV line per kind"},
    OPTIONS_SERVER,
    OPTION_END,
};

#define WAITS                                                                                      \
    "With --wait the proof is written to PROOF when the daemon has it. Interrupting ends the\n"    \
    "wait, not the job."
#define VERIFIED                                                                                   \
    "The running daemon proves. The proof is verified here too, where the circuit's .vk is at\n"   \
    "hand, and then written as the local command writes it."

const cuzk_cli_command cuzk_cli_commands[] = {
    {"submit", "KIND FILE...", "give the daemon a job",
     "KIND is porep, snap, window, winning or circom; \"cuzk help submit KIND\" tells more.", 0,
     20000, NULL, cuzk_cmd_needs_word, NULL, NULL},
    {"submit porep", "VANILLA",
     "give the daemon a Filecoin proof of replication (PoRep C2) to make",
     "VANILLA: a commit-phase-1 output, bare or in Curio's envelope.\n" WAITS, 1, 1,
     submit_porep_options, cuzk_cmd_submit_porep, NULL, NULL},
    {"submit snap", "VANILLA...", "give the daemon a proof of a sector update (SnapDeals) to make",
     "VANILLA: bincode, one file a partition, or a JSON array of base64 strings.\n" WAITS, 1, 20000,
     submit_snap_options, cuzk_cmd_submit_snap, NULL, NULL},
    {"submit window", "VANILLA...", "give the daemon a Window PoSt to make",
     "VANILLA: bincode, one file a sector, or a JSON array of base64 strings.\n" WAITS, 1, 20000,
     submit_window_options, cuzk_cmd_submit_window, NULL, NULL},
    {"submit winning", "VANILLA", "give the daemon a Winning PoSt to make",
     "VANILLA: bincode, or a JSON array of one base64 string.\n" WAITS, 1, 1,
     submit_winning_options, cuzk_cmd_submit_winning, NULL, NULL},
    {"submit circom", "CIRCUIT WITNESS", "have the daemon prove a witness of a registered circuit",
     "CIRCUIT is the name under which its .zkey is registered, WITNESS a .wtns. Waits for the "
     "proof.",
     2, 2, submit_circom_options, cuzk_cmd_submit_circom, "proof and public values are written",
     NULL},
    {"await", "JOB", "wait for a job and fetch its proof",
     "JOB is the id that submit printed. Results are kept for a configured time.", 1, 1,
     await_options, cuzk_cmd_await, NULL, NULL},
    {"cancel", "JOB...", "cancel jobs", NULL, 1, 20000, server_options, cuzk_cmd_cancel, NULL,
     NULL},
    {"status", "", "what the daemon is doing: devices, queues, memory, jobs",
     "From GetStatus; jobs and their partitions from the HTTP port, if the daemon has one.", 0, 0,
     status_options, cuzk_cmd_status, NULL, NULL},
    {"queue", "", "unfinished jobs, in the order in which they are served",
     "By kind from GetStatus; one by one from the HTTP port, if the daemon has one.", 0, 0,
     server_options, cuzk_cmd_queue, NULL, NULL},
    {"preload", "CIRCUIT...", "load parameters and make them ready for a first proof",
     "CIRCUIT is an id such as porep-32g, or a registered circom circuit.", 1, 64, server_options,
     cuzk_cmd_preload, NULL, NULL},
    {"evict", "CIRCUIT...", "give up parameters, once no proof uses them", NULL, 1, 64,
     server_options, cuzk_cmd_evict, NULL, NULL},
    {"circuits", "list | register NAME ZKEY", "the daemon's circom circuits", NULL, 0, 20000, NULL,
     cuzk_cmd_needs_word, NULL, NULL},
    {"circuits list", "", "list the daemon's circom circuits", NULL, 0, 0, server_options,
     cuzk_cmd_circuits_list, NULL, NULL},
    {"circuits register", "NAME ZKEY", "make a .zkey known to the daemon under a name",
     "ZKEY is a path on the daemon's machine, in its folder of circuits.", 2, 2, server_options,
     cuzk_cmd_circuits_register, NULL, NULL},
    {"devices", "", "the daemon's devices: in use, drained, lost; why, and since when", NULL, 0, 0,
     devices_options, cuzk_cmd_devices, NULL, NULL},
    {"devices drain", "DEVICE", "have the daemon give up a device",
     "DEVICE is an id such as cuda:1, or its number. It gets no new partition; what runs there "
     "ends,\n"
     "then its memory is given back. Without another device jobs wait, and new ones are refused.",
     1, 1, drain_options, cuzk_cmd_devices_drain, NULL, NULL},
    {"devices add", "DEVICE", "have the daemon use a device again",
     "One that was drained, is lost or failed too often: it is opened and tested first.", 1, 1,
     add_options, cuzk_cmd_devices_add, NULL, NULL},
    {"record", "FILE", "write down what the daemon did in the last minute, for cuzk timeline",
     "From the HTTP port, which keeps the last minutes in memory (recording.memory).", 1, 1,
     record_options, cuzk_cmd_record, "the recording is written", NULL},
    {"metrics", "", "the daemon's metrics, in Prometheus' text form", NULL, 0, 0, server_options,
     cuzk_cmd_metrics, NULL, NULL},
    {"bench", "", "put load on a running daemon: latency and throughput by kind",
     "Every job gets an id of its own and is a Prove call. Each kind of the mix needs its file.", 0,
     0, bench_options, cuzk_cmd_bench, NULL, NULL},
    {"prove", "KEY WITNESS [PROOF PUBLIC]", "let the daemon prove a circom witness",
     "KEY is the circuit's .zkey here, with which the proof is verified before it is written.", 2,
     4, prove_circom_options, cuzk_cmd_prove_circom, "proof and public values are written", NULL},
    {"prove porep", "VANILLA", "let the daemon make a Filecoin proof of replication", VERIFIED, 1,
     1, prove_porep_options, cuzk_cmd_prove_porep, "the proof is written", NULL},
    {"prove snap", "VANILLA...", "let the daemon make a proof of a sector update", VERIFIED, 1,
     20000, prove_snap_options, cuzk_cmd_prove_snap, "the proof is written", NULL},
    {"prove window", "VANILLA...", "let the daemon make a Window PoSt", VERIFIED, 1, 20000,
     prove_window_options, cuzk_cmd_prove_window, "the proof is written", NULL},
    {"prove winning", "VANILLA", "let the daemon make a Winning PoSt", VERIFIED, 1, 1,
     prove_winning_options, cuzk_cmd_prove_winning, "the proof is written", NULL},
    {"help", "[COMMAND]", "this text, or help on one command", NULL, 0, 2, NULL, cuzk_cli_help,
     NULL, NULL},
    {NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL},
};

int cuzk_cmd_needs_word(cuzk_cli_args *args)
{
    return cuzk_cli_usage(args,
                          args->n_positional > 0 ? "\"%s\" is not one of its words, expected: %s"
                                                 : "%s: a word is missing, expected: %s",
                          args->n_positional > 0 ? args->positional[0] : args->command->name,
                          args->command->args);
}

int cuzk_client_main(int argc, char **argv)
{
    cuzk_cli_open_streams();
    return cuzk_cli_main(argc, (const char *const *)argv);
}
