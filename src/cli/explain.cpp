// heed explain RUN [TEXT]
#include "show/explain.h"
#include "base/json.h"
#include "base/std_names.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/format.h"
#include "cli/answers.h"
#include "cli/output.h"

namespace heed {
namespace {

constexpr size_t kShownParts = 14, kShownPulls = 8;

struct ExplainOptions {
  optional<string> answer, against;
  string html;
};

// What the model reads, and the row that predicts: after the text, or in the place of its first
// [MASK], for which a decoder starts with the token that names it.
Prediction prediction_of(const ExplainOptions& o, OpenModel& m, const GivenText& given) {
  const Objective& objective = *m.objective;
  GivenText text = given;
  if (objective.fills()) text.text = with_masks(m, given);
  ReadText given_text = m.texts.read(text, false);
  Prediction prediction{std::move(given_text.read)};
  if (!objective.fills()) prediction.not_next = std::move(given_text.not_next);
  TokenIds &source = prediction.read.source, &target = prediction.read.target;
  const auto mask = ranges::find_if(source, [&](int id) { return objective.is_mask(id); });
  prediction.row = int(mask - source.begin());
  if (m.net.has_decoder()) {
    if (target.empty()) target = Objective::framed_target({});
    if (mask != source.end() && (target.size() == 1 || target[1] != *mask))
      target.insert(target.begin() + 1, *mask);
    objective.join(prediction.read);
    m.texts.check_length(Side::target, target.size(), given.name);
    prediction.row = int(target.size()) - 1;
  }
  const auto ids = [&](const optional<string>& word, const char* option) {
    if (!word) return TokenIds();
    return one_token(m.texts.normalized(Side::target, *word, option), option, *m.tokenizers.target);
  };
  prediction.answer = ids(o.answer, "--answer");
  prediction.against = ids(o.against, "--against");
  return prediction;
}

// Puts the token beside every id.
void name_tokens(Json& json, const Tokenizer& tokenizer) {
  if (json.is_object() && json.contains("id")) json["token"] = tokenizer.piece(json["id"]);
  if (json.is_structured())
    for (Json& item : json) name_tokens(item, tokenizer);
}

Json explanation_json(const OpenModel& m, const Prediction& prediction) {
  const Example& read = prediction.read;
  const Tokenizer& target = *m.tokenizers.target;
  Json json;
  const bool both = m.net.has_encoder() && m.net.has_decoder();
  if (both) json["source_ids"] = read.source;
  if (both) json["source_tokens"] = m.tokenizers.source().pieces(read.source);
  json["ids"] = m.net.has_decoder() ? read.target : read.source;
  json["tokens"] = target.pieces(m.net.has_decoder() ? read.target : read.source);
  json["row"] = prediction.row;
  Json found = explain(m.net, m.values, prediction);
  name_tokens(found, target);
  for (Json& key : found["head"]["keys"])
    for (const char* of : {"id", "token"})
      key[of] = json[fmt::format("{}{}s", found["head"]["kind"] == "cross" ? "source_" : "", of)]
                    [key["position"].get<size_t>()];
  json.update(found);
  return json;
}

// "[0.406, -0.434, 0.007, ...]"
string vector_text(const Json& x) {
  string shown;
  for (size_t i = 0; i < min<size_t>(x.size(), 3); ++i) shown += fixed<3>(x[i]) + ", ";
  return "[" + shown + "...]";
}

// The `most` rows with the largest numbers under `key`, for or against.
vector<Json> largest(vector<Json> rows, const char* key, size_t most) {
  ranges::stable_sort(rows, greater(),
                      [&](const Json& row) { return abs(row[key].get<double>()); });
  rows.resize(min(rows.size(), most));
  return rows;
}

// What the output layer gets of a part: with the deviation of the last norm as it is for the row.
string normed(const Json& e, const string& z) {
  if (!e.contains("norm")) return z;
  const string centred = e["norm"]["type"] == "rms" ? z : "(" + z + " - its mean)";
  return fmt::format("{} g / {:.4f}", centred, e["norm"]["divisor"].get<double>());
}

void print_lens(const Json& e) {
  const Column columns[] = {{"layer", "layer"},
                            {"rank", "rank"},
                            {"logit", "logit", "{:.4f}"},
                            {"ln Σ exp", "log_sum", "{:.4f}"},
                            {"P", "probability", "{:.4f}"},
                            {"most probable", "top", alternatives_text, 0, Column::cut}};
  print_prose(fmt::format(
      "\nafter every layer: logits = {} W_outᵀ, P = exp(logit - ln Σ exp) (nn/loss.h)\n",
      e.contains("norm") ? "norm(x)" : "x"));
  print_table(e["lens"], columns, "  ");
  print_prose(token_text(e["answer"]["token"]) +
              (e["lead"].is_null() ? " is not the most probable in the end\n"
                                   : " takes the lead in layer " + plain(e["lead"]) + "\n"));
}

void print_shares(const Json& e) {
  if (!e.contains("norm"))
    return print_prose(
        "\nno shares: with post-norm, every norm rescales all that was written before it\n");
  const string answer = token_text(e["answer"]["token"]);
  const double logit = e["answer"]["logit"], total = e["total"];
  print_prose(fmt::format(
      "\nwho wrote {0}: logit[{0}] - logit[{1}] = {2:.4f} - ({3:.4f}) = {4:.4f}\n"
      "  share of a part z = {5} . (W_out[{0}] - W_out[{1}]) (show/explain.h)\n",
      answer, e["against"].is_null() ? "mean of all" : token_text(e["against"]["token"]), logit,
      logit - total, total, normed(e, "z")));
  vector<Json> rows = largest(e["shares"], "share", kShownParts);
  double others = total;
  for (const Json& part : rows) others -= part["share"].get<double>();
  if (const size_t left = e["shares"].size() - rows.size(); left > 0)
    rows.push_back({{"share", others}, {"part", fmt::format("the other {}", left)}});
  const Column columns[] = {{"share", "share", "{:+.4f}"},
                            {"part", "part"},
                            {"attention", "kind"},
                            {"layer", "layer"},
                            {"head", "head"}};
  print_table(rows, columns, "  ");
}

void print_head(const Json& e) {
  const Json& h = e["head"];
  print_prose("\nthe strongest head: " + plain(h["kind"]) + ", layer " + plain(h["layer"]) +
              ", head " + plain(h["head"]) + "; its three largest weights, and all others\n");
  Json keys = h["keys"];
  if (h.contains("others")) keys.push_back(h["others"]);
  const Column columns[] = {
      {"key", "position"},         {"", "token", token_text},   {"id", "id"},
      {"|k|", "length", "{:.4f}"}, {"cos", "cosine", "{:.4f}"}, {"q . k", "dot", "{:.4f}"},
      {"S", "score", "{:.4f}"},    {"P", "weight", "{:.4f}"},   {"share", "share", "{:+.4f}"},
      {"v", "v", vector_text, 1}};
  print_table(keys, columns, "  ");
  if (h["uniform"])
    print_prose("  P = 1 / keys (math/batch_invariant.h)\n");
  else
    print_prose(fmt::format(
        "  q . k = |q| |k| cos, |q| = {:.4f}; S = q . k{} (nn/attention.h)\n"
        "  P = softmax(S) = exp(S - ln Σ exp S), here {:.4f} (nn/attention.h)\n",
        h["length"].get<double>(), h["scale"] == 1 ? "" : fmt::format(" / √{}", h["q"].size()),
        h["log_sum"].get<double>()));
  print_prose(fmt::format("  o = Σ P v = {} (nn/attention.h)\n", vector_text(h["output"])));
  print_prose("  promotes: logits " + normed(e, "(W_O o)") +
              " W_outᵀ, less their mean (nn/loss.h)\n");
  const Column promoted[] = {{"", "logit", "{:+.4f}"}, {"", "token", token_text}};
  print_table(h["promotes"], promoted, "    ");
}

// Where the answer's loss pulls most.
void print_pull(const Json& e) {
  vector<Json> rows;
  for (const Json& h : e["pull"])
    for (size_t j = 0; j < h["pull"].size(); ++j)
      rows.push_back({{"pull", h["pull"][j]},
                      {"value", h["value_pull"][j]},
                      {"kind", h["kind"]},
                      {"layer", h["layer"]},
                      {"head", h["head"]},
                      {"key", j},
                      {"token", e[h["kind"] == "cross" ? "source_tokens" : "tokens"][j]}});
  print_prose("\nthe pull of the loss of " + token_text(e["answer"]["token"]) +
              ": nats per unit of score, and per unit of value\n");
  const Column columns[] = {{"score", "pull", "{:.3g}"},
                            {"value", "value", "{:.3g}"},
                            {"attention", "kind"},
                            {"layer", "layer"},
                            {"head", "head"},
                            {"key", "key"},
                            {"", "token", token_text}};
  print_table(largest(rows, "pull", kShownPulls), columns, "  ");
}

void print_explanation(const Json& e, bool masked) {
  for (const char* ids : {"source_ids", "ids"})
    if (e.contains(ids)) print_prose(fmt::format("{} {}\n", ids, shortened(e[ids].dump(), 64)));
  print_prose((masked ? "in the place of " : "after ") +
              token_text(e["tokens"][e["row"].get<int>()]) + "\n");
  const Column columns[] = {{"", "token", token_text},
                            {"id", "id"},
                            {"probability", "probability", "{:.4f}"},
                            {"logit", "logit", "{:.4f}"}};
  vector<Json> answers{e["answer"]};
  if (!e["against"].is_null()) answers.push_back(e["against"]);
  print_table(answers, columns, "  ");
  print_lens(e);
  print_shares(e);
  print_head(e);
  if (e.contains("pull")) print_pull(e);
}

}  // namespace

Exit run_explain(CommandLine& line) {
  ExplainOptions o;
  line.add_model();
  line.add_texts("the text before the word to explain; for masked models with a [MASK]");
  line.add_targets("what the decoder has written, before the word to explain");
  line.app().add_option("--answer", o.answer, "explain this token (default: the most probable)");
  line.app().add_option("--against", o.against, "why the answer, and not this token");
  line.add_file("--html", o.html,
                "also write the live page of the model, opened here; - is standard output", "FILE");
  line.parse();
  check_page(line, o.html);
  OpenModel m(line);
  line.only_where(m.net.has_decoder(), {"--target", "--target-file"}, "for a decoder");
  const auto answer = [&](const GivenText& text) {
    const Json e = explanation_json(m, prediction_of(o, m, text));
    if (o.html.empty()) return e;
    Json opening{{"target", text.target.value_or("")}, {"answer", e["answer"]["id"]}};
    if (!e["against"].is_null()) opening["against"] = e["against"]["id"];
    write_live_page(m, o.html, text, e["head"], opening);
    return e;
  };
  const auto view = [&](const Json& e) {
    if (o.html != "-") print_explanation(e, !m.net.has_decoder());
  };
  return answer_each(
      m, {"Type a text to see why the model goes on as it does.", {"answer", "against", "html"}},
      "answer", answer, view);
}

}  // namespace heed
