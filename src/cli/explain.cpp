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
  const TokenIds& ids = m.net.has_decoder() ? read.target : read.source;
  if (m.net.has_encoder() && m.net.has_decoder())
    json = {{"source_ids", read.source},
            {"source_tokens", m.tokenizers.source().pieces(read.source)}};
  json["ids"] = ids;
  json["tokens"] = target.pieces(ids);
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

string share_text(const Json& share) {  // and a bar
  string drawn;
  for (int i = 0; i < 24; ++i) drawn += i < std::lround(24 * share.get<double>()) ? "█" : " ";
  return fmt::format("{:>6} {}", percent(share), drawn);
}

string probability_text(const Json& logprob) {
  return share_text(exp(logprob.get<double>()));
}

string quoted(const Json& token) {
  return "“" + printable(token_text(token)) + "”";
}

// An explanation for people: in words, or with formulas, ids and vectors.
struct View {
  const Json& e;
  bool formulas;
  string answer = quoted(e["answer"]["token"]);

  // After the first column come `numbers` that belong to the formulas.
  void print(const Json& rows, vector<Column> columns, ptrdiff_t numbers) const {
    if (!formulas) columns.erase(columns.begin() + 1, columns.begin() + 1 + numbers);
    print_table(rows, columns, "  ");
  }

  void print_answers(bool masked) const {
    for (const char* ids : {"source_ids", "ids"})
      if (formulas && e.contains(ids))
        print_prose(fmt::format("{} {}\n", ids, shortened(e[ids].dump(), 64)));
    const auto probable = [](const Json& t) {
      return quoted(t["token"]) + " " + percent(t["probability"]);
    };
    print_prose(fmt::format("{} {}: {}{}\n", masked ? "in the place of" : "after",
                            quoted(e["tokens"][e["row"].get<int>()]), probable(e["answer"]),
                            e["against"].is_null() ? "" : ", not " + probable(e["against"])));
    print(e["lens"].back()["top"],
          {{"", "token", token_text}, {"", "id", "id {}"}, {"", "logprob", probability_text}}, 1);
  }

  void print_lens() const {
    print_prose("what each layer would say\n");
    if (formulas)
      print_prose(fmt::format("  logits = {} W_outᵀ, P = exp(logit - ln Σ exp) (nn/loss.h)\n",
                              e.contains("norm") ? "norm(x)" : "x"));
    print(e["lens"],
          {{"layer", "layer"},
           {"rank", "rank"},
           {"logit", "logit", "{:.4f}"},
           {"ln Σ exp", "log_sum", "{:.4f}"},
           {answer, "probability", percent},
           {"most probable", "top", alternatives_text, 0, Column::cut}},
          3);
    print_prose("  " + answer +
                (e["lead"].is_null() ? " is not the most probable in the end\n"
                                     : " takes the lead in layer " + plain(e["lead"]) + "\n"));
  }

  // What the output layer gets of a part: with the deviation of the last norm as it is for the row.
  string normed(const string& z) const {
    if (!e.contains("norm")) return z;
    const string centred = e["norm"]["type"] == "rms" ? z : "(" + z + " - its mean)";
    return fmt::format("{} g / {:.4f}", centred, e["norm"]["divisor"].get<double>());
  }

  // The parts with the largest shares, also the strongest head.
  void print_shares() const {
    if (!e.contains("norm"))
      return print_prose("no shares: post-norm rescales all that was written before\n");
    const string against = e["against"].is_null() ? "mean of all" : quoted(e["against"]["token"]);
    const double logit = e["answer"]["logit"], total = e["total"];
    print_prose("who wrote " + answer +
                ": a share is what a part wrote itself, not what later parts made of it\n");
    if (formulas)
      print_prose(
          fmt::format("  logit[{0}] - logit[{1}] = {2:.4f} - ({3:.4f}) = {4:.4f}\n"
                      "  share of a part z = {5} . (W_out[{0}] - W_out[{1}]) (show/explain.h)\n",
                      answer, against, logit, logit - total, total, normed("z")));
    vector<Json> rows = largest(e["shares"], "share", formulas ? 14 : 4);
    if (ranges::find(rows, part_text(e["head"]), part_text) == rows.end())
      rows.push_back(e["head"]);
    double others = total;
    for (Json& part : rows) {
      others -= part["share"].get<double>();
      if (part.contains("without")) part["left"] = left_without(part);
    }
    if (const size_t left = e["shares"].size() - rows.size(); left > 0)
      rows.push_back({{"share", others}, {"part", fmt::format("the other {}", left)}});
    print(rows,
          {{"share", "share", formulas ? "{:+.4f}" : "{:+.2f}"},
           {"part", "", part_text},
           {answer + " without it", "left", percent}},
          0);
  }

  // The probability of the answer without a head.
  double left_without(const Json& head) const {
    return e["answer"]["probability"].get<double>() * exp(-head["without"].get<double>());
  }

  void print_head() const {
    const Json& h = e["head"];
    print_prose(fmt::format(
        "the strongest head, {}: without it {} goes from {} to {}; it looks at\n", part_text(h),
        answer, percent(e["answer"]["probability"]), percent(left_without(h))));
    Json keys = h["keys"];
    if (h.contains("others")) keys.push_back(h["others"]), keys.back()["token"] = "others";
    print(keys,
          {{"", "token", token_text},
           {"id", "id"},
           {"|k|", "length", "{:.4f}"},
           {"cos", "cosine", "{:.4f}"},
           {"q . k", "dot", "{:.4f}"},
           {"S", "score", "{:.4f}"},
           {"share", "share", "{:+.4f}"},
           {"v", "v", vector_text, 1},
           {"position", "position"},
           {"", "weight", share_text, 2}},
          7);
    if (formulas) print_arithmetic(h);
  }

  void print_arithmetic(const Json& h) const {
    if (h["uniform"])
      print_prose("  P = 1 / keys (math/batch_invariant.h)\n");
    else
      print_prose(fmt::format(
          "  q . k = |q| |k| cos, |q| = {:.4f}; S = q . k{} (nn/attention.h)\n"
          "  P = softmax(S) = exp(S - ln Σ exp S), here {:.4f} (nn/attention.h)\n",
          h["length"].get<double>(), h["scale"] == 1 ? "" : fmt::format(" / √{}", h["q"].size()),
          h["log_sum"].get<double>()));
    print_prose(fmt::format("  o = Σ P v = {} (nn/attention.h)\n", vector_text(h["output"])));
    print_prose("  promotes: logits " + normed("(W_O o)") +
                " W_outᵀ, less their mean (nn/loss.h)\n");
    print_table(h["promotes"], {{"", "logit", "{:+.4f}"}, {"", "token", token_text}}, "    ");
  }
};

}  // namespace

Prediction prediction_of(OpenModel& m, const GivenText& given, const optional<string>& answer,
                         const optional<string>& against) {
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
  prediction.answer = ids(answer, "--answer");
  prediction.against = ids(against, "--against");
  return prediction;
}

Exit run_explain(CommandLine& line) {
  optional<string> answer, against;
  bool formulas = false;
  line.add_model();
  line.add_texts("the text before the word to explain; for masked models with a [MASK]");
  line.add_targets("what the decoder has written, before the word to explain");
  line.app.add_option("--answer", answer, "explain this token (default: the most probable)");
  line.app.add_option("--against", against, "why the answer, and not this token");
  line.app.add_flag("--formulas", formulas, "also the formulas, with ids, numbers and vectors");
  line.add_page();
  line.parse();
  OpenModel m(line);
  line.only_where(m.net.has_decoder(), {"--target", "--target-file"}, "for a decoder");
  const auto explained = [&](const GivenText& text) {
    const Json e = explanation_json(m, prediction_of(m, text, answer, against));
    write_live_page(m, text, e);
    return e;
  };
  const auto view = [&](const Json& e) {
    if (line.html == "-") return;
    const View shown{e, formulas};
    shown.print_answers(!m.net.has_decoder());
    shown.print_lens();
    shown.print_shares();
    shown.print_head();
    if (formulas && e.contains("pull")) print_pull(e, shown.answer);
  };
  return answer_each(
      m, {"Type a text to see why the model goes on as it does.", {"answer", "against"}}, "answer",
      explained, view);
}

}  // namespace heed
