# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the commands print, compared with the transcripts in tests/cli/golden.

A transcript is a list of blocks: "$ command", its stdout, its stderr with "! " before each line, and
"= exit code". @CURVE/CIRCUIT/FILE in a command stands for a fixture's path, here and in the output.
Times, sizes of memory and the CPU path are masked. CUZK_TEST_UPDATE=1 writes the transcripts anew:
read the difference before you commit it.
"""
import glob, os, re, shlex
import harness

FOLDER = os.path.join(harness.TOP, "tests", "cli", "golden")
UPDATE = bool(os.environ.get("CUZK_TEST_UPDATE"))


def mask(text):
    text = re.sub(r"\b\d+\.\d+(?= (ms|s|MiB)\b)", "#", text)
    text = re.sub(r"(?<= )\d+\.\d\b(?! (ms|s))", "#", text)  # times of stages
    text = re.sub(r"cpu (path )?(portable|adx|ifma-emulated|ifma)\b", r"cpu \1#", text)
    text = re.sub(r"cuzk \d+\.\d+\.\d+ ", "cuzk # ", text)
    return text


def transcript(cuzk, commands):
    out = []
    for command in commands:
        words, names = [], {}
        for word in shlex.split(command):
            if word.startswith("@"):
                path = cuzk.fixture(("" if word.startswith("@groth/") else "circom/") + word[1:])
                names[path] = word
                word = path
            words.append(word)
        r = cuzk(*words[1:])
        out.append("$ " + command)
        for text, prefix in ((r.out, ""), (r.err, "! ")):
            for path, word in names.items():
                text = text.replace(path, word)
            out += [prefix + line for line in mask(text).splitlines()]
        out.append("= %d" % r.code)
    return "\n".join(out) + "\n"


def compare(cuzk, name):
    path = os.path.join(FOLDER, name + ".txt")
    with open(path) as f:
        wanted = f.read()
    commands = [line[2:] for line in wanted.splitlines() if line.startswith("$ ")]
    found = transcript(cuzk, commands)
    if UPDATE:
        with open(path, "w") as f:
            f.write(found)
    for number, (a, b) in enumerate(zip(wanted.splitlines(), found.splitlines())):
        assert UPDATE or a == b, "%s.txt, line %d:\n  expected %s\n  found    %s" % (name, number + 1, a, b)
    assert UPDATE or wanted == found, name


def test_help(cuzk):
    compare(cuzk, "help")


def test_prove_and_verify(cuzk):
    compare(cuzk, "prove")


def test_errors(cuzk):
    compare(cuzk, "errors")


def test_inspect(cuzk):
    compare(cuzk, "inspect")


def test_check(cuzk):
    compare(cuzk, "check")


def test_every_transcript_is_used(cuzk):
    names = {os.path.basename(p)[:-4] for p in glob.glob(FOLDER + "/*.txt")}
    assert names == {"help", "prove", "errors", "inspect", "check"}, names


if __name__ == "__main__":
    harness.main(globals())
