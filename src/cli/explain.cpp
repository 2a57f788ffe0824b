// heed explain RUN [TEXT]
#include "show/explain.h"

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
Asked asked_of_text(const ExplainOptions& o, const OpenModel& m, const GivenText& given,
                    UserTexts& texts) {
  const Objective& objective = *m.objective;
  GivenText text = given;
  if (objective.fills()) text.text = with_masks(given);
  Asked asked{texts.read(text, false).read};
  TokenIds &source = asked.read.source, &target = asked.read.target;
  const auto mask = std::ranges::find_if(source, [&](int id) { return objective.is_mask(id); });
  asked.row = static_cast<int>(mask - source.begin());
  if (m.model.has_decoder()) {
    if (target.empty()) target = Objective::framed_target({});
    if (mask != source.end() && (target.size() == 1 || target[1] != *mask))
      target.insert(target.begin() + 1, *mask);
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

std::string of_layer(const Json& part) {
  std::string name;
  if (!part["kind"].is_null())
    name = fmt::format("{}, layer {}, ", plain(part["kind"]), plain(part["layer"]));
  if (part.contains("head") && !part["head"].is_null()) return name + "head " + plain(part["head"]);
  return name + replace_all(plain(part["part"]), "_", " ");
}

std::string signed_share(const Json& share) {
  return fmt::format("{:+.4f}", share.get<double>());
}

std::string shown_answer(const Json& answer) {
  return fmt::format("{} {:.2f} % (logit {:.4f})", token_text(answer["token"]),
                     100 * answer["probability"].get<double>(), answer["logit"].get<double>());
}

void print_lens(const Json& e) {
  print(
      "\nwhat every layer would predict: logits = norm(x) Wᵀ  (nn/stack.cpp, nn/transformer.h)\n");
  const Column columns[] = {{"layer", "layer"},
                            {"rank", "rank"},
                            {"probability", "probability", fixed<4>},
                            {"most probable", "top", alternatives_text, 0, Column::cut}};
  print_table(e["lens"], columns, "  ");
  const std::string answer = token_text(e["answer"]["token"]);
  print_prose(e["lead"].is_null() ? answer + " is not the most probable in the end\n"
                                  : fmt::format("{} takes the lead in layer {} and keeps it\n",
                                                answer, plain(e["lead"])));
}

// The largest, and the sum of the others.
void print_shares(const Json& e) {
  const std::string answer = token_text(e["answer"]["token"]);
  if (e["shares"].is_null())
    return print_prose(
        "\nno shares: with post-norm every norm divides all that was written before it, so that "
        "the "
        "answer is no sum of what the parts wrote\n");
  print_prose(fmt::format("\nwho wrote {}: its logit less {}, {:+.4f} in all\n", answer,
                          e["against"].is_null() ? "the mean of all logits"
                                                 : "that of " + token_text(e["against"]["token"]),
                          e["total"].get<double>()));
  std::vector<Json> parts = e["shares"];
  std::ranges::stable_sort(parts, std::greater(),
                           [](const Json& p) { return std::abs(p["share"].get<double>()); });
  Json rows = Json::array();
  double others = 0;
  for (const Json& part : parts)
    if (rows.size() < kShownParts)
      rows.push_back({{"share", part["share"]}, {"part", of_layer(part)}});
    else
      others += part["share"].get<double>();
  if (parts.size() > kShownParts)
    rows.push_back({{"share", others},
                    {"part", fmt::format("the other {} parts", parts.size() - kShownParts)}});
  const Column columns[] = {{"", "share", signed_share}, {"", "part"}};
  print_table(rows, columns, "  ");
}

std::string first_numbers(const Json& row) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < std::min<std::size_t>(row.size(), 4); ++i)
    numbers.push_back(fmt::format("{:.3g}", row[i].get<double>()));
  return "[" + joined(numbers) + (row.size() > 4 ? ", ...]" : "]");
}

void print_head(const Json& e) {
  const Json& h = e["head"];
  const bool uniform = h["uniform"];
  print_prose(fmt::format("\nthe strongest head: {}; its query is {}\n", of_layer(h),
                          token_text(e["tokens"][e["row"].get<std::size_t>()])));
  const Column columns[] = {{"key", "position"},
                            {"", "token", token_text},
                            {"q . k", "dot", fixed<4>},
                            {"score", "score", fixed<4>},
                            {"weight", "weight", fixed<4>},
                            {"share", "share", signed_share},
                            {"value", "v", first_numbers, 1}};
  print_table(h["keys"], columns, "  ");
  const Json& key = h["keys"][0];
  std::vector<std::string> sum, words;
  for (const Json& k : h["keys"])
    sum.push_back(fmt::format("{:.3f} v_{}", k["weight"].get<double>(), plain(k["position"])));
  for (const Json& t : h["promotes"])
    words.push_back(fmt::format("{} {:+.2f}", token_text(t["token"]), t["logit"].get<double>()));
  Json rows = Json::array();
  const auto add = [&](const char* formula, const char* file, const std::string& numbers) {
    rows.push_back({{"formula", formula}, {"file", file}, {"numbers", numbers}});
  };
  if (uniform) {
    add("P = 1 / n", "nn/attention.cpp",
        fmt::format("1 / {} = {:.4f}: uniform, no scores", h["weights"].size(),
                    key["weight"].get<double>()));
  } else {
    add(h["scale"] == 1.0 ? "S = q . k" : "S = q . k / √d_head", "nn/attention.cpp",
        fmt::format("{:.4f} × {:.4f} = {:.4f}", key["dot"].get<double>(), h["scale"].get<double>(),
                    key["score"].get<double>()));
    add("P = softmax(S)", "nn/attention.cpp",
        fmt::format("exp({:.4f} − {:.4f}) = {:.4f}", key["score"].get<double>(),
                    h["log_sum"].get<double>(), key["weight"].get<double>()));
  }
  add("o = P V", "nn/attention.cpp",
      joined(sum, " + ") + (h["weights"].size() > h["keys"].size() ? " + ..." : "") + " = " +
          first_numbers(h["output"]));
  add("y = o W_Oᵀ", "nn/attention.cpp", "what it adds to the row");
  add("logits = norm(y) Wᵀ", "nn/transformer.h", "promotes " + joined(words, "  "));
  const Column lines[] = {{"", "formula"}, {"", "file"}, {"", "numbers", plain, 0, Column::broken}};
  print_table(rows, lines, "  ");
}

// The heads that the answer's loss pulls most.
void print_pull(const Json& e) {
  print_prose(fmt::format(
      "\nthe pull of the loss of {}, in nats per unit of score; and per unit of value\n",
      token_text(e["answer"]["token"])));
  std::vector<Json> rows;
  for (const Json& h : e["pull"])
    for (std::size_t j = 0; j < h["pull"].size(); ++j)
      rows.push_back({{"pull", h["pull"][j]},
                      {"value_pull", h["value_pull"][j]},
                      {"head", of_layer(h)},
                      {"key", j},
                      {"token", e[h["kind"] == "cross" ? "source_tokens" : "tokens"][j]}});
  std::ranges::stable_sort(rows, std::greater(),
                           [](const Json& row) { return std::abs(row["pull"].get<double>()); });
  if (rows.size() > kShownPulls) rows.resize(kShownPulls);
  const Column columns[] = {{"pull", "pull", signed_share},
                            {"of the value", "value_pull", fixed<4>},
                            {"head", "head"},
                            {"key", "key"},
                            {"", "token", token_text}};
  print_table(rows, columns, "  ");
}

void print_explanation(const Json& e, bool masked) {
  const Json& tokens = e["tokens"];
  print_prose(fmt::format("{} {}: {}\n", masked ? "in the place of" : "after",
                          token_text(tokens[e["row"].get<std::size_t>()]),
                          shown_answer(e["answer"])));
  if (!e["against"].is_null()) print("against: " + shown_answer(e["against"]) + "\n");
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
          const Json e = explanation_json(m, asked_of_text(o, m, read.front(), texts));
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
        if (!refusals.passes(read.front(), answer)) print(line.json() ? "{}\n" : "\n");
        return texts.take_unknown();
      });
}

}  // namespace heed
