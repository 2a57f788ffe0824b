#include "inspect/gold.h"

#include <algorithm>

#include "base/error.h"
#include "data/corpus.h"
#include "inspect/gold_file.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace heed {
namespace {

void note_unknown(GoldSet& set) {
  const auto has_unknown = [](const GoldExample& e) {
    const auto in = [](const std::vector<int>& ids) {
      return std::find(ids.begin(), ids.end(), Tokenizer::kUnk) != ids.end();
    };
    return in(e.input.source) || in(e.input.target);
  };
  const auto n = std::count_if(set.examples.begin(), set.examples.end(), has_unknown);
  if (n > 0) set.notes.push_back(std::to_string(n) + " inputs have tokens unknown to the model");
}

}  // namespace

bool disjoint(const std::vector<int>& a, const std::vector<int>& b) {
  return std::none_of(a.begin(), a.end(),
                      [&](int x) { return std::binary_search(b.begin(), b.end(), x); });
}

GoldLine::GoldLine(const std::string& file, std::size_t number, const std::string& text)
    : JsonObject(JsonObject::parse(
          text, {.name = file, .exit = Exit::data, .line = static_cast<int>(number)})) {}

std::size_t GoldLine::index(const nlohmann::json& value, std::size_t limit,
                            const char* what) const {
  if (!value.is_number_unsigned() || value.get<std::size_t>() >= limit)
    fail(std::string(what) + " must be a whole number below " + std::to_string(limit) + "; found " +
         value.dump() + ". Does the gold file belong to these texts?");
  return value.get<std::size_t>();
}

const nlohmann::json& GoldLine::array(const nlohmann::json& value, const char* what) const {
  if (!value.is_array()) fail(std::string(what) + " must be a list.");
  return value;
}

Span GoldLine::span(const nlohmann::json& value, std::size_t limit, const char* what) const {
  if (array(value, what).size() < 2) fail(std::string(what) + " must be [begin, end].");
  const Span span{index(value[0], limit, what), index(value[1], limit + 1, what)};
  if (span.begin >= span.end) fail(std::string(what) + " must not be empty.");
  return span;
}

std::vector<std::size_t> character_begins(std::string_view text) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text.size(); i += code_point_at(text, i).length) begins.push_back(i);
  begins.push_back(text.size());
  return begins;
}

std::vector<GoldSet> read_gold(const GoldFiles& files, const RunConfig& config,
                               const Tokenizers& tokenizers) {
  const std::vector<std::string> lines = read_lines(files.gold, {});
  if (lines.empty()) throw Error(Exit::data, files.gold + " is empty.");
  const GoldLine first(files.gold, 1, lines.front());
  const bool pairs = make_objective(config)->traits().pairs;
  const auto refuse = [](const std::string& what) { throw Error(Exit::usage, what); };
  if (first.has("pronoun")) {
    if (pairs)
      refuse(files.gold + " is about pronouns of a text; this model was trained on pairs.");
    if (!files.target.empty())
      refuse("--target: " + files.gold + " is about one text, which --source names.");
    std::vector<GoldSet> sets = read_pronoun_gold(files, lines, config, tokenizers);
    for (GoldSet& set : sets) note_unknown(set);
    return sets;
  }
  first.at("alignment");
  if (!pairs) refuse(files.gold + " is about pairs; this model was trained on text.");
  if (files.target.empty()) refuse("Expected --target, the file with the target lines.");
  std::vector<GoldSet> sets;
  sets.push_back(read_pair_gold(files, lines, config, tokenizers));
  note_unknown(sets.back());
  return sets;
}

}  // namespace heed
