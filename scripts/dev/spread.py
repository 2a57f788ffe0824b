#!/usr/bin/env python3
"""Measures spread: how much of the source refers to a capability without being part of it.

    scripts/dev/spread.py                        a table of this checkout: files and lines outside a capability's own
    scripts/dev/spread.py --at v1 --at .         of several commits or folders, side by side
    scripts/dev/spread.py --show ranks [--at v1] the lines that count
    scripts/dev/spread.py --size [--at v1]       files, lines of code and long functions of src/ (needs universal-ctags)

A capability should be a file or two, a row in a table and a command. Every other line that mentions it must be read, and
perhaps changed, along with it. A line counts if, without its comments, it mentions the capability, even in an #include or a
string. Not counted: the capability's own files (those about nothing else), src/config/ (where each key has its row), and the
table of commands. A line that is about a capability but does not name it escapes: look at --show.
"""
import argparse
import contextlib
import fnmatch
import io
import json
import pathlib
import re
import subprocess
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Capability: words as a regular expression, and its own files as patterns of their path without suffix. Both cover several
# layouts: a pattern that matches nothing does no harm. The pool and the crew are where work is done by several threads, or
# machines: naming them is no knowledge of ranks, asking who is in it or gathering from them is. Where records are written and
# read (store/run_records) is a room of all that a run writes as lines.
CAPABILITIES = {
    "ranks": (r"\bExchange\b|(?<!std::)(?<!warned\.)(?<!failed_\.)\bexchange_?\b|exchange_(mpi|partial|se|sh)|"
              r"one_process|open_exchange|(?<![.\"])\branks?_?\b(?! = 0|\"|, entropy| or | \(1)|(\.|->)ranks?\(\)|_ranks\b|"
              r"\brank_of|train/ranks|\b[Ww]ish(es)?_?\b|\blead\(|\bTask::|\b[Ss]lices_?\b|gather|\bdismiss\(|\bfollow\(|"
              r"\bspread_\b|\bmpirun\b|launcher|\bkBetweenSigns\b|\bagreed\(",
              "*/exchange */exchange_mpi */slices */ranks */launcher */crew"),
    "extend": (r"\b[Ee]xtend(s|ed|ing)?\b|kKept|\bkept_states|\"kept|kept-|RunEnd|\b(run|stored)\.end\b|logged_end|is_marked|"
               r"\bkKeep|\.keep\(|go_back|is_of_a_text|falls_?at|keep_fall|move_the_fall|[Ll]ater_?[Ee]nd|--more\b|"
               r"request\.more\b|int64_t more = 0|steps_at_speed|\bset_aside|\bSetAside\b|older_runs|before_the_fall|fall_at_end|\bfall_\b|\.at_end\b|"
               r"(visit\(|line\[|value\(|[=!]= |decay_steps.{0,12})\"end\"",
               "*/extend */later_end */set_aside"),
    "pull": (r"[Pp]ull", "*/pull"),
    "head names": (r"head_names?\b|\bHeadNames?\b|[Nn]amedHead|HeadProbe|head_in_words|HeadInWords|[Ii]nduction|"
                   r"kPatterns|\"heads\"\]|value\(\"heads\"|\.heads\.(map|length)|r\.names|--names|named-heads|\"pattern",
                   "*/head_names */head_in_words */head_patterns"),
    # On the page frames are what is shown: a page of one attention map has one, too.
    "film": (r"[Ff]ilm|RecordedFrames|(read|change|add)_frames|FrameStep|(?<!data\.)(?<!\bat\.)(?<!size_t )(?<!- )(?<!\+ )\b[Ff]rames?_?\b(?!\(|:| the text)",
             "*/film */film_listener */run_film */film_file */frame_calendar */packed_maps */packed_weights */run_records"),
    "ablation": (r"[Aa]blat(?!ed\()(?!ion(\.|;|\(kind))|show/ablation", "*/ablation */ablate */web/ablation"),
    "observer": (r"[Oo]bserver?\b|\bon_(head|layer|feed_forward|head_gradient)\b", "*/observer"),
    "EMA": (r"\bema\b|ema_decay|\baveraged_?\b(?! too)|two_sets|used_values|used_weights|\bm\.used\b|>& used;|\"raw\.", ""),
    "BLEU": (r"(?i)bleu|chrf|select_by", "*/bleu"),
    "grouped heads": (r"kv_head|kv_width|d_kv|\bkv\b|sharing", ""),
    "rotary": (r"[Rr]otary|\b[Rr]ope(_|\b)", "*/rotary"),
    "divergence": (r"(?<!Exit::)[Dd]iverge|(require|not)_finite|\.finite\b|bool finite", "*/divergence */finite"),
    "learning record": (r"\bLearning\b(?! rate)|(Matrix|draw)Learning|Learning(Record|Step)|KindEntropy|recorded_size|"
                        r"(records|print)_learning|learning_(record|json|frames)|[.\"]learning\b(?! rate)|[Ll]earning record|"
                        r"MatrixChange|ByName<Entropy>|update_ratio|(entropy_of|print_entropy)\(|(\.|->|\[\")matrices\b|"
                        r"\b(record|frame|known)(\.|\[\")entropy\b",
                        "*/learning_* */run_records"),
    "first weights": (r"[Ii]nitial_?[Ww]eights|first_weights|began_with|initial_sha256|initial\.safetensors|\"initial\"|kInitial",
                      "*/initial_weights"),
    "init-from": (r"init_from|InitFrom|init-from|[Pp]artial_?[Ww]eights|\bpartial\b|--partial", "*/partial_weights"),
    "yardsticks": (r"[Yy]ardstick|[Kk]neser|xz_size",
                   "*/yardsticks */yardsticks_listener */yardsticks_json */kneser_ney */xz_size"),
    "profile": (r"\bProfile\b|profile(?!\w*\")|\bTimed\b", "*/profile */bench */speed"),
    "branch": (r"branch_(run|point)|BranchPoint|BranchRequest|[Bb]ranched|refuse_branch|request\.branch|string branch\b|"
               r"\"branch|-branch\b|\b(the|a) branch|OnResume::branch|\* ?branch\b|\(branch\)",
               "*/branch"),
    "muon": (r"[Mm]uon|newton_schulz|NewtonSchulz", "*/newton_schulz"),
    "train TEXT": (r"TextRequest|train_on_text|\b[Ss]uggest|[Oo]wn_?[Tt]ext|StoredInput|text\.txt|say_plan|add_like|"
                   r"first_results",
                   "*/text_start */text_messages */suggested_config */own_text */speed */first_results */stored_input "
                   "cli/init"),
    "span_corruption": (r"span_corruption|SpanCorruption|[Ss]entinel|mean_span|kSpanBeam|bool span", "*/span_corruption"),
    "verify": (r"[Vv]erify|verification", "*/verify"),
    "gold": (r"[Gg]old(?!\w*en)|\bscores_text|attention_scores", "*/gold* */attention_scores */scores_text"),
    "prompt": (r"/prompt\.h|can_prompt|prompt_for_texts|prompt_stop|PromptText|histedit|libedit|\bel_\w+\(", "*/prompt"),
}
UNCOUNTED = "config/* cli/command cli/commands"
LONG = (40, 60)  # lines of a function


@contextlib.contextmanager
def tree(at):
    """A folder with src/ as it is at a commit or in a folder."""
    if (pathlib.Path(at) / "src").is_dir():
        yield pathlib.Path(at)
        return
    with tempfile.TemporaryDirectory(prefix="heed-spread-") as folder:
        packed = subprocess.run(["git", "-C", ROOT, "archive", at, "src"], stdout=subprocess.PIPE)
        if packed.returncode != 0:
            raise SystemExit(f"spread.py: {at} is neither a folder with src/ nor a commit")
        tarfile.open(fileobj=io.BytesIO(packed.stdout)).extractall(folder)
        yield pathlib.Path(folder)


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split())


def code_of(path):
    """The text without comments, line by line."""
    literal = r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    text = re.sub(rf"({literal})|//[^\n]*|/\*(?:.|\n)*?\*/", lambda found: found[1] or "\n" * found[0].count("\n"),
                  path.read_text(encoding="utf-8"))
    return text.split("\n")


def spread(root):
    """{capability: {file: [(line number, text)]}} of what mentions it outside its own files."""
    code = {path.relative_to(root / "src").as_posix(): code_of(path) for path in sorted((root / "src").rglob("*"))
            if path.suffix in (".h", ".cpp", ".js", ".html")}
    found = {}
    for capability, (words, own) in CAPABILITIES.items():
        others = {name: [(number, line.strip()) for number, line in enumerate(lines, 1) if re.search(words, line)]
                  for name, lines in code.items() if not matches(name.rsplit(".", 1)[0], f"{own} {UNCOUNTED}")}
        found[capability] = {name: lines for name, lines in others.items() if lines}
    return found


def table(places, results):
    print(f"{'':16}" + "".join(f"{place[:19]:>20}" for place in places))
    print(f"{'capability':16}" + f"{'files':>12}{'lines':>8}" * len(places))
    for capability in CAPABILITIES:
        counts = [(len(files), sum(map(len, files.values()))) for files in (result[capability] for result in results)]
        print(f"{capability:16}" + "".join(f"{files:12}{lines:8}" for files, lines in counts))


def size(root):
    """Prints how much C++ there is in src/, and each long function."""
    files = [path for path in sorted((root / "src").rglob("*")) if path.suffix in (".h", ".cpp")]
    lines = [line.strip() for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    code = sum(bool(line) and not line.startswith(("//", "#include")) for line in lines)
    tags = subprocess.run(["ctags", "--output-format=json", "--c++-kinds=f", "--language-force=c++", "--fields=+ne", "-f", "-",
                           *files], stdout=subprocess.PIPE, check=True, text=True).stdout
    functions = sorted(((tag["end"] - tag["line"] + 1, tag["name"], pathlib.Path(tag["path"]).relative_to(root / "src"))
                        for tag in map(json.loads, tags.splitlines()) if "end" in tag), reverse=True)
    print(f"{len(files)} files, {code:,} lines of code; {len(functions):,} functions, "
          + ", ".join(f"{sum(n > most for n, *_ in functions)} longer than {most} lines" for most in LONG))
    for n, name, path in functions:
        if n > LONG[0]:
            print(f"{n:4}  {path}: {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at", action="append", metavar="COMMIT|FOLDER", help="which sources (default: this checkout)")
    parser.add_argument("--show", choices=CAPABILITIES, metavar="CAPABILITY", help="print the lines that count")
    parser.add_argument("--size", action="store_true", help="files, lines and long functions")
    options = parser.parse_args()
    places, results = options.at or [str(ROOT)], []
    for place in places:
        with tree(place) as root:
            if options.size:
                size(root)
            else:
                results.append(spread(root))
    for result in results if options.show else []:
        for name, lines in result[options.show].items():
            print(*(f"{name}:{number}: {line}" for number, line in lines), sep="\n")
    if results and not options.show:
        table(places, results)


if __name__ == "__main__":
    main()
