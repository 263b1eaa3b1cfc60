#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The packages that package-lock.json names, fetched by curl, checked against their integrity, and unpacked into FOLDER/node_modules.

fetch.py FOLDER.  Nothing of them is run.  Exit 77, with a sentence, where the network is missing; npm is not needed.
"""
import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))


def fetch(url):
    curl = subprocess.run(["curl", "--silent", "--show-error", "--fail", "--location", "--max-time", "120", url], capture_output=True)
    if curl.returncode:
        print(f"skipped, because {url} cannot be fetched: {curl.stderr.decode(errors='replace').strip().splitlines()[0]}")
        sys.exit(77)
    return curl.stdout


def unpack(data, folder):
    """The archive's files, without the folder around them; links and paths that lead out are left out."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            path = member.name.partition("/")[2]
            if not member.isfile() or not path or ".." in path.split("/") or path.startswith("/"):
                continue
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as out:
                shutil.copyfileobj(archive.extractfile(member), out)


def main():
    folder = sys.argv[1]
    if not shutil.which("curl"):
        print("skipped, because there is no curl")
        sys.exit(77)
    with open(os.path.join(HERE, "package-lock.json")) as lock:
        packages = json.load(lock)["packages"]
    for path, package in packages.items():
        if not path:
            continue
        target = os.path.join(folder, path)
        stamp = os.path.join(target, ".integrity")
        if os.path.exists(stamp) and open(stamp).read() == package["integrity"]:
            continue
        data = fetch(package["resolved"])
        algorithm, _, expected = package["integrity"].partition("-")
        if base64.b64encode(hashlib.new(algorithm, data).digest()).decode() != expected:
            print(f"{package['resolved']}: the archive's {algorithm} is not the one in package-lock.json ({expected})")
            sys.exit(1)
        shutil.rmtree(target, ignore_errors=True)
        unpack(data, target)
        with open(stamp, "w") as out:
            out.write(package["integrity"])


main()
