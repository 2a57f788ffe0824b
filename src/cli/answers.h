// A command that asks a model about texts: TEXT, each line of --file or standard input, or lines
// typed at a prompt. It is its options, an answer as JSON, and a view of that JSON:
//
//   Exit run_fill(CommandLine& line) {
//     ...                                      // options
//     line.parse();
//     OpenModel m(line);
//     return answer_each(m, {"Type a text with a [MASK].", {"top-k"}}, "masks",
//                        [&](const GivenText& text) { return masks_json(m, text); }, print_masks);
//   }
//
// The frame opens the model, reads lines or prompts, lets a bad line cost itself alone, and prints
// --json or the view.
#pragma once

#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/pool.h"
#include "base/std_names.h"
#include "cli/command.h"
#include "data/user_text.h"
#include "evaluate/comparison.h"
#include "show/explain.h"
#include "store/model.h"

namespace heed {

// The trained model that a command line names (RUN, --checkpoint), ready to work, alone or together
// with those of --with. Error (usage) if one of these does not fit.
struct OpenModel : Model {
  explicit OpenModel(CommandLine& line, int most_threads = numeric_limits<int>::max());

  CommandLine& line;
  Log log;
  Pool pool;  // of --threads, but at most `most_threads`
  UserTexts texts;
  bool refused = false;  // a line could not be answered

  // Calls use(). An Error (data) of a line costs that line alone: it is named, and the result is
  // its text; else "". Any other goes on.
  string refusal_of(const GivenText& text, const function<void()>& use);
};

// What to answer, besides what the command line says.
struct TextSource {
  string_view instructions;      // what to type at a prompt
  vector<string> settings = {};  // may change there between answers; --html, if known, too
  bool allow_empty = false;      // an empty line is a text too
  size_t limit = numeric_limits<size_t>::max();  // lines of a file
};

// Answers texts that were read together: the lines of a file as they arrive, at most kLinesAtOnce.
using Answer = function<void(span<const GivenText>)>;
inline constexpr size_t kLinesAtOnce = 256;  // an even number

// Answers what the command line names (add_texts()); if nothing, asks for texts on a terminal, else
// reads standard input. Texts and lines come without a byte order mark before them and the \n or
// \r\n that ends a line; one of --against comes after the line of --file that it is compared with.
Exit answer_texts(OpenModel& model, TextSource source, const Answer& answer);
// Each by itself, as JSON and in a `view` of it for people. In the place of a line that cannot be
// answered stands {KEY: null, "error": ...}, or nothing.
Exit answer_each(OpenModel& model, const TextSource& source, const char* key,
                 const function<Json(const GivenText&)>& answer,
                 const function<void(const Json&)>& view);

// A command without a text, whose standard streams are terminals, prompts "COMMAND> " for texts
// while the model stays loaded. Lines can be edited and have a history (libedit; it ends with the
// program). A line ":temperature 0.5" changes a setting, ":help" lists these; ":q" and Ctrl-D end
// with exit code 0, Ctrl-C with 130. After an error in a text the prompt asks for the next one.
bool prompts(const CommandLine& line);  // for texts, because none is given
Exit prompt_for_texts(CommandLine& line, const TextSource& source, Log& log,
                      const function<void(const string& text)>& answer);

// Warns if a text, by its beginning, has the marks of HTML, JSON and the like.
void warn_of_markup(const string& name, string_view text, Log& log);
// The text with [MASK] for its other ways to be written: <mask>, [mask] and ___. Error (data)
// without any, or if something stands beside one in its word: of words that keep their punctuation,
// the answer to "[MASK]" is one like "big.".
string with_masks(const OpenModel& model, const GivenText& given);
// Pages with the model inside (cli/live.cpp).
// The page of --html, if it was given. Opened at a text, and at what was `found`: the "kind",
// "layer" and "head" of a head, and if there are these the "target", and the "id" of the "answer"
// and of what it was "against".
void write_live_page(OpenModel& m, const GivenText& given, const Json& found);
Exit report_live(const vector<string>& runs, const string& html, Log& log);
// RUN/live.html, where train.live wants it, which the run's `story` then names; an older one goes.
// Returns what to try next.
string write_live(const string& run, const string& live, Log& log, Json* story = nullptr);
// Opens the models of --with (cli/ensemble.cpp). Error (usage) if one does not fit.
void open_others(OpenModel& m);
// The keys in which a config differs from that of the first model, if its model cannot read the
// same texts and predict the same labels.
vector<KeyChange> misfits(const RunConfig& first, const RunConfig& other);
// Their runs, or null without any. Warns of one that was trained on what is measured.
Json report_others(OpenModel& m, const Split& split);
// Logs what the model that commands use writes, if the run has a film (cli/film.cpp).
void show_sample(const struct RunResult& result, Log& log);
void print_names(const Json& recorded);  // of heads; as recorded_names() tells them
// What the model reads, and the row that predicts: after the text, or in the place of its first
// [MASK], for which a decoder starts with the token that names it (cli/explain.cpp).
Prediction prediction_of(OpenModel& m, const GivenText& given, const optional<string>& answer,
                         const optional<string>& against = {});
// Of runs of several settings on one page: those that differ in seed alone are a group, unless all
// do. Adds to those of all but the first how they compare with it, as heed compare --json does, or
// why they do not. `runs`: of show/page.h's comparison().
void add_comparisons(Json& runs, Log& log);
// Of two files with translations of the same lines, by their counts: prints what heed compare does.
void compare_outputs(const array<string, 2>& files, const array<System, 2>& counts,
                     const string& references, CommandLine& line);
// Of what heed explain answers with: where the loss of the answer, so named, pulls most
// (cli/pull.cpp).
void print_pull(const Json& explained, const string& answer);

}  // namespace heed
