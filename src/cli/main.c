/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The program: its table of commands, and the names under which it acts as rapidsnark's. */
#include "cli/cli.h"
#include "cli/options.h"

#include <string.h>

static const cuzk_cli_option prove_options[] = {
    OPTION_R1CS("the circuit: needed with a .params key; names the first broken constraint"),
    {"--format", NULL, "FORM", "of PROOF: snarkjs, compact (JSON), bytes (192, bls12381)"},
    {"--no-self-check", NULL, NULL, "do not verify the proof before writing it"},
    OPTION_DEVICE,
    OPTION_ALLOW_TEST_KEY,
    OPTION_TIMELINE,
    OPTION_CONNECT_PROVE,
    OPTION_END,
};

static const cuzk_cli_option verify_options[] = {
    OPTION_ALLOW_TEST_KEY,
    OPTION_END,
};

static const cuzk_cli_option verify_porep_options[] = {OPTIONS_POREP, OPTION_VK,
                                                       OPTION_ALLOW_TEST_KEY, OPTION_END};
static const cuzk_cli_option verify_snap_options[] = {OPTIONS_SNAP, OPTION_VK,
                                                      OPTION_ALLOW_TEST_KEY, OPTION_END};
static const cuzk_cli_option verify_window_options[] = {OPTIONS_WINDOW, OPTION_VK,
                                                        OPTION_ALLOW_TEST_KEY, OPTION_END};
static const cuzk_cli_option verify_winning_options[] = {OPTIONS_WINNING, OPTION_VK,
                                                         OPTION_ALLOW_TEST_KEY, OPTION_END};
static const cuzk_cli_option prove_porep_options[] = {OPTIONS_POREP, OPTIONS_PROVE,
                                                      OPTION_CONNECT_PROVE, OPTION_END};
static const cuzk_cli_option prove_snap_options[] = {OPTIONS_SNAP, OPTIONS_PROVE,
                                                     OPTION_CONNECT_PROVE, OPTION_END};
static const cuzk_cli_option prove_window_options[] = {OPTIONS_WINDOW, OPTIONS_PROVE,
                                                       OPTION_CONNECT_PROVE, OPTION_END};
static const cuzk_cli_option prove_winning_options[] = {OPTIONS_WINNING, OPTIONS_PROVE,
                                                        OPTION_CONNECT_PROVE, OPTION_END};

static const cuzk_cli_option params_setup_options[] = {
    {"--folder", NULL, "FOLDER", "where to write (default: the folder of parameter files)"},
    {"--replace", NULL, NULL, "make new files where they are there already"},
    OPTION_SETUP_DEVICE,
    {"--test-trapdoor", NULL, "FILE", "tests only: secret values from a JSON file"},
    OPTION_END,
};

#define VERIFY_FILECOIN_DETAILS                                                                    \
    "PROOF: 192 bytes a partition, raw, hexadecimal, base64, or JSON with a member \"proof\".\n"   \
    "What is proved is given by options, or by the same names in a JSON file, with _ for -."

static const cuzk_cli_option setup_options[] = {
    {"--vkey", NULL, "FILE", "also write snarkjs' verification_key.json of KEY"},
    {"--params", NULL, "FILE", "also write bellperson's .params (bls12381)"},
    {"--vk", NULL, "FILE", "also write bellperson's .vk (bls12381)"},
    OPTION_SETUP_DEVICE,
    {"--test-trapdoor", NULL, "FILE", "tests only: secret values from a JSON file"},
    OPTION_END,
};

static const cuzk_cli_option check_options[] = {
    OPTION_R1CS("for a key: its circuit, to compare with"),
    OPTION_END,
};

static const cuzk_cli_option export_options[] = {
    {"--format", NULL, "FORM", "of the key: snarkjs (JSON) or bytes (.vk, bls12381)"},
    OPTION_ALLOW_TEST_KEY,
    OPTION_END,
};

static const cuzk_cli_option bench_options[] = {
    OPTION_R1CS("the circuit: needed with a .params key"),
    {"--runs", NULL, "N", "proofs to time after one that is not (default 5)"},
    {"--csv", NULL, NULL, "print one CSV line per stage"},
    {"--server", NULL, NULL, "load a running daemon instead"},
    OPTION_DEVICE,
    OPTION_ALLOW_TEST_KEY,
    OPTION_END,
};

static const cuzk_cli_option devices_options[] = {
    {"--plan", NULL, NULL, "what each does with every circuit's key: resident, streamed, refused"},
    {"--memory", NULL, "GIB", "of the cards that are planned for instead, such as 16 or 8,16,24"},
    {"--server", NULL, NULL, "those of a running daemon instead"},
    OPTION_END,
};

static const cuzk_cli_option timeline_options[] = {
    {"--gap", NULL, "MS", "the shortest gap that is listed (default 1)"},
    {"--gaps", NULL, "N", "how many of the longest gaps are told (default 10; JSON: all)"},
    {"--jobs", NULL, "N", "how many of the slowest jobs are told (default 10; JSON: all)"},
    {"--from", NULL, "S", "look at the recording from this second on"},
    {"--to", NULL, "S", "and up to this one"},
    {"--slice", NULL, "S", "length of a slice of the series (default 1)"},
    {"--names", NULL, NULL, "instead print what the names of spans and causes mean"},
    {"--compare", NULL, "AFTER", "instead compare with a recording made after a change"},
    {"--import", NULL, "ACTIVITIES",
     "instead tell what an SQLite export of Nsight Systems says; with RECORDING: of both"},
    {"--offset", NULL, "S", "with --import: its clock is that many seconds behind the recording's"},
    {"--svg", NULL, NULL, "instead print a picture"},
    {"--chrome", NULL, NULL, "instead print it for chrome://tracing and Perfetto"},
    OPTION_END,
};

static const cuzk_cli_option simulate_options[] = {
    {"--devices", NULL, "N", "how many"},
    {"--workers", NULL, "N", "of each device"},
    {"--witness-threads", NULL, "N", "threads that make witnesses"},
    {"--finishers", NULL, "N", "threads that finish proofs"},
    {"--verifiers", NULL, "N", "threads that verify proofs"},
    {"--cores", NULL, "N", "that the host's stages share (default: no limit)"},
    {"--copies", NULL, "N", "copies at full speed at once, under each root (default: no limit)"},
    {"--roots", NULL, "N", "of the bus, which the devices are shared out among (default: one)"},
    {"--memory-rate", NULL, "N",
     "GB/s of host memory, for witnesses and copies (default: no limit)"},
    {"--repeat", NULL, "N", "with --backlog: the recording's jobs N times"},
    {"--memory", NULL, "SIZE", "of the host, for partitions, such as 64GiB (default: as recorded)"},
    {"--backlog", NULL, NULL, "all jobs are there at the beginning"},
    {"--durations", NULL, "LIST", "STAGE=TIME,... of every partition: witness=2s,lane=900ms"},
    OPTION_END,
};

static const cuzk_cli_option plan_options[] = {
    {"--jobs", NULL, "JOBS", "KIND[-SIZE]:RATE,...: porep:20/h,snap:10/h,wpost:2/h*3,winning:4/h"},
    {"--gpus", NULL, "N", "of a machine (default 1; 0: its CPU, with --recording)"},
    {"--card", NULL, "GIB", "memory of each GPU (default 139, an H200's)"},
    {"--ram", NULL, "SIZE", "memory of a machine, such as 512GiB (default)"},
    {"--cores", NULL, "N", "of a machine (default 64)"},
    {"--workers", NULL, "N", "of each device (default 2)"},
    {"--copies", NULL, "N", "copies at full speed at once, over all GPUs (default: one each)"},
    {"--recording", NULL, "FILE", "take durations from it (default: those measured on an H200)"},
    {"--hours", NULL, "N", "how long jobs keep coming (default 24)"},
    {"--machines", NULL, "N", "how many are looked at (default 1000)"},
    OPTION_END,
};

static const cuzk_cli_option params_options[] = {
    {"--folder", NULL, "DIR", "default: FIL_PROOFS_PARAMETER_CACHE, else /var/tmp/filecoin-..."},
    {"--manifest", NULL, "FILE", "a parameters.json instead of the built-in list"},
    {"--from", NULL, "SOURCES", "fetch: folder, URL, or URL with {name} or {cid}; a,b: in turn"},
    {"--dry-run", NULL, NULL, "fetch: only list what would be looked at"},
    OPTION_END,
};

static const cuzk_cli_option gen_vanilla_options[] = {
    {"--sector-size", NULL, "SIZE", "2KiB, 8MiB, 512MiB, 32GiB, 64GiB, or a test size"},
    {"--seed", NULL, "N", "everything follows from it (default 0)"},
    {"--request", NULL, "FILE", "also write what the proof states, as JSON"},
    {"--c1", NULL, NULL, "porep: Curio's envelope around the output"},
    {"--registered-proof", NULL, "N", "the chain's number (default: the newest interactive one)"},
    {"--miner-id", NULL, "N", "actor number (default 1000)"},
    {"--sector-number", NULL, "N", "of the first sector (default 1)"},
    {"--sectors", NULL, "N", "window: sectors in the partition (default 1)"},
    {"--partition", NULL, "N", "window: the partition's number (default 0)"},
    OPTION_END,
};

/* A command of cuzk-server, which has its options and its help. */
#define OF_SERVER(name, args, summary)                                                             \
    {                                                                                              \
        name, args, summary, NULL, 0, 0, NULL, cuzk_cli_exec_server, NULL, NULL                    \
    }

const cuzk_cli_command cuzk_cli_commands[] = {
    {"prove", "KEY WITNESS [PROOF PUBLIC]", "make a proof and check it",
     "KEY is a .zkey, or a .params with --r1cs; WITNESS a .wtns. PROOF and PUBLIC (default:\n"
     "proof.json and public.json here; proof.bin for a .params) are written when the proof has\n"
     "been verified: both or neither.",
     2, 4, prove_options, cuzk_cli_prove, "proof and public values are written", "--connect"},
    {"prove porep", "VANILLA", "make a Filecoin proof of replication (PoRep C2)",
     "VANILLA: a commit-phase-1 output, bare or in Curio's envelope; it holds all that is needed.\n"
     "Fields that are given must agree with it.\n" PROVE_FILECOIN_DETAILS,
     1, 1, prove_porep_options, cuzk_cli_prove_porep, "the proof is written", "--connect"},
    {"prove snap", "VANILLA...", "make a Filecoin proof of a sector update (SnapDeals)",
     "VANILLA: bincode, one file a partition, or a JSON array of base64 "
     "strings.\n" PROVE_FILECOIN_DETAILS,
     1, 20000, prove_snap_options, cuzk_cli_prove_snap, "the proof is written", "--connect"},
    {"prove window", "VANILLA...", "make a Filecoin Window PoSt",
     "VANILLA: bincode, one file a sector, or a JSON array of base64 strings; their order "
     "counts.\n" PROVE_FILECOIN_DETAILS,
     1, 20000, prove_window_options, cuzk_cli_prove_window, "the proof is written", "--connect"},
    {"prove winning", "VANILLA", "make a Filecoin Winning PoSt",
     "VANILLA: bincode, or a JSON array of one base64 string.\n" PROVE_FILECOIN_DETAILS, 1, 1,
     prove_winning_options, cuzk_cli_prove_winning, "the proof is written", "--connect"},
    {"verify", "VKEY PUBLIC PROOF [PUBLIC PROOF]...", "check proofs",
     "VKEY is a verification_key.json, a .vk, or a proving key; PUBLIC a public.json; PROOF a\n"
     "proof.json or 192 bytes. Several pairs are checked at once.",
     3, 20001, verify_options, cuzk_cli_verify, "the exit code tells the result", NULL},
    {"verify porep", "PROOF", "check a Filecoin proof of replication from chain-side data",
     VERIFY_FILECOIN_DETAILS, 1, 1, verify_porep_options, cuzk_cli_verify_porep,
     "the exit code tells the result", NULL},
    {"verify snap", "PROOF", "check a Filecoin proof of a sector update from chain-side data",
     VERIFY_FILECOIN_DETAILS, 1, 1, verify_snap_options, cuzk_cli_verify_snap,
     "the exit code tells the result", NULL},
    {"verify window", "PROOF", "check a Filecoin Window PoSt from chain-side data",
     VERIFY_FILECOIN_DETAILS
     "\nSeveral sectors: \"sectors\": [{\"sector_number\": N, \"comm_r\": HEX}, ...] in that file.",
     1, 1, verify_window_options, cuzk_cli_verify_window, "the exit code tells the result", NULL},
    {"verify winning", "PROOF", "check a Filecoin Winning PoSt from chain-side data",
     VERIFY_FILECOIN_DETAILS, 1, 1, verify_winning_options, cuzk_cli_verify_winning,
     "the exit code tells the result", NULL},
    {"setup", "CIRCUIT [KEY]", "make keys for a circuit from fresh randomness",
     "CIRCUIT is a .r1cs, KEY the .zkey to write. The secret values are wiped, but whoever runs\n"
     "this could have kept them and forge proofs: keys for real use come from a ceremony.",
     1, 2, setup_options, cuzk_cli_setup, "the keys are written", NULL},
    {"params setup", "KIND SIZE", "make test parameters for a kind of Filecoin proof",
     "KIND is porep, snap, window or winning, SIZE a sector size. The files are marked: no "
     "command\n"
     "uses them without --allow-test-key, and no chain accepts proofs made with them.",
     2, 2, params_setup_options, cuzk_cli_params_setup, "the parameters are written", NULL},
    {"inspect", "FILE", "say what a file is, what it holds, and what looks wrong",
     "Reads headers and tables of any format: .zkey .wtns .r1cs .params .vk .json, proofs.", 1, 1,
     NULL, cuzk_cli_inspect, NULL, NULL},
    {"check", "FILE [WITNESS]", "check all of a file: points, values, indices, consistency",
     "A key is also checked for parts that do not fit together and, with --r1cs, against its\n"
     "circuit. With a .r1cs and a .wtns: check the witness against every constraint and name the\n"
     "first that fails.",
     1, 2, check_options, cuzk_cli_check, NULL, NULL},
    {"export", "vk KEY [FILE] | calldata PUBLIC PROOF",
     "write a verifying key or the Solidity call of a proof",
     "vk: KEY is a .zkey, .params or verifying key; FILE defaults to stdout. calldata: as snarkjs\n"
     "prints it, on stdout.",
     2, 3, export_options, cuzk_cli_export, NULL, NULL},
    {"bench", "KEY WITNESS", "time proofs in one process: minimum, median, maximum per stage",
     "With --server it puts load on a running daemon; \"cuzk bench --server --help\" tells how.", 2,
     2, bench_options, cuzk_cli_bench, NULL, "--server"},
    {"gen-vanilla", "KIND FILE", "make the vanilla proof of a Filecoin sector that never existed",
     "KIND is porep, snap, window or winning. FILE gets a commit-phase-1 output (porep) or a JSON\n"
     "array of base64 strings, one a sector or partition. The proof is valid and checked in full;\n"
     "of the sector only what the proof opens is ever made.",
     2, 2, gen_vanilla_options, cuzk_cli_gen_vanilla, "the vanilla proof is written", NULL},
    {"params", "list [WHAT]... | check [WHAT]... | fetch WHAT...",
     "Filecoin's parameter files: list, check digests, fetch",
     "WHAT is a sector size (32GiB: its .params; fetch: and all .vk), a circuit (porep-32g) or a\n"
     "file's name; none: all files. fetch continues what was begun, and a file gets its name only\n"
     "when its digest is right.",
     1, 100, params_options, cuzk_cli_params, NULL, NULL},
    {"devices", "", "GPUs: what is there, whether it computes rightly, whether it is used",
     "Every CUDA device is given a short self-test. prove and bench use one with --device.\n"
     "With --server those of a running daemon; \"cuzk devices --server --help\" tells how.",
     0, 0, devices_options, cuzk_cli_devices, NULL, "--server"},
    {"timeline", "RECORDING [NEXT] | --names | --import ACTIVITIES [RECORDING]",
     "what a recording says: utilisations, gaps and their causes, jobs",
     "RECORDING: from serve --record, packed by gzip or not. What the names mean: "
     "docs/timeline.md.",
     0, 2, timeline_options, cuzk_cli_timeline, NULL, NULL},
    {"simulate", "RECORDING", "a recording's jobs on another machine: what if?",
     "Runs them through a model of the pipeline, with each stage as long as it was recorded, on "
     "the\n"
     "machine as it was or as the options say; docs/timeline.md tells what the model leaves out.",
     1, 1, simulate_options, cuzk_cli_simulate, NULL, NULL},
    {"plan", "", "what fits a machine, what limits it, and how many it takes",
     "For jobs that keep coming, at random moments: by the model of \"cuzk simulate\", with "
     "measured\n"
     "or recorded durations and the planner of \"cuzk devices --plan\". Needs no device.",
     0, 0, plan_options, cuzk_cli_plan, NULL, NULL},
    OF_SERVER("serve", "", "the proving daemon: gRPC service, journal, status and metrics"),
    OF_SERVER("config", "check [FILE] | print | explain [KEY]", "the daemon's configuration"),
    OF_SERVER("submit", "KIND FILE...",
              "give a daemon a job: porep, snap, window, winning, circom"),
    OF_SERVER("await", "JOB", "wait for a daemon's job and fetch its proof"),
    OF_SERVER("cancel", "JOB...", "cancel jobs of a daemon"),
    OF_SERVER("status", "", "what a daemon is doing: devices, queues, memory, jobs"),
    OF_SERVER("queue", "", "a daemon's unfinished jobs, in the order in which they are served"),
    OF_SERVER("preload", "CIRCUIT...", "make a daemon load parameters"),
    OF_SERVER("evict", "CIRCUIT...", "make a daemon give up parameters"),
    OF_SERVER("circuits", "list | register NAME ZKEY", "a daemon's circom circuits"),
    OF_SERVER("devices drain", "DEVICE", "make a daemon give up a device, when its work has ended"),
    OF_SERVER("devices add", "DEVICE", "make a daemon use a device again"),
    OF_SERVER("record", "FILE", "what a daemon did in the last minute, for cuzk timeline"),
    OF_SERVER("metrics", "", "a daemon's metrics, in Prometheus' text form"),
    {"help", "[COMMAND]", "this text, or help on one command", NULL, 0, 2, NULL, cuzk_cli_help,
     NULL, NULL},
    {"version", "", "version, threads and CPU path", NULL, 0, 0, NULL, cuzk_cli_version, NULL,
     NULL},
    {NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL},
};

int cuzk_cli_version(cuzk_cli_args *args)
{
    int exit_code = CUZK_EXIT_OK;
    cuzk_ctx *ctx = cuzk_cli_ctx(args, &exit_code);
    if (ctx == NULL) {
        return exit_code;
    }
    if (args->json) {
        cuzk_cli_json json;
        cuzk_cli_json_begin(&json);
        cuzk_cli_json_bool(&json, "ok", true);
        cuzk_cli_json_text(&json, "version", cuzk_version());
        cuzk_cli_json_text(&json, "cpu", cuzk_ctx_cpu(ctx));
        cuzk_cli_json_number(&json, "threads", cuzk_ctx_n_threads(ctx));
        cuzk_cli_json_end(&json);
    } else {
        printf("cuzk %s (cpu path %s, threads %u)\n", cuzk_version(), cuzk_ctx_cpu(ctx),
               cuzk_ctx_n_threads(ctx));
    }
    cuzk_ctx_destroy(ctx);
    return CUZK_EXIT_OK;
}

int main(int argc, char **argv)
{
    const char *const *args = (const char *const *)argv;
    cuzk_cli_open_streams();
    if (argc > 0) {
        const char *slash = strrchr(argv[0], '/');
        const char *name = slash != NULL ? slash + 1 : argv[0];
        if (strcmp(name, "prover") == 0) {
            return cuzk_cli_rapidsnark_prover(argc, args);
        }
        if (strcmp(name, "verifier") == 0) {
            return cuzk_cli_rapidsnark_verifier(argc, args);
        }
    }
    return cuzk_cli_main(argc, args);
}
