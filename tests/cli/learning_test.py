"""The learning record of the film: its numbers against those of the checkpoints around a step."""
import math
import unittest

from runs import RunsTest, text, weights

SGD = {"type": "sgd", "learning_rate": 0.25, "schedule": "constant", "warmup_steps": 0, "clip_norm": 0,
       "weight_decay": 0}


def length(x):
    return math.sqrt(sum(a * a for a in x))


class LearningTest(RunsTest):
    def checkpoint(self, step, run="run"):
        return weights(self.step(step, run) / "model.safetensors")

    def records(self, run="run"):
        return {f["step"]: {key: f[key] for key in ("matrices", "entropy")} for f in self.film(run)[1]}

    def train_in_steps(self):
        """20 steps, with checkpoints of steps 1 (which hardly moved), 9 and 10, and so on."""
        config = self.config(family="seq2seq", optimizer=SGD, train__save_every=1,
                             train__keep_last=0, model__dropout=0)
        self.train(config)
        self.train(self.config("still", family="seq2seq", optimizer={**SGD, "learning_rate": 1e-30},
                               train__max_steps=1, model__dropout=0), "still")

    def test_every_number_follows_from_the_weights_around_its_step(self):
        self.train_in_steps()
        initial = self.checkpoint(1, "still")
        records = self.records()
        self.assertEqual(sorted(records), [0, 1, 2, 4, 8, 10, 16, 20])
        for m in records[0]["matrices"].values():  # before any step
            self.assertEqual((m["gradient_norm"], m["update_ratio"], m["cosine"]), (None, None, 1))
        for step in (2, 4, 8, 10, 16, 20):
            record = records[step]
            before, after = self.checkpoint(step - 1), self.checkpoint(step)
            names = [n for n in after if "_attn." in n and n.endswith("weight") or "embed" in n]
            self.assertEqual(len(names), 3 * 4 + 1)
            self.assertEqual(list(record["matrices"]), names)
            for name, m in record["matrices"].items():
                moved = length(a - b for a, b in zip(after[name], before[name]))
                # A step of plain gradient descent is learning rate times gradient.
                self.assertAlmostEqual(m["gradient_norm"] / (moved / 0.25), 1, 3, name)
                self.assertAlmostEqual(m["weight_norm"] / length(after[name]), 1, 5, name)
                self.assertAlmostEqual(m["update_ratio"] / (moved / length(before[name])), 1, 4, name)
                inner = sum(a * b for a, b in zip(after[name], initial[name]))
                self.assertAlmostEqual(
                    m["cosine"], inner / length(after[name]) / length(initial[name]), 5, name)
                self.assertLess(m["cosine"], 1)

    def test_long_windows_have_entropies_of_every_kind(self):
        """Only <s> precedes the first window of a text, and would be the only key."""
        (self.folder / "a.txt").write_text(text(1500))
        self.train(self.config(objective__source_length=64, objective__target_length=128, train__batch_tokens=400))
        for kind, entropy in self.records()[20]["entropy"].items():
            self.assertGreater(entropy["uniform"], 1, kind)
            self.assertTrue(all(x > 0 for layer in entropy["heads"] for x in layer), kind)

    def test_entropies_are_those_of_the_frames_own_maps(self):
        self.train_in_steps()
        source, target = (kind["keys"] for kind in self.film()[0]["kinds"][:2])
        maps, = self.json("attend", "run", "--checkpoint", "step-20", " ".join(source[:-1]), "--target", " ".join(target[1:]))
        record = self.records()[20]["entropy"]
        self.assertEqual(list(record), ["encoder", "decoder", "cross"])
        for kind, entropy in record.items():
            for h, head in enumerate(maps[kind][0]):
                sums = [-sum(p * math.log(p) for p in row if p > 0) for row in head]
                self.assertAlmostEqual(entropy["heads"][0][h], sum(sums) / len(head), 4, kind)
            uniform = [math.log(q + 1 if kind == "decoder" else len(row)) for q, row in enumerate(maps[kind][0][0])]
            self.assertAlmostEqual(entropy["uniform"], sum(uniform) / len(uniform), 5, kind)

    def test_frozen_matrices_do_not_move_and_uniform_heads_have_uniform_entropy(self):
        config = self.config(model__attention={
            "cross": {"uniform": True}, "encoder_self": {"query": "random", "key": "identity"}})
        self.train(config)
        record = self.records()[20]
        for part in "qk":
            m = record["matrices"][f"encoder.layers.0.self_attn.{part}_proj.weight"]
            self.assertEqual((m["gradient_norm"], m["update_ratio"], m["cosine"]), (0, 0, 1))
        for x in record["entropy"]["cross"]["heads"][0]:
            self.assertAlmostEqual(x, record["entropy"]["cross"]["uniform"], 5)

    def test_a_run_from_other_weights_is_compared_with_those(self):
        self.train(self.config())
        start = self.checkpoint(20)
        again = self.config("again", optimizer=SGD, seed=7, train__keep_last=1, train__save_every=5)
        self.train(again, "parts", "--init-from", self.folder / "run", "--stop-at", 10)
        self.resume("parts")
        self.assertEqual(self.steps("parts"), [0, 20])
        self.assertEqual(self.checkpoint(0, "parts"), start)
        end = self.checkpoint(20, "parts")
        shown, = self.json("inspect", "parts", "--checkpoint", "last")
        moved = {t["name"]: t["distance"] for t in shown["tensors"]}
        for name, m in self.records("parts")[20]["matrices"].items():
            inner = sum(a * b for a, b in zip(end[name], start[name]))
            self.assertAlmostEqual(m["cosine"], inner / length(end[name]) / length(start[name]), 5)
            self.assertAlmostEqual(moved[name], length(
                a - b for a, b in zip(end[name], start[name])), 4)

    def test_lost_initial_weights_are_named_not_made_up(self):
        self.train(self.config(family="seq2seq"))
        self.train(self.config("again", family="seq2seq", seed=7), "second", "--init-from", self.folder / "run",
                   "--stop-at", 10)
        # What attend calls initial is what the run began with: the first run's weights.
        initial = ["attend", "second", "the river", "--checkpoint", "initial", "--json"]
        self.assertEqual(self.out(*initial), self.out("attend", "run", "the river", "--json"))
        kept = self.step(0, "second")
        whole = (kept / "model.safetensors").read_bytes()
        (kept / "model.safetensors").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.check("inspect", "second", status=4, facts=["step-00000000/model.safetensors", "SHA-256"])
        (kept / "model.safetensors").write_bytes(whole)
        kept.rename(self.folder / "kept")
        for args in (["inspect", "second"], initial):
            self.check(*args, status=4, facts="step-00000000")
        self.resume("second", facts="cosine")
        for m in self.records("second")[20]["matrices"].values():
            self.assertIsNone(m["cosine"])
            self.assertGreater(m["weight_norm"], 0)
        (self.folder / "kept").rename(kept)
        self.check("inspect", "second")
        self.check("report", "second")

    def test_inspect_shows_the_record(self):
        self.train(self.config())
        shown, = self.json("inspect", "run")
        self.assertEqual({r["step"]: r for r in shown["learning"]},
                         {s: {"step": s, **r} for s, r in self.records().items()})
        early = self.out("inspect", "run", "--checkpoint", "step-10")
        self.assertNotIn("average", early)
        matrix = self.records()[10]["matrices"]["embed_tokens.weight"]
        row, = (line.split() for line in early.splitlines() if line.startswith("embed_tokens.weight"))
        self.assertEqual((row[1], row[3:6]), (f"{matrix['weight_norm']:.3f}", [f"{matrix['cosine']:.3f}", *(
            f"{matrix[key]:.5f}" for key in ("gradient_norm", "update_ratio"))]))
        self.assertEqual(early.count("embed_tokens.weight"), 1)  # one table
        (self.folder / "run/film.jsonl").write_text('{"kind":"fr\n[1]\n{"kind":"frame"}\n')
        self.assertEqual(self.json("inspect", "run")[0]["learning"], [])

    def test_inspect_shows_weights_that_have_no_frame(self):
        self.train(self.config(train__save_every=3, train__keep_last=0))
        self.check("average", "run", "--last", 2)
        for which, frame in (("step-9", 8), ("average-18-20", 20)):
            shown, = self.json("inspect", "run", "--checkpoint", which)
            self.assertTrue(all(t["norm"] > 0 for t in shown["tensors"] if t["name"].endswith("_proj.weight")))
            self.assertEqual(shown["learning"][-1]["step"], frame)

    def test_a_rate_of_0_at_the_end_does_not_hide_the_updates(self):
        self.train(self.config(optimizer__schedule="cosine"))
        last, before = self.records()[20], self.records()[16]
        name = "embed_tokens.weight"
        self.assertEqual(last["matrices"][name]["update_ratio"], 0)
        shown = self.out("inspect", "run", "--checkpoint", "last")
        self.assertIn("at step 16, ", shown.replace("\n", " "))
        row, = (line.split() for line in shown.splitlines() if line.startswith(name))
        self.assertEqual(float(row[5]), round(before["matrices"][name]["update_ratio"], 5))
        self.assertEqual(float(row[3]), round(last["matrices"][name]["cosine"], 3))


if __name__ == "__main__":
    unittest.main()
