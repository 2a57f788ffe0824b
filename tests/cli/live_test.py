"""heed report --live: the page computes what heed computes. Its JavaScript runs in node."""
import array
import json
import math
import random
import shutil
import struct
import subprocess
import unittest
from pathlib import Path

from runs import LENGTHS, SMALL, RunsTest, read_tensors, seal, write_tensors

NODE = shutil.which("node") or shutil.which("nodejs")
RUNNER = Path(__file__).parent / "live_model.js"
TINY = {**SMALL, "train__max_steps": 3, "train__save_every": 0, "optimizer__learning_rate": 0.05, "model__d_model": 16,
        "model__n_heads": 4, "model__d_ff": 24, "objective__source_length": 24, "objective__target_length": 24}


def of(family, **changes):
    unknown = {f"objective__{key}" for key, families in LENGTHS.items() if family not in families}
    return {"family": family, **{key: value for key, value in TINY.items() if key not in unknown}, **changes}


GPT, BERT, PAIRS = "causal_lm", "masked_lm", "seq2seq"
FILLING = (BERT, "span_corruption")
UNSCALED = {"scaled": False}
# Every position, norm, block, activation, tie and tokenizer, and all families.
MODELS = {
    "gpt": of(GPT, model__decoder_layers=2),
    "gpt_learned": of(GPT, model__positions="learned", model__tie="none", tokenizer={"type": "byte"}),
    "gpt_rotary": of(GPT, model__positions="rotary", model__activation="relu2", model__norm_type="rms", model__qk_norm=True,
                     model__n_kv_heads=2, model__feed_forward="gated", model__bias=False, tokenizer={"type": "bpe", "vocab_size": 320}),
    "gpt_none": of(GPT, model__positions="none", model__norm="post", model__activation="relu", tokenizer={"type": "unigram", "vocab_size": 300}),
    "gpt_words": of(GPT, model__activation="silu", model__zero_init=True, tokenizer={"type": "word", "punctuation": "split"}),
    "gpt_tanh": of(GPT, model__activation="gelu_tanh", model__init="gpt2", model__attention={"decoder_self": UNSCALED}, model__n_kv_heads=1),
    "gpt_uniform": of(GPT, model__attention={"decoder_self": {"uniform": True}}, model__feed_forward="none", model__d_ff=512),
    "gpt_ablated": of(GPT, model__positions="rotary", model__rope_base=500.0, model__norm_eps=1e-3,
                      model__attention={"decoder_self": {"positions": False, "query": "identity", "value": "random"}}),
    "bert": of(BERT, model__encoder_layers=2),
    "bert_words": of(BERT, model__norm="post", model__tie="none", tokenizer={"type": "word"}),
    "bert_rotary": of(BERT, model__positions="rotary", model__norm_type="rms", model__norm="post", model__attention={"encoder_self": {"uniform": True}},
                      tokenizer={"type": "bpe", "vocab_size": 320}),
    "pairs": of(PAIRS, model__encoder_layers=2),
    "pairs_learned": of(PAIRS, model__positions="learned", model__norm="post", tokenizer={"type": "char", "target": {"type": "word"}}),
    "pairs_rotary": of(PAIRS, model__positions="rotary", model__qk_norm=True, model__n_kv_heads=2, model__norm_type="rms", model__tie="none",
                       tokenizer={"type": "bpe", "vocab_size": 300}),
    "pairs_gated": of(PAIRS, model__feed_forward="gated", model__activation="silu", model__bias=False, tokenizer={"type": "char"},
                      model__attention={"decoder_self": UNSCALED, "encoder_self": {"uniform": True}, "cross": UNSCALED}),
    "pairs_none": of(PAIRS, model__positions="none", model__decoder_layers=2, model__tie="output", model__feed_forward="none", model__d_ff=512,
                     tokenizer={"type": "unigram", "vocab_size": 290}),
    "joined": of(PAIRS, model__encoder_layers=0, model__decoder_layers=2, tokenizer={"type": "bpe", "vocab_size": 300}),
    "prefix": of("prefix_lm"),
    "prefix_rotary": of("prefix_lm", model__positions="rotary", model__norm="post", model__qk_norm=True, model__tie="output"),
    "t5": of("span_corruption", tokenizer={"type": "word"}),
    "t5_learned": of("span_corruption", model__positions="learned", model__activation="relu2", model__norm_type="rms"),
}


TOKENIZERS = {
    "char": {"type": "char", "min_frequency": 2}, "byte": {"type": "byte"}, "word": {"type": "word", "min_frequency": 2},
    "split": {"type": "word", "punctuation": "split"}, "bpe": {"type": "bpe", "vocab_size": 900},
    "unigram": {"type": "unigram", "vocab_size": 900}}
READINGS = {"split": {"lowercase": True}, "unigram": {"normalize": "nfkc"}, "char": {"normalize": "nfc", "lowercase": True}}
ALPHABETS = ["abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZäöüßéèñçøåİıſǆﬁ½", "абвгдежзийклмнопрстуфхцчшщъыьэюяАБВГДЕЁΑΒΓΔΣάέήίόύώαβγδςσ",
             "ابتثجحخدذرزسشصضطظعغفقكلمنهويאבגדהוזחטיכלםמןנ", "अआइईउऊकखगघचछजझटठडढतथदधनपफबभमयरलवशषसहािीुूेैोौ्ंँ", "的一是不了人我在有他这中大来上国个到说们하나둘셋넷あいうえおアイウｱｲｶﾞ㍿"]
MARKS = [" ", " ", " ", " ", " ", "  ", ", ", ". ", "! ", " (", ") ", "-", "'", "’", "“", "\t", "\u00a0", "\u3000", "▁", " ▂", "\ufffd", "\u0301", "\u0308\u0327",
         "😀", "👩‍👩‍👧", "🏳️‍🌈", " $5 + 3 = ", "<s>", "<0x41>", "\u200b", "\ufeff", "e\u0301", "…", "№", "①", "٣", "Σ ", "ΑΣ", "[MASK]"]


def many_lines(n):
    """Lines of five scripts with marks of all kinds; their words repeat, so that tokenizers learn pieces."""
    draw = random.Random(46)
    words = [["".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(60)] for letters in ALPHABETS]
    def line(i):
        mine = words[i % 5] if i % 7 else words[draw.randrange(5)]
        return "".join(draw.choice(mine)[:draw.choice([9, 9, 9, 3])] + draw.choice(MARKS if draw.random() < 0.4 else [" "]) for _ in range(draw.randint(1, 14)))
    return [line(i) for i in range(n)]


# What a page asks of its model, but the text.
ASKED = {"target": "", "written": [], "off": [], "row": None, "answer": None, "against": None, "temperature": 1}


@unittest.skipUnless(NODE, "node is not installed (scripts/install_dependencies.sh page)")
class LivePage(RunsTest):
    def run_page(self, page, *requests):
        lines = "".join(json.dumps(r) + "\n" for r in requests)
        done = subprocess.run([NODE, RUNNER, self.folder / page], input=lines, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        for answer in answers:
            self.assertFalse(isinstance(answer, dict) and "error" in answer, answer)
        return answers

    def trained(self, name, **changes):
        """Trains a model, whose weights become float16, as in a page. Returns the run's name."""
        self.train(self.config(name, **changes), name)
        path = self.checkpoints(name) / "best" / "model.safetensors"
        header, body = read_tensors(path)
        values = array.array("f", body)
        half = struct.unpack(f"<{len(values)}e", struct.pack(f"<{len(values)}e", *values))
        write_tensors(path, header, array.array("f", half).tobytes())
        seal(path.parent)
        return name

    def live(self, run):
        self.check("report", run, "--live", "--html", f"{run}.html")
        return f"{run}.html"

    def close(self, mine, heeds, what):
        self.assertEqual(len(mine), len(heeds), what)
        for a, b in zip(mine, heeds):
            if isinstance(a, list):
                b = b[:len(a)] if all(x == 0 for x in b[len(a):] if not isinstance(x, list)) else b  # unseen keys
                self.close(a, b, what)
            else:
                self.assertTrue(math.isclose(a, b, rel_tol=0, abs_tol=1e-4), f"{what}: {a} {b}")

    def test_every_model(self):
        for name, changes in MODELS.items():
            with self.subTest(name):
                self.compare(self.trained(name, **changes), changes["family"])

    def test_tokens(self):
        """Tokens of 2,000 lines are those of heed tokenize; what Unicode's versions disagree on is at most 2 lines."""
        lines = many_lines(2000)
        (self.folder / "a.txt").write_text("".join(line + "\n" for line in lines))
        for name, tokenizer in TOKENIZERS.items():
            with self.subTest(name):
                reading = {"data__" + key: value for key, value in READINGS.get(name, {}).items()}
                family = BERT if name in ("word", "unigram") else GPT  # to which [MASK] is one token
                self.trained(name, **of(family, tokenizer=tokenizer, train__max_steps=1), **reading)
                heeds = self.json("tokenize", name, "--file", "a.txt")
                mine, texts = self.run_page(self.live(name), ["tokens", lines], ["decode", [t["ids"] for t in heeds]])
                self.assertEqual([len(mine), len(heeds)], [2000, 2000])
                wrong = [(line, m, h["ids"]) for line, m, h in zip(lines, mine, heeds) if m != h["ids"]]
                self.assertLessEqual(len(wrong), 2 if reading else 0, wrong[:3])
                if not reading and name in ("byte", "bpe"):
                    self.assertEqual(texts, lines)

    def test_pieces_of_equal_score(self):
        """Where two readings are equally probable, rounding decides: the page rounds as heed does."""
        draw = random.Random(7)
        repeated = ["0", "00", "0000", "00000", "ha", "haha", "hahahaha", "o", "oo", "ooo", "!", "!!", "!!!!", "l", "ll"]
        words = [draw.choice(["", *"abcxyz"]) + draw.choice(repeated) + draw.choice(["", *"abcxyz"]) for _ in range(6000)]
        (self.folder / "a.txt").write_text("".join(" ".join(words[i:i + 9]) + "\n" for i in range(0, 6000, 9)))
        lines = ["".join(draw.choice("0!lohax") * draw.randint(1, 7) for _ in range(draw.randint(1, 4))) for _ in range(2000)]
        (self.folder / "lines").write_text("".join(line + "\n" for line in lines))
        self.trained("u", **of(GPT, tokenizer={"type": "unigram", "vocab_size": 310}, train__max_steps=1))
        heeds = [told["ids"] for told in self.json("tokenize", "u", "--file", "lines")]
        mine, = self.run_page(self.live("u"), ["tokens", lines])
        self.assertEqual([line for line, m, h in zip(lines, mine, heeds, strict=True) if m != h], [])

    def test_a_tokenizer_of_others_reads_whole_lines(self):
        """A SentencePiece model without a normaliser's table, with the usual space in front and without extra spaces."""
        lines = [line for line in many_lines(300) if "\t" not in line]
        (self.folder / "a.txt").write_text("".join(line + "\n" for line in lines))
        for kind in ("bpe", "unigram"):
            self.trained(kind, **of(GPT, tokenizer={"type": kind, "vocab_size": 700}, train__max_steps=1))
            model = (self.checkpoints(kind) / "last" / "tokenizer.model").read_bytes()
            name = model.rindex(b"\x0a\x08identity")
            spec = b"\x0a\x08identity\x18\x01\x20\x01\x28\x01"
            (self.folder / "other.model").write_bytes(model[:name - 2] + bytes([0x1a, len(spec)]) + spec)
            self.trained("other" + kind, **of(GPT, tokenizer={"type": kind, "file": "other.model"}, train__max_steps=1))
            heeds = self.json("tokenize", "other" + kind, "--file", "a.txt")
            mine, = self.run_page(self.live("other" + kind), ["tokens", lines])
            self.assertEqual(mine, [t["ids"] for t in heeds])

    def test_a_head_switched_off(self):
        """It costs what heed ablate --zero says, on one sequence."""
        (self.folder / "one.txt").write_text("the old miller saw\n")
        self.trained("c", **of(GPT, model__decoder_layers=2), data={"train": "a.txt", "valid": "one.txt"})
        ablated, = self.json("ablate", "c", "--zero")
        heads = {f"{p['kind']}.{p['layer']}.{p['head']}": p["difference"] for p in ablated["parts"] if p["sort"] == "head"}
        self.assertEqual(len(heads), 8)
        text = {"text": "the old miller saw\n"}
        answers = self.run_page(self.live("c"), ["read", text], *[["read", {**text, "off": [head]}] for head in heads])
        ids = answers[0]["target_ids"][1:]
        whole, *without = [-sum(row[i] for row, i in zip(a["logprobs"], ids)) / len(ids) for a in answers]
        self.close([x - whole for x in without], list(heads.values()), "differences")
        self.assertGreater(max(map(abs, heads.values())), 1e-3)

    def test_the_page_itself(self):
        """What its parts are asked for: shares add up, texts are continued, long ones are cut; and what is refused."""
        page = self.live(self.trained("c", **of(GPT, tokenizer={"type": "bpe", "vocab_size": 320})))
        asked = {**ASKED, "text": "the old "}
        written, = self.run_page(page, ["write", {**asked, "temperature": 0}])
        one, two, long = self.run_page(page, ["answer", asked], ["answer", {**asked, "written": [written], "answer": 300, "against": 301}],
                                       ["answer", {**asked, "text": "miller 👩‍👩‍👧 " * 1000}])
        sampled = self.json("sample", "c", "the old ", "--temperature", 0, "--max-tokens", 1)[-1]
        self.assertEqual([written], sampled["ids"])
        self.assertEqual(two["text"], "the old" + sampled["tokens"][0].replace("▁", " "))
        half, other = self.run_page(page, ["answer", {**asked, "temperature": 0.5}], ["answer", {**asked, "head": "decoder.0.1"}])
        self.close([half["lens"][-1]["p"], *(t["p"] for t in half["lens"][-1]["top"])], [half["answer"]["p"], *(n["p"] for n in half["next"])], "one temperature")
        self.assertEqual([other["head"][of] for of in ("kind", "layer", "head")], ["decoder", 0, 1])
        for answer in (one, two):  # the logit is the sum of the shares and the mean of all logits
            self.assertAlmostEqual(sum(p["share"] for p in answer["shares"]), answer["answer"]["logit"] - answer["less"], places=4)
        self.assertEqual(one["counts"], [0, len(self.json("tokenize", "c", "the old")[0]["ids"]) + 1])
        self.assertEqual([two["answer"]["id"], two["against"]["id"]], [300, 301])
        self.assertEqual(long["counts"], [0, 24])
        self.assertGreater(long["dropped"][1], 3000)
        *_, grown, cut = self.run_page(page, *[["read", {"text": t}] for t in ("the old", "the old miller saw", "the mill")])
        fresh = [self.run_page(page, ["read", {"text": t}])[0] for t in ("the old miller saw", "the mill")]
        self.assertEqual([grown, cut], fresh)  # what was read before changes nothing
        long = self.json("sample", "c", "the old", "--max-tokens", 60)[-1]  # more than the model reads
        answers = self.run_page(page, *[["answer", {**asked, "text": "the old", "written": long["ids"][:n], "answer": long["ids"][n]}] for n in range(60)])
        self.close([math.log(answer["answer"]["p"]) for answer in answers], long["token_logprobs"], "what is written")
        page, asked = self.live(self.trained("pairs", **MODELS["joined"])), {**asked, "text": "old miller", "temperature": 0}
        first, = self.run_page(page, ["write", asked])
        one, two = self.run_page(page, ["answer", {**asked, "written": [260]}], ["answer", {**asked, "text": "old miller</s>old"}])
        best, = self.json("translate", "pairs", "old miller", "--beam-size", 1)
        self.assertEqual(first, (best["ids"] or [None])[0])
        self.assertTrue(one["text"].startswith("old miller</s>"), one["text"])
        self.assertEqual([t["piece"] for t in two["target"]].count("</s>"), 1)
        self.check("report", "c", "--live", "--json", status=2, facts=["--json", "excludes"])
        self.check("report", "c", "c", "c", "--live", status=2, facts="3")

    def test_white_space_and_unknown_words(self):
        """A text has the ids that it has in a terminal, and what is not seen is named."""
        ends = ["the mill", "the mill ", " the mill", "the mill  ", "the\tmill", "the\u00a0mill", "\ufeffthe mill", "the\ufeffmill", "the mill\u2028", "the mill\r"]
        tokenizers = {"char": {"type": "char"}, "byte": {"type": "byte"}, "word": {"type": "word"}, "pieces": {"type": "bpe", "vocab_size": 320}}
        for name, tokenizer in tokenizers.items():
            page = self.live(self.trained(name, **of(GPT, tokenizer=tokenizer, train__max_steps=1)))
            known = [text for text in ends if self.heed("explain", name, text).status == 0]
            read = self.run_page(page, *[["read", {"text": text}] for text in known])
            self.assertEqual([r["target_ids"] for r in read], [self.json("explain", name, text)[0]["ids"] for text in known])
            notes = self.run_page(page, *[["note", {"text": text}] for text in ends])
            self.assertEqual(notes[:4], [""] * 4)
            for text, named in (("the\u00a0mill", "U+00A0"), ("the\ufeffmill", "U+FEFF"), ("the mill\u2028", "U+2028")):
                self.assertEqual(named in notes[ends.index(text)], name != "byte", (name, notes))
            self.assertEqual("U+0009" in notes[4], name in ("char", "pieces"))
            self.assertEqual(notes[6], "")
            if name == "pieces":
                space, = self.run_page(page, ["answer", {**ASKED, "text": "the mill "}])
                self.assertEqual(space["next"][0]["id"], self.json("explain", name, "the mill ")[0]["answer"]["id"])
                self.assertEqual({n["piece"][0] for n in space["next"]}, {"▁"})
        notes = self.run_page(self.live(self.trained("pairs", **of(PAIRS, tokenizer=tokenizers["pieces"], train__max_steps=1))), *[["note", {"text": text}] for text in ("the mill", "the mill ", "\u00a0the")])
        self.assertEqual(["white space" in note for note in notes], [False, True, False])
        self.assertIn("U+00A0", notes[2])

    def test_explained(self):
        """Lens, shares and the strongest head are those of heed explain."""
        for name in ("gpt_rotary", "gpt_none", "pairs", "bert", "t5", "pieces"):
            with self.subTest(name):
                self.trained(name, **{**MODELS, "pieces": of("prefix_lm", tokenizer={"type": "bpe", "vocab_size": 320})}[name])
                text = "the [MASK] miller" if name in ("bert", "t5") else "the miller old"
                target = ("the river ",) if name == "pieces" else ()  # spaces are read with what follows them
                heeds, = self.json("explain", name, text + " " * len(target), *["--target", *target] * len(target))
                name_of = "{kind}.{layer}.{head}".format_map
                asked = {**ASKED, "text": text + " " * len(target), "target": "".join(target), "head": name_of(heeds["head"])}
                mine, = self.run_page(self.live(name), ["answer", asked])
                if target:
                    self.assertEqual([t["id"] for t in mine["target"]], heeds["ids"])
                    self.assertEqual("".join("the river "[t["begin"]:t["end"]] for t in mine["target"][1:]), "the river")
                self.assertEqual(mine["answer"]["id"], heeds["answer"]["id"])
                self.assertEqual([l["rank"] for l in mine["lens"]], [l["rank"] for l in heeds["lens"]])
                self.close([l["p"] for l in mine["lens"]], [l["probability"] for l in heeds["lens"]], "lens")
                self.assertEqual("shares" in mine, name != "gpt_none")  # which is post-norm
                if name == "gpt_rotary":  # without biases
                    self.assertEqual(len(mine["shares"]), len(heeds["shares"]))
                shares = {(p["kind"], p["layer"], p["head"]): p["share"] for p in mine.get("shares", []) if "head" in p}
                for part in heeds["shares"]:
                    if part["part"] == "head" and shares:
                        self.close([shares[part["kind"], part["layer"], part["head"]]], [part["share"]], part)
                heads = [p for p in heeds["shares"] if p["part"] == "head"]
                left = self.run_page(self.live(name), *[["without", {**asked, "row": mine["row"], "answer": mine["answer"]["id"], "without": name_of(p)}]
                                                        for p in heads])
                self.close([math.log(mine["answer"]["p"] / p) for p in left], [p["without"] for p in heads], "without")
                mine_up, heeds_up = mine["head"]["promoted"], heeds["head"]["promotes"]
                self.assertEqual([t["id"] for t in mine_up], [t["id"] for t in heeds_up])
                self.close([t["by"] for t in mine_up], [t["logit"] for t in heeds_up], "promoted")
                self.close([k["score"] for k in mine["head"]["keys"]], [k["score"] for k in heeds["head"]["keys"]][:3], "scores")

    def compare(self, name, family):
        text, target = "the old miller saw", "was near"
        if family == PAIRS:
            text, target = "the miller old", "old miller the walked"
        written = ["--target", target] if family in (PAIRS, "prefix_lm") else []
        scored, = self.json("score", name, text, *written)
        if family == "span_corruption":
            written, text = ["--target", "<extra_id_0>old"], "the [MASK] miller saw"
        shown, = self.json("attend", name, text, *written)
        mine, masked = self.run_page(self.live(name), ["read", {"text": text, "target": (written or [""])[-1].removeprefix("<extra_id_0>")}],
                                     ["masked", {"text": "the old miller saw"}] if family in FILLING else ["tokens", []])
        for kind in ("encoder", "decoder", "cross"):
            self.assertEqual(kind in mine["maps"], kind in shown, kind)
            self.close(mine["maps"].get(kind, []), shown.get(kind, []), f"{name}, {kind}")
        self.assertEqual([mine["source_ids"], mine["target_ids"]], [shown["source_ids"], shown["target_ids"]])
        first = len(mine["source_ids"]) if name == "joined" else 0  # the row of its last id predicts the target
        logprobs = masked if family in FILLING else [row[i] for row, i in zip(mine["logprobs"][first:], scored["ids"])]
        self.close(logprobs, scored["token_logprobs"], f"{name}, log-probabilities")


if __name__ == "__main__":
    unittest.main()
