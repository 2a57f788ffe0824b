#!/usr/bin/env python3
"""Measures spread: how many source files refer to a capability without being part of it.

    scripts/dev/spread.py [--files] [ROOT]      a table; ROOT: another checkout; --files: also the names

A capability should be a file or two, a row in a table and a command. Every other file that mentions it must be read, and
perhaps changed, along with it. A file counts if its code mentions the capability, even in an #include or a string;
comments do not count. Nor do the capability's own files, src/config/ (where each key has its row) and the table of
commands.
"""
import argparse
import fnmatch
import pathlib
import re
import sys

# Capability: words as a regular expression, and its own files as patterns of their path without suffix. The patterns may
# cover several layouts: one that matches no file does no harm.
CAPABILITIES = {
    "BLEU": (r"(?i)bleu|chrf|select_by", "*/bleu */chrf */ngrams */translation_metric"),
    "first weights": (r"init_from|[Ii]nitial_?[Ww]eights|first_weights|initial_sha256|initial\.safetensors|\"initial\"",
                      "*/initial_weights"),
    "profile": (r"\bProfile\b|profile(?!\w*\")|\bTimed\b", "*/profile */bench */speed"),
    "film": (r"[Ff]ilm", "*/film */film_listener */run_film */film_file"),
    "yardsticks": (r"[Yy]ardstick|[Kk]neser|xz_size", "*/yardsticks */yardsticks_listener */yardsticks_json */kneser_ney */xz_size"),
    "EMA": (r"\bema\b|ema_decay|averaged(?! too)|best_values|\"raw\.", ""),
    "learning record": (r"\bLearning\b|(Matrix|draw)Learning|Learning(Record|Step)|KindEntropy|recorded_size|"
                        r"(records|print)_learning|learning_(record|json)|[.\"]learning\b(?! rate)|[Ll]earning record",
                        "*/learning_*"),
    "divergence": (r"[Dd]iverge|(require|not)_finite|\.finite\b|bool finite", "*/divergence */finite"),
    "grouped heads": (r"kv_head|kv_width|d_kv|\bkv\b|sharing", ""),
    "rotary": (r"[Rr]otary|\b[Rr]ope(_|\b)", "*/rotary"),
    "muon": (r"[Mm]uon|newton_schulz|NewtonSchulz", "*/newton_schulz"),
    "train TEXT": (r"TextRequest|train_on_text|\b[Ss]uggest|[Oo]wn_?[Tt]ext|StoredInput|text\.txt|say_plan|add_like|"
                   r"first_results",
                   "*/text_start */text_messages */suggested_config */own_text */speed */first_results */stored_input "
                   "cli/init"),
    "span_corruption": (r"span_corruption|SpanCorruption|[Ss]entinel|mean_span|kSpanBeam|bool span",
                        "*/span_corruption"),
    "branch": (r"\"--branch|branch_run|branched|request\.branch|string branch|branch fork|\"of a branch", "*/branch */resume"),
    "verify": (r"[Vv]erify|verification", "*/verify"),
    "gold": (r"[Gg]old(?!\w*en)|\bscores_text|attention_scores", "*/gold* */attention_scores */scores_text"),
}
UNCOUNTED = "config/* cli/command cli/commands"


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split())


def code_of(path):
    """The text without comments."""
    text = path.read_text(encoding="utf-8")
    literal = r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(rf"({literal})|//[^\n]*|/\*(?:.|\n)*?\*/", lambda found: found[1] or " ", text)


def spread(root):
    """{capability: (own files, other files that mention it)}, as paths in src/ without suffix."""
    files = {path.relative_to(root / "src").as_posix(): path for path in sorted((root / "src").rglob("*"))
             if path.suffix in (".h", ".cpp", ".js", ".html")}
    code = {name: code_of(path) for name, path in files.items()}
    found = {}
    for capability, (words, patterns) in CAPABILITIES.items():
        own = [name for name in files if matches(name.rsplit(".", 1)[0], patterns)]
        others = [name for name in files if name not in own and not matches(name.rsplit(".", 1)[0], UNCOUNTED) and
                  re.search(words, code[name])]
        found[capability] = own, others
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--files", action="store_true")
    options = parser.parse_args()
    print(f"{'capability':16} {'own':>5} {'outside':>8}")
    for capability, (own, others) in spread(options.root).items():
        print(f"{capability:16} {len(own):5} {len(others):8}")
        if options.files:
            print(*(f"    {name}" for name in others), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
