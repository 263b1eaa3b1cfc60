#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rule by which tests decide claims, with coins of known fairness: planted ones, and the exact probabilities of all ways to go."""
import os
import random
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import evidence  # noqa: E402

NUMBERS = ((0.9, 0.1), (0.95, 0.5), (0.9, 0.3), (0.9, evidence.SURE), tuple(evidence.NEARLY.values()))


def probabilities(p, right=evidence.RIGHT, wrong=evidence.WRONG, most=200):
    """Of a coin that agrees with probability p: (holds, refuted, neither after so many throws), exactly: over all ways to go."""
    alive, ends = {(0, 0): 1.0}, {True: 0.0, False: 0.0}
    for _ in range(most):
        following = {}
        for (a, b), q in alive.items():
            for state, step in (((a + 1, b), p), ((a, b + 1), 1 - p)):
                said = evidence.weigh(*state, right, wrong)
                if said is None:
                    following[state] = following.get(state, 0) + q * step
                else:
                    ends[said] += q * step
        alive = following
    return ends[True], ends[False], sum(alive.values())


class Evidence(unittest.TestCase):
    def test_a_true_claim_is_refuted_once_in_a_million_at_most(self):
        for right, wrong in NUMBERS:
            for p in (right, (1 + right) / 2, 0.999, 1.0):
                self.assertLessEqual(probabilities(p, right, wrong)[1], evidence.ALPHA, (right, wrong, p))

    def test_a_fault_passes_once_in_a_hundred_at_most(self):
        for right, wrong in NUMBERS:
            for p in (wrong, wrong / 2, 0.0):
                self.assertLessEqual(probabilities(p, right, wrong)[0], evidence.BETA, (right, wrong, p))

    def test_it_comes_to_an_end(self):
        for p in (0.0, 0.1, 0.5, 0.9, 1.0):
            self.assertLess(probabilities(p)[2], 1e-3, p)

    def test_coins(self):
        random.seed(20260714)
        for p, wanted, other in ((0.9, True, False), (0.1, False, True)):
            said = []
            for _ in range(3000):
                throws = []
                while evidence.verdict(throws) is None:
                    throws.append(random.random() < p)
                said.append(evidence.verdict(throws))
            # one fair coin of these is refuted with a probability of 0.003; an unfair one holds once in a hundred at most
            self.assertLessEqual(said.count(other), 0 if wanted else 60, p)

    def test_three_blocks_that_agree_are_enough_and_seven_that_do_not(self):
        self.assertIsNone(evidence.verdict([True] * 2))
        self.assertIs(evidence.verdict([True] * 3), True)
        self.assertIsNone(evidence.verdict([False] * 6))
        self.assertIs(evidence.verdict([False] * 7), False)
        self.assertIs(evidence.verdict([True, False, True, True, True]), True)

    def test_fewer_are_enough_where_more_is_known(self):
        self.assertIs(evidence.verdict([True], wrong=evidence.SURE), True)
        self.assertIsNone(evidence.verdict([False] * 5, wrong=evidence.SURE))
        self.assertIsNone(evidence.verdict([True], **evidence.NEARLY))
        self.assertIs(evidence.verdict([True] * 2, **evidence.NEARLY), True)
        self.assertIsNone(evidence.verdict([False] * 3, **evidence.NEARLY))
        self.assertIs(evidence.verdict([False] * 4, **evidence.NEARLY), False)

    def python(self, program, **environment):
        return subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, 'tests'); from evidence import *\n" + program],
                              cwd=os.path.join(HERE, "../.."), env=dict(os.environ, **environment), capture_output=True, text=True)

    def test_a_machine_that_gives_no_blocks_skips_with_a_sentence(self):
        p = self.python("decide('a claim', lambda n: None)", ENOUGH_S="0.2")
        self.assertEqual(p.returncode, 77)
        self.assertRegex(p.stdout, "^skipped, because this machine gave only 0 blocks of evidence in 0 s .*: a claim$")

    def test_samples_are_gathered_for_as_long_as_it_takes(self):
        p = self.python("lengths = []\nprint(gather(700, lambda s: lengths.append(s) or 100 * s), lengths)")
        self.assertEqual((p.returncode, p.stdout), (0, "800 [1, 2, 4, 8]\n"))
        p = self.python("gather(700, lambda s: 100)", ENOUGH_S="5")
        self.assertEqual((p.returncode, p.stdout), (77, "skipped, because this machine gave only 100 samples in 4 s, where 700 are needed\n"))

    def shell(self, program, **environment):
        return subprocess.run(["bash", "-c", ". tests/evidence.bash\n" + program], cwd=os.path.join(HERE, "../.."),
                              env=dict(os.environ, **environment), capture_output=True, text=True)

    def test_scripts_have_the_same_rule(self):
        for block, status, said in (("true", 0, "holds.*: 111: a claim"), ("false", 1, "refuted.*: 0000000: a claim"),
                                    ("exit_with 5", 1, "no block of evidence")):
            p = self.shell(f"exit_with() {{ return $1; }}\ndecide 'a claim' {block}\nfinish")
            self.assertEqual(p.returncode, status, p)
            self.assertRegex(p.stdout, said)
        for option, least in ("--sure", "holds.*: 1: a claim"), ("--nearly", "holds.*: 11: a claim"):
            self.assertRegex(self.shell(f"decide {option} 'a claim' true\nfinish").stdout, least)
        p = self.shell("none() { return 77; }\ndecide 'a claim' none\nfinish", ENOUGH_S="0")
        self.assertEqual(p.returncode, 77)
        self.assertRegex(p.stdout.splitlines()[-1], "^skipped, because this machine gave only 0 blocks of evidence")

    def test_scripts_gather_wait_and_judge(self):
        p = self.shell("hundred() { n=$((100 * $1)); }\ngather 700 hundred && echo $n\nfinish")
        self.assertEqual((p.returncode, p.stdout), (0, "800\n"))
        p = self.shell("some() { n=5; }\ngather 700 some\nfinish", ENOUGH_S="3")
        self.assertEqual(p.returncode, 77)
        self.assertRegex(p.stdout.splitlines()[-1], "^skipped, because this machine gave only 5 samples in 2 s, where 700 are needed")
        p = self.shell("wait_for false\nfinish", PATIENCE_S="0")
        self.assertEqual((p.returncode, p.stdout), (1, "did not happen within 0 s: false\n"))
        p = self.shell("judge sh -c 'echo skipped, because of a reason; exit 77'\njudge true\nfinish")
        self.assertEqual(p.returncode, 77)
        self.assertEqual(p.stdout.splitlines()[-1], "skipped, because of a reason")
        p = self.shell("judge sh -c 'exit 77'\njudge sh -c 'exit 3'\nfinish")
        self.assertEqual(p.returncode, 1)


if __name__ == "__main__":
    unittest.main()
