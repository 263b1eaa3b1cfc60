# SPDX-License-Identifier: MIT
"""Operators of DuckDB as pip installs it, version by version and shape by shape: wheels(build, folder, versions, seconds)"""
import glob
import os
import subprocess

import duck
import shapes

# of the samples in tasks, in percent; a statement of microseconds is mostly made and destroyed, and before 2.0 a recursion mostly makes and
# schedules tasks
WANTED = {"recursive": 70, "tiny": 0}
WANTED_OF_OTHERS = 95
FEW = 500


def fetch(build, version):
    """The folder of the module, or None."""
    folder = f"{build}/duckdb/wheels/{version}"
    if not os.path.isdir(folder):
        p = subprocess.run(["/usr/bin/python3", "-m", "pip", "install", "-q", "--no-deps", "--target", folder, f"duckdb=={version}"],
                           capture_output=True, text=True)
        if p.returncode:
            print(f"DuckDB {version}: cannot be installed: {(p.stderr.strip().splitlines() or ['no reason given'])[-1]}")
            return None
    return folder


def share(build, module, seconds, shape, folder):
    """(samples in tasks, share of them on an operator, between operators)"""
    trace, tailor = f"{folder}/wheel.tlr", build + "/tailor"
    library = max(glob.glob(module + "/**/*.so", recursive=True), key=os.path.getsize)
    p = subprocess.run([tailor, "run", "-q", "-o", trace, "--", "/usr/bin/python3", duck.HERE + "/shapes.py", module, str(seconds), shape, folder],
                       capture_output=True, text=True)
    if p.returncode:
        raise duck.Failed(f"{module}, {shape}: exit {p.returncode}: {p.stderr}")
    in_task, tasks, found, between = duck.in_tasks(tailor, trace, library), 0, 0, 0
    for s in duck.samples(tailor, trace):
        if duck.is_of_task(s, in_task):
            tasks += 1
            found += duck.on_operator(s)
            between += s["operator"].startswith("(")
    return tasks, found / max(tasks, 1), between / max(tasks, 1)


def wheels(build, folder, versions, seconds):
    short = []
    print(f"\n{'DuckDB':8}{'shape':12}{'tasks':>8}{'operator %':>12}{'between %':>11}")
    for version in versions:
        module = fetch(build, version)
        for shape in shapes.SHAPES if module else ():
            try:
                tasks, found, between = share(build, module, seconds, shape, folder)
            except duck.Failed as e:
                short.append(f"{version}, {shape}: {e}")
                continue
            print(f"{version:8}{shape:12}{tasks:8}{100 * found:12.1f}{100 * between:11.1f}", flush=True)
            wanted = WANTED.get(shape, WANTED_OF_OTHERS)
            if tasks >= FEW and 100 * found < wanted:
                short.append(f"{version}, {shape}: {100 * found:.1f} % of {tasks} samples of tasks on an operator, wanted {wanted}")
    return short
