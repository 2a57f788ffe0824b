// heed attend RUN [TEXT]
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "evaluate/scorer.h"
#include "evaluate/writing.h"
#include "show/attention_maps.h"
#include "show/head_words.h"
#include "show/heat_map.h"
#include "show/page.h"
#include "show/pull.h"
#include "text/utf8.h"

namespace heed {
namespace {

struct AttendOptions {
  optional<int> max_tokens;
  HeadChoice heads;
  size_t limit = TextSource{}.limit;
  bool contributions = false, pull = false, names = false;
  bool prompts = false;  // texts are typed
  bool draws = false;    // a typed text with or without a page
};

constexpr int kDrawnTokens = 16;  // written by a model for maps in a terminal
constexpr int kNextTokens = 5;    // told after a text of a prompt

void check_choice(const HeadChoice& choice, const ModelConfig& model) {
  int layers = 0;
  for (const AttentionKind kind : kAttentionKinds)
    if (choice.has(attention_name(kind))) layers = max(layers, attention_layers(model, kind));
  if (layers == 0) throw usage_error("--kind {}: this model has no such attention.", choice.kind);
  const auto check_number = [&](const char* name, int given, int count) {
    if (given >= count)
      throw usage_error("--{0} {1}: the {0}s of --kind {2} are 0 to {3}.", name, given, choice.kind,
                        count - 1);
  };
  check_number("head", choice.head, model.n_heads);
  check_number("layer", choice.layer, layers);
}

// A text, and where each head looks in it.
struct Attended : ReadText {
  string target = {}, written = {};  // as given; as the model wrote it, for people
  InputTokens tokens = {};
  AttentionMaps maps = {};
  vector<HeadInWords> heads = {};  // the chosen ones
};

// Lets the model write the target, cut to the tokens shown.
void write_target(const AttendOptions& r, OpenModel& m, Attended& text) {
  const int room = m.objective->longest(Side::target) - 1;  // <s> too
  const int most = min(room, r.max_tokens.value_or(r.draws ? kDrawnTokens : room));
  TokenIds ids;
  if (m.objective->use().command == "translate") {
    const auto found = translate(m, m.pool, {text.prompt},
                                 {.max_length = translation_limit(m.state.longest_target)});
    if (!found.front().empty()) ids = found.front().front().ids;
  } else {
    ids = generate(m.predictor(), *m.objective, *m.tokenizers.target, text.prompt, most, 0,
                   text.not_next);
  }
  text.written = to_valid_utf8(m.tokenizers.target->decode(ids));
  if (int(ids.size()) > most) {
    ids.resize(most);
    text.written += fmt::format("\n  (below, its first {} tokens; {}max-tokens for more)", most,
                                r.prompts ? ":" : "--");
  }
  text.target = m.tokenizers.target->decode(ids, true);
  text.read.target = Objective::framed_target(std::move(ids));
}

Attended read_input(const AttendOptions& r, const GivenText& given, OpenModel& m) {
  Attended text{m.texts.read(given, !given.is_line), given.target.value_or("")};
  const bool writes = text.read.target.empty() && m.net.has_decoder();
  if (writes && r.pull) return {{asked_of(m, text.prompt)}};
  if (writes) write_target(r, m, text);
  if (r.pull) text.read.labels = labels_of(m, text.read, text.words);
  m.objective->join(text.read);
  if (m.objective->traits().joined && !text.target_bytes.empty())
    text.target_bytes.insert(text.target_bytes.begin() + 1, text.read.source.size(), {0, 0});
  m.texts.check_length(Side::target, text.read.target.size(), given.name);
  return text;
}

Attended attended(const AttendOptions& r, const GivenText& given, OpenModel& m) {
  Attended text = read_input(r, given, m);
  text.tokens = input_tokens(text.read, m.tokenizers);
  Workspace workspace;
  text.maps = attention_maps(m.net, m.values, text.read, workspace, r.contributions);
  if (r.pull) add_pull(m.net, copy_as<double>(m.values), text.read, workspace, text.maps);
  text.heads = heads_in_words(text.tokens, text.maps, r.heads);
  return text;
}

// {"PREFIX_KIND": numbers(map, layer, head)} of each kind that has chosen heads, [layer][head]
// [query][key].
template <class Numbers>
void add_maps(Json& json, const AttentionMaps& maps, const HeadChoice& choice, const string& prefix,
              Numbers&& numbers) {
  const auto add = [&](const AttentionMap& map, int layer, int head) {
    Json& layers = json[prefix + attention_name(map.kind)];
    if (head == max(choice.head, 0)) layers.push_back(Json::array());
    Json& queries = layers.back().emplace_back(Json::array());
    const auto rows = numbers(map, layer, head);
    for (int q = 0; q < rows.rows; ++q)
      queries.push_back(vector(rows.row(q), rows.row(q) + rows.cols));
  };
  for_heads(maps, choice, add);
}

Json head_json(const HeadInWords& h) {
  return {{"kind", attention_name(h.kind)}, {"layer", h.layer}, {"head", h.head},
          {"pattern", h.pattern},           {"share", h.share}, {"uniform", h.uniform},
          {"sentence", h.sentence()}};
}

Json attention_json(const AttendOptions& r, const Attended& text, const Model& m) {
  Json json{{"source_ids", text.read.source}, {"source_tokens", text.tokens.source}};
  if (!text.source_bytes.empty()) json["source_bytes"] = text.source_bytes;
  json["target_ids"] = text.read.target;
  json["target_tokens"] = text.tokens.target;
  if (!text.target_bytes.empty()) json["target_bytes"] = text.target_bytes;
  const auto weights = [](const AttentionMap& map, int l, int h) { return map.head(l, h); };
  add_maps(json, text.maps, r.heads, "", weights);
  if (r.contributions) add_maps(json, contributions(text.maps), r.heads, "contribution_", weights);
  for (const HeadInWords& h : text.heads) json["patterns"].push_back(head_json(h));
  json = with_short_numbers(json);
  if (r.pull) {  // with every digit
    add_maps(json["pull"], text.maps, r.heads, "",
             [](const AttentionMap& map, int l, int h) { return map.pulls(l, h); });
    json["label_ids"] = text.read.labels;
  }
  if (r.names) json.update(recorded_names(m, r.heads));
  return json;
}

// What the model expected after the user's text.
string expected_next(const Attended& text, OpenModel& m) {
  if (!m.net.has_decoder() || m.objective->fills()) return "";
  Example read = text.read;
  read.labels.assign(read.target.size(), -1);
  (text.written.empty() ? read.labels.back() : read.labels.front()) = 0;  // any token
  const TokenOdds expected = label_odds(m.predictor(), {read}, m.pool, kNextTokens).front().front();
  vector<string> odds;
  for (const ScoredToken& b : expected.best)
    odds.push_back(fmt::format("“{}” {:.0f} %", m.tokenizers.target->piece(b.id),
                               100 * exp(b.log_probability)));
  return "expected next: " + joined(odds) + "\n";
}

HeatMapStyle terminal_style() {
  const char* no_color = std::getenv("NO_COLOR");
  return {.colour = on_terminal() && !(no_color && *no_color),
          .columns = terminal_width(STDOUT_FILENO)};
}

void draw(const AttendOptions& r, const Attended& text, OpenModel& m) {
  if (!text.written.empty())
    print(fmt::format("the model writes{}:\n  {}\n\n", r.prompts ? "" : " (--target for another)",
                      text.written));
  print_coloured(draw_attention(r.heads, text.tokens, text.maps, terminal_style()));
  if (!r.heads.any())
    print(fmt::format("others: {0}kind, {0}layer and {0}head; all: {0}html FILE\n",
                      r.prompts ? ":" : "--"));
  if (r.pull) print_coloured(draw_pull(r.heads, text.tokens, text.maps, terminal_style()));
  if (r.names) print_names(recorded_names(m, r.heads));
  if (r.prompts) print(expected_next(text, m));
}

}  // namespace

Exit run_attend(CommandLine& line) {
  AttendOptions r;
  line.add_model();
  line.add_texts(
      "text for the encoder; for a decoder-only model, its text; its words need no quotes");
  line.add_targets("text for the decoder (default: what the model writes)");
  line.add_number("--max-tokens", r.max_tokens,
                  "most tokens it writes (default: 16 where they are drawn, else all)", 1);
  line.add_choice("--kind", r.heads.kind, "only this attention",
                  {"all", "encoder", "decoder", "cross"});
  line.add_number("--layer", r.heads.layer, "only this layer, from 0; -1: all", -1);
  line.add_number("--head", r.heads.head, "only this head, from 0; -1: all", -1);
  line.app.add_flag("--contributions", r.contributions,
                    "with --json: also the length of the vector each head takes from each token");
  line.app.add_flag("--pull", r.pull,
                    "also how the loss would move each score, in nats per unit of score");
  line.app.add_flag("--names", r.names,
                    "also the names that heads have over held-out text, as training recorded them");
  line.add_page();
  line.add_number("--limit", r.limit, "read only this many lines of --file", 1)
      ->default_str("all")
      ->needs("--file");
  line.parse();
  r.prompts = prompts(line);
  r.draws = !line.json && (r.prompts || line.html.empty());
  OpenModel m(line);
  const bool decoder = m.net.has_decoder(), has_target = line.target || line.target_file;
  line.only_where(decoder || r.pull, {"--target", "--target-file"},
                  "for a decoder, or with --pull");
  line.only_where(decoder && !r.pull && !has_target && m.objective->text_side() == Side::source,
                  {"--max-tokens"}, "where the model writes the target");
  line.only_where(line.json, {"--contributions"}, "with --json");
  line.only_where(r.draws || line.json, {"--pull", "--names"}, "with --json, or no --html");
  Attended text;  // the one that is answered now
  const auto answer = [&](const GivenText& given) {
    check_choice(r.heads, m.config.model);
    text = attended(r, given, m);
    write_live_page(m, given,
                    {{"head", head_json(clearest_head(text.heads))}, {"target", text.target}});
    return line.json ? attention_json(r, text, m) : Json();
  };
  bool another = false;  // line of a file
  const auto view = [&](const Json&) {
    if (exchange(another, !r.prompts)) print("\n");
    if (r.draws) draw(r, text, m);
  };
  return answer_each(m,
                     {.instructions = "Type a text to see where each head looks.",
                      .settings = {"kind", "layer", "head", "max-tokens"},
                      .limit = r.limit},
                     "patterns", answer, view);
}

}  // namespace heed
