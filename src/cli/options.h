/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Options that several tables of commands have: those of the program, and of the commands that
 * speak to a daemon. */
#ifndef CUZK_CLI_OPTIONS_H
#define CUZK_CLI_OPTIONS_H

#include "cli/cli.h"

#define OPTION_R1CS(text)                                                                          \
    {                                                                                              \
        "--r1cs", NULL, "FILE", text                                                               \
    }
#define OPTION_ALLOW_TEST_KEY                                                                      \
    {                                                                                              \
        "--allow-test-key", NULL, NULL, "accept a key whose trapdoor is known (tests only)"        \
    }
#define OPTION_DEVICE                                                                              \
    {                                                                                              \
        "--device", NULL, "DEVICE",                                                                \
            "cpu (default), cuda:N, auto, auto:N: a card from N constraints on"                    \
    }
#define OPTION_TIMELINE                                                                            \
    {                                                                                              \
        "--timeline", NULL, "FILE", "also record what was done when, for cuzk timeline FILE"       \
    }
#define OPTION_SETUP_DEVICE                                                                        \
    {                                                                                              \
        "--device", NULL, "DEVICE", "where the points are made: cpu (default) or cuda:N"           \
    }
#define OPTION_END                                                                                 \
    {                                                                                              \
        NULL, NULL, NULL, NULL                                                                     \
    }

/* Fields of a request (cuzk_filecoin.h): the option is the field's name with dashes. */
#define OPTION_REQUEST                                                                             \
    {                                                                                              \
        "--request", NULL, "FILE", "fields from a JSON object"                                     \
    }
#define OPTIONS_OF_EVERY_KIND                                                                      \
    {"--registered-proof", NULL, "N", "the chain's number of the proof"},                          \
        {"--sector-size", NULL, "SIZE", "to compare with it; or a test size: \"4KiB\", \"16k\""},  \
        {"--miner-id", NULL, "N", "actor number, or its address f0..., t0..."},                    \
    {                                                                                              \
        "--sector-number", NULL, "N", "of the sector"                                              \
    }
#define OPTION_VK                                                                                  \
    {                                                                                              \
        "--vk", NULL, "FILE", ".vk or .params (default: in the folder of parameter files)"         \
    }
#define OPTION_FIELD(name, text)                                                                   \
    {                                                                                              \
        name, NULL, "HEX", text                                                                    \
    }

#define OPTIONS_POREP                                                                              \
    OPTION_REQUEST, OPTIONS_OF_EVERY_KIND, OPTION_FIELD("--ticket", "sealing randomness"),         \
        OPTION_FIELD("--seed", "interactive randomness"),                                          \
        OPTION_FIELD("--comm-d", "commitment to the data (unsealed CID)"),                         \
        OPTION_FIELD("--comm-r", "commitment to the replica (sealed CID)")
#define OPTIONS_SNAP                                                                               \
    OPTION_REQUEST, OPTIONS_OF_EVERY_KIND,                                                         \
        OPTION_FIELD("--comm-r-old", "commitment to the old replica"),                             \
        OPTION_FIELD("--comm-r-new", "commitment to the new replica"),                             \
        OPTION_FIELD("--comm-d-new", "commitment to the new data")
#define OPTIONS_WINNING                                                                            \
    OPTION_REQUEST, OPTIONS_OF_EVERY_KIND, OPTION_FIELD("--randomness", "of the challenge"),       \
        OPTION_FIELD("--comm-r", "of the sector, when there is only one")
#define OPTIONS_WINDOW                                                                             \
    OPTIONS_WINNING,                                                                               \
    {                                                                                              \
        "--partition-index", NULL, "N", "of the first partition (default 0)"                       \
    }
#define OPTIONS_PROVE                                                                              \
    {"--params", NULL, "FILE", ".params (default: in the folder of parameter files)"},             \
        {"--circuits", NULL, "FOLDER", "of compiled circuits (default: none, built in memory)"},   \
        {"--out", NULL, "PROOF", "the file to write (default: proof.bin here)"},                   \
        {"--format", NULL, "FORM", "of PROOF: raw (default), hex, base64, json"}, OPTION_DEVICE,   \
        OPTION_ALLOW_TEST_KEY, OPTION_TIMELINE

#define PROVE_FILECOIN_DETAILS                                                                     \
    "The vanilla proof is checked in full first; each partition is verified before PROOF is\n"     \
    "written: 192 bytes a partition. What is proved is given by options, or by the same names "    \
    "in\n"                                                                                         \
    "a JSON file, with _ for -."
/* How to reach a daemon; of the program's own commands, which then are cuzk-server's. */
#define OPTION_CONNECT_PROVE                                                                       \
    {                                                                                              \
        "--connect", NULL, "ADDR", "let a running daemon prove (its options: see submit)"          \
    }
#define OPTION_CONNECT                                                                             \
    {                                                                                              \
        "--connect", "-a", "ADDR", "of the daemon: unix:///PATH, HOST:PORT, https://HOST:PORT"     \
    }
#define OPTIONS_SERVER                                                                             \
    OPTION_CONNECT, {"--config", NULL, "FILE", "the daemon's configuration, for its addresses"},   \
        {"--tls-ca", NULL, "FILE", "certificates (PEM) that the daemon's must be signed by"},      \
        {"--tls-cert", NULL, "FILE", "certificate (PEM) to show to the daemon"},                   \
        {"--tls-key", NULL, "FILE", "private key of --tls-cert"},                                  \
        {"--tls-name", NULL, "NAME", "name in the daemon's certificate, if it is not the host's"}, \
        {"--token-file", NULL, "FILE", "file whose first line is the token to show"},              \
        {"--status", NULL, "ADDR", "HOST:PORT of the daemon's HTTP port, which knows more"},       \
    {                                                                                              \
        "--timeout", NULL, "SECONDS", "how long to wait for an answer"                             \
    }

#endif
