# SPDX-License-Identifier: MIT
"""How tests gather samples and decide claims about them, so that no verdict depends on how fast or how busy the machine is.

gather(wanted, record)  records for 1, 2, 4 ... seconds until there are enough samples; else the test is skipped
decide(claim, block)    asks for one block of evidence after another until the claim holds or is refuted
skip(reason)            ends the test as skipped

A block is a recording of its own, or a stretch of time that is long beside what neighbouring samples have in common.  Single samples are
no blocks: they are not independent.  A block agrees with the claim, contradicts it, or is none (too few samples); its author sees to
it, and writes beside it, that
    it agrees with a probability of RIGHT or more if the claim is true, on any machine, under any load;
    it agrees with a probability of WRONG or less if what the test guards against has happened.
The rule is the sequential probability ratio test (A. Wald, Annals of Mathematical Statistics 16, 1945, 117-186).  A true claim is refuted
with a probability of at most ALPHA, whenever one stops (Ville's inequality); a fault passes with one of at most BETA.  With the numbers
below, three blocks that agree are enough, as are seven that do not; of others, three and seven more.  An author who knows more of a block
says so, and needs fewer: where a fault leaves no block that agrees (wrong=SURE) one is enough; where nearly every block agrees
(**NEARLY, and the fault is found as often as with the numbers below) two are.

    python3 tests/evidence.py 1101 [RIGHT WRONG]   prints "holds", "refuted" or "more" for blocks that agree (1) and do not (0)
"""
import math
import os
import sys
import time

RIGHT, WRONG = 0.9, 0.1
SURE = 0.001
NEARLY = {"right": 0.98, "wrong": 0.097}
ALPHA, BETA = 1e-6, 1e-2
ENOUGH_S = float(os.environ.get("ENOUGH_S", 240))  # for one claim, by the clock: then the machine gives no more


def weigh(agree, contradict, right=RIGHT, wrong=WRONG, alpha=ALPHA, beta=BETA):
    """True: with so many blocks that agree and that do not the claim holds; False: it is refuted; None: more are needed."""
    # the logarithm of how much likelier they are if the claim is true
    evidence = agree * math.log(right / wrong) - contradict * math.log((1 - wrong) / (1 - right))
    return True if evidence >= -math.log(beta) else False if evidence <= math.log(alpha) else None


def verdict(outcomes, right=RIGHT, wrong=WRONG):
    """The same for blocks in the order in which they came: those behind the one that decided do not count."""
    agree = 0
    for nr, agrees in enumerate(outcomes, 1):
        agree += agrees
        if (said := weigh(agree, nr - agree, right, wrong)) is not None:
            return said
    return None


def skip(reason):
    print(f"skipped, because {reason}")
    sys.exit(77)


def decide(claim, block, right=RIGHT, wrong=WRONG, enough_s=ENOUGH_S):
    """block(n) -> True, False, or None for no evidence.  Returns whether the claim holds; says why it does not.  Skips the test where
    the machine gives too few blocks."""
    outcomes, begin, nr = [], time.monotonic(), 0
    while (holds := verdict(outcomes, right, wrong)) is None:
        if time.monotonic() - begin > enough_s:
            skip(f"this machine gave only {len(outcomes)} blocks of evidence in {time.monotonic() - begin:.0f} s ({sum(outcomes)} of them "
                 f"agree): {claim}")
        agrees = block(nr)
        nr += 1
        if agrees is not None:
            outcomes.append(bool(agrees))
    print(f"{'holds' if holds else 'refuted'}, {sum(outcomes)} of {len(outcomes)} blocks agree: {claim}")
    return holds


def gather(wanted, record, first_s=1, enough_s=ENOUGH_S):
    """record(seconds) -> number of samples.  Returns when there are enough in one recording."""
    begin, seconds = time.monotonic(), first_s
    while (n := record(seconds)) < wanted:
        spent = time.monotonic() - begin
        if spent + 2 * seconds > enough_s:
            skip(f"this machine gave only {n} samples in {seconds} s, where {wanted} are needed")
        seconds *= 2
    return n


def allowed_rate(wanted):
    """Samples per second that the kernel allows here, at most as many as wanted."""
    try:
        with open("/proc/sys/kernel/perf_event_max_sample_rate") as f:
            return min(wanted, int(f.read()))
    except OSError:
        return wanted


if __name__ == "__main__":
    print({True: "holds", False: "refuted", None: "more"}[verdict([c == "1" for c in sys.argv[1]], *map(float, sys.argv[2:4]))])
