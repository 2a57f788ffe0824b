"""One table of what is refused or warned of: a command line, the exit code, and the facts that its message must have."""
import gzip
import lzma
import os
import shlex
import shutil
import unittest

from runs import SMALL, RunsTest, stands_in, text

PLAIN = text(3000).encode()
DAMAGED = bytearray(gzip.compress(PLAIN, 0))  # stored uncompressed: only the checksum can tell
DAMAGED[len(DAMAGED) // 2] ^= 1
FILES = {  # of all rows
    "empty": b"", "latin1": b"one\ntwo\ncaf\xe9\n", "one_token": b"a", "one_kind": b"a" * 1000,
    "good": b"good\n", "bad/cut": b"\xc3", "damaged": DAMAGED, "packed.xz": lzma.compress(PLAIN), "packed": gzip.compress(PLAIN),
    "odd16": "the river\n".encode("utf-16-le"), "odd16be": "the river\n".encode("utf-16-be"), "odd32": "the river\n".encode("utf-32"),
    "program.bin": b"\x7fELF\0", "nul": b"the\0river\n", "wide.json": '{"data": {"train": "a.txt"}}'.encode("utf-16"),
    "longer.source": b"one\ntwo\n", "one.source": b"one\n", "one.target": b"eins\n", "latin1.source": b"one\nf\xfcr\n",
    "two.target": b"eins\nzwei\n", "odd.tsv": b"one\teins\ntwo zwei\n", "three.tsv": b"a\tb\tc\n" * 40, "none.tsv": b"\n\tx\n",
    "p.tsv": b"a b\tc\n\n\tx\n" + b"a\tb c\nb\ta\n" * 40, "long.tsv": b"\n\na\t" + b"b " * 800 + b"\n",
    "text.json": b"hello", "comma.json": b'{"data": {"train": "a.txt"},\n "seed": 1,\n}', "twice.json": b'{"seed": 1, "seed": 2}',
    "joey.yaml": b"training:\n  epochs: 3\n", "records.json": b'[{"text": "not a config"}]', "data/downloads/some.txt": b"a",
    "hf/pytorch_model.bin": b"", "hf/config.json": b"", "hf/merges.txt": b"the mill\n" * 40,
    "gpt/meta.pkl": b"", "gpt/config.json": b"{}", "gpt/merges.txt": b"the mill\n" * 40, "x.pt": b"", "x.pkl": b"", "x.safetensors": b"",
    "new/model.safetensors": b"", "new/generation_config.json": b"", "sharded/model-00001-of-00002.safetensors": b"",
    "same.txt": b"the river and the mill and the stone\n" * 40, "page.xml": b"<!DOCTYPE html>\n<p>text</p>\n" * 40,
    "b": b'{"sentence_good": "the mill", "sentence_bad": "mill the"}\n',
    "j": b'{"text": "the mill"}\n' * 20, "bytes": bytes(range(256)) * 8, "lines": b"the old\nthe mill\n",
}
# ROWS[status]: lines "command => facts, separated by commas". NEW: train c.json --run new --set; PAIRS: train pairs.json, likewise.
ROWS = {2: r"""
    confg => confg, config
    --nonsense => heed --help
    config => --schema, --docs
    config --schema --docs => CONFIG, --schema, --docs
    config --bad => --bad, heed config --help
    config /nonexistent.json => /nonexistent.json, no such file
    config a.json --set => --set, heed config --help
    sample run --temprature 0.3 => --temprature, --temperature
    sample run --top=3 => --top=3, --top-k, --top-p
    evaluate run another => another, heed evaluate --help
    evaluate run -- --foo => --foo, heed evaluate --help
    evaluate run - => heed evaluate --help
    eval run => eval, evaluate
    traim c.json => traim, train
    serve => translate
    play => report, --live, live.html
    a.txt => heed train a.txt
    c.json => heed train c.json
    run => heed sample run
    pairs => heed translate pairs
    delete run => rm -r runs
    train => CONFIG
    resume => RUN
    train c.json more => more, c.json
    train "" => heed train --help
    init "" => heed init --help
    evaluate run --file "" => heed evaluate --help
    score run --file "" => heed score --help
    train.py a.txt => train.py, "train"
    train a.json --lr 1e-3 => --lr, --set optimizer.learning_rate=VALUE
    train a.json --max-iters=9 => --set train.max_steps=VALUE
    train a.json --batch-size 12 => --set train.batch_tokens=VALUE
    train a.json --d-model => --set model.d_model=VALUE
    train a.json --output-dir x => --output-dir, --run
    train a.json --device cuda => --device, CPU
    train x.json --profile => heed bench
    train x.json --context 64 => objective.target_length
    train a.txt -minutes 5 => -minutes, --minutes
    train a.txt --minutes five => --minutes, 0.001, 1000000
    train a.txt --threads 1.5 => --threads, 0, 1024
    train c.json --thread 1 => --threads
    train c.json --threads 100000 => 1024
    train c.json --stop-at 0 => 1
    train c.json --set => KEY=VALUE, heed train --help
    train c.json --set model.d_model => KEY=VALUE
    train c.json --set =3 => KEY=VALUE
    train c.json --run "" => --run, heed train --help
    train c.json --init-from "" => --init-from, heed train --help
    train run => heed resume run
    bench c.json --steps 0 => 1
    average run => --last
    average run --best 2 => --last
    gradcheck a.txt => heed init a.txt
    config a.txt => heed init a.txt
    attend run --layer -2 => --layer, -1, -2
    attend run --gold x => scripts/gold.py
    attend run --source text => TEXT, --file
    score pairs the --target-file lines => --file, --target-file
    score pairs --file lines --target t => --file, heed score --help
    score pairs --target the => TEXT
    score pairs --target-file lines => --file
    score run the --target t => TEXT
    sample run the old --max-token --top => --max-tokens
    tokenize run the -x => heed tokenize --help
    attend run --output a.html => --output, --html
    attend run --file lines --json --html page.html => no --html
    report run --out a.html => --out, --html
    sample run the --seed 1 --seed 2 => heed sample --help
    sample run --top-p 0 => 1e-09, 1
    sample run --temperature -1 => 0
    sample run --top-k 2147483648 => 2147483647
    sample run --seed 18446744073709551616 => 18446744073709551615
    sample run --min-p 1.1 => 0, 1
    sample run --repetition-penalty 0 => 0.01
    sample run --length 5 => --length, --max-tokens
    sample --model run => --model, RUN
    sample run --prompt text => TEXT, --file
    sample run --prompt-file text => --file
    resume run --more 1e3.5 => 500000000000
    resume run --more 0 => heed resume --help
    resume run --max-steps -3 => heed resume --help
    resume run --max-steps 9223372036854775807 => heed resume --help
    resume run --more 1 --max-steps 30 => heed resume --help
    train c.json --run a.txt => a.txt
    translate run the => heed sample
    translate run --length-penalty nan => 0, 10
    translate run --input lines => --file
    evaluate run --length-penalty 11 => 0, 10
    evaluate run --data a.txt => --file
    evaluate run --source a.txt => --file
    evaluate run --target a.txt => --target, --target-file
    evaluate pairs --file - --target-file - => standard input
    neighbors run --export x => model.safetensors
    tokenize run --source => --side
    inspect run --lr 1 => heed inspect --help
    compare characters words --file j => j, JSON, jq -r .KEY
    sample run --stop "" => heed sample --help
    sample run -s 3 => --stop, --seed
    evaluate run --stride 9 => target_length, 8
    resume run --more => heed resume --help
    train a.txt --resume => RUN
    train c.json --layers 3 => --set model.decoder_layers=VALUE
    train quikstart => quickstart, reverse
    train quickstart.json => quickstart.json
    train a.txt c.json => c.json
    train joey.yaml => heed init, heed train - < joey.yaml
    train a.txt --minutes 0 => 0.001
    train c.json --like gpt => c.json, --like, train - <
    train a.txt --set model.d_modle=8 => model.d_model
    attend pairs --target b => TEXT
    attend pairs the --file a => TEXT
    attend pairs --target a --target-file a => heed attend --help
    attend pairs the --head 2 => 0, 1
    attend pairs the --layer 2 => 0
    attend pairs the --kind cross --layer 1 => 0
    attend pairs the --kind both => kind
    attend pairs the --json --html - => standard output
    config c.json --set optimizer.lr=1 => optimizer.learning_rate
    config c.json --set n_layer=1 => model.decoder_layers
    config c.json --set train.batch_size=1 => train.batch_tokens
    config c.json --set model.block_size=1 => objective.target_length
    config c.json --set model.d_modle=1 => model.d_model
    config c.json --set train.device=1 => CPU
    train no.json --run new => no.json
    train text.json --run new => text.json:1
    train comma.json --run new => comma.json:3
    train twice.json --run new => seed
    train wide.json --run new => UTF-16
    NEW model.d_model=eight => eight
    report run --html run/config.json => run/config.json
    attend run the --html run/config.json => run/config.json
    report run --html run/metrics.jsonl => run/metrics.jsonl
    report run --html run/text.txt => run/text.txt
    report run --html run/checkpoints/last/model.safetensors => run/checkpoints/last/model.safetensors
    report run --html run/checkpoints/step-00000008/page.html => run/checkpoints/step-00000008/page.html
""", 3: r"""
    NEW data.train=none.txt => none.txt, data.train
    NEW data.train=empty => empty
    NEW data.train=bad => bad/cut, UTF-8
    NEW data.train=- => standard input, heed train -
    NEW data.train=pipe => pipe
    NEW data.train=/dev/zero => /dev/zero
    NEW data.train=LONG => File name too long
    NEW data.train=latin1 => latin1:3, UTF-8, 0xE9
    NEW data.train=a.txt/b => a.txt/b
    NEW data.train=one_token => data.valid_fraction
    NEW data.train=one_kind => 1
    NEW data.train=damaged => damaged
    NEW data.train=packed.xz => packed.xz, xz -dc FILE | heed
    NEW data.train=odd16 => odd16, UTF-16LE
    NEW data.train=nul => nul, value 0
    train sub/c.json --run new --set data.train=../data/downloads/shakespeare.txt => scripts/get_data.sh shakespeare, --set data.train=PATH
    train sub/c.json --run new --set data.train=../data/downloads/multi30k/train.en => scripts/get_data.sh multi30k, --set data.train=PATH
    NEW data.train=/usr/share/heed/data/downloads/some.txt => --set data.train=HERE/data/downloads/some.txt
    train sub/c.json --run new => HERE/sub/a.txt, --set data.train=HERE/a.txt
    PAIRS data.source=longer.source --set data.target=one.target => longer.source, 2, one.target, 1
    PAIRS data.source=latin1.source --set data.target=two.target => latin1.source:2, UTF-8
    PAIRS data.source=one.source --set data.target=one.target => valid_fraction
    PAIRS data.source=null --set data.target=null --set data.pairs=odd.tsv => odd.tsv:2, 1 column
    PAIRS data.source=null --set data.target=null --set data.pairs=p.tsv --set data.valid_pairs=none.tsv \
        --set data.valid_fraction=null => none.tsv:1, 2 of 2
    PAIRS data.source=null --set data.target=null --set data.pairs=p.tsv --set data.valid_pairs=long.tsv \
        --set data.valid_fraction=null --set model.positions=learned => 3
    train empty => empty
    train hollow => hollow
    train nothing.txt => nothing.txt
    train https://example.org/a.txt => curl -LO https://example.org/a.txt
    train program.bin => program.bin, a program, UTF-8
    train one_token => 1
    train quikstart.txt => quickstart
    train HERE/c => c.json
    sample run --file HERE => Is a directory
    sample run --file none => none, No such file or directory
    score pairs --file a.source --target-file one.target => a.source, 120, 1
    evaluate run --file none.txt => none.txt, check the path
    attend pairs "" => the text
    attend pairs zebra => 'zebra'
    attend pairs --file /nonexistent --json => /nonexistent
    init none.tsv --like pairs => none.tsv:1, 2 of 2
    init three.tsv => three.tsv, 3, --columns 1,3:2, --like gpt
    init hf --output - => pytorch_model.bin
    neighbors run "the zzz" => zzz
    neighbors run the-river => the-river
    neighbors run the - the => other words
    neighbors run the-a+old => the-a+old
    score pairs the old => |||
    score run --file nul => value 0
    tokenize run --json --file odd16be => UTF-16BE
    attend run --json --file odd32 => UTF-32
    sample run --file nul => value 0
    evaluate run --json --file odd32 => UTF-32
""", 4: r"""
    sample hf the => hf, pytorch_model.bin
    sample new the => new, model.safetensors
    sample sharded the => model-00001-of-00002.safetensors
    sample plain/model.safetensors the => plain/model.safetensors, plain
    sample bare the => model.safetensors
    sample stateless/checkpoints/step-00000012 the => state.json
    evaluate x.pt => x.pt
    evaluate x.safetensors => x.safetensors
    evaluate run/checkpoints/step-00000012/model.safetensors => run/checkpoints/step-00000012
    report run --html nowhere/page => nowhere/page
    report run --html one_kind/page => one_kind/page
    attend run the --html nowhere/page => nowhere/page
    report HERE/none => HERE/none
    train c.json --run a.txt/run => a.txt
    train c.json --run a.txt --force => a.txt
    train c.json --run hollow --force => hollow
    attend pairs the --checkpoint step-11 => step-11, pairs, best, last, step-00000012
    evaluate run --checkpoint average-1-2 => average-1-2, run, step-00000012
    evaluate run --checkpoint .. => run, best, step-00000012
    evaluate run --checkpoint . => run, best, step-00000012
    evaluate run --checkpoint /no/where => /no/where
    evaluate hollow => hollow, checkpoints/
    resume HERE/none => HERE/none
    resume hollow => hollow, check the path
    resume run/checkpoints/last => run/checkpoints/last
    resume a.txt => a.txt
""", 7: r"""
    NEW model.d_model=20000 --set model.d_ff=80000 --set model.encoder_layers=60 => memory
""", 0: r"""
    NEW data.train=same.txt --set data.valid=same.txt --set data.valid_fraction=null --stop-at 1 => warning:
    NEW data.train=bytes --set tokenizer.type=byte --stop-at 2 => stopped and saved at step 2
    PAIRS data.source=null --set data.target=null --set data.pairs=p.tsv --stop-at 1 => 2, 83, p.tsv:2
    train page.xml --run new --minutes 0.01 --set train.max_steps=2 => page.xml, HTML
    init gpt --output - => merges.txt
    NEW data.train=packed --stop-at 2 => stopped and saved at step 2
    init p.tsv --output - => 2, 83, p.tsv:2
    score characters --file b --against b => b, jq -r .sentence_good, jq -r .sentence_bad
    score characters --file j => j, JSON, jq -r .KEY
    tokenize run the --side source => encoder
    sample run the --min-tokens 9 --max-tokens 2 => pairs
    sample run the --temperature 0 --seed 3 --max-tokens 1 => --temperature
    tokenize characters --file j => j, JSON, jq -r .KEY
    sample characters --file j --max-tokens 1 => j, JSON, jq -r .KEY
    evaluate characters --file j => j, JSON, jq -r .KEY
    evaluate pairs --file j --target-file j => j, JSON, jq -r .KEY
    init j --output - => j, JSON, jq -r .KEY
"""}


class Refusals(RunsTest):
    RUNS = {"run": {**SMALL, "family": "causal_lm", "tokenizer": {"type": "word"}}, "characters": SMALL,
            "words": {**SMALL, "tokenizer": {"type": "word"}}, "pairs": {**SMALL, "family": "seq2seq"}}

    def commands(self):
        """Yields status, the words of the command, its facts."""
        here = str(self.folder)
        for status, rows in ROWS.items():
            for number, line in enumerate(rows.replace("\\\n", "").strip().split("\n")):
                command, _, facts = line.strip().partition(" => ")
                for name, value in (("NEW", "train c.json --run new --set"), ("PAIRS", "train pairs.json --run new --set"),
                                    ("--run new", f"--run made/{status}-{number}"), ("LONG", "a" * 5000), ("HERE", here)):
                    command = command.replace(name, value)
                words = shlex.split(command)
                yield status, words, facts.replace("HERE", here).split(", ")

    def test_every_row(self):
        f = self.folder
        for name, content in FILES.items():
            (f / name).parent.mkdir(parents=True, exist_ok=True)
            (f / name).write_bytes(content)
        for folder in ("hollow/deeper", "sub"):
            (f / folder).mkdir(parents=True)
        os.mkfifo(f / "pipe")
        for name, changes in (("c", {}), ("pairs", {"family": "seq2seq"}), ("sub/c", {})):
            self.config(name, **changes)
        for name in ("plain", "bare"):
            shutil.copytree(self.checkpoints() / "best", f / name)
        for name in ("state.json", "training.safetensors"):
            (f / "bare" / name).unlink()
        shutil.copytree(f / "run", f / "stateless", symlinks=True)
        (self.checkpoints("stateless") / "step-00000012/state.json").unlink()
        before = self.snapshot()
        rows = list(self.commands())
        for (status, words, facts), r in zip(rows, self.at_once([words for _, words, _ in rows])):
            with self.subTest(" ".join(words)[:200]):
                self.judge(r, words, status, facts)
                self.assertTrue(status != 2 or r.out == "", r.out)
        self.assertEqual(self.snapshot(), before)
        self.assertEqual({path.name[0] for path in f.glob("made/*")}, {"0"})  # only of rows that are not refused

    def test_a_text_without_permission_is_named(self):
        (self.folder / "a.txt").chmod(0)
        r = self.as_nobody("train", self.config(), "--run", "new")
        self.judge(r, ["train"], 3, ["a.txt", "Permission denied"])

    def test_what_a_refusal_proposes_works(self):
        for args in (["fill", "characters", "x"], ["translate", "run", "the"], ["ablate", "run", "--x"], ["train", "run"],
                     ["train", self.config(), "--stop-at", 0], ["bench", self.config(), "--steps", 0], ["average", "run", "--last", 0],
                     ["resume", "run", "--more", 1, "--max-steps", 30]):
            with self.subTest(args):
                self.works(self.check(*args, status=2).err)

    def test_a_fact_stands_as_whole_words_and_numbers(self):
        for told, fact in [("at step 20.", "20"), ("16, 20", "20"), ("1,500 tokens", "1,500"), ("is 0.1", "0.1"), ("step-1", "1"),
                           ("x 10.1, 0.1", "0.1"), ("a.json:3: no", "3"), ("from 0 to 1", "0 to 1"), ("try: --more N", "--more"),
                           ("step 20\nbranched", "branched")]:
            self.assertTrue(stands_in(told, fact), told)
        for told, fact in [("is 0.1", "1"), ("is 0.1", "0"), ("1,500 tokens", "1"), ("1,500 tokens", "500"), ("1e-4", "4"),
                           ("found -1", "1"), ("step 120", "20"), ("words", "word"), ("", "any")]:
            self.assertFalse(stands_in(told, fact), told)
        self.assertRaises(AssertionError, stands_in, "any", "")


if __name__ == "__main__":
    unittest.main()
