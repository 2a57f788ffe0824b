#!/usr/bin/env python3
"""Must attention learn which tokens matter? What if it cannot?

Takes parts of attention away and trains the rest: uniform weights (every token counts the same), W_Q and W_K frozen at
their random initial values, identities in their place. Reversing lines needs the right token; predicting the next word
of a story can do without for a while.
"""
from common import DATA, Lab, best_head, cell, fables_config, merged, table, task_config, test_files

FROZEN = {"query": "random", "key": "random"}
VARIANTS = {
    "learned": {},
    "cross uniform": {"cross": {"uniform": True}},
    "all uniform": {k: {"uniform": True} for k in ("encoder_self", "decoder_self", "cross")},
    "cross W_Q, W_K frozen random": {"cross": FROZEN},
    "all W_Q, W_K frozen random": {k: FROZEN for k in ("encoder_self", "decoder_self", "cross")},
    "all W_Q, W_K, W_V frozen random": {k: {**FROZEN, "value": "random"}
                                        for k in ("encoder_self", "decoder_self", "cross")},
}
STORIES = {
    "learned": {},
    "uniform": {"decoder_self": {"uniform": True}},
    "W_Q, W_K frozen random": {"decoder_self": FROZEN},
}


def main():
    lab = Lab(__doc__, seeds=3)
    gold = ["--gold", DATA / "reverse.test.gold.jsonl", *test_files("reverse")]
    print("Reversing lines (1 + 1 layers, 2 heads, 500 steps). Mass on gold: weight that the best cross-attention head")
    print("puts on the token that is to be written; beside it the best head before training, and uniform attention.\n")
    rows = []
    for name, attention in VARIANTS.items():
        losses, exact, mass, before, uniform = [], [], [], [], []
        for seed in lab.seeds:
            config = merged(task_config("reverse", 500), {"model": {"attention": attention}})
            run = lab.train("reverse-" + name.replace(" ", "-").replace(",", ""), config, seed)
            result = lab.json("evaluate", run, *test_files("reverse"), "--bleu")
            losses.append(result["loss"])
            exact.append(result["exact_match"])
            scores = lab.json("attend", run, *gold)["kinds"][0]
            mass.append(best_head(scores)["trained"]["mass"]["value"])
            before.append(best_head(scores, "untrained")["untrained"]["mass"]["value"])
            uniform.append(scores["uniform"]["mass"]["value"])
        rows.append((name, cell(losses), cell(exact, 1), cell(mass), cell(before), f"{uniform[0]:.3f}"))
    table(("attention", "test loss", "lines exact, %", "mass on gold", "untrained", "uniform"), rows)

    print("\nThe next word of the fables (decoder alone, 2 layers, 4 heads, 300 steps): loss on held-out stories.\n")
    rows = []
    for name, attention in STORIES.items():
        results = [lab.json("evaluate", lab.train(
            "fables-" + name.replace(" ", "-").replace(",", ""),
            merged(fables_config("causal_lm", 300), {"model": {"attention": attention}}), seed)) for seed in lab.seeds]
        rows.append((name, cell(r["loss"] for r in results), cell((100 * r["accuracy"] for r in results), 1)))
    table(("attention", "loss", "next word right, %"), rows)
    lab.done()


if __name__ == "__main__":
    main()
