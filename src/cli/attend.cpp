// heed attend RUN [TEXT]
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/files.h"
#include "cli/command.h"
#include "cli/open_model.h"
#include "cli/output.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "decode/text_stream.h"
#include "evaluate/translation.h"
#include "inspect/attention_scores.h"
#include "inspect/generate.h"
#include "inspect/scores_text.h"
#include "report/attention_json.h"
#include "report/attention_page.h"
#include "report/attention_summary.h"
#include "report/heat_map.h"
#include "store/initial_weights.h"
#include "store/origin.h"
#include "store/run_folder.h"

namespace heed {
namespace {

struct AttendOptions {
  std::string html, gold;
  TextArguments texts;
  std::optional<int> max_tokens;
  HeadChoice heads;  // to draw
  std::size_t limit = 0;
  bool json = false, contributions = false;

  bool draws() const { return !json && html.empty(); }
};

constexpr int kDrawnTokens = 16;  // that a model writes, for maps in a terminal

constexpr const char* kAttendNotes =
    "Prints a line about each head, and the map of the head that looks most at single tokens;\n"
    "--kind, --layer and --head draw the maps of the heads they choose. Without a text, on a\n"
    "terminal, heed asks for one after the other. What a model of pairs writes is what heed\n"
    "translate prints; other models take the most probable token each time.";

void add_options(CommandLine& line, AttendOptions& r) {
  CLI::App& app = line.app();
  line.add_model();
  line.add_texts(
      r.texts, "text for the encoder; for a decoder-only model, its text; its words need no quotes",
      "with --gold: the lines that it is about");
  line.add_targets(r.texts, "text for the decoder (default: what the model writes)");
  app.add_option("--max-tokens", r.max_tokens,
                 "most tokens of what the model writes (default: 16; with --json and --html all)")
      ->check(in_range(1, 1'000'000));
  app.add_option("--kind", r.heads.kind, "only this attention")
      ->check(CLI::IsMember({"encoder", "decoder", "cross"}));
  app.add_option("--layer", r.heads.layer, "only this layer, from 0")->check(in_range(0));
  app.add_option("--head", r.heads.head, "only this head, from 0")->check(in_range(0));
  app.add_flag("--contributions", r.contributions,
               "with --json: also the length of the vector each head takes from each token");
  line.add_file("--html", r.html, "write an interactive page; - is standard output", "FILE");
  auto* gold = line.add_file(
      "--gold", r.gold,
      "score every head against this file, which is about --file and --target-file", "FILE");
  app.add_option("--limit", r.limit, "use this many entries of the gold file; 0 = all")
      ->check(in_range(std::int64_t{0}))
      ->needs(gold);
  app.footer(kAttendNotes);
}

void check_selection(const AttendOptions& r, const ModelConfig& model) {
  const auto refuse = [](const std::string& what) { throw Error(Exit::usage, what); };
  if (r.json && r.heads.any())
    refuse("--kind, --layer and --head choose what is drawn; --json always has everything.");
  if (r.json && r.html == "-") refuse("--json and --html - both need standard output.");
  if (r.contributions && !r.json) refuse("--contributions needs --json; pages show them anyway.");
  const bool encoder = model.encoder_layers > 0, decoder = model.decoder_layers > 0;
  if ((r.heads.kind == "encoder" && !encoder) || (r.heads.kind == "decoder" && !decoder) ||
      (r.heads.kind == "cross" && !(encoder && decoder)))
    refuse(fmt::format("--kind {}: this model has no such attention.", r.heads.kind));
  const int encoders = r.heads.kind.empty() || r.heads.kind == "encoder" ? model.encoder_layers : 0;
  const int decoders = r.heads.kind == "encoder" ? 0 : model.decoder_layers;
  const std::string where = r.heads.kind.empty() ? "this model" : "--kind " + r.heads.kind;
  const auto check_number = [&](const char* name, const std::optional<int>& given, int count) {
    if (given && *given >= count)
      refuse(
          fmt::format("--{0} {1}: the {0}s of {2} are 0 to {3}.", name, *given, where, count - 1));
  };
  check_number("head", r.heads.head, model.n_heads);
  check_number("layer", r.heads.layer, std::max(encoders, decoders));
}

struct AttendInput {
  Example read;
  std::string written;  // by the model, as the target; empty: by the user
};

// The target that the model itself writes, cut to what is looked into.
void write_target(const AttendOptions& r, const TrainedModel& t, TokenIds source,
                  AttendInput& input) {
  const int room = t.objective->longest(Side::target) - 1;  // <s> too
  const int most = std::min(room, r.max_tokens.value_or(r.draws() ? kDrawnTokens : room));
  TokenIds ids;
  if (t.objective->use().command == "translate") {
    Pool pool(1);
    const auto found = translate(t, pool, {std::move(source)}, {});
    if (!found.front().empty()) ids = found.front().front().ids;
  } else {
    ids = generate(t, std::move(source), most);
  }
  input.written = to_valid_utf8(t.tokenizers.target->decode(ids));
  if (static_cast<int>(ids.size()) > most) {
    ids.resize(most);
    input.written += fmt::format("\n  (below, its first {} tokens; --max-tokens for more)", most);
  }
  input.read.target = Objective::framed_target(std::move(ids));
}

AttendInput read_input(const AttendOptions& r, const GivenText& given, const TrainedModel& t,
                       Log& log) {
  const Objective& objective = *t.objective;
  UserTexts texts(objective, t.config, t.tokenizers, log);
  const auto target = [&](const std::string& text, const std::string& called) {
    return Objective::framed_target(texts.known(Side::target, text, called));
  };
  if (!t.model.has_encoder())  // one text, wherever it was given
    return {{{}, target(given.text + given.target.value_or(""), given.name)}, ""};
  if (!t.model.has_decoder() && given.target)
    throw Error(Exit::usage, "--target: this model has no decoder; its text is TEXT.");
  const bool target_alone = given.text.empty() && given.target;
  if (target_alone && objective.traits().scored_given != Given::maybe_source)
    throw Error(Exit::usage, "--target needs the TEXT that it belongs to.");
  const TokenIds prompt =
      target_alone ? TokenIds{} : texts.known(Side::source, given.text, given.name);
  AttendInput input{{objective.framed_source(prompt), {}}, ""};
  if (given.target)
    input.read.target = target(*given.target, "the target of " + given.name);
  else if (t.model.has_decoder())
    write_target(r, t, prompt, input);
  return input;
}

HeatMapStyle terminal_style() {
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = no_color != nullptr && *no_color != '\0';
  return {.colour = !plain && ::isatty(STDOUT_FILENO) == 1};
}

void write_page(const AttendOptions& r, const TrainedModel& t, const InputTokens& tokens,
                const MapsAndNext& pass, Log& log) {
  AttentionPage page{fmt::format("{}, step {}", t.run, t.state.step), AttentionKind::cross};
  for (const AttentionKind kind : kAttentionKinds)
    if (!map_of(pass.maps, kind).empty() &&
        (r.heads.kind.empty() || r.heads.kind == attention_name(kind)))
      page.kind = kind;
  const AttentionMap& map = map_of(pass.maps, page.kind);
  const SharpestHead sharpest = sharpest_head(map);
  page.layer = std::min(r.heads.layer.value_or(sharpest.layer), map.layers - 1);
  page.head = r.heads.head.value_or(sharpest.head);
  write_output(r.html, attention_page(page, tokens, pass, *t.tokenizers.target));
  if (r.html != "-") log.info(fmt::format("wrote {}; open it in a browser", r.html));
}

void score(const AttendOptions& r, const TrainedModel& t) {
  if (r.heads.any() || !r.html.empty() || r.contributions || r.max_tokens)
    throw Error(
        Exit::usage,
        "--gold scores all heads; it takes only --file, --target-file, --limit and --json.");
  if (!r.texts.file) throw Error(Exit::usage, "--gold needs --file, the file it describes.");
  const GoldFiles files{r.gold, *r.texts.file, r.texts.target_file.value_or(""), r.limit};
  const std::filesystem::path run = run_of_checkpoint(t.folder);
  const ParamVec<float> untrained = initial_weights(t.model, t.config.seed, run);
  const std::string from = read_origin(run.string()).init_from;
  std::vector<KindScores> scores;
  for (GoldSet& set : read_gold(files, t.config, t.tokenizers)) {
    if (!from.empty())
      set.notes.push_back("\"untrained\" means the weights this run began with, those of " +
                          quoted_path(from));
    scores.push_back(score_heads(t.model, t.values, untrained, set));
  }
  print(r.json ? scores_json(scores) : scores_table(scores));
}

void answer_attention(const AttendOptions& r, const GivenText& given, const TrainedModel& t,
                      Log& log) {
  const AttendInput input = read_input(r, given, t, log);
  const InputTokens tokens = input_tokens(input.read, t.tokenizers);
  Workspace workspace;
  const MapsAndNext pass =
      maps_and_next(t.model, t.values, input.read, workspace, r.html.empty() ? 0 : kNextTokens);
  if (!r.html.empty()) write_page(r, t, tokens, pass, log);
  if (r.json) return print(attention_json(input.read, tokens, pass.maps, r.contributions));
  if (!r.draws()) return;
  if (!input.written.empty())
    print("the model writes (--target for another):\n  " + input.written + "\n\n");
  print_coloured(r.heads.any() ? draw_heads(r.heads, tokens, pass.maps, terminal_style())
                               : attention_summary(tokens, pass.maps, terminal_style()));
}

}  // namespace

Exit run_attend(CommandLine& line) {
  AttendOptions r;
  add_options(line, r);
  if (!line.parse()) return Exit::ok;
  r.json = line.json();
  if (r.gold.empty() && r.texts.file) throw Error(Exit::usage, "--file needs --gold.");
  if (r.gold.empty() && !r.texts.given() && (!can_prompt() || !r.html.empty()))
    throw Error(Exit::usage, "expected a text.", "heed attend " + line.run() + " \"...\"");
  OpenModel trained(line);
  if (!r.gold.empty()) {
    score(r, trained);
    return Exit::ok;
  }
  check_selection(r, trained.config.model);
  return answer_texts(r.texts, {"attend", "Type a text to see where each head looks."}, {},
                      trained.config, trained.log, [&](std::span<const GivenText> texts) {
                        answer_attention(r, texts.front(), trained, trained.log);
                        return Unknown();
                      });
}

}  // namespace heed
