#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every sentence that a spec can be refused with, against tests/golden/spec/*.err.

Reads the format string of each call that makes such a sentence in the files of the spec checker, and
says which has no golden file that holds it. What no spec of a few lines can lead to stands in
ELSEWHERE, with the test that has it instead, or why there is none.
Usage: messages.py [--list]      prints FILE:LINE: SENTENCE for what is missing (or, all); from the
top of the tree.
"""
import glob
import re
import sys

CHECKER = ["sweep/spec.c", "sweep/spec/*.c", "profiles/yaml*.c", "profiles/scalar*.c", "profiles/name.c",
           "profiles/tunable_name.c", "profiles/tunable_check.c", "results/objective.c"]
ELSEWHERE = {
    "%s: larger than 1 MiB": "tests/unit/test_yaml.c",
    "%s: larger than 1 MiB: this is no spec": "tests/unit/test_spec.c",
    "too many keys": "tests/unit/test_yaml.c",
    "too many values": "tests/unit/test_yaml.c",
    "cannot read %s: %s": "tests/unit/test_yaml.c",
    "%s takes no device": "tests/unit/test_tunable.c",
    "%s is not in the catalogue; did you mean '%s'?": "tests/unit/test_tunable.c",
    "%s has no fields; leave 'field' out": "tests/unit/test_tunable.c",
    "%s has no field '%.40s' (allowed: %s, %s, %s)": "tests/unit/test_tunable.c",
    "%s%s%s wants %s, not '%s'": "tests/unit/test_tunable.c",
    "'%.40s...' is longer than %d characters": "tests/unit/test_value.c",
    "'%s': nothing can be written here": "tests/unit/test_value.c",
}
CALL = re.compile(r'\b(yaml_error|spec_error|form_error|forbid_error|err_usage|err_set|err_wrap)\s*\(')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
MACRO = re.compile(r'\bPRI[a-z]\d+\b')
CONVERSION = re.compile(r'%(%|[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j)?[a-zA-Z])')


def format_after(text, at):
    """The first string among a call's arguments, its pieces joined; None if there is none."""
    depth, i = 1, at
    while i < len(text) and depth:
        if text[i] == '"':
            pieces = []
            while True:
                m = STRING.match(text, i)
                if m:
                    pieces.append(m.group(1))
                    i = m.end()
                else:
                    m = MACRO.match(text, i)
                    if not m:
                        break
                    pieces.append('d')
                    i = m.end()
                while i < len(text) and text[i].isspace():
                    i += 1
            return ''.join(pieces)
        depth += {'(': 1, ')': -1}.get(text[i], 0)
        i += 1
    return None


def pattern(fmt):
    out, last = '', 0
    fmt = fmt.replace('\\"', '"').replace('\\\\', '\\')
    for m in CONVERSION.finditer(fmt):
        out += re.escape(fmt[last:m.start()]) + ('%' if m.group(1) == '%' else '.*')
        last = m.end()
    return re.compile(out + re.escape(fmt[last:]))


def sentences():
    for path in sorted(p for g in CHECKER for p in glob.glob(g)):
        text = open(path, encoding='utf-8').read()
        for m in CALL.finditer(text):
            fmt = format_after(text, m.end())
            line = text.count('\n', 0, m.start()) + 1
            memory = '-ENOMEM' in text[m.end():m.end() + 40]
            if fmt is not None and not memory and re.search('[a-z]{3}', CONVERSION.sub('', fmt)):
                yield path, line, fmt


def elsewhere(fmt):
    """Whether the test that ELSEWHERE names has a string with this sentence, filled in."""
    text = open(ELSEWHERE[fmt], encoding='utf-8').read()
    return any(pattern(fmt).search(m.group(1)) for m in STRING.finditer(re.sub(r'"\s*\n\s*"', '', text)))


def main():
    golden = [open(p, encoding='utf-8', errors='replace').read() for p in sorted(glob.glob('tests/golden/spec/*.err'))]
    found = list(sentences())
    for path, line, fmt in found:
        if '--list' in sys.argv:
            print(f'{path}:{line}: {fmt}')
        elif fmt in ELSEWHERE:
            if not elsewhere(fmt):
                print(f'{path}:{line}: not in {ELSEWHERE[fmt]}: {fmt}')
        elif not any(pattern(fmt).search(g) for g in golden):
            print(f'{path}:{line}: no golden test gives: {fmt}')
    if len(found) < 150 or len(golden) < 150:
        print(f'messages.py: only {len(found)} sentences and {len(golden)} golden files: the check is blind')
    for fmt in ELSEWHERE.keys() - {f for _, _, f in found}:
        print(f'messages.py: nothing says any more: {fmt}')


main()
