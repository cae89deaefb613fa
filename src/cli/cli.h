/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Contracts inside the command line: the table of commands, parsed arguments, output.
 *
 * The program uses the library through cuzk.h and cuzk_filecoin.h only. Every command is one row of
 * a table from which parsing, --help, and the check of docs/cli.md are made. Exit codes: 0 success,
 * 1 invalid or failed, 2 usage. */
#ifndef CUZK_CLI_CLI_H
#define CUZK_CLI_CLI_H

#include "cuzk_filecoin.h"

#include <stdio.h>

enum { CUZK_EXIT_OK = 0, CUZK_EXIT_FAILED = 1, CUZK_EXIT_USAGE = 2 };

enum { CUZK_CLI_OPTIONS_MAX = 32 };

/* One option. Options without a value are flags. */
typedef struct {
    const char *name;  /* with the dashes: "--threads" */
    const char *alias; /* "-q", or NULL */
    const char *value; /* what stands for the value in the help: "N", "FILE"; NULL for a flag */
    const char *help;
} cuzk_cli_option;

typedef struct cuzk_cli_args cuzk_cli_args;

typedef struct {
    const char *name; /* one word, or two with a space: the second follows the first directly */
    const char *args; /* positional arguments as in the help */
    const char *summary;
    const char *details; /* further lines for the command's own help */
    unsigned n_args_min, n_args_max;
    const cuzk_cli_option *options; /* ends with a NULL name; may be NULL */
    int (*run)(cuzk_cli_args *args);
    /* Commands whose result is not on stdout: what is done although stdout cannot be written, which
     * is then a warning; NULL: it is a failure. */
    const char *result_elsewhere;
    /* An option that makes the command one of cuzk-server's, which then gets the whole command
     * line; NULL: none. */
    const char *server_option;
} cuzk_cli_command;

/* A parsed command line. Strings are those of argv. */
struct cuzk_cli_args {
    const cuzk_cli_command *command; /* never NULL in a command's own code */
    const char *const *argv;
    const char *const *positional;
    unsigned n_positional;
    const char *values[CUZK_CLI_OPTIONS_MAX]; /* by place in the command's options; "" for a flag */
    /* options of every command */
    unsigned n_threads; /* 0: as many as processors */
    bool json, quiet, progress, verbose;
    const char *result_elsewhere; /* the command's, once it runs */
    /* filled while the command runs */
    cuzk_error err;
    bool has_timeline;         /* a recording is being written */
    uint64_t progress_last_ns; /* when the progress line was last written; 0: never */
    uint64_t begin_ns;
};

/* The commands; ends with a NULL name. */
extern const cuzk_cli_command cuzk_cli_commands[];

/** Parse argv (program name first) and run the command. Returns the exit code. */
int cuzk_cli_main(int argc, const char *const *argv);

/** The `run` of commands that are cuzk-server's: gives it this process with the same arguments. The
 *  program is found beside this one or in ../libexec/cuzk/. Returns an exit code only when there is
 *  none: it was not built, or it cannot be run. Options and number of arguments are then not looked
 *  at here. */
int cuzk_cli_exec_server(cuzk_cli_args *args);

/** The value of an option of the command: NULL when it was not given, "" for a flag. The name must
 *  be in the command's table. */
const char *cuzk_cli_value(const cuzk_cli_args *args, const char *name);

/* Options that every command takes; ends with a NULL name. */
extern const cuzk_cli_option cuzk_cli_common_options[];

/** The command of that name, or of two words such as "verify porep". NULL when there is none. */
const cuzk_cli_command *cuzk_cli_find_command(const char *name);
const cuzk_cli_command *cuzk_cli_find_command_of_two(const char *first, const char *second);

/** A usage error about a word that is no command, with the nearest one. Returns CUZK_EXIT_USAGE. */
int cuzk_cli_unknown_command(const char *word);

/** Print the general help / the help on one command to stdout, as text or as a JSON object. */
void cuzk_cli_print_help(bool as_json);
void cuzk_cli_print_command_help(const cuzk_cli_command *c, bool as_json);

/** The word of a NULL-terminated list that is nearest to `word`, or NULL when none is near. */
const char *cuzk_cli_nearest(const char *word, const char *const *list);

/** Print a usage error as "cuzk <command>: <text>", with a pointer to the help (with --json also as
 *  an object on stdout). Returns CUZK_EXIT_USAGE. args NULL or without command: "cuzk: <text>". */
int cuzk_cli_usage(const cuzk_cli_args *args, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/** Print args->err as one line on stderr (with --json also as an object on stdout). Returns the
 *  exit code of its status. */
int cuzk_cli_fail(cuzk_cli_args *args);

/** Read a number of lo … hi from an option's text into *out. False after a usage message. */
bool cuzk_cli_number(const cuzk_cli_args *args, unsigned *out, const char *option, const char *text,
                     unsigned lo, unsigned hi);

/** The bytes that an option names, "512GiB"; *out stays where it is not given. False after a usage
 *  message. */
bool cuzk_cli_memory_size(const cuzk_cli_args *args, uint64_t *out, const char *option);

/** Make the library's context with the options of the command line. NULL after cuzk_cli_fail's
 *  message, with *exit_code set. Returned: cuzk_ctx_destroy. */
cuzk_ctx *cuzk_cli_ctx(cuzk_cli_args *args, int *exit_code);

/** A cuzk_progress for any command; `user` is the cuzk_cli_args. Writes a line to stderr when it is
 *  a terminal, or one line per stage with --progress; cancels after SIGINT or SIGTERM. */
bool cuzk_cli_progress(void *user, const char *stage, double done);

/** Remove the progress line. Called before anything else is printed. */
void cuzk_cli_progress_end(cuzk_cli_args *args);

/** Replace control characters, such as the line breaks of a file name, by spaces. */
void cuzk_cli_one_line(char *text);

/** Open whatever of stdin, stdout and stderr is closed, so that no file of a command gets their
 *  numbers. Writing to stdout then still fails. */
void cuzk_cli_open_streams(void);

/** Flush stdout at the end of a command that returned `code`. Returns the exit code: a failed write
 *  is a failure, or a warning where the command's result is elsewhere. */
int cuzk_cli_close_stdout(const cuzk_cli_args *args, int code);

/** End with a message instead of a SIGBUS when one of n inputs is shortened while it is mapped:
 * what the library cannot do, since a handler belongs to the whole process.
 *
 *  prefix: of the line on stderr. paths: borrowed; NULL and missing files are left out, as is what
 *  is beyond the eighth. json: also as an object on stdout. */
void cuzk_cli_watch_inputs(const char *prefix, const char *const *paths, size_t n, bool json);

/** Whether one of the signals below has come. */
bool cuzk_cli_interrupted(void);

/** Make SIGINT, SIGTERM and SIGHUP cancel the running call, so that temporary files are removed;
 *  ignore SIGXFSZ, so that a file size limit fails the write instead. */
void cuzk_cli_catch_signals(void);

/** Whether an output is called "-", which may mean stdout or a file: prints a usage message if so.
 *  NULL is no output. */
bool cuzk_cli_is_dash(const cuzk_cli_args *args, const char *output);

/** Whether an output would replace one of the other files of the command line: a and b name the
 * same regular file, or will when they are there. NULL is no file. Prints a usage message if so. */
bool cuzk_cli_same_file(const cuzk_cli_args *args, const char *output, const char *other);

/** Put the names of the two files that a call was about in front of args->err. */
void cuzk_cli_error_names(cuzk_cli_args *args, const char *first, const char *second);

/** Report what a verification found: with --json as an object that counts n of `counted` and names
 *  the first invalid one with args->err as the reason, otherwise `text` (unless --quiet); for an
 *  invalid one also a line on stderr that names the file `proof`. Returns the exit code. */
int cuzk_cli_verdict(cuzk_cli_args *args, bool valid, const char *text, const char *counted,
                     uint64_t n, uint64_t first_invalid, const char *proof);

/** Whether an output can be made where it belongs, to be asked before long work: its folder is
 * there and may be written to. False with args->err set. What only writing shows (a full disk) it
 * cannot tell. */
bool cuzk_cli_can_write(cuzk_cli_args *args, const char *path);

/** Begin the recording that --timeline names, if it does. False with args->err set. */
bool cuzk_cli_timeline_begin(cuzk_cli_args *args);

/** End it, if one was begun. Returns the exit code of the command, which had `code`: a recording
 *  that could not be written whole makes it a failure, with a line on stderr. */
int cuzk_cli_timeline_end(const cuzk_cli_args *args, int code);

/** Record that memory ran out, for cuzk_cli_fail. */
void cuzk_cli_no_memory(cuzk_cli_args *args);

/** Read a whole regular file. Returned: free with free. NULL with args->err set on failure. */
char *cuzk_cli_read_file(cuzk_cli_args *args, const char *path, size_t *n_bytes);

/** Put the file that an error is about in front of args->err. */
void cuzk_cli_error_name(cuzk_cli_args *args, const char *path);

/** Set the fields of a request from the JSON object in a file. False with args->err set. */
bool cuzk_cli_read_request(cuzk_cli_args *args, cuzk_filecoin_request *request, const char *path);

/** Fill a request from the options of the command line and the file that --request names. False
 *  with args->err set. */
bool cuzk_cli_fill_request(cuzk_cli_args *args, cuzk_filecoin_request *request);

/* Files of vanilla proofs, which a request borrows. */
typedef struct {
    cuzk_bytes *files;
    unsigned n;
} cuzk_cli_vanilla;

/** Read n files of vanilla proofs and add them to a request. vanilla: all zero before;
 * cuzk_cli_free_vanilla, also on failure. False with args->err set. */
bool cuzk_cli_read_vanilla(cuzk_cli_args *args, cuzk_cli_vanilla *vanilla,
                           cuzk_filecoin_request *request, const char *const *paths, unsigned n);
void cuzk_cli_free_vanilla(cuzk_cli_vanilla *vanilla);

/** The form of a Filecoin proof that --format names. False after a usage message. */
bool cuzk_cli_filecoin_form(const cuzk_cli_args *args, cuzk_filecoin_form *form);

/** The file that --out names, or the form's default. */
const char *cuzk_cli_filecoin_out(const cuzk_cli_args *args, cuzk_filecoin_form form);

/** Highest resident memory of this process so far, bytes. */
uint64_t cuzk_cli_peak_memory(void);

/** Monotonic nanoseconds. */
uint64_t cuzk_cli_now_ns(void);

/* Groups of three digits: "31,522". Enough room for any uint64_t. */
typedef struct {
    char text[32];
} cuzk_cli_digits;
cuzk_cli_digits cuzk_cli_group_digits(uint64_t value);

/* A JSON object on stdout, one member after the other. */
typedef struct {
    bool is_first;
} cuzk_cli_json;

/** Write a JSON string. Bytes that are not UTF-8 become U+FFFD. */
void cuzk_cli_json_string(FILE *f, const char *text);

/** A whole object that says why a command failed. */
void cuzk_cli_json_failure(cuzk_status status, const char *text);

/** Begin the object / end it with a newline. */
void cuzk_cli_json_begin(cuzk_cli_json *json);
void cuzk_cli_json_end(cuzk_cli_json *json);

/** Write a member. key NULL: inside an array, no key. */
void cuzk_cli_json_text(cuzk_cli_json *json, const char *key, const char *value);
void cuzk_cli_json_number(cuzk_cli_json *json, const char *key, uint64_t value);
void cuzk_cli_json_seconds(cuzk_cli_json *json, const char *key, uint64_t ns);
void cuzk_cli_json_bool(cuzk_cli_json *json, const char *key, bool value);
/** Open or close a nested object or array: bracket is one of { [ ] }. key NULL for none. */
void cuzk_cli_json_open(cuzk_cli_json *json, const char *key, char bracket);
void cuzk_cli_json_close(cuzk_cli_json *json, char bracket);

/** A line of what a device did for a proof; nothing without one. */
void cuzk_cli_print_device(const cuzk_prove_stats *stats, const char *device);

/** The members that tell how a proof was made: time, that of each stage, memory, processor,
 * threads. */
void cuzk_cli_json_proving(cuzk_cli_json *json, const cuzk_prove_stats *stats, uint64_t peak_bytes,
                           const cuzk_ctx *ctx);

/* The commands' bodies and options. */
int cuzk_cli_prove(cuzk_cli_args *args);
int cuzk_cli_verify(cuzk_cli_args *args);
int cuzk_cli_prove_porep(cuzk_cli_args *args);
int cuzk_cli_prove_snap(cuzk_cli_args *args);
int cuzk_cli_prove_window(cuzk_cli_args *args);
int cuzk_cli_prove_winning(cuzk_cli_args *args);
int cuzk_cli_params_setup(cuzk_cli_args *args);
int cuzk_cli_verify_porep(cuzk_cli_args *args);
int cuzk_cli_verify_snap(cuzk_cli_args *args);
int cuzk_cli_verify_window(cuzk_cli_args *args);
int cuzk_cli_verify_winning(cuzk_cli_args *args);
int cuzk_cli_setup(cuzk_cli_args *args);
int cuzk_cli_inspect(cuzk_cli_args *args);
int cuzk_cli_check(cuzk_cli_args *args);
int cuzk_cli_export(cuzk_cli_args *args);
int cuzk_cli_bench(cuzk_cli_args *args);
int cuzk_cli_devices(cuzk_cli_args *args);
int cuzk_cli_timeline(cuzk_cli_args *args);
int cuzk_cli_simulate(cuzk_cli_args *args);
int cuzk_cli_plan(cuzk_cli_args *args);
int cuzk_cli_gen_vanilla(cuzk_cli_args *args);
int cuzk_cli_params(cuzk_cli_args *args);
int cuzk_cli_version(cuzk_cli_args *args);
int cuzk_cli_help(cuzk_cli_args *args);

/** The programs that rapidsnark installs: same arguments, outputs and exit codes. */
int cuzk_cli_rapidsnark_prover(int argc, const char *const *argv);
int cuzk_cli_rapidsnark_verifier(int argc, const char *const *argv);

#endif
