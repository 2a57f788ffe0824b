"""What each command that uses a model prints, checked against the others and against plain arithmetic."""
import json
import math
import os
import select
import struct
import subprocess
import unittest

from runs import HEED, RunsTest, read_tensors, text

SMALL = {"model__d_model": 16, "train__max_steps": 12, "train__eval_every": 0,
         "train__save_every": 4, "train__keep_last": 0}


def floats(path):
    header, body = read_tensors(path)
    return {name: struct.unpack(f"<{(e['data_offsets'][1] - e['data_offsets'][0]) // 4}f",
                                body[e["data_offsets"][0]:e["data_offsets"][1]])
            for name, e in header.items() if name != "__metadata__"}


class Commands(RunsTest):
    def out(self, *args, **kw):
        return self.check(*args, **kw).out

    def json(self, *args, **kw):
        return [json.loads(line) for line in self.out(*args, "--json", **kw).splitlines()]

    def test_evaluate(self):
        self.train(self.config(**SMALL))
        e, = self.json("evaluate", "run")
        self.assertEqual(list(e), ["data", "checkpoint", "step", "loss", "perplexity", "accuracy",
                                   "bits_per_byte", "tokens", "bytes"])
        self.assertAlmostEqual(e["perplexity"], math.exp(e["loss"]), places=9)
        self.assertAlmostEqual(e["bits_per_byte"],
                               e["loss"] * e["tokens"] / (math.log(2) * e["bytes"]), places=9)
        size = (self.folder / "a.txt").stat().st_size
        self.assertEqual(e["bytes"], size - int(size * 0.9))
        self.assertEqual(e["loss"], self.metrics(kind="valid")[-1]["loss"])
        for place in ("checkpoints/best/", "checkpoints/step-00000012/"):
            named, = self.json("evaluate", self.folder / "run" / place)
            self.assertEqual(named["checkpoint"], "step-00000012")
        self.assertIn("checkpoint step-00000012\n", self.out("evaluate", "run"))
        self.assertIn(f"{e['perplexity']:.3f}", self.out("evaluate", "run"))
        (self.folder / "b.txt").write_text(text(50, 7))
        other, = self.json("evaluate", "run", "--data", self.folder / "b.txt")
        self.assertEqual(other["bytes"], (self.folder / "b.txt").stat().st_size)
        self.assertNotIn("unknown_tokens", other)
        (self.folder / "b.txt").write_text("the \u20ac\u20ac\n")
        strange, = self.json("evaluate", "run", "--data", self.folder / "b.txt")
        self.assertEqual(strange["unknown_tokens"], 2)
        r = self.check("evaluate", "run", "--data", "none.txt", status=3, words="none.txt")
        self.assertNotIn("config", r.err)

    def test_an_unknown_word_of_the_source_does_not_spoil_bits_per_byte(self):
        self.train(self.config(family="seq2seq", **SMALL))
        (self.folder / "t").write_text("the miller\n")
        for source, there in (("the old\n", True), ("the ocean\n", True)):
            (self.folder / "s").write_text(source)
            e, = self.json("evaluate", "run", "--source", "s", "--target", "t")
            self.assertEqual("bits_per_byte" in e, there, source)
        (self.folder / "t").write_text("the ocean\n")
        e, = self.json("evaluate", "run", "--source", "s", "--target", "t")
        self.assertNotIn("bits_per_byte", e)

    def test_lines_that_cannot_be_read_are_an_error(self):
        self.train(self.config(family="seq2seq", **SMALL))
        for command in (["translate", "run"], ["tokenize", "run"], ["score", "run", "--source", "-", "--target", "a.target"]):
            folder = os.open(self.folder, os.O_RDONLY)
            done = subprocess.run([HEED, *command], stdin=folder, capture_output=True, text=True, cwd=self.folder)
            os.close(folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("standard input", done.stderr)
        found = self.check("translate", "run", "--json", stdin="\n").out
        self.assertEqual(json.loads(found), {"line": 0, "source": "", "translation": "", "score": 0, "logprob": 0, "ids": []})

    def test_score(self):
        for family in ("causal_lm", "prefix_lm", "masked_lm"):
            with self.subTest(family=family):
                self.train(self.config(family=family, **SMALL), family)
                lines = "the mill\nhe saw a river and he saw that\n\nwater\u00e9\n"
                r = self.check("score", family, "--target", "-", "--json", stdin=lines)
                found = [json.loads(l) for l in r.out.splitlines()]
                self.assertEqual(len(found), 4)
                for line in found:
                    self.assertAlmostEqual(line["logprob"], sum(line["token_logprobs"]), places=9)
                    self.assertEqual(len(line["ids"]), len(line["token_logprobs"]))
                    self.assertEqual(line["bos_id"], 1)
                self.assertIn("1 unknown token: '\u00e9'", r.err)
                plain = self.out("score", family, "--target", "-", stdin=lines).splitlines()
                self.assertEqual(plain, [f"{line['logprob']:.6f}" for line in found])
                tokens = self.out("score", family, "--target", "-", "--tokens", stdin=lines)
                rows = [row for row in tokens.splitlines() if row.startswith("\t")]
                self.assertEqual([row.split("\t")[1] for row in rows],
                                 [f"{x:.6f}" for line in found for x in line["token_logprobs"]])

    def test_tokenize(self):
        self.train(self.config(family="masked_lm", **SMALL), "masked")
        r = self.check("tokenize", "masked", "--json", stdin="\ufeffa [MASK]\r\nb\u00e9\u00e9\n")
        first, second = map(json.loads, r.out.splitlines())
        self.assertEqual(first["tokens"], ["a", " ", "[MASK]"])
        self.assertEqual(first["ids"][2], 3)
        self.assertEqual(second["tokens"], ["<unk>"] * 3)  # no b in WORDS
        self.assertEqual(r.err.count("unknown token"), 1)
        self.assertNotIn("read as", self.check("tokenize", "masked", stdin="a\n").err)
        self.train(self.config(tokenizer={"type": "word"}, **SMALL), "words")
        self.assertEqual(self.out("tokenize", "words", stdin="the old\nmill\n"), "the old\nmill\n")
        ids = self.out("tokenize", "words", "--ids", stdin="the old\n").split()
        self.assertEqual(ids, [str(i) for i in self.json("tokenize", "words",
                                                         stdin="the old\n")[0]["ids"]])

    def test_sample(self):
        self.train(self.config(family="causal_lm", **SMALL))
        args = ("sample", "run", "--prompt", "the ", "--max-tokens", 20)
        three = self.json(*args, "--num-samples", 3)
        self.assertEqual([s["sample"] for s in three], [0, 1, 2])
        self.assertEqual(self.json(*args, "--num-samples", 1), three[:1])
        self.assertEqual(self.json(*args, "--num-samples", 3, "--threads", 2), three)
        self.assertNotEqual(self.json(*args, "--seed", 2), three[:1])
        self.assertEqual(list(three[0]), ["sample", "prompt", "text", "ids", "tokens"])
        self.assertEqual(self.out(*args).rstrip("\n"), ("the " + three[0]["text"]).rstrip("\n"))
        piped = self.json("sample", "run", "--prompt-file", "-", "--max-tokens", 20,
                          stdin="the \n")
        self.assertEqual(piped, three[:1])
        (self.folder / "prompt").write_text("the ")
        os.mkfifo(self.folder / "fifo")
        writer = subprocess.Popen(["cp", "prompt", "fifo"], cwd=self.folder)
        self.addCleanup(writer.kill)
        self.assertEqual(self.json("sample", "run", "--prompt-file", "fifo", "--max-tokens", 20), three[:1])
        writer.wait()
        self.assertEqual(self.json("sample", "run", "--prompt-file", "/dev/null"),
                         self.json("sample", "run", "--prompt", ""))
        self.check("sample", "run", "--prompt-file", self.folder, status=3, words="directory")
        self.check("sample", "run", "--seed", -1, status=2, words="--seed")
        self.check("sample", "run", "--stop", "", status=2, words="--stop")
        self.check("sample", "run", "--repetition-penalty", 1e-39, status=2, words="--repetition-penalty")
        greedy = self.out(*args, "--temperature", 0)
        self.assertEqual(self.out(*args, "--temperature", 1e-39, "--top-k", 5), greedy)
        self.check("sample", "run", "--prompt-file", "none", status=3, words="none")

    def test_a_line_in_a_pipe_is_answered_before_the_next(self):
        self.train(self.config(family="seq2seq", **SMALL))
        for command in ("translate", "tokenize"):
            p = self.spawn(command, "run", stdin=subprocess.PIPE)
            for line in ("the river", "", "the mill"):
                p.stdin.write(line + "\n")
                p.stdin.flush()
                self.assertTrue(select.select([p.stdout], [], [], 60)[0], "no answer in a minute")
                self.assertTrue(p.stdout.readline().endswith("\n"))
            p.stdin.write("the end")  # without its newline
            out, _ = p.communicate(timeout=60)
            self.assertEqual((out.count("\n"), p.returncode), (1, 0))

    def test_the_lines_before_a_bad_one_are_answered(self):
        self.train(self.config(family="seq2seq", **SMALL))
        for command in ("translate", "tokenize"):
            done = subprocess.run([HEED, command, "run"], input=b"the river\nthe mill\n\xff\nthe end\n",
                                  capture_output=True, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout.count(b"\n")), (3, 2), done.stderr)
            self.assertIn(b"standard input, line 3", done.stderr)

    def test_a_line_longer_than_all_it_learnt_from_is_warned_of(self):
        self.train(self.config(family="seq2seq", **SMALL, data={"source": "a.source", "target": "a.target",
                                                                "valid_fraction": 0.1, "max_length": 20}))
        r = self.check("translate", "run", stdin="the\n" + "the " * 20 + "\n" + "the " * 30 + "\n" + "the " * 31)
        self.assertIn("line 3 has 30 tokens, the pairs of the training at most 20", r.err)
        self.assertNotIn("line 4", r.err)
        self.assertEqual(r.out.count("\n"), 4)

    def test_translate(self):
        self.train(self.config(family="seq2seq", **{**SMALL, "train__max_steps": 60}))
        lines = (self.folder / "a.source").read_text().splitlines()[:40]
        lines.insert(3, "")
        source = self.folder / "in"
        source.write_text("\ufeff" + "".join(l + "\n" for l in lines))
        one = self.out("translate", "run", "--input", source)
        self.assertEqual(one.count("\n"), len(lines))
        self.assertEqual(one.splitlines()[3], "")
        self.assertEqual(self.out("translate", "run", stdin=source.read_text()), one)
        each = [self.out("translate", "run", stdin=l + "\n") for l in lines[:5]]
        self.assertEqual("".join(each), "".join(l + "\n" for l in one.splitlines()[:5]))
        self.assertEqual([j["translation"] for j in self.json("translate", "run", "--input", source)],
                         one.splitlines())
        best = self.out("translate", "run", "--input", source, "--n-best", 3, "--length-penalty",
                        0).splitlines()
        rows = [row.split(" ||| ") for row in best if " |||  ||| " not in row]
        self.assertGreater(len(rows), 2 * len(lines))
        self.assertEqual([int(r[0]) for r in rows], sorted(int(r[0]) for r in rows))
        (self.folder / "s").write_text("".join(lines[int(r[0])] + "\n" for r in rows))
        (self.folder / "t").write_text("".join(r[1] + "\n" for r in rows))
        scores = self.out("score", "run", "--source", "s", "--target", "t").split()
        for row, score in zip(rows, scores):
            self.assertAlmostEqual(float(row[2]), float(score), delta=1e-4)

    def test_scores_of_n_best_are_those_of_their_texts(self):
        """A search over pieces may spell a text as its tokenizer would not; its score is of the text."""
        self.train(self.config(family="seq2seq", tokenizer={"type": "bpe", "vocab_size": 290},
                               **{**SMALL, "train__max_steps": 10}))
        best = self.json("translate", "run", "--n-best", 5, "--max-length", 6, "--input", "a.source")
        rows = [(j["source"], t) for j in best for t in j["n_best"] if t["translation"].isascii()]
        self.assertGreater(len(rows), 200)
        (self.folder / "s").write_text("".join(s + "\n" for s, _ in rows))
        (self.folder / "t").write_text("".join(t["translation"] + "\n" for _, t in rows))
        scored = self.json("score", "run", "--source", "s", "--target", "t")
        for (_, t), score in zip(rows, scored):
            self.assertAlmostEqual(t["logprob"], score["logprob"], delta=1e-4)
            self.assertAlmostEqual(t["score"], t["logprob"] / (len(t["ids"]) + 1), delta=1e-9)
        for j in best:
            scores = [t["score"] for t in j["n_best"]]
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.assertEqual(len({t["translation"] for t in j["n_best"]}), len(scores))
        first = self.json("translate", "run", "--n-best", 5, "--max-length", 6,
                          stdin="".join(j["source"] + "\n" for j in best[:7]))
        self.assertEqual(first, best[:7])  # to the last bit, whatever is translated beside them
        for n in (1, 2):  # how many are asked for does not change which come first
            fewer = self.json("translate", "run", "--n-best", n, "--max-length", 6, "--input", "a.source")
            self.assertEqual([j["n_best"] for j in fewer], [j["n_best"][:n] for j in best])

    def test_bleu_of_piped_pairs_and_its_signature(self):
        config = json.loads(self.config(family="seq2seq", **SMALL).read_text())
        config["data"]["lowercase"] = True
        (self.folder / "c.json").write_text(json.dumps(config))
        self.train(self.folder / "c.json")
        args = ("evaluate", "run", "--bleu", "--json", "--target", "a.target", "--source")
        piped = self.out(*args, "-", stdin=(self.folder / "a.source").read_text())
        file, = self.json(*args[:3], *args[4:], "a.source")
        self.assertEqual({**json.loads(piped), "data": ""}, {**file, "data": ""})
        self.assertIn("case:lc", file["signature"])
        self.assertIn("case:lc", file["chrf_signature"])

    def test_a_translation_is_one_line_whatever_the_tokenizer(self):
        """The weights of a text model, which writes newlines where it can."""
        for kind in ("char", "byte", "word", "bpe"):
            with self.subTest(tokenizer=kind):
                tokenizer = {"type": kind, **({"vocab_size": 300} if kind == "bpe" else {})}
                (self.folder / "n.txt").write_text("\n\na b\r\n \n" * 200)
                self.train(self.config(data={"train": "n.txt"}, tokenizer=tokenizer,
                                       train__max_steps=40, model__max_length=40), kind + "1")
                (self.folder / "s").write_text("a\nb\na b\n" * 5)
                (self.folder / "t").write_text("b\na\nb a\n" * 5)
                config = self.config(
                    family="seq2seq", data={"source": "s", "target": "t", "max_length": 39},
                    model__max_length=40)
                raw = json.loads(config.read_text())
                raw["tokenizer"] = tokenizer
                raw["train"]["max_steps"] = 1
                raw["optimizer"]["learning_rate"] = 1e-9
                config.write_text(json.dumps(raw))
                self.train(config, kind, "--init-from", self.folder / (kind + "1"))
                for beam in (1, 4):
                    out = self.out("translate", kind, "--beam-size", beam, stdin="a\nb\na b\n")
                    self.assertEqual(out.count("\n"), 3, out)
                    self.assertNotIn("\r", out)
                self.assertEqual(self.out("sample", kind, "--prompt", "a").count("\n"), 1)

    def test_fill(self):
        self.train(self.config(family="masked_lm", tokenizer={"type": "word"}, **SMALL))
        j, = self.json("fill", "run", "the [MASK] saw [MASK]", "--top-k", 3)
        self.assertEqual(j["ids"].count(3), 2)
        for mask in j["masks"]:
            self.assertEqual(j["ids"][mask["position"]], 3)
            p = [c["probability"] for c in mask["candidates"]]
            self.assertEqual(len(p), 3)
            self.assertEqual(p, sorted(p, reverse=True))
            self.assertLessEqual(sum(p), 1)
            self.assertTrue(all(c["id"] > 3 for c in mask["candidates"]))
        self.check("fill", "run", "the xyz [MASK]", status=3, words="xyz")
        self.check("fill", "run", "the xyz", status=3, words="no [MASK]")

    def test_fill_and_attend_of_lower_cased_data(self):
        self.train(self.config(family="masked_lm", tokenizer={"type": "word"},
                               data__lowercase=True, **SMALL))
        j, = self.json("fill", "run", "The [MASK] SAW")
        self.assertEqual(len(j["masks"]), 1)
        a, = self.json("attend", "run", "--source", "The [MASK] SAW")
        self.assertEqual(a["source_tokens"], ["<s>", "the", "[MASK]", "saw"])

    def test_average(self):
        self.train(self.config(**SMALL))
        a, = self.json("average", "run", "--last", 3)
        self.assertEqual(a["steps"], [4, 8, 12])
        mean = floats(self.checkpoints() / "average-4-12" / "model.safetensors")
        steps = [floats(self.checkpoints() / f"step-{s:08}" / "model.safetensors")
                 for s in (4, 8, 12)]
        for name, values in mean.items():
            for i in range(0, len(values), 7):
                self.assertAlmostEqual(values[i], sum(s[name][i] for s in steps) / 3, delta=1e-6)
        self.json("evaluate", "run", "--checkpoint", "average-4-12")
        self.assertEqual(self.json("average", "run", "--last", 3), [a])
        (self.checkpoints() / "average-4-12").rename(self.checkpoints() / "average-8-12")
        self.check("average", "run", "--last", 2, status=2, words="the average of other checkpoints")

    def test_selection_by_bleu(self):
        """The best, early stopping, the last line and `average --best` go by the metric that was chosen."""
        changes = {"family": "seq2seq", "model__d_model": 32, "model__dropout": 0, "train__select_by": "bleu",
                   "train__keep_last": 0, "train__batch_tokens": 400}
        r = self.train(self.config(**changes, train__max_steps=60, train__eval_every=10))
        bleus, losses = ({e["step"]: e[key] for e in self.metrics(kind="valid")} for key in ("bleu", "loss"))
        best = max(bleus, key=bleus.get)
        self.assertGreater(bleus[best], 1)
        self.assertNotEqual(best, min(losses, key=losses.get))
        self.assertEqual(self.link("best"), best)
        self.assertIn(f"best validation BLEU {bleus[best]:.2f} @ {best}", r.err)
        again, = self.json("evaluate", "run", "--checkpoint", f"step-{best}", "--bleu", "--tokenize", "none")
        self.assertAlmostEqual(again["bleu"], bleus[best], places=9)
        three = sorted(sorted(bleus, key=lambda s: (-bleus[s], s))[:3])
        self.assertNotEqual(three, sorted(sorted(losses, key=losses.get)[:3]))
        average, = self.json("average", "run", "--best", 3)
        self.assertEqual(average["steps"], three)

        steps = sorted(bleus)
        worse = next(b for a, b in zip(steps, steps[1:]) if bleus[b] <= max(bleus[s] for s in steps if s <= a))
        self.assertLess(losses[worse], min(losses[s] for s in steps if s < worse))
        r = self.train(self.config(**changes, train__max_steps=60, train__eval_every=10, train__patience=1), "early")
        self.assertIn(f"stopped early at step {worse}", r.err)

    def test_strided_evaluation(self):
        self.train(self.config(family="causal_lm", **SMALL))
        tiled, = self.json("evaluate", "run")
        for stride in (1, 3, 8):
            e, = self.json("evaluate", "run", "--stride", stride)
            self.assertEqual(e["tokens"], tiled["tokens"])
            self.assertEqual(abs(e["loss"] - tiled["loss"]) < 1e-6, stride == 8, stride)
        self.check("evaluate", "run", "--stride", 9, status=2, words="target_length, 8")
        self.train(self.config(family="causal_lm", tokenizer={"type": "word"}, **SMALL), "words")
        (self.folder / "blank.txt").write_text("  ")
        self.check("evaluate", "words", "--data", "blank.txt", "--stride", 4, status=3, words="no token")

    def test_bench(self):
        j, = self.json("bench", self.config(), "--steps", 2, "--threads", 1)
        self.assertEqual(list(j), ["tokens_per_second", "steps_per_second", "gflop_per_step",
                                   "gflops", "sgemm_gflops", "utilisation", "peak_rss_mib",
                                   "steps", "threads", "breakdown"])
        self.assertEqual((j["steps"], j["threads"]), (2, 1))
        self.assertAlmostEqual(sum(j["breakdown"].values()), 1, places=6)
        self.assertAlmostEqual(j["utilisation"], j["gflops"] / j["sgemm_gflops"], places=3)

    def test_train_and_resume_in_json(self):
        j, = self.json("train", self.config(train__eval_every=5, train__max_steps=10), "--run",
                       "run", "--stop-at", 5)
        self.assertEqual(list(j), ["run", "step", "best_loss", "best_step", "seconds", "reason"])
        self.assertEqual((j["run"], j["step"], j["best_step"], j["reason"]),
                         ("run", 5, 5, "stop_at"))
        j, = self.json("resume", "run")
        self.assertEqual((j["step"], j["reason"]), (10, "finished"))
        self.assertEqual(j["best_loss"], self.state(10)["best_loss"])
        again, = self.json("resume", "run")
        self.assertEqual((again["step"], again["reason"]), (10, "already_done"))

    def test_options(self):
        for command in ("train", "resume", "evaluate", "sample", "translate", "score", "fill",
                        "inspect", "tokenize", "gradcheck", "average", "bench", "attend",
                        "neighbors", "config"):
            shown = self.out(command, "--help")
            self.assertIn("--quiet", shown)
            self.assertEqual(self.out("help", command), shown)
        for command in ("resume", "average"):
            self.assertNotIn("checkpoint folder", self.out(command, "--help"))
        for command in ("train", "resume", "bench"):
            for line in self.out(command, "--help").splitlines():
                if line.strip().startswith(("--stop-at", "--steps", "--more", "--max-steps")):
                    self.assertNotIn("=0", line)
        c = self.config()
        for args in (("train", c, "--stop-at", 0), ("bench", c, "--steps", 0),
                     ("average", "run", "--last", 0)):
            r = self.check(*args, status=2, words=[str(args[-2]), "1"])
            self.assertNotIn("e+", r.err)
        self.train(self.config(tokenizer={"type": "word"}, **SMALL))
        self.check("neighbors", "run", "the-a+old", status=3, words="spaces")

    def test_a_damaged_best_names_a_whole_step(self):
        self.train(self.config(**SMALL))
        model = self.checkpoints() / "step-00000012" / "model.safetensors"
        model.write_bytes(model.read_bytes()[:-1])
        for command in ("evaluate", "sample", "inspect", "tokenize"):
            self.check(command, "run", status=4, words=["step-00000012", "--checkpoint step-8"])

    def test_changed_held_out_data(self):
        (self.folder / "v.txt").write_text(text(60, 3))
        self.train(self.config(data={"train": "a.txt", "valid": "v.txt"}), "run", "--stop-at", 4)
        origin = json.loads((self.folder / "run" / "origin.json").read_text())
        self.assertEqual(len(origin["valid_sha256"]), 64)
        self.assertNotIn("changed since", self.check("evaluate", "run").err)
        (self.folder / "v.txt").write_text(text(60, 4))
        self.resume("run", status=3, words="SHA-256")
        self.check("evaluate", "run", words=["warning", "changed since"])
        log = (self.folder / "run" / "train.log").read_text()
        self.assertIn("error: The data (training or held-out)", log)


if __name__ == "__main__":
    unittest.main()
