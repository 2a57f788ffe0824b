#!/usr/bin/env python3
"""A head looks where it should. Does the model need it?

In reversed lines the source token that decides each target token is known. For every head of cross-attention: its weight on
that token (scripts/gold.py), and by how much the loss on held-out lines rises if the head is taken away, or if both heads
of cross-attention are (heed ablate). Controls: the same head untrained, and the head of self-attention that costs most.
"""
from common import DATA, LAST, Lab, cell, head_of, shows, table, task_config, test_files, with_interval


def main():
    lab = Lab(__doc__, seeds=5)
    rows, first, alone = [], 0, []
    for seed in lab.seeds:
        run = lab.train("reverse", task_config("reverse", 1000), seed)
        gold = lab.gold(run, "--gold", DATA / "reverse.test.gold.jsonl", *test_files("reverse"), *LAST)
        parts = lab.json("ablate", run, *LAST)["parts"]  # the largest first
        heads = [part for part in parts if part["sort"] == "head"]
        both, = (part for part in parts if (part["sort"], part["kind"]) == ("attention", "cross"))
        cross, others = ([part for part in heads if (part["kind"] == "cross") == wanted] for wanted in (True, False))
        first += heads[:len(cross)] == cross
        alone.append(sum(part["difference"] for part in cross) / both["difference"])

        def row(part, weights=("", ""), without_both=""):
            return (seed, part["name"], *weights, heads.index(part) + 1,
                    f"{part['difference']:.3f} [{part['low']:.3f}, {part['high']:.3f}]", without_both)

        for part in cross:
            scored = head_of(gold, part["layer"], part["head"])
            rows.append(row(part, [with_interval(scored[w]["mass"]) for w in ("trained", "untrained")],
                            f"{both['difference']:.3f}"))
        rows.append(row(others[0]))
    print(f"Reversing lines (1 + 1 layers, 2 heads, 1000 steps). Even weights: {gold['uniform']['mass']['value']:.3f} on gold.\n")
    table(("seed", "head", "weight on gold", "untrained", f"place among {len(heads)}", "loss without it", "without both"), rows)
    shows(f"The heads of cross-attention come first in {first} of {len(lab.seeds)} models. What each costs alone is, added up, "
          f"{cell(alone, 2)} of what both cost: one stands in for the other.")
    lab.done()


if __name__ == "__main__":
    main()
