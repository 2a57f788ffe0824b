// heed attend RUN
#include <unistd.h>

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/files.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/user_text.h"
#include "inspect/generate.h"
#include "inspect/scores_text.h"
#include "math/blas.h"
#include "report/attention_json.h"
#include "report/attention_page.h"
#include "report/heat_map.h"
#include "store/initial_weights.h"
#include "store/origin.h"
#include "store/run_folder.h"
#include "store/trained_model.h"

namespace heed {
namespace {

struct AttendOptions {
  std::string run, checkpoint, html, kind, gold;
  std::optional<std::string> source, target;
  std::optional<int> layer, head;
  std::size_t limit = 0;
  bool json = false, contributions = false;
};

void add_options(CommandLine& line, AttendOptions& r) {
  CLI::App& app = line.app();
  line.add_model(r.run, r.checkpoint);
  app.add_option("--source", r.source, "text for the encoder; for a decoder-only model, its text");
  app.add_option("--target", r.target, "text for the decoder (default: what the model writes)");
  app.add_option("--kind", r.kind, "only this attention")
      ->check(CLI::IsMember({"encoder", "decoder", "cross"}));
  app.add_option("--layer", r.layer, "only this layer, from 0")->check(CLI::NonNegativeNumber);
  app.add_option("--head", r.head, "only this head, from 0")->check(CLI::NonNegativeNumber);
  line.add_json(r.json);
  app.add_flag("--contributions", r.contributions,
               "with --json: also the length of the vector each head takes from each token");
  line.add_file("--html", r.html, "write an interactive page; - is standard output", "FILE");
  auto* gold = line.add_file(
      "--gold", r.gold, "score every head against this file; --source and --target are then files",
      "FILE");
  app.add_option("--limit", r.limit, "use this many entries of the gold file; 0 = all")
      ->check(CLI::NonNegativeNumber)
      ->needs(gold);
}

void check_selection(const AttendOptions& r, const ModelConfig& model) {
  const auto refuse = [](const std::string& what) { throw Error(Exit::usage, what); };
  if (r.json && (r.layer || r.head || !r.kind.empty()))
    refuse("--kind, --layer and --head choose what is drawn; --json always has everything.");
  if (r.json && r.html == "-") refuse("--json and --html - both need standard output.");
  if (r.contributions && !r.json) refuse("--contributions needs --json; pages show them anyway.");
  const bool encoder = model.encoder_layers > 0, decoder = model.decoder_layers > 0;
  if ((r.kind == "encoder" && !encoder) || (r.kind == "decoder" && !decoder) ||
      (r.kind == "cross" && !(encoder && decoder)))
    refuse(fmt::format("--kind {}: this model has no such attention.", r.kind));
  const auto check_number = [&](const char* name, const std::optional<int>& given, int count) {
    if (given && *given >= count)
      refuse(
          fmt::format("--{0} {1}: the {0}s of this model are 0 to {2}.", name, *given, count - 1));
  };
  check_number("head", r.head, model.n_heads);
  check_number("layer", r.layer, std::max(model.encoder_layers, model.decoder_layers));
}

Example read_input(const AttendOptions& r, const TrainedModel& t) {
  const Objective& objective = *t.objective;
  const auto source = [&] {
    return source_tokens(objective, t.config, t.tokenizers, objective.with_mask_tokens(*r.source),
                         "--source");
  };
  const auto target = [&](const std::string& text, const char* name) {
    return Objective::framed_target(target_tokens(objective, t.config, t.tokenizers, text, name));
  };
  if (!r.source && !r.target) throw Error(Exit::usage, "expected a text.", "--source \"...\"");
  if (!objective.traits().encoder()) {  // one text, wherever it was given
    const std::string text = r.source.value_or("") + r.target.value_or("");
    if (text.empty()) throw Error(Exit::data, "the text is empty: there is nothing to attend to.");
    return {{}, target(text, r.source ? "--source" : "--target")};
  }
  if (!objective.traits().decoder()) {
    if (r.target)
      throw Error(Exit::usage, "--target: this model has no decoder; its text is --source.");
    return {objective.framed_source(source()), {}};
  }
  if (!r.source && objective.traits().prompt_is_source)
    throw Error(Exit::usage, "--target needs its --source.");
  const TokenIds prompt = r.source ? source() : TokenIds{};
  return {objective.framed_source(prompt),
          r.target ? target(*r.target, "--target")
                   : Objective::framed_target(  // <s> too
                         generate(t, prompt, objective.traits().longest_target - 1))};
}

void draw(const AttendOptions& r, const InputTokens& tokens, const AttentionMaps& maps) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = no_color != nullptr && *no_color != '\0';
  const HeatMapStyle style{.colour = !plain && ::isatty(STDOUT_FILENO) == 1};
  print_coloured(heat_map_legend(style));
  for (const AttentionKind kind : kAttentionKinds) {
    const AttentionMap& map = map_of(maps, kind);
    if (!r.kind.empty() && r.kind != attention_name(kind)) continue;
    for (int layer = 0; layer < map.layers; ++layer)
      for (int head = 0; head < map.heads; ++head) {
        if (layer != r.layer.value_or(layer) || head != r.head.value_or(head)) continue;
        print(fmt::format("\n{}, layer {}, head {}\n", attention_name(kind), layer, head));
        print_coloured(draw_heat_map(map.head(layer, head), query_tokens(tokens, kind),
                                     key_tokens(tokens, kind), style));
      }
  }
}

void write_page(const AttendOptions& r, const TrainedModel& t, const InputTokens& tokens,
                const MapsAndNext& pass) {
  AttentionPage page{fmt::format("{}, step {}", r.run, t.state.step), AttentionKind::cross};
  for (const AttentionKind kind : kAttentionKinds)
    if (!map_of(pass.maps, kind).empty() && (r.kind.empty() || r.kind == attention_name(kind)))
      page.kind = kind;
  const AttentionMap& map = map_of(pass.maps, page.kind);
  const SharpestHead sharpest = sharpest_head(map);
  page.layer = std::min(r.layer.value_or(sharpest.layer), map.layers - 1);
  page.head = r.head.value_or(sharpest.head);
  write_output(r.html, attention_page(page, tokens, pass, *t.tokenizers.target));
}

void score(const AttendOptions& r, const TrainedModel& t) {
  if (r.layer || r.head || !r.kind.empty() || !r.html.empty() || r.contributions)
    throw Error(Exit::usage,
                "--gold scores all heads; it takes only --source, --target, --limit and --json.");
  if (!r.source) throw Error(Exit::usage, "--gold needs --source, the file it describes.");
  const GoldFiles files{r.gold, *r.source, r.target.value_or(""), r.limit};
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

}  // namespace

Exit run_attend(CommandLine& line) {
  AttendOptions request;
  add_options(line, request);
  if (!line.parse()) return Exit::ok;
  prepare_blas();
  const TrainedModel trained = load_trained_model(request.run, request.checkpoint);
  if (!request.gold.empty()) {
    score(request, trained);
    return Exit::ok;
  }
  check_selection(request, trained.config.model);
  const Example input = read_input(request, trained);
  const InputTokens tokens = input_tokens(input, trained.tokenizers);
  Workspace workspace;
  const MapsAndNext pass = maps_and_next(trained.model, trained.values, input, workspace,
                                         request.html.empty() ? 0 : kNextTokens);
  const AttentionMaps& maps = pass.maps;
  if (!request.html.empty()) write_page(request, trained, tokens, pass);
  if (request.json)
    print(attention_json(input, tokens, maps, request.contributions));
  else if (request.html.empty())
    draw(request, tokens, maps);
  return Exit::ok;
}

}  // namespace heed
