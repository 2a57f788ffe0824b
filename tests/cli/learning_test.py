"""The learning record of metrics.jsonl: its numbers against those of the checkpoints around a step."""
import array
import json
import math
import unittest

from runs import RunsTest, read_tensors

SGD = {"type": "sgd", "learning_rate": 0.25, "schedule": "constant", "warmup_steps": 0, "clip_norm": 0,
       "weight_decay": 0}


def length(x):
    return math.sqrt(sum(a * a for a in x))


class LearningTest(RunsTest):
    def weights(self, path):
        header, body = read_tensors(path)
        return {name: array.array("f", body[slice(*t["data_offsets"])]).tolist()
                for name, t in header.items() if name != "__metadata__"}

    def checkpoint(self, step, run="run"):
        return self.weights(self.checkpoints(run) / f"step-{step:08}" / "model.safetensors")

    def records(self, run="run"):
        return {e["step"]: e["learning"] for e in self.metrics(run, "train") if "learning" in e}

    def train_in_steps(self):
        """20 steps, with checkpoints of steps 1 (which hardly moved), 9 and 10, and so on."""
        config = self.config(family="seq2seq", optimizer=SGD, train__save_every=1,
                             train__keep_last=0, model__dropout=0)
        self.train(config)
        self.train(self.config("still", family="seq2seq", optimizer={**SGD, "learning_rate": 1e-30},
                               train__max_steps=1, model__dropout=0), "still")

    def test_every_number_is_that_of_the_weights(self):
        self.train_in_steps()
        initial = self.checkpoint(1, "still")
        records = self.records()
        self.assertEqual(sorted(records), [10, 20])
        for step, record in records.items():
            before, after = self.checkpoint(step - 1), self.checkpoint(step)
            names = [n for n in after if "_attn." in n and n.endswith("weight") or "embed" in n]
            self.assertEqual(len(names), 3 * 4 + 1)
            self.assertEqual(list(record["matrices"]), names)
            for name, m in record["matrices"].items():
                moved = length(a - b for a, b in zip(after[name], before[name]))
                # A step of plain descent is learning rate times gradient.
                self.assertAlmostEqual(m["gradient_norm"] / (moved / 0.25), 1, 3, name)
                self.assertAlmostEqual(m["weight_norm"] / length(after[name]), 1, 5, name)
                self.assertAlmostEqual(m["update_ratio"] / (moved / length(before[name])), 1, 4, name)
                inner = sum(a * b for a, b in zip(after[name], initial[name]))
                self.assertAlmostEqual(
                    m["cosine"], inner / length(after[name]) / length(initial[name]), 5, name)
                self.assertLess(m["cosine"], 0.99999)

    def test_entropies_are_those_of_the_maps(self):
        self.train_in_steps()
        lines = [(self.folder / f"a.{side}").read_text().splitlines()[-12:]
                 for side in ("source", "target")]
        sums, rows, uniform = {}, {}, {}
        for source, target in zip(*lines):
            maps = json.loads(self.check("attend", self.folder / "run", "--checkpoint", "step-20",
                                         "--source", source, "--target", target, "--json").out)
            for kind in ("encoder", "decoder", "cross"):
                for h, head in enumerate(maps[kind][0]):
                    entropy = [-sum(p * math.log(p) for p in row if p > 0) for row in head]
                    sums[kind, h] = sums.get((kind, h), 0) + sum(entropy)
                rows[kind] = rows.get(kind, 0) + len(head)
                uniform[kind] = uniform.get(kind, 0) + sum(
                    math.log(q + 1 if kind == "decoder" else len(row)) for q, row in enumerate(head))
        record = self.records()[20]["entropy"]
        self.assertEqual(list(record), ["encoder", "decoder", "cross"])
        for (kind, h), total in sums.items():
            self.assertAlmostEqual(record[kind]["heads"][0][h], total / rows[kind], 4, kind)
            self.assertAlmostEqual(record[kind]["uniform"], uniform[kind] / rows[kind], 5, kind)

    def test_what_is_recorded_when(self):
        for family in ("causal_lm", "masked_lm"):
            with self.subTest(family):
                config = self.config(family=family, train__log_every=1, train__max_steps=23,
                                     data={"train": "a.txt", "valid_fraction": 0.2})
                self.train(config, family)
                records = self.records(family)
                self.assertEqual(sorted(records), [10, 20, 23])
                kind = "decoder" if family == "causal_lm" else "encoder"
                self.assertEqual(list(records[23]["entropy"]), [kind])

    def test_frozen_and_uniform_attention(self):
        config = self.config(model__attention={
            "cross": {"uniform": True}, "encoder_self": {"query": "random", "key": "identity"}})
        self.train(config)
        record = self.records()[20]
        for part in "qk":
            m = record["matrices"][f"encoder.layers.0.self_attn.{part}_proj.weight"]
            self.assertEqual((m["gradient_norm"], m["update_ratio"], m["cosine"]), (0, 0, 1))
        for x in record["entropy"]["cross"]["heads"][0]:
            self.assertAlmostEqual(x, record["entropy"]["cross"]["uniform"], 5)

    def test_other_initial_weights_are_what_is_compared_with(self):
        self.train(self.config())
        start = self.checkpoint(20)
        again = self.config("again", optimizer=SGD, seed=7)
        self.train(again, "parts", "--init-from", self.folder / "run", "--stop-at", 10)
        self.assertEqual(self.weights(self.folder / "parts" / "initial.safetensors"), start)
        self.resume("parts")
        self.train(again, "whole", "--init-from", self.folder / "run")
        self.assertEqual(self.records("parts"), self.records("whole"))
        end = self.checkpoint(20, "parts")
        shown = json.loads(self.check("inspect", self.folder / "parts", "--checkpoint", "last",
                                      "--json").out)
        moved = {t["name"]: t["distance"] for t in shown["tensors"]}
        for name, m in self.records("parts")[20]["matrices"].items():
            inner = sum(a * b for a, b in zip(end[name], start[name]))
            self.assertAlmostEqual(m["cosine"], inner / length(end[name]) / length(start[name]), 5)
            self.assertAlmostEqual(moved[name], length(
                a - b for a, b in zip(end[name], start[name])), 4)

    def test_inspect_shows_the_record(self):
        self.train(self.config())
        shown = json.loads(self.check("inspect", self.folder / "run", "--json").out)
        self.assertEqual({r["step"]: r for r in shown["learning"]},
                         {s: {"step": s, **r} for s, r in self.records().items()})
        early = self.check("inspect", self.folder / "run", "--checkpoint", "step-10").out
        self.assertIn("Learning record of step 10 (--json has all 1).", early)
        norm = self.records()[10]["matrices"]["embed_tokens.weight"]["weight_norm"]
        self.assertIn(f"{norm:.3f}", early.split("Learning record")[1])
        self.assertIn("cross, layer 0", early)
        (self.folder / "run" / "metrics.jsonl").write_text('{"kind":"tr\n[1]\n{"kind":"train"}\n')
        self.assertEqual(json.loads(self.check("inspect", self.folder / "run", "--json").out)
                         ["learning"], [])


if __name__ == "__main__":
    unittest.main()
