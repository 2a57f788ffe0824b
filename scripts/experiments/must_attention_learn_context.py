#!/usr/bin/env python3
"""Why does training make attention learn which tokens matter? What if it cannot?

Disables parts of attention and trains the rest: uniform weights (every token counts equally), or W_Q, W_K and W_V frozen
at their random initial values. Reversing a line needs the right token. Predicting the next word of a story can manage
without it for a while.
"""
from common import (DATA, LAST, Lab, best_head, cell, fables_config, mean, merged, shows, table, task_config,
                    test_files)

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
    print("Reversing lines (1 + 1 layers, 2 heads, 300 steps). Mass on gold is the weight that the best cross-attention head")
    print("puts on the token to write. Controls: the best head before training, and uniform attention.\n")
    rows, right = [], {}
    for name, attention in VARIANTS.items():
        losses, exact, mass, before, uniform = [], [], [], [], []
        for seed in lab.seeds:
            config = merged(task_config("reverse", 300), {"model": {"attention": attention}})
            run = lab.train("reverse-" + name.replace(" ", "-").replace(",", ""), config, seed)
            result = lab.json("evaluate", run, *test_files("reverse"), "--bleu")
            losses.append(result["loss"])
            exact.append(result["exact_match"])
            scores = lab.gold(run, *gold)
            mass.append(best_head(scores)["trained"]["mass"]["value"])
            before.append(best_head(scores, "untrained")["untrained"]["mass"]["value"])
            uniform.append(scores["uniform"]["mass"]["value"])
        right[name] = mean(exact)
        rows.append((name, cell(losses), cell(exact, 1), cell(mass), cell(before), f"{uniform[0]:.3f}"))
    table(("attention", "test loss", "lines exact, %", "mass on gold", "untrained", "uniform"), rows)
    shows(f"Lines exact: {right['learned']:.0f} % if attention is learned, {right['cross uniform']:.0f} % if the "
          f"decoder weights all source tokens equally, {right['cross W_Q, W_K frozen random']:.0f} % if its W_Q and W_K "
          f"stay random, {right['all W_Q, W_K frozen random']:.0f} % if every W_Q and W_K does.")

    print("\nThe next word of the fables (decoder alone, 2 layers, 4 heads, 1000 steps): loss on held-out stories.\n")
    rows, losses = [], {}
    for name, attention in STORIES.items():
        results = [lab.json("evaluate", lab.train(
            "fables-" + name.replace(" ", "-").replace(",", ""),
            merged(fables_config("causal_lm", 1000), {"model": {"attention": attention}}), seed), *LAST)
            for seed in lab.seeds]
        losses[name] = [r["loss"] for r in results]
        rows.append((name, cell(losses[name]), cell((100 * r["accuracy"] for r in results), 1)))
    table(("attention", "loss", "next word right, %"), rows)
    learned = losses["learned"]
    shows(*(f"{title} change the loss on the stories by {mean(losses[name]) - mean(learned):+.3f} nats per word."
            for name, title in (("uniform", "Uniform weights"), ("W_Q, W_K frozen random", "Random W_Q and W_K"))),
          f"The seeds of learned attention differ by {max(learned) - min(learned):.3f}.")
    lab.done()


if __name__ == "__main__":
    main()
