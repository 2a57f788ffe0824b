#!/usr/bin/env python3
"""Takes a capability out of a copy of heed: how much of the rest knows of it?

    scripts/dev/without.py NAME [NAME...]    takes each out by itself, builds what is left and runs its tests
    scripts/dev/without.py NAME --build      likewise, but runs no tests
    scripts/dev/without.py --check           only checks that the files and the lines of all rows are found

Prints how many lines of src/ had to go outside the capability's own files, and how many of tests. A capability is a row of ROWS:
its own files (with ~ those that are its own in part, and stay); what tests of it name (a test elsewhere that does is cut); edits
of files that stay. An edit is a file and a regular expression of the lines to take out, or, with a third part, of a text to
replace. Exits with 1 if one is not found, or if what is left does not build or fails a test. The copy is build-without/tree, and is kept, so that only what a name changes is built.
"""
import argparse
import concurrent.futures
import difflib
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / "build-without/tree"
BUILD = TREE / "build"  # heed looks for ../configs
CMAKE = ["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja"]


def command(name, *edits, own="", named="", help=True, rows=True):
    """A row of a command in files of its own."""
    return (f"src/cli/{name}.* {own}" + (f" src/cli/help/{name}.txt" if help else ""), rf'"{name}"|heed {name}\b' + (named and f"|{named}"),
            [("src/cli/commands.cpp", rf'^    {{"{name}",'), ("src/cli/command.h", rf"\brun_{name}(_command)?,\s*|,\s*run_{name}(_command)?\b", ""),
             *([("tests/cli/refusals_test.py", rf"^    {name} ")] if rows else []), *edits])


# It asks as explain does.
WHENCE = "src/cli/whence.cpp src/cli/help/whence.txt src/train/whence.* src/show/attributions.* src/show/web/whence.js tests/cli/whence_test.py tests/train/whence_test.cpp"
WHENCE_PAGE = [("src/show/live_page.cpp", 'attributions'),
               ("src/show/web/live.html", r'(?s)<section id="taught".*?</section>\n', ""), ("src/show/web/live.html", r"#taught|{{whence.js}}")]
# {name: (its own files, what tests of it name, [(file, lines or text, instead?)])}
ROWS = {
    "explain": command("explain", ("src/cli/commands.cpp", r'^    {"whence",'), ("src/cli/command.h", r",\s*run_whence\b", ""),
                       ("src/cli/answers.h", r'include "show/explain'), ("src/cli/answers.h", r"(?s)// What the model reads, and the row.*?against = {}\);\n", ""), *WHENCE_PAGE,
                       rows=False, named='"whence"', own="src/show/explain.* tests/cli/explain_test.py tests/show/explain_test.cpp " + WHENCE),
    "whence": command("whence", ("src/step/optimizers.h", r"using Reverse =|Reverse reverse ="),
                      ("src/step/optimizers.cpp", r"(?s)^(// With s = rate|// Also without momentum|void \w+_reverse\().*?^}\n\n", ""),
                      ("src/step/optimizers.cpp", r",\s+(adam|sgd)_reverse", ""), ("src/step/optimizers.cpp", r" +nullptr,\n", ""),
                      ("src/step/gradients.cpp", r", rows};", "};"), ("src/step/gradients.cpp", r"rows && s < shard|options\.rows \+="),
                      ("src/step/gradients.cpp", r",\s+double\* rows\)", ")"), ("src/step/gradients.h", r",\s+double\* rows = nullptr", ""),
                      ("src/nn/loss.h", r"double\* rows ="), ("src/nn/loss.cpp", "options.rows"), *WHENCE_PAGE, rows=False, own=WHENCE),
    "compare": command("compare", ("src/cli/report.cpp", r"add_comparisons\(data"), ("src/cli/answers.h", r"^void add_comparisons"),
                       ("src/cli/evaluate.cpp", r'(?s)  if \(!other\.empty\(\)\) {.*?\n  }\n|  line\.add_file\("--to", other[^;]*;\n', ""),
                       ("src/cli/answers.h", r"(?s)// Of two files with translations.*?;\n", ""), named='compared|"bleu".*--to|"--to", "wide"', own="tests/cli/compare_test.py tests/pages/check_comparison_page.py"),
    "ablate": command("ablate", ("src/show/ablation.cpp", r"(?s)^(Json ablate|// What it is: {|double sum_of).*?^}\n\n", ""),
                      ("src/show/ablation.h", r"(?s)^Json ablate\(.*?;\n", ""),
                      rows=False, named=r"\bablat", own="~src/show/ablation.* tests/show/ablation_test.cpp"),
    "gradcheck": command("gradcheck", ("tests/nn/transformer_test.cpp", r"^class WholeModelGradient .*", r"\g<0>\nGTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WholeModelGradient);"),
                         named="check_gradients", own="src/show/gradient_check.cpp tests/cli/gradcheck_test.py tests/show/gradient_check_test.cpp"),
    "neighbors": command("neighbors", help=False, own="src/show/neighbors.* tests/show/neighbors_test.cpp"),
    "bench": command("bench"),
    "rewind": command("rewind", ("src/store/run_folder.h", r"kRewound ="), ("src/store/run_folder.cpp", r", run / kRewound / name", ""),
                      ("src/store/run_folder.cpp", r"(?s)\n +\.hint\(step && .*?\)(?=;\n}\n\nstring same)", ""),
                      rows=False, own="src/train/rewind.* tests/cli/rewind_test.py"),
    "export": command("export", ("src/train/suggested_config.cpp", r'include "store/huggingface|c = opened_elsewhere|{"opens", opens_as'),
                      ("src/train/training_run.cpp", r'include "store/huggingface|info\(opens'),
                      ("src/train/text_start.cpp", r'(?s)#include "store/huggingface.h"\n|  if \(const string& program =.*?^  }\n', ""),
                      ("CMakeLists.txt", "huggingface.json CLASSES|huggingface_json"), ("CMakeLists.txt", " src/store/huggingface.json", ""),
                      rows=False, own="src/store/gguf.* src/store/huggingface*.* tests/store/huggingface*.cpp tests/cli/export_test.py"),
    "gguf": ("src/store/gguf.cpp", "gguf|Gguf",
             [("src/cli/export.cpp", r"(?s)if \(gguf\)\n +write_gguf\(.*?else\n +write", "write"), ("src/cli/export.cpp", r', "gguf"', ""),
              ("src/cli/export.cpp", r"kTypes|\"--type\""),
              ("src/store/huggingface.h", r"(?s)// A model in a GGUF file.*?GgufType type\);\n", "")]),
    "tensorboard": ("src/train/tensorboard_listener.cpp tests/cli/tensorboard_test.py",
                    "[Tt]ensor[Bb]oard",
                    [("src/train/listeners.cpp", r",\s*tensorboard_listener", ""), ("src/store/run_folder.h", r"kTensorboard ="),
                     ("src/store/run_folder.h", r"kTensorboard,", ""), ("src/data/run_config.h", r'"tensorboard",', ""),
                     ("src/cli/verify.cpp", r"file == kTensorboard\s*\? fs::file_type::directory\s*: ", ""),

                     ("src/config/train_config.h", "tensorboard"), ("src/config/train_config.cpp", r'{"tensorboard"(.|\n)*?},', "")]),
    # Rewinding finds in it what a run was like, and a branch whether it is that of another stem: three tests are of that.
    "chain": ("src/store/chain.cpp tests/store/chain_test.cpp", "chain|test_(a_resumed_run_with_another_rate|what_cannot_be_repeated|a_second_branch_to)",
              [("src/store/run_writer.cpp", "stem_ = chain_hash"), ("src/store/run_writer.h", "string stem_;|void extend_chain|string chain_|string stem_hash|chain_steps"),
               ("src/train/rewind.cpp", "saved_ = chain_steps"),
               ("src/store/run_writer.cpp", r"(?s)  try {\n    extend_chain.*?\n  }\n  const auto point", "  const auto point"),
               ("src/store/run_writer.cpp", r"\) &&\s*stem_hash\(.*?branched_at\)", ")"), ("src/store/run_folder.h", "kChain ="),
               ("src/store/run_folder.h", r",\s*kChain", ""), ("src/cli/verify.cpp", r" \|\| file == kChain|kChain, ", ""),
               ("src/store/run_records.cpp", "bool of_chain"), ("src/store/run_records.cpp", " && !of_chain", "")]),
    "prompt": ("src/cli/prompt.* tests/cli/prompt_test.py", "Terminal",
               [("src/cli/answers.h", r"bool prompts\(const CommandLine& line\);", "inline bool prompts(const CommandLine&) { return false; }"),
                ("src/cli/answers.h", r"^Exit prompt_for_texts|function<void\(const string& text\)>& answer\);"),
                ("src/cli/answers.cpp", "prompt_for_texts"), ("CMakeLists.txt", r"pkg_check_modules\(libedit"),
                ("CMakeLists.txt", " PkgConfig::libedit", "")]),
    "ensembles": ("~src/decode/predictor.* src/cli/ensemble.cpp tests/cli/ensemble_test.*", r'"--with"|\.others =',
                  [("src/decode/predictor.cpp", r"(?s)^(// The logits of the first model plus.*?^void average_row\(|RowsChanged<float> Predictor).*?^}\n\n", ""),
                   ("src/decode/predictor.cpp", "other : others"), ("src/decode/predictor.h", r"(?s)// `others`: the same rows.*(?=}  // namespace)", ""),
                   ("src/decode/predictor.h", r"others = {}|averaging"), ("src/evaluate/scorer.cpp", r"predictor\.averaging\(.*?\)", "{}"),
                   ("src/decode/incremental_decoder.h", "others_"), ("src/decode/incremental_decoder.cpp", r"predictor\.others|others_|theirs"),
                   ("src/store/model.h", "others = {}"), ("src/store/model.cpp", r", mapped\(others, &Model::predictor\)", ""), ("src/cli/answers.cpp", "open_others"),
                   ("src/cli/answers.cpp", r"other : others"), ("src/cli/command.h", r"add_with\(|string> with;"),
                   ("src/cli/answers.h", r"\b(open_others|report_others|misfits)\("), ("src/cli/evaluate.cpp", r"add_with|report_others|with\.empty"),
                   *[(f"src/cli/{name}.cpp", "add_with") for name in ("sample", "translate", "score", "fill")]]),
    "pull": ("src/show/pull.* src/cli/pull.cpp src/show/web/pull.js tests/show/pull_test.cpp tests/cli/pull_test.py",
             r"--pull|\bpulls?\b|PackedPull",
             [("src/cli/attend.cpp", r"show/pull\.h|if \(writes && r\.pull\)|if \(r\.pull\) (add_pull|print_coloured)|labels_of"),
              ("src/cli/attend.cpp", r'(?s)  line\.app\.add_flag\("--pull".*?;\n', ""),
              ("src/cli/attend.cpp", r"(?s)  if \(r\.pull\)\n.*?;\n|  if \(r\.pull\) {  // with every digit.*?\n  }\n", ""),
              ("src/cli/attend.cpp", r' \|\| r\.pull| && !r\.pull|, pull = false|"--pull", ', ""),
              ("src/cli/explain.cpp", "print_pull"), ("src/cli/answers.h", r"print_pull"),
              ("src/show/explain.cpp", r"(?s)    if \(!prediction_\.answer\.empty\(\)\)\n.*?;\n", ""), ("src/show/explain.cpp", r"show/pull\.h"),
              ("src/show/film.cpp", "packed_pulls|show/pull\\.h"), ("src/show/web/report.html", r"{{pull\.js}}")]),
    # train.precision and --precision choose among the arithmetics behind math/products.h: they stay, with one value.
    "bfloat16": ("src/math/bfloat16.* src/math/onednn.* tests/math/bfloat16_test.cpp tests/cli/precision_test.py", r"bfloat16|--precision|enumerate\(CONFIGS\)",  # two of which train so
                 [("tests/cli/same_bytes_test.py", r'^    "bfloat16":'), ("src/math/products.h", r", bfloat16 }", " }"), ("src/math/products.h", "bfloat16"),
                  ("src/config/train_config.cpp", r'(?s), "bfloat16"}\),.*?AMX"},', '}), "float32"},'),
                  ("src/train/prepared_run.cpp", r" \+\n +\(config\.train\.precision != Precision::float32\);.*", ";"),
                  ("src/train/prepared_run.cpp", r"(?s)  if \(const string info = products->info\(\).*?\n  }\n", ""),
                  ("src/cli/commands.cpp", r'"\\nbfloat16: " \+ make_products\(.*?info\(\) \+\s*"\\nportable', r'"\\nportable'),
                  ("src/cli/bench.cpp", "bfloat16"), ("src/cli/command.cpp", r'"float32", "bfloat16"', '"float32"'),
                  ("src/cli/answers.cpp", r"(?s)  if \(!precision\.empty\(\) && .*?;\n", ""), ("src/cli/answers.cpp", r"(?s)  if \(const string info = m\.products.*?;\n", ""),
                  ("src/data/config_rules.cpp", r"(?s)  require\(t\.arithmetic == Arithmetic::native \|\| .*?;\n", ""),
                  ("CMakeLists.txt", "HEED_ONEDNN AND NOT", "FALSE AND NOT")]),
    "ranks": ("src/step/exchange_mpi.cpp src/train/ranks.* tests/cli/ranks_test.py", "RANKS_ENV",
              [("src/train/trainer.cpp", r"train/ranks\.h|^  lead\("), ("src/train/speed.cpp", r"train/ranks\.h|^  lead\("),
               ("src/train/prepared_run.cpp", r"train/ranks\.h|share_run\(|require_same\("),
               ("src/cli/commands.cpp", r"train/ranks\.h|step/exchange\.h"),
               ("src/cli/commands.cpp", r'"MPI: " \+ mpi_info\(\) \+\s*', ""),
               ("src/cli/commands.cpp", r"run_together\(args, command, say_failure\)", "command({})"),
               ("src/cli/commands.cpp", r"    return 141;\n  }", '    return 141;\n  } catch (...) {\n    return int(say_failure(""));\n  }'),
               ("src/cli/bench.cpp", r'crew\.alone|r\["(ranks|bytes_per_step|bytes_by_formula|exchange_share)"\] ='),
               ("src/cli/bench.cpp", r'(?s)  if \(r.contains\("ranks"\)\).*?;\n', ""),
               ("tests/cli/same_bytes_test.py", r"self.with_ranks = .*", "self.with_ranks = False")]),
    "live": ("src/show/live_page.cpp src/cli/live.cpp ~src/show/page.h src/show/web/live.* src/show/web/pair.* tests/cli/live_* "
             "tests/pages/check_live_page.py tests/pages/check_pair_page.py", r"[Ll]ive_?[Pp]age|[-.]live\b|live\.html|live_html|live_page|(attend|explain|causal|pairs).*--html|:html|WRITERS|xdg-open",
             [("src/show/page.h", r"(live|pair)_html|kMostLiveBytes|^string (live|pair)_page"),
              ("src/cli/report.cpp", r'"--live"'),
              ("src/cli/answers.h", r"^(void write_live_page|Exit report_live|string write_live)\("),
              ("src/cli/command.cpp", r"check_page\("), ("src/cli/command.h", r"string html;|add_page\(|check_page\("),
              *[(f"src/cli/{name}.cpp", r"(?s)^    write_live_page.*?;\n|^  line\.add_page[^\n]*\n", "") for name in ("attend", "explain")],
              ("src/cli/attend.cpp", r"\(r\.prompts \|\| line\.html\.empty\(\)\)", "true"), ("src/cli/attend.cpp", r"; all: \{0\}html FILE", ""), ("src/cli/attend.cpp", ", or no --html", ""),
              ("src/cli/explain.cpp", r"line\.html"), ("tests/cli/refusals_test.py", r"^    attend .*--html"),
              ("src/cli/answers.cpp", r'has\("--html"\)'), ("src/cli/whence.cpp", r"write_live\("),
              ("src/cli/train.cpp", r'(?s)  const string live =.*?;\n|[^\n]*"--no-live"[^\n]*\n|  if \(!live\.empty.*?;\n', ""), ("src/store/run_folder.h", r', \*kLivePage = "live\.html"', ""),
              ("src/cli/verify.cpp", ", kLivePage", ""), ("src/config/train_config.h", "string live ="), ("src/data/run_config.h", r'"live",\s*', ""),
              ("src/config/train_config.cpp", r'(?s)      dumped_if\(c\.live.*?}\),\n(?=  };)', ""),
              ("CMakeLists.txt", r" live pair report\)", " report)"), ("tests/CMakeLists.txt", r" live pair report\)", " report)")]),
    # What reads the film of an older run stays, with its format (store/run_records.h).
    "film": ("src/show/film.* src/show/prompt.cpp src/cli/film.cpp src/train/film_listener.cpp ~src/show/report.cpp ~src/show/page.h ~src/show/head_words.* "
             "src/show/web/report.* src/show/web/learning_record.js src/show/web/pull.js tests/cli/film_test.py tests/cli/report_test.py "
             "tests/cli/learning_test.py tests/show/film_test.cpp tests/show/head_names_test.cpp tests/pages/check_report_page.py",
             r"HeadProbe|\bis_frame\b|\breport\(|--names|film|Film|report\.html|\"report\"|WRITERS|says_what_the_run_says|\"sample \"|gradient update|re\.search\(r\"heed resume|facts=\[\"--more\"",
             [("tests/cli/extend_test.py", r"self\.film\(run\)"), ("tests/cli/same_bytes_test.py", r', "film": \(.*?\)\.read_bytes\(\)', ""),
              ("src/cli/verify.cpp", r" \|\| file == kFilm(?= \|\| file == kChain)", ""), ("src/train/listeners.cpp", r"film_listener,\s*", ""), ("src/train/listener.h", r"show/film\.h|  Film& film;"),
              ("src/train/prepared_run.cpp", r",\s*\.record = film_memory\(model\.table\)", ""), ("src/train/prepared_run.cpp", r"show/film\.h"),
              ("src/train/prepared_run.cpp", r"(?s)^  if \(!config\.train\.prompt\.empty\(\)\)\n.*?;\n", ""),
              ("src/train/training_run.cpp", r"show/film\.h|  Film film\("), ("src/train/training_run.cpp", "log, film, ", "log, "),
              ("src/train/tenths_listener.cpp", r"return c_\.film\.empty\(\).*;", 'return "";'),
              ("src/show/report.cpp", r"(?s)^// Adds how many parameters.*?(?=^// The steps of the events)", ""),
              ("src/show/report.cpp", r"(?s)^// How the training losses.*?(?=^}  // namespace\n)|^Json report\(.*?(?=^Json comparison\()", ""),
              ("src/show/page.h", r"report_html|^Json (report|without_maps)\("), ("tests/show/page_test.cpp", ", report_html", ""),
              ("src/cli/report.cpp", r"one \? report\(.*?\) : ", ""), ("src/cli/report.cpp", r"one \? (report_html|Json::array.*?) : ", ""),
              ("src/cli/attend.cpp", r"r\.names\b.*recorded_names"), ("src/cli/attend.cpp", r'(?s)  line\.app\.add_flag\("--names".*?;\n', ""), ("src/cli/answers.h", r"what the model that commands use writes|show_sample|print_names"),
              ("src/cli/attend.cpp", r', names = false|, "--names"', ""),
              ("src/show/head_words.h", r"(?s)// What a head is for over held-out text.*(?=}  // namespace heed)", ""),
              ("src/show/head_words.cpp", r"(?s)namespace {\n\nconstexpr int64_t kTexts.*(?=}  // namespace heed)", ""),
              ("src/cli/train.cpp", r"  show_sample\(result, log\);"),
              ("src/cli/train.cpp", r"Json story = report\(run\);", "Json story;"), ("src/cli/train.cpp", r'story\["advice"\]\["\w+"\]', '""'),
              ("src/cli/train.cpp", r"(?s)  try {\n    write_output\(page.*?\n  }\n", ""),
              ("CMakeLists.txt", r" pair report\)", " pair)"), ("tests/CMakeLists.txt", r" pair report\)", " pair)")]),
    # What RUN/text.txt is to a run that has one stays (store/run_folder.h), and so does what heed init does with a text.
    "train_text": ("src/train/text_start.cpp tests/cli/own_text_test.py", r'"train", "(-|\w+\.txt)"|--minutes|"train", "hf/|self\.start\(|\bminutes("?: |=)',
                   [("tests/cli/refusals_test.py", r"^    train (\w+\.(txt|xml|bin|yaml)|empty|hollow|one_token|https:.*|HERE/c|c\.json --like gpt) "),
                    ("src/train/training_run.h", r"^RunResult train_on_text"), ("src/cli/train.cpp", r"(?s)^void check_text.*?^}\n\n", ""),
                    ("src/cli/train.cpp", "OwnText text", "struct { vector<string> files; } text"),
                    ("src/cli/train.cpp", r"(?s)^  line\.add_like\(text\);\n|^  for \(const char\* shape.*?;\n|const auto init_from = ", ""),
                    ("src/cli/train.cpp", r'(?s)  for \(const string own : .*?;\n', ""),
                    ("src/cli/train.cpp", r"ranges::find_if\(text.files, names_config\)", "text.files.begin()"),
                    ("src/cli/train.cpp", r"(?s)  if \(request\.folder\.empty.*?^  }\n", '  if (request.folder.empty()) request.folder = "runs/" + fs::path(*config).stem().string();\n')]),
}


def without_tests(text, named):
    """The text of a test file without the tests that name it: each goes to the next line that is indented no deeper."""
    lines, kept, at = text.split("\n"), [], 0
    while at < len(lines):
        end = at + 1
        if re.match(r" *(def test_|TEST\w*\()", lines[at]):
            indent = len(lines[at]) - len(lines[at].lstrip())
            while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
                end += 1
            end += lines[end:end + 1] == ["}"]
            if re.search(named, "\n".join(lines[at:end])):
                at = end
                while kept and kept[-1].lstrip().startswith("@"):  # its decorators
                    kept.pop()
                continue
        kept += lines[at:end]
        at = end
    return re.sub(r"(?m)^class \w+\(.*\):\n(?=\n*(class|if|\Z))", r"\g<0>    pass\n", "\n".join(kept))


def edited(text, pattern, instead=None):
    if instead is not None:
        return re.sub(pattern, instead, text, flags=re.MULTILINE)
    return "\n".join(line for line in text.split("\n") if not re.search(pattern, line))


def taken_out(name, files):
    """The files {path: text} without a capability; what is not found, in lines; how many lines of others than its own files
    went, {True: of src/, False: of tests}."""
    own, named, edits = ROWS[name]
    # What stays: helps and the words of other programs, which name what goes; and one test counts the commands.
    named += r"|def test_each_help_text|TradeWords, |len\(more\)"
    is_own = lambda path, mark="": any(fnmatch.fnmatch(mark + path, pattern) for pattern in own.split())
    missing = [f"{name}: there is no {pattern}" for pattern in own.split() if not fnmatch.filter(files, pattern.lstrip("~"))]
    left = {path: text for path, text in files.items() if not is_own(path)}
    before = dict(left)
    goes = lambda header: f"src/{header[1]}" in files.keys() - left.keys()
    for path in fnmatch.filter(left, "tests/*_test.*"):
        left[path] = re.sub('#include "(.*)"\n', lambda header: "" if goes(header) else header[0], without_tests(left[path], named))
    for path, *edit in edits:
        text = left.get(path, "")
        left[path] = edited(text, *edit)
        if left[path] == text:
            missing.append(f"{name}: {path} has no {edit[0]}")
    for path, text in left.items():
        missing += [f"{name}: {path} includes {header[1]}, which goes" for header in re.finditer('#include "(.*)"', text) if goes(header)]
    gone = {True: 0, False: 0}
    for path in left:
        if left[path] != before.get(path, "") and not is_own(path, "~"):
            lines = difflib.unified_diff(before.get(path, "").split("\n"), left[path].split("\n"), n=0)
            gone[path.startswith("src/")] += sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
    return left, missing, gone


def write(files, others):
    """Makes the tree consist of these files and copies of the others, and touches none that is as it should be."""
    kept = {*files, *others}
    for path in TREE.rglob("*"):
        if path.is_file() and BUILD not in path.parents and str(path.relative_to(TREE)) not in kept:
            path.unlink()
    for name in (*files, *others):
        path, data = TREE / name, files[name].encode() if name in files else (ROOT / name).read_bytes()
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
            path.chmod((ROOT / name).stat().st_mode)


def run(*args):
    done = subprocess.run([str(arg) for arg in args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print("\n".join(done.stdout.split("\n")[-100:]), flush=True)
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ROWS))
    parser.add_argument("--check", action="store_true", help="only check that all is found")
    parser.add_argument("--build", action="store_true", help="run no tests")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    names = [name for name in names if (ROOT / name).is_file()]
    files = {name: (ROOT / name).read_text() for name in names if name.startswith(("src/", "tests/")) and "/golden/" not in name
             or name == "CMakeLists.txt"}
    files["CMakeLists.txt"] = files["CMakeLists.txt"].replace(" -Werror", "")  # what nobody calls any more is no error
    launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    failed = False
    for name in ROWS if options.check else options.names:
        left, missing, gone = taken_out(name, files)
        whole = not missing
        if whole and not options.check:
            write(left, set(names) - set(files))
            whole = run(*CMAKE, *launcher) and run("cmake", "--build", BUILD, "--parallel", options.jobs)
            if whole and not options.build:  # not run: tests of scripts and pages, README's commands, and planted faults
                tests = ([BUILD / "tests/heed_tests", "--gtest_brief=1"],
                         ["ctest", "--test-dir", BUILD, "--output-on-failure", "--parallel", options.jobs, "--label-exclude", "unit",
                          "--exclude-regex", r"^(readme_test$|scripts\.|pages\.|mutations_apply$|capabilities_are_found$)"])
                with concurrent.futures.ThreadPoolExecutor() as both:
                    whole = all(both.map(lambda args: run(*args), tests))
        print(*missing, f"{name}: {gone[True]} lines of src/ outside its own files, {gone[False]} of tests"
              + ("" if whole else "; what is left is broken"), sep="\n", flush=True)
        failed |= not whole
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
