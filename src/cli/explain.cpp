// heed explain RUN [TEXT]
#include "show/explain.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/texts.h"
#include "data/user_text.h"
#include "show/page.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownParts = 14, kShownPulls = 8;

struct ExplainOptions {
  TextArguments texts;
  std::optional<std::string> answer, against;
  std::string html;
};

// What the model reads, and the row that predicts: after the text, or in the place of its first
// [MASK], for which a decoder starts with the token that names it.
Asked asked_of_text(const CommandLine& line, const ExplainOptions& o, const OpenModel& m,
                    const GivenText& given, UserTexts& texts) {
  const Objective& objective = *m.objective;
  GivenText text = given;
  if (objective.fills()) text.text = with_masks(line, given);
  Asked asked{texts.read(text, false).read};
  TokenIds &source = asked.read.source, &target = asked.read.target;
  const auto mask = std::ranges::find_if(source, [&](int id) { return objective.is_mask(id); });
  asked.row = static_cast<int>(mask - source.begin());
  if (m.model.has_decoder()) {
    if (target.empty()) target = Objective::framed_target({});
    if (mask != source.end() && (target.size() == 1 || target[1] != *mask))
      target.insert(target.begin() + 1, *mask);
    objective.join(asked.read);
    texts.check_length(Side::target, target.size(), given.name);
    asked.row = static_cast<int>(target.size()) - 1;
  }
  const auto ids = [&](const std::optional<std::string>& word, const char* option) {
    if (!word) return TokenIds();
    return one_token(texts.normalized(Side::target, *word, option), option, *m.tokenizers.target);
  };
  asked.answer = ids(o.answer, "--answer");
  asked.against = ids(o.against, "--against");
  return asked;
}

// Puts the token beside every id.
void name_tokens(Json& json, const Tokenizer& tokenizer) {
  if (json.is_object() && json.contains("id")) json["token"] = tokenizer.piece(json["id"]);
  if (json.is_structured())
    for (Json& item : json) name_tokens(item, tokenizer);
}

Json explanation_json(const OpenModel& m, const Asked& asked) {
  const Example& read = asked.read;
  const Tokenizer& target = *m.tokenizers.target;
  Json json;
  const bool both = m.model.has_encoder() && m.model.has_decoder();
  if (both) json["source_ids"] = read.source;
  if (both) json["source_tokens"] = m.tokenizers.source().pieces(read.source);
  json["ids"] = m.model.has_decoder() ? read.target : read.source;
  json["tokens"] = target.pieces(m.model.has_decoder() ? read.target : read.source);
  json["row"] = asked.row;
  Json found = explain(m.model, m.values, asked);
  name_tokens(found, target);
  for (Json& key : found["head"]["keys"])
    key["token"] = json[found["head"]["kind"] == "cross" ? "source_tokens" : "tokens"]
                       [key["position"].get<std::size_t>()];
  json.update(found);
  return json;
}

double number(const Json& x) {
  return x.get<double>();
}
std::string signed_number(const Json& x) {
  return fmt::format("{:+.4f}", number(x));
}
// "decoder, layer 1, head 0"; "norm bias"
std::string part_name(const Json& part) {
  const std::string of =
      part["kind"].is_null() ? "" : plain(part["kind"]) + ", layer " + plain(part["layer"]) + ", ";
  return of + (part["head"].is_null() ? replace_all(plain(part["part"]), "_", " ")
                                      : "head " + plain(part["head"]));
}
std::string odds_text(const Json& t) {
  return fmt::format("{} {:.2f} % (logit {:.4f})", token_text(t["token"]),
                     100 * number(t["probability"]), number(t["logit"]));
}
// "[0.406, -0.434, 0.007, ...]"
std::string vector_text(const Json& x) {
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min<std::size_t>(x.size(), 3); ++i)
    shown.push_back(fmt::format("{:.3f}", number(x[i])));
  if (x.size() > 3) shown.push_back("...");
  return "[" + joined(shown) + "]";
}

// The `most` rows with the largest numbers under `key`, for or against.
std::vector<Json> largest(std::vector<Json> rows, const char* key, std::size_t most) {
  std::ranges::stable_sort(rows, std::greater(),
                           [&](const Json& row) { return std::abs(number(row[key])); });
  rows.resize(std::min(rows.size(), most));
  return rows;
}

// A row before the output layer: with post-norm, which has no shares, no norm follows.
std::string normed(const Json& e, const std::string& row) {
  return e["shares"].is_null() ? row : "norm(" + row + ")";
}

void print_lens(const Json& e) {
  const Column columns[] = {{"layer", "layer"},
                            {"rank", "rank"},
                            {"probability", "probability", fixed<4>},
                            {"most probable", "top", alternatives_text, 0, Column::cut}};
  print_prose(fmt::format(
      "\nwhat would be predicted after every layer: logits = {} W_outᵀ (nn/stack.cpp)\n",
      normed(e, "x")));
  print_table(e["lens"], columns, "  ");
  print_prose(token_text(e["answer"]["token"]) +
              (e["lead"].is_null() ? " is not the most probable in the end\n"
                                   : " takes the lead in layer " + plain(e["lead"]) + "\n"));
}

void print_shares(const Json& e) {
  if (e["shares"].is_null())
    return print_prose(
        "\nno shares: with post-norm, every norm rescales all that was written before it\n");
  print_prose(fmt::format(
      "\nwho wrote {}: its logit less {} is {:.4f}\n", token_text(e["answer"]["token"]),
      e["against"].is_null() ? "the mean of all" : "that of " + token_text(e["against"]["token"]),
      number(e["total"])));
  const std::vector<Json> first = largest(e["shares"], "share", kShownParts);
  double others = number(e["total"]);
  for (const Json& part : first) others -= number(part["share"]);
  const Column columns[] = {{"", "share", signed_number}, {"", "", part_name}};
  print_table(first, columns, "  ");
  if (const std::size_t left = e["shares"].size() - first.size(); left > 0)
    print(fmt::format("  {:+.4f}  the other {}\n", others, left));
}

// The numbers of the largest weight, step by step.
Json steps_of(const Json& e) {
  const Json &h = e["head"], &key = h["keys"][0];
  std::vector<std::string> sum, promoted;
  for (const Json& k : h["keys"])
    sum.push_back(fmt::format("{:.3f} v_{}", number(k["weight"]), plain(k["position"])));
  if (h["weights"].size() > sum.size()) sum.push_back("...");
  for (const Json& t : h["promotes"])
    promoted.push_back(fmt::format("{} {:+.2f}", token_text(t["token"]), number(t["logit"])));
  Json steps = Json::array();
  const auto add = [&](const std::string& formula, const char* file, const std::string& numbers) {
    steps.push_back({{"formula", formula}, {"file", file}, {"numbers", numbers}});
  };
  if (h["uniform"]) {
    add("P = 1 / keys", "nn/attention.cpp",
        fmt::format("1 / {}: uniform, without scores", h["weights"].size()));
  } else {
    add(h["scale"] == 1 ? "S = q . k" : "S = q . k / √d_head", "nn/attention.cpp",
        fmt::format("{:.4f} × {:.4f} = {:.4f}", number(key["dot"]), number(h["scale"]),
                    number(key["score"])));
    add("P = softmax(S)", "nn/attention.cpp",
        fmt::format("exp({:.4f} - {:.4f}) = {:.4f}", number(key["score"]), number(h["log_sum"]),
                    number(key["weight"])));
  }
  add("o = P V", "nn/attention.cpp", joined(sum, " + ") + " = " + vector_text(h["output"]));
  add(normed(e, "W_O o") + " W_outᵀ", "nn/transformer.h", "promotes " + joined(promoted, "  "));
  return steps;
}

void print_head(const Json& e) {
  const Json& h = e["head"];
  print_prose("\nthe strongest head: " + part_name(h) + "; its three largest weights\n");
  const Column keys[] = {{"key", "position"},
                         {"", "token", token_text},
                         {"q . k", "dot", fixed<4>},
                         {"score S", "score", fixed<4>},
                         {"weight P", "weight", fixed<4>},
                         {"share", "share", signed_number},
                         {"value v", "v", vector_text, 1}};
  print_table(h["keys"], keys, "  ");
  const Column steps[] = {{"", "formula"}, {"", "file"}, {"", "numbers", plain, 0, Column::broken}};
  print_table(steps_of(e), steps, "  ");
}

// Where the answer's loss pulls most.
void print_pull(const Json& e) {
  std::vector<Json> rows;
  for (const Json& h : e["pull"])
    for (std::size_t j = 0; j < h["pull"].size(); ++j)
      rows.push_back({{"pull", h["pull"][j]},
                      {"value", h["value_pull"][j]},
                      {"head", part_name(h)},
                      {"key", j},
                      {"token", e[h["kind"] == "cross" ? "source_tokens" : "tokens"][j]}});
  print_prose("\nthe pull of the loss of " + token_text(e["answer"]["token"]) +
              ": nats per unit of score, and per unit of value\n");
  const Column columns[] = {{"score", "pull", signed_number},
                            {"value", "value", fixed<4>},
                            {"", "head"},
                            {"key", "key"},
                            {"", "token", token_text}};
  print_table(largest(rows, "pull", kShownPulls), columns, "  ");
}

void print_explanation(const Json& e, bool masked) {
  print_prose(fmt::format("{} {}: {}\n", masked ? "in the place of" : "after",
                          token_text(e["tokens"][e["row"].get<int>()]), odds_text(e["answer"])));
  if (!e["against"].is_null()) print("against: " + odds_text(e["against"]) + "\n");
  print_lens(e);
  print_shares(e);
  print_head(e);
  if (e.contains("pull")) print_pull(e);
}

}  // namespace

Exit run_explain(CommandLine& line) {
  ExplainOptions o;
  line.add_model();
  line.add_texts(o.texts, "the text before the word to explain; for masked models with a [MASK]");
  line.add_targets(o.texts, "what the decoder has written, before the word to explain");
  line.app().add_option("--answer", o.answer, "explain this token (default: the most probable)");
  line.app().add_option("--against", o.against, "why the answer, and not this token");
  line.add_file("--html", o.html, "write a page; - is standard output", "FILE");
  line.only_where({"--target", "--target-file"}, "for a decoder",
                  [](auto* m) { return !m || m->model.decoder_layers > 0; });
  if (!line.parse()) return Exit::ok;
  const bool prompts = !o.texts.given() && can_prompt();
  check_page(line, o.html, prompts);
  OpenModel m(line);
  UserTexts texts(*m.objective, m.config, m.tokenizers, m.log);
  return answer_texts(
      line,
      {.instructions = "Type a text to see why the model goes on as it does.",
       .settings = {"answer", "against", "html"}},
      {}, m.config, m.log, [&](std::span<const GivenText> read, Refusals& refusals) {
        const auto answer = [&] {
          const Json e = explanation_json(m, asked_of_text(line, o, m, read.front(), texts));
          if (!o.html.empty()) {
            ShortJson data(e);
            data["about"] = fmt::format("{}, step {}", m.run, m.state.step);
            write_page(o.html, page_with(explanation_html, data), m.log);
          }
          if (line.json())
            print_line(e);
          else if (o.html != "-")
            print_explanation(e, !m.model.has_decoder());
        };
        refusals.answer(read.front(), "answer", line.json(), answer);
        return texts.take_unknown();
      });
}

}  // namespace heed
