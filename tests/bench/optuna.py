#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Optuna's TPE (Debian's python3-optuna) over the machine that "search serve" plays: the same
surfaces, noise and count of tests as the other methods, the kernel's defaults first. The run's
line, with the regret of the best observed mean after each test, is written by the machine.

Usage: optuna.py BENCH OUT BUDGET FIRST-LAST SURFACE... [-- OPTIONS of serve]
"""
import subprocess
import sys

sys.path.pop(0)  # this file has the library's name
import optuna


def suggest(trial, dims):
    point = []
    for j, (levels, category, _) in enumerate(dims):
        name = "x%d" % j
        if category:
            k = trial.suggest_categorical(name, list(range(levels)))
            point.append((k + 0.5) / levels)
        elif levels:
            k = trial.suggest_int(name, 0, levels - 1)
            point.append((k + 0.5) / levels)
        else:
            point.append(trial.suggest_float(name, 0.0, 1.0))
    return point


def defaults(dims):
    values = {}
    for j, (levels, _, start) in enumerate(dims):
        values["x%d" % j] = min(int(start * levels), levels - 1) if levels else start
    return values


def failed_value(seen):
    """Below the worst by half of the spread, as the program tells its own raw searches. Trials that
    are told as failed are ignored by TPE, which then asks for them again for ever."""
    if not seen:
        return -1000.0
    return min(seen) - max(0.5 * (max(seen) - min(seen)), 0.05 * abs(min(seen)))


def play(bench, out, budget, surface, seed, options):
    command = [bench, "serve", "--surfaces", surface, "--seeds", str(seed), "--budget",
               str(budget), "--label", "optuna-TPE", "--out", out] + options
    machine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    dims = []
    for _ in range(int(machine.stdout.readline())):
        levels, category, start = machine.stdout.readline().split()
        dims.append((int(levels), int(category), float(start)))
    study = optuna.create_study(direction="maximize",
                                sampler=optuna.samplers.TPESampler(seed=seed))
    study.enqueue_trial(defaults(dims))
    seen = []
    for _ in range(budget):
        trial = study.ask()
        point = suggest(trial, dims)
        machine.stdin.write(" ".join(repr(u) for u in point) + "\n")
        machine.stdin.flush()
        answer = machine.stdout.readline().strip()
        if answer != "failed":
            seen.append(float(answer))
        study.tell(trial, failed_value(seen) if answer == "failed" else seen[-1])
    machine.stdin.close()
    machine.wait()


def main():
    arguments, options = sys.argv[1:], []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, options = arguments[:at], arguments[at + 1:]
    bench, out, budget, seeds = arguments[:4]
    first, last = (int(s) for s in seeds.split("-"))
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for seed in range(first, last + 1):
        for surface in arguments[4:]:
            play(bench, out, int(budget), surface, seed, options)


main()
