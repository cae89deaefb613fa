# SPDX-License-Identifier: MIT OR Apache-2.0
"""The options of every command, as its help lists them, a few of each command in every run: without its value, with one it does not take, twice, abbreviated,
with a letter too many; numbers at their limits; and in front of the command. Wrong usage ends with exit code 2 before a
file is touched."""
import random, re
import harness

COMMANDS = ["devices", "prove", "prove porep", "prove snap", "prove window", "prove winning", "verify", "verify porep",
            "verify snap", "verify window", "verify winning", "setup", "params setup", "inspect", "check", "export", "bench",
            "gen-vanilla", "params", "version"]
GENERAL = {"--threads", "--json", "--quiet", "--progress", "--verbose", "--help"}


def options_of(cuzk, command):
    """{option: (short name or "", value's name or "")}."""
    found = {}
    for line in cuzk.ok("help", *command.split()).out.split("options:", 1)[1].splitlines():
        m = re.match(r"  (?:(-\w), )?(--[\w-]+)(?: ([A-Z][A-Z0-9_=,.]*))?(?:  +|$)", line)
        if m:
            found[m.group(2)] = (m.group(1) or "", m.group(3) or "")
    assert GENERAL <= set(found), (command, found)
    return found


def usage(cuzk, texts, command, *args):
    """Exit code 2, one line on stderr that names the command; nothing is made."""
    before = cuzk.names()
    r = cuzk(*command.split(), *args)
    assert r.code == 2, (command, args, str(r))
    lines = r.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("cuzk %s: " % command), str(r)
    for text in [texts] if isinstance(texts, str) else texts:
        assert text in r.err, (text, str(r))
    assert cuzk.names() == before, str(r)
    return r


def test_values(cuzk):
    for command in COMMANDS:
        for option, (short, value) in random.sample(sorted(options_of(cuzk, command).items()), 5):
            if option == "--help":
                continue
            if value:
                usage(cuzk, "%s: needs a value" % option, command, option)
                if option not in GENERAL:  # of those that every command has the last one counts
                    usage(cuzk, "%s: given twice" % option, command, option, "1", option + "=1")
            else:
                usage(cuzk, "%s: takes no value" % option, command, option + random.choice(["=1", "="]))
            if short and value:
                usage(cuzk, "needs a value", command, short)


def test_spelling(cuzk):
    """No abbreviation, no other case, no option of the wrong length; a near miss is told what was meant."""
    for command in COMMANDS:
        known = options_of(cuzk, command)
        for option in random.sample(sorted(known), 4):
            for wrong in (option[:-1], option + "x", option.upper(), option[1:]):
                if wrong not in known:
                    usage(cuzk, '"%s": unknown option' % wrong, command, wrong)
            swapped = option[:-2] + option[-1] + option[-2]
            if len(option) > 6 and swapped != option:
                usage(cuzk, 'did you mean "--', command, swapped)  # this one, or one as near
        for wrong in ("-x", "--", "-"):
            r = cuzk(*command.split(), wrong, "a", "b", "c", "d", "e", "f", "g", "h", "i")
            assert r.code in (1, 2) and r.out == "", str(r)


def test_other_commands_options(cuzk):
    """An option that another command has is unknown here."""
    of = {command: options_of(cuzk, command) for command in COMMANDS}
    every = set().union(*of.values())
    assert len(every) > 25, every
    for command in COMMANDS:
        if command in ("bench", "prove porep", "prove snap", "prove window", "prove winning"):
            continue  # they have options of their own with --server and --connect
        for option in random.sample(sorted(every - set(of[command])), 5):
            value = next(o[option][1] for o in of.values() if option in o)
            usage(cuzk, '"%s": unknown option' % option, command, option, *(["1"] if value else []))


def test_threads(cuzk):
    for command in ("version", "prove", "params setup"):
        for bad in ("0", "1025", "-1", "+1", "01x", "1.5", "", " 1", "1 ", "0x4", "99999999999999999999999"):
            usage(cuzk, '"%s" is not a number from 1 to 1024' % bad, command, "--threads", bad)
            usage(cuzk, '"%s" is not a number from 1 to 1024' % bad, command, "--threads=" + bad)
    for good in ("1", "2", "3"):
        assert "threads %s" % good in cuzk.ok("version", "-t", good).out
        assert "threads %s" % good in cuzk.ok("version", "--threads=" + good).out


def test_help_of_every_command(cuzk):
    """Each option once, with a text; the help fits a terminal; asking for help beats everything else on the line."""
    for command in COMMANDS:
        text = cuzk.ok("help", *command.split()).out
        assert all(len(l) <= 100 for l in text.splitlines()), command
        listed = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.M)
        assert len(listed) == len(set(listed)), listed
        for option in listed:
            line = next(l for l in text.splitlines() if re.match(r"  (-\w, )?%s( |$)" % option, l))
            assert len(re.split(r"  +", line.strip())) >= 2, line
        for args in (["-h"], ["a", "--help"], ["--quiet", "--help"]):
            r = cuzk(*command.split(), *args)
            assert r.code == 0 and r.out == text and r.err == "", str(r)


def test_numbers(cuzk):
    """Options that are counts and identifiers: what is no number is refused by name."""
    for command in ("prove porep", "prove window", "verify winning", "gen-vanilla"):
        for option, (_, value) in options_of(cuzk, command).items():
            if value != "N" or option == "--threads":
                continue
            for bad in ("x", "-1", "1.0", "", "0x1", "18446744073709551616", "1_000"):
                arguments = ["winning", "f", "--sector-size", "2KiB"] if command == "gen-vanilla" else ["f"]
                if command.startswith("prove"):
                    cuzk.write("f", b"x")
                r = cuzk(*command.split(), *arguments, option, bad)
                assert r.code == 2 and ('"%s"' % bad) in r.err, str(r)


harness.main(globals())
