"""heed export: folders for transformers and GGUF files. scripts/dev/check_export.py asks the programs themselves."""
import ast
import json
import re
import struct
import unittest

from runs import SMALL, RunsTest, edit_tensor, text, weights

RMS = {"family": "causal_lm", **SMALL, "model__positions": "rotary", "model__norm_type": "rms", "model__bias": False,
       "model__feed_forward": "gated", "model__activation": "silu", "model__d_ff": 32}
BPE = {"tokenizer": {"type": "bpe", "vocab_size": 330}}
VALUE = {4: "<I", 5: "<i", 6: "<f", 7: "<?"}


class Gguf:
    """A file's metadata and tensors, read the obvious way."""

    def __init__(self, path):
        self.data, self.at = path.read_bytes(), 4
        assert self.data[:4] == b"GGUF" and self.take("<I") == 3
        tensors, values = self.take("<Q"), self.take("<Q")
        self.about = {self.text(): self.value(self.take("<I")) for _ in range(values)}
        places = []
        for _ in range(tensors):
            name, dims = self.text(), [self.take("<Q") for _ in range(self.take("<I"))]
            places.append((name, dims, self.take("<I"), self.take("<Q")))
        self.begin = (self.at + 31) // 32 * 32
        self.types = {name: kind for name, _, kind, _ in places}
        self.tensors = {name: self.numbers(dims, kind, self.begin + offset) for name, dims, kind, offset in places}

    def take(self, form):
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        n = self.take("<Q")
        self.at += n
        return self.data[self.at - n:self.at].decode()

    def value(self, kind):
        if kind == 9:
            kind, n = self.take("<I"), self.take("<Q")
            assert kind != 4  # llama.cpp wants signed numbers in lists
            return [self.value(kind) for _ in range(n)]
        return self.text() if kind == 8 else self.take(VALUE[kind])

    def numbers(self, dims, kind, at):
        n = dims[0] * (dims[1] if len(dims) > 1 else 1)
        assert at % 32 == 0
        if kind == 8:
            blocks = [struct.unpack_from("<e32b", self.data, at + 34 * i) for i in range(n // 32)]
            return [block[0] * q for block in blocks for q in block[1:]]
        return list(struct.unpack_from(f"<{n}{'fe'[kind]}", self.data, at))


def merged(line, file):
    """The ids of a line by the rules of tokenizer.json: merges in their order, then bytes."""
    ids, ranks = file["model"]["vocab"], {tuple(pair): i for i, pair in enumerate(file["model"]["merges"])}
    parts = list(line)
    while True:
        found = min(((ranks[pair], i) for i, pair in enumerate(zip(parts, parts[1:])) if pair in ranks), default=None)
        if not found:
            break
        i = found[1]
        parts[i:i + 2] = [parts[i] + parts[i + 1]]
    out = []
    for part in parts:
        out += [ids[part]] if part in ids else [ids[f"<0x{byte:02X}>"] for byte in part.encode()]
    return out


class Export(RunsTest):
    RUNS = {"qwen3": {**RMS, **BPE, "model__qk_norm": True},
            "llama": {**RMS, "tokenizer": {"type": "unigram", "vocab_size": 320}, "model__tie": "none"},
            "pairs": {"family": "seq2seq", **SMALL, "model__tie": "all"},
            "two": {"family": "seq2seq", **SMALL, "model__norm": "post", "model__tie": "output",
                    "tokenizer": {"type": "char", "target": {"type": "word"}}},
            "gpt2": {"family": "causal_lm", **SMALL, "model__positions": "learned", "model__max_length": 32},
            "other": SMALL}

    def exported(self, run, *more):
        r = self.check("export", run, "out", *more, facts=[] if "gguf" in more else "out/README.md")
        self.assertEqual(r.out, "out\n")
        return self.folder / "out"

    def test_a_folder_for_transformers(self):
        folder = self.exported("qwen3")
        self.assertEqual(sorted(p.name for p in folder.iterdir()),
                         ["README.md", "config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
                          "tokenizer_config.json"])
        config = json.loads((folder / "config.json").read_text())
        self.assertEqual((config["model_type"], config["head_dim"], config["max_position_embeddings"]), ("qwen3", 8, 8))
        self.assertIn('"rms_norm_eps": 1e-05', (folder / "config.json").read_text())
        generation = json.loads((folder / "generation_config.json").read_text())
        self.assertEqual(generation["suppress_tokens"], [0, 1, 2])
        self.assertIsNone(generation["eos_token_id"])
        self.assertIs(generation["do_sample"], False)  # pipelines sample unless told
        tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
        self.assertEqual(tokenizer["padding_side"], "left")  # so that a prompt goes on where it ends
        self.assertTrue(tokenizer["split_special_tokens"])
        card = (folder / "README.md").read_text()
        for words in ("AutoModelForCausalLM", "a.txt", "| checkpoint of step | 12 |", "held-out tokens", self.state(12, "qwen3")["data_hash"], "bits per byte"):
            self.assertIn(words, card)

    def test_two_vocabularies_are_two_tokenizers(self):
        folder = self.exported("two")
        for side, kind in (("source", "BPE"), ("target", "WordLevel")):
            file = json.loads((folder / side / "tokenizer.json").read_text())
            self.assertEqual(file["model"]["type"], kind)
            size = json.loads((folder / "config.json").read_text())["decoder_" * (side == "target") + "vocab_size"]
            self.assertEqual(len(file["model"]["vocab"]), size)
        self.assertFalse((folder / "tokenizer.json").exists())
        card = (folder / "README.md").read_text()
        for words in ('"out", subfolder="source"', '"out", subfolder="target").decode'):
            self.assertIn(words, card)

    def test_names_do_not_break_out_of_the_card(self):
        data = "a|b\n\n```python\nimport os`<b>[x](y)\x1b[31m.txt"
        (self.folder / data).write_bytes((self.folder / "a.txt").read_bytes())
        self.train(self.config("odd", **{**self.RUNS["qwen3"], "train__max_steps": 1}, data={"train": data, "valid_fraction": 0.1}), "odd")
        for name in 'x"); import os; ("\\', "n\n```\nx\u202e", "\U0001f422 '":
            self.check("export", "odd", name)
            card = (self.folder / name / "README.md").read_text()
            self.assertEqual(re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", card), [])
            self.assertEqual([line for line in card.splitlines() if line.startswith("```")], ["```python", "```"])
            self.assertIn("| data | a\\|b", card)
            code = ast.parse(card.split("```python\n")[1].split("```\n")[0])
            names = [node.value for node in ast.walk(code) if isinstance(node, ast.Constant)]
            self.assertEqual(names.count(name), 2, card)

    def test_texts_end_where_heed_begins_again(self):
        folder = self.exported("gpt2")
        config, generation = (json.loads((folder / f"{name}.json").read_text()) for name in ("config", "generation_config"))
        self.assertEqual((config["model_type"], config["n_positions"], generation["max_length"]), ("gpt2", 32, 1 + 8))

    def test_the_tokenizer_gives_the_same_ids(self):
        file = json.loads((self.exported("qwen3") / "tokenizer.json").read_text())
        lines = text(60, seed=3).splitlines() + ["  two  spaces\tand a tab ", "äöü 漢字 🐢", "<s> </s> <0x41>", "\u2581 mill"]
        (self.folder / "lines").write_text("\n".join(lines) + "\n")
        told = self.json("tokenize", "qwen3", "--file", "lines")
        for line, one in zip(lines, told, strict=True):
            self.assertEqual(merged(line, file), one["ids"], line)

    def test_a_text_is_cut_where_it_is_spelt_like_a_byte_or_a_special_token(self):
        file = json.loads((self.exported("llama") / "tokenizer.json").read_text())
        self.assertEqual(file["pre_tokenizer"]["behavior"], "MergedWithPrevious")  # " <" may be a piece
        for name, score in file["model"]["vocab"][:3 + 256]:
            cut = re.search(file["pre_tokenizer"]["pattern"]["Regex"], name)
            self.assertEqual((cut and cut.group(), score), ("<", 0), name)

    def test_pairs_end_and_start_as_in_heed(self):
        folder = self.exported("pairs")
        config = json.loads((folder / "config.json").read_text())
        self.assertEqual((config["decoder_start_token_id"], config["forced_eos_token_id"], config["eos_token_id"]), (1, None, 2))
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        self.assertEqual([next(iter(part)) for part in tokenizer["post_processor"]["single"]], ["Sequence", "SpecialToken"])
        self.assertEqual(json.loads((folder / "tokenizer_config.json").read_text())["padding_side"], "right")
        card = (folder / "README.md").read_text()
        self.assertIn("AutoModelForSeq2SeqLM", card)
        self.assertRegex(card, r"\| data \| [^/|]+ pairs \|")  # where it is is nobody's business

    def test_gguf(self):
        theirs = weights(self.exported("qwen3") / "model.safetensors")
        ours = weights(self.checkpoints("llama") / "best" / "model.safetensors")
        for kind, error in ("f32", 0), ("f16", 1e-3), ("q8_0", 2e-2):
            self.check("export", "qwen3", kind, "--to", "gguf", "--type", kind)
            file = Gguf(self.folder / kind / "model.gguf")
            for name, part in ("attn_q.weight", "self_attn.q_proj.weight"), ("ffn_down.weight", "mlp.down_proj.weight"):
                for a, b in zip(file.tensors["blk.0." + name], theirs["model.layers.0." + part], strict=True):
                    self.assertAlmostEqual(a, b, delta=error)
            self.assertEqual(file.types["blk.0.attn_q_norm.weight"], 0)
        self.assertEqual(file.types["blk.0.ffn_down.weight"], 8)
        self.assertEqual(file.types["blk.0.ffn_up.weight"], 1)  # its rows are 16 wide
        self.assertEqual((file.about["general.architecture"], file.about["general.name"]), ("qwen3", "q8_0"))
        self.assertEqual(file.about["tokenizer.ggml.tokens"][:4], ["<unk>", "<s>", "</s>", "<0x00>"])
        self.check("export", "llama", "l", "--to", "gguf", "--type", "f32")
        file = Gguf(self.folder / "l" / "model.gguf")
        self.assertEqual(file.tensors["blk.0.attn_q.weight"], ours["decoder.layers.0.self_attn.q_proj.weight"])
        self.assertIn("output.weight", file.tensors)

    def test_weights_beyond_float16_are_refused(self):
        def scaled(factor):
            edit_tensor(self.checkpoints("qwen3") / "best/model.safetensors", "decoder.layers.0.fc2.weight", factor)

        def refused(*options):
            self.check("export", "qwen3", "out", "--to", "gguf", *options, status=2, facts=["blk.0.ffn_down.weight", "65504", "--type f32"])
            self.assertEqual([*self.folder.glob("*out*")], [])

        scaled(-65600)
        refused()
        self.check("export", "qwen3", "q8", "--to", "gguf", "--type", "q8_0")
        scaled(127 * 65600)
        refused("--type", "q8_0")
        self.check("export", "qwen3", "out", "--to", "gguf", "--type", "f32")
        self.assertEqual(Gguf(self.folder / "out" / "model.gguf").tensors["blk.0.ffn_down.weight"][0], 127 * 65600)

    def test_an_export_is_no_run(self):
        config = self.config("new", **self.RUNS["llama"])
        self.check("export", "qwen3", "hf")
        self.check("export", "qwen3", "gg", "--to", "gguf")
        for folder in "hf", "gg":
            self.train(config, "next", "--init-from", folder, status=4, facts="other programs")
            self.check("evaluate", folder, status=4, facts="other programs")
        self.check("evaluate", "gg/model.gguf", status=4, facts="other programs")
        self.check("train", "hf/model.safetensors", status=3, facts="model.safetensors")

    def test_what_no_class_computes_is_refused_by_key(self):
        self.check("export", "other", "out", status=2, facts=["prefix_lm", "seq2seq"])
        for run, words in ("pairs", "model.encoder_layers"), ("other", "no class of gguf"), ("gpt2", "model.norm_type"):
            self.check("export", run, "out", "--to", "gguf", status=2, facts=words)
        self.check("export", "qwen3", "typed", "--type", "f16", facts="--to gguf")
        self.assertEqual([*self.folder.glob("*out*"), *self.folder.glob("*new*")], [])

    def test_nothing_is_overwritten_or_half_written(self):
        self.exported("qwen3")
        for place in "out", "out/", "a.txt", "":
            self.check("export", "qwen3", place, status=2)
        before = self.snapshot("qwen3")
        for place in "qwen3/out", "qwen3/checkpoints/out", "qwen3/checkpoints/best/out", "qwen3":
            self.check("export", "llama", place, status=2)
        self.assertEqual(self.snapshot("qwen3"), before)
        self.judge(self.limited("-f 4", "export", "qwen3", "small"), ["export"], 4, [])
        self.check("export", "qwen3", "a.txt/out", status=4)
        self.assertEqual([*self.folder.glob("*small*")], [])

    def test_an_empty_folder_stays_what_it_is(self):
        (self.folder / "target").mkdir()
        (self.folder / "target").chmod(0o2710)
        (self.folder / "out").symlink_to("target")
        before = (self.folder / "target").stat()
        r = self.limited("-f 4", "export", "qwen3", "out")
        self.assertEqual((r.status, [*(self.folder / "target").iterdir()]), (4, []), r.err)
        self.exported("qwen3")
        after = (self.folder / "target").stat()
        self.assertEqual((after.st_mode, after.st_ino), (before.st_mode, before.st_ino))
        self.assertEqual(len([*(self.folder / "target").iterdir()]), 6)
        self.assertTrue((self.folder / "out").is_symlink())
        self.check("export", "qwen3", "a/new/place/")  # parents are made
        self.assertEqual(len([*self.folder.glob("a/new/place/*")]), 6)

    def test_of_several_at_once_one_wins(self):
        expected = [{"model.gguf"}, {"README.md", "config.json", "generation_config.json", "model.safetensors", "tokenizer.json",
                                     "tokenizer_config.json"}]
        for i in range(6):
            place = self.folder / f"at_once_{i}"
            if i % 2:
                place.mkdir()
            exports = [self.spawn("export", run, place.name, "--to", to)
                       for run, to in (("qwen3", "huggingface"), ("llama", "gguf"), ("llama", "huggingface"), ("qwen3", "gguf"))]
            for export in exports:
                export.communicate()
            codes = sorted(export.returncode for export in exports)
            self.assertEqual(codes[0], 0)
            self.assertLessEqual(set(codes[1:]), {2, 4})
            self.assertIn({path.name for path in place.iterdir()}, expected)
            if (place / "config.json").exists():
                one = json.loads((place / "config.json").read_text())["model_type"] == "qwen3"
                self.assertEqual(one, '"BPE"' in (place / "tokenizer.json").read_text())
        self.assertEqual([*self.folder.glob("**/.tmp-*")], [])

    def test_a_model_with_nan_is_refused(self):
        edit_tensor(self.checkpoints("qwen3") / "best/model.safetensors", "decoder.norm.weight", float("nan"))
        self.check("export", "qwen3", "out", status=4, facts="NaN")
        self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
