# SPDX-License-Identifier: MIT
"""Conditions and keys of plan nodes, of EXPLAIN and of a trace, in a form in which they can be compared: EXPLAIN has casts."""
import json
import re
import subprocess

import rank

NODE = 0x70670003
LABELS = ("Index Cond", "Recheck Cond", "Hash Cond", "Merge Cond", "Join Filter", "Filter", "Sort Key", "Group Key", "Order By",
          "One-Time Filter", "Cache Key", "TID Cond", "Function Call")
CAST = re.compile(r"::(\"char\"|timestamp with(out)? time zone|[a-z_]+( precision| varying)?)(\(\d+(,\d+)?\))?(\[\])?")


def plain(text):
    """Without casts, parentheses, quotes of constants, PARTIAL, the numbers of aliases that occur twice, and words between arguments."""
    text = re.sub(r"\bPARTIAL ", "", CAST.sub("", text))
    text = re.sub(r"\b(FROM|FOR)\b", ",", text).lower()
    text = re.sub(r"initplan\w+\.col\d+|\$\d+", "$", re.sub(r"[()' \"]", "", text))  # of an InitPlan, since 17 (19: by name) and before
    return re.sub(r"\b(\w+?)_\d+\.", r"\1.", text)


def of_explain(text):
    """{(name of the node, label, condition)}"""
    found, name = set(), None
    for line in text.splitlines():
        node = re.match(r"\s*(?:->  )?(\S.*?)(?:  \(cost=.*)?$", line)
        label, _, condition = line.strip().partition(": ")
        if label in LABELS:
            found.add((name, label, plain(condition)))
        elif "(cost=" in line:
            name = rank.plain(node[1])
    return found


def agree(explained, found):
    """An operator that left the server's cache before it was looked up has its number, and a long condition is cut."""
    pattern = re.sub(r"operator_\d+?(?=\D|\d*$)", r"[-+*/<>=~!@#%^&|?]+", re.escape(found[2]))
    cut = pattern.endswith(re.escape("..."))
    return explained[:2] == found[:2] and re.fullmatch(pattern[:-6] + ".*" if cut else pattern, explained[2])


def text_of(value):
    return value["text"] if isinstance(value, dict) else value


def of_node(name, detail):
    for part in re.split("; (?=%s|cost=)" % "|".join(f"{label}: " for label in LABELS), detail or ""):
        label, _, condition = part.partition(": ")
        if label in LABELS:
            yield rank.plain(name), label, plain(condition)


def lacking(explained, found):
    return [e for e in explained if not any(agree(e, f) for f in found)]


def of_trace(tailor, trace):
    found = set()
    dump = subprocess.run([tailor, "dump", "--json", trace], capture_output=True, text=True, errors="replace").stdout
    for line in dump.splitlines():
        r = json.loads(line)
        if r["record"] == "COMPONENT" and r["fields"]["level"] == NODE:
            found.update(of_node(text_of(r["fields"]["name"]), text_of(r["fields"]["detail"])))
    return found
