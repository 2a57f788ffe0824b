// heed attend RUN [TEXT]
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/format.h"
#include "base/json.h"
#include "cli/answers.h"
#include "cli/output.h"
#include "evaluate/translation.h"
#include "show/attention_maps.h"
#include "show/fill.h"
#include "show/head_names.h"
#include "show/head_words.h"
#include "show/heat_map.h"
#include "show/live_page.h"
#include "show/page.h"
#include "show/pull.h"
#include "text/utf8.h"

namespace heed {
namespace {

struct AttendOptions {
  std::string html;
  TextArguments texts;
  std::optional<int> max_tokens;
  HeadChoice heads;
  std::size_t limit = TextSource{}.limit;
  bool json = false, contributions = false, pull = false, names = false;
  bool prompts = false;  // texts are typed, and each is drawn, with or without a page

  bool draws() const { return !json && (prompts || html.empty()); }
};

constexpr const char* kOtherHeads =
    "others: --kind, --layer and --head; all: --html FILE or --json\n";
constexpr int kDrawnTokens = 16;  // written by a model for maps in a terminal
constexpr int kNextTokens = 5;    // told after a text of a prompt

void add_attend_options(CommandLine& line, AttendOptions& r) {
  CLI::App& app = line.app();
  line.add_model();
  line.add_texts(
      r.texts,
      "text for the encoder; for a decoder-only model, its text; its words need no quotes");
  line.add_targets(r.texts, "text for the decoder (default: what the model writes)");
  line.add_number("--max-tokens", r.max_tokens,
                  "most tokens it writes (default: 16 where they are drawn, else all)", 1,
                  1'000'000);
  line.add_choice("--kind", r.heads.kind, "only this attention; at a prompt also all",
                  {"encoder", "decoder", "cross"});
  line.add_number("--layer", r.heads.layer, "only this layer, from 0; at a prompt also all", 0);
  line.add_number("--head", r.heads.head,
                  "only this head, from 0; at a prompt also all, or a layer and a head", 0);
  app.add_flag("--contributions", r.contributions,
               "with --json: also the length of the vector each head takes from each token");
  app.add_flag("--pull", r.pull,
               "also how the loss would move each score, in nats per unit of score");
  app.add_flag("--names", r.names,
               "also the names that heads have over held-out text, as training recorded them");
  line.add_file("--html", r.html,
                "write the page of heed report --live, opened here; - is standard output", "FILE");
  line.add_number("--limit", r.limit, "read only this many lines of --file", 1)
      ->default_str("all")
      ->needs("--file");
}

void warn_of_options(const OpenModel& m, const AttendOptions& r) {
  const bool decoder = m.net.has_decoder(), given = r.pull || r.texts.target || r.texts.target_file;
  m.line.only_where(decoder || r.pull, {"--target", "--target-file"},
                    "for a decoder, or with --pull");
  m.line.only_where(!given && decoder && m.objective->text_side() == Side::source, {"--max-tokens"},
                    "where the model writes the target");
  m.line.only_where(m.line.json(), {"--contributions"}, "with --json");
  m.line.only_where(r.draws() || m.line.json(), {"--pull", "--names"}, "with --json, or no --html");
}

void check_selection(const CommandLine& line, const AttendOptions& r, const ModelConfig& model) {
  const auto refuse = [](const std::string& what) { throw Error(Exit::usage, what); };
  check_page(line, r.html, r.prompts);
  const std::string where = r.heads.kind.empty() ? "this model" : "--kind " + r.heads.kind;
  int layers = 0;
  for (const AttentionKind kind : kAttentionKinds)
    if (r.heads.has(kind)) layers = std::max(layers, attention_layers(model, kind));
  if (layers == 0) refuse(where + ": this model has no such attention.");
  const auto check_number = [&](const char* name, const std::optional<int>& given, int count) {
    if (given && *given >= count)
      refuse(
          fmt::format("--{0} {1}: the {0}s of {2} are 0 to {3}.", name, *given, where, count - 1));
  };
  check_number("head", r.heads.head, model.n_heads);
  check_number("layer", r.heads.layer, layers);
}

struct AttendInput : ReadText {
  std::string target = {}, written = {};  // as given; as the model wrote it, for people
};

// Lets the model write the target, cut to the tokens shown.
void write_target(const AttendOptions& r, const Model& t, AttendInput& input) {
  const int room = t.objective->longest(Side::target) - 1;  // <s> too
  const int most = std::min(room, r.max_tokens.value_or(r.draws() ? kDrawnTokens : room));
  TokenIds ids;
  if (t.objective->use().command == "translate") {
    Pool pool(1);
    BeamOptions beam;
    beam.max_length = translation_limit(t.state.longest_target);
    const auto found = translate(t, pool, {input.prompt}, beam);
    if (!found.front().empty()) ids = found.front().front().ids;
  } else {
    ids = generate(t.predictor(), *t.objective, *t.tokenizers.target, input.prompt, most, 0,
                   input.not_next);
  }
  input.written = to_valid_utf8(t.tokenizers.target->decode(ids));
  if (static_cast<int>(ids.size()) > most) {
    ids.resize(most);
    input.written += fmt::format("\n  (below, its first {} tokens; {}max-tokens for more)", most,
                                 r.prompts ? ":" : "--");
  }
  input.target = t.tokenizers.target->decode(ids, true);
  input.read.target = Objective::framed_target(std::move(ids));
}

AttendInput read_input(const AttendOptions& r, const GivenText& given, const Model& t,
                       UserTexts& texts) {
  AttendInput input{texts.read(given, !given.is_line), given.target.value_or("")};
  const bool writes = input.read.target.empty() && t.net.has_decoder();
  if (writes && r.pull) return {{asked_of(*t.objective, *t.tokenizers.target, input.prompt)}};
  if (writes) write_target(r, t, input);
  if (r.pull)
    input.read.labels = labels_of(*t.objective, *t.tokenizers.target, input.read, input.words);
  t.objective->join(input.read);
  if (t.objective->traits().joined && !input.target_bytes.empty())
    input.target_bytes.insert(input.target_bytes.begin() + 1, input.read.source.size(), {0, 0});
  texts.check_length(Side::target, input.read.target.size(), given.name);
  return input;
}

// {"PREFIX_KIND": number(map, layer, head, query, key)} of each kind that has maps, [layer][head]
// [query][key].
template <class Number>
void add_maps(Json& json, const AttentionMaps& maps, const std::string& prefix, Number&& number) {
  for_heads(maps, [&](AttentionKind kind, const AttentionMap& map, int layer, int head) {
    Json& layers = json[prefix + attention_name(kind)];
    if (head == map.first_head) layers.push_back(Json::array());
    Json& queries = layers.back().emplace_back(Json::array());
    for (int q = 0; q < map.queries; ++q) {
      Json& keys = queries.emplace_back(Json::array());
      for (int k = 0; k < map.keys; ++k) keys.push_back(number(map, layer, head, q, k));
    }
  });
}

// What --json prints of the weights, and of the contributions where the maps have lengths.
Json attention_json(const AttendInput& input, const InputTokens& tokens,
                    const AttentionMaps& maps) {
  Json json;
  json["source_ids"] = input.read.source;
  json["source_tokens"] = tokens.source;
  if (!input.source_bytes.empty()) json["source_bytes"] = input.source_bytes;
  json["target_ids"] = input.read.target;
  json["target_tokens"] = tokens.target;
  if (!input.target_bytes.empty()) json["target_bytes"] = input.target_bytes;
  const auto weight = [](const AttentionMap& map, int layer, int head, int q, int k) {
    return map.head(layer, head)(q, k);
  };
  add_maps(json, maps, "", weight);
  if (!map_of(maps, last_kind(maps)).lengths.empty())
    add_maps(json, maps, "contribution_", [&](const AttentionMap& map, int l, int h, int q, int k) {
      const double length = map.lengths[map.number(l, h) * map.keys + k];
      return weight(map, l, h, q, k) * length;
    });
  for (const HeadInWords& h : heads_in_words(tokens, maps))
    json["patterns"].push_back({{"kind", attention_name(h.kind)},
                                {"layer", h.layer},
                                {"head", h.head},
                                {"pattern", h.pattern},
                                {"share", h.share},
                                {"uniform", h.uniform},
                                {"sentence", h.sentence()}});
  return json;
}

// {"pull": {"encoder", "decoder", "cross"}, "label_ids"}: the same layout, with every digit.
std::string pull_json(const AttentionMaps& maps, const TokenIds& labels) {
  Json json{{"pull", {}}, {"label_ids", labels}};
  add_maps(json["pull"], maps, "", [](const AttentionMap& map, int layer, int head, int q, int k) {
    return map.pulls(layer, head)(q, k);
  });
  return json.dump();
}

// What the model expected after the user's text.
std::string expected_next(const AttendInput& input, const Model& t, const NextTokens& next) {
  if (next.empty() || t.objective->fills()) return "";
  std::vector<std::string> odds;
  for (const ScoredToken& b : input.written.empty() ? next.back() : next.front())
    odds.push_back(fmt::format("“{}” {:.0f} %", t.tokenizers.target->piece(b.id),
                               100 * std::exp(b.log_probability)));
  return "expected next: " + joined(odds) + "\n";
}

// What to type at a prompt for another head, the last one for example.
std::string other_heads(const ModelConfig& m) {
  return fmt::format("others: :head {0} {1} (layer {0}, head {1}), :layer, :kind\n",
                     std::max(m.encoder_layers, m.decoder_layers) - 1, m.n_heads - 1);
}

HeatMapStyle terminal_style() {
  const char* no_color = std::getenv("NO_COLOR");
  const bool plain = no_color != nullptr && *no_color != '\0';
  return {.colour = !plain && on_terminal(),
          .columns = on_terminal() ? output_columns() : HeatMapStyle{}.columns};
}

void draw_attention(const AttendOptions& r, const AttendInput& input, const Model& t,
                    const InputTokens& tokens, const AttentionMaps& maps, const NextTokens& next) {
  if (!input.written.empty())
    print(fmt::format("the model writes{}:\n  {}\n\n", r.prompts ? "" : " (--target for another)",
                      input.written));
  const bool whole = r.heads.any();
  print_coloured(draw_attention(whole, tokens, maps, terminal_style()));
  if (!whole) print(r.prompts ? other_heads(t.config.model) : kOtherHeads);
  if (r.pull) print_coloured(draw_pull(whole, tokens, maps, terminal_style()));
  if (r.names) print("\n" + names_in_words(recorded_names(t, r.heads)));
  if (r.prompts) print(expected_next(input, t, next));
}

void answer_attention(const AttendOptions& r, const GivenText& given, const Model& t,
                      UserTexts& texts, Log& log) {
  const AttendInput input = read_input(r, given, t, texts);
  const InputTokens tokens = input_tokens(input.read, t.tokenizers);
  Workspace workspace;
  AttentionMaps maps = empty_maps(t.net, input.read, r.heads, r.contributions);
  const NextTokens next =
      fill_maps(t.net, t.values, input.read, workspace, maps, r.prompts ? kNextTokens : 0);
  if (r.pull) {
    ParamVec<double> values(t.values.size());
    std::copy_n(t.values.data(), values.size(), values.data());
    add_pull(t.net, values, input.read, workspace, maps);
  }
  if (r.json) {
    std::string line = short_text(attention_json(input, tokens, maps));
    const auto add = [&](const std::string& object) {
      line.replace(line.size() - 1, 1, "," + object.substr(1));
    };
    if (r.pull) add(pull_json(maps, input.read.labels));
    if (r.names) add(recorded_names(t, r.heads).dump());
    print_data(line + "\n");
  }
  if (!r.html.empty()) {
    const auto h = clearest_head(heads_in_words(tokens, maps), last_kind(maps));
    const std::string head = fmt::format("{}.{}.{}", attention_name(h.kind), h.layer, h.head);
    write_page(
        r.html,
        live_page(t, kInsteadOfPage,
                  {{"text", given.text}, {"target", input.target}, {"head", head}}, r.prompts),
        log);
  }
  if (r.draws()) draw_attention(r, input, t, tokens, maps, next);
}

// ":head 1 0", ":layer all": at the prompt.
void set_heads(CommandLine& line, AttendOptions& r, const ModelConfig& model,
               const std::string& name, const std::vector<std::string>& values) {
  const AttendOptions before = r;
  const bool all = joined(values) == "all";
  try {
    if (all && name == "html") {
      throw Error(Exit::usage, ":html needs the name of a file.", ":html page.html");
    } else if (all && name == "kind") {
      r.heads.kind.clear();
    } else if (all && (name == "layer" || name == "head")) {
      (name == "layer" ? r.heads.layer : r.heads.head).reset();
    } else if (name == "head" && values.size() == 2) {  // of a layer
      line.set("layer", {values[0]});
      line.set(name, {values[1]});
    } else {
      line.set(name, values);
    }
    check_selection(line, r, model);
  } catch (const Error&) {
    r = before;
    throw;
  }
}

}  // namespace

Exit run_attend(CommandLine& line) {
  AttendOptions r;
  add_attend_options(line, r);
  line.parse();
  r.json = line.json();
  r.prompts = !r.texts.given() && can_prompt();
  if (r.prompts)
    line.app().get_option("--html")->description("write a page of each text that follows");
  OpenModel trained(line);
  check_selection(line, r, trained.config.model);
  warn_of_options(trained, r);
  bool first = true;  // line
  const auto set = [&](const std::string& name, const std::vector<std::string>& values) {
    set_heads(line, r, trained.config.model, name, values);
  };
  const auto answer = [&](std::span<const GivenText> texts, Refusals& refusals) {
    for (const GivenText& text : texts) {
      const std::string error = refusals.refusal_of(text, [&] {
        if (!r.json && text.is_line && !std::exchange(first, false)) print("\n");
        answer_attention(r, text, trained, trained.texts, trained.log);
      });
      if (!error.empty())
        r.json ? print_line({{"patterns", nullptr}, {"error", error}}) : print("\n");
    }
  };
  return answer_texts(trained,
                      {.instructions = "Type a text to see where each head looks.",
                       .settings = {"kind", "layer", "head", "max-tokens", "html"},
                       .set = set,
                       .limit = r.limit},
                      answer);
}

}  // namespace heed
