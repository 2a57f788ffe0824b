#include "inspect/gold.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "data/corpus.h"
#include "inspect/gold_pairs.h"
#include "inspect/gold_pronouns.h"
#include "text/utf8.h"

namespace heed {
namespace {

void note_unknown(GoldSet& set) {
  const auto has_unknown = [](const GoldExample& e) {
    return std::ranges::count(e.input.source, Tokenizer::kUnk) > 0 ||
           std::ranges::count(e.input.target, Tokenizer::kUnk) > 0;
  };
  const auto n = std::count_if(set.examples.begin(), set.examples.end(), has_unknown);
  if (n > 0) set.notes.push_back(fmt::format("{} inputs have tokens unknown to the model", n));
}

}  // namespace

void GoldExample::add_distractor(const std::vector<int>& rows) {
  if (std::ranges::count(distractors, rows) == 0) distractors.push_back(rows);
}

bool disjoint(const std::vector<int>& a, const std::vector<int>& b) {
  return std::none_of(a.begin(), a.end(),
                      [&](int x) { return std::binary_search(b.begin(), b.end(), x); });
}

std::vector<GoldSet> read_gold(const GoldFiles& files, const RunConfig& config,
                               const Tokenizers& tokenizers) {
  const std::vector<std::string> lines = read_lines(files.gold, {});
  if (lines.empty()) throw Error(Exit::data, files.gold + " is empty.");
  const GoldLine first(files.gold, 1, lines.front());
  const bool pairs = make_objective(config)->traits().pairs();
  const auto refuse = [](const std::string& what) { throw Error(Exit::usage, what); };
  std::vector<GoldSet> sets;
  if (first.has("pronoun")) {
    if (pairs)
      refuse(files.gold + " is about pronouns of a text; this model was trained on pairs.");
    if (!files.target.empty())
      refuse(fmt::format("--target-file: {} is about one text, given by --file.", files.gold));
    sets = read_pronoun_gold(files, lines, config, tokenizers);
  } else {
    first.at("alignment");
    if (!pairs) refuse(files.gold + " is about pairs; this model was trained on text.");
    if (files.target.empty()) refuse("expected --target-file, the file with the target lines.");
    sets.push_back(read_pair_gold(files, lines, config, tokenizers));
  }
  for (GoldSet& set : sets) note_unknown(set);
  return sets;
}

GoldLine::GoldLine(const std::string& file, std::size_t number, const std::string& text)
    : JsonObject(JsonObject::parse(
          text, {.name = file, .exit = Exit::data, .line = static_cast<int>(number)})) {}

std::size_t GoldLine::index(const nlohmann::json& value, std::size_t limit,
                            const char* what) const {
  if (!value.is_number_unsigned() || value.get<std::size_t>() >= limit)
    fail(
        fmt::format("{} must be a whole number below {}; found {}. Does the gold file belong to "
                    "these texts?",
                    what, limit, value.dump()));
  return value.get<std::size_t>();
}

const nlohmann::json& GoldLine::array(const nlohmann::json& value, const char* what) const {
  if (!value.is_array()) fail(fmt::format("{} must be a list.", what));
  return value;
}

Span GoldLine::span(const nlohmann::json& value, std::size_t limit, const char* what) const {
  if (array(value, what).size() < 2) fail(fmt::format("{} must be [begin, end].", what));
  const Span span{index(value[0], limit, what), index(value[1], limit + 1, what)};
  if (span.begin >= span.end) fail(fmt::format("{} must not be empty.", what));
  return span;
}

std::vector<std::size_t> character_begins(std::string_view text) {
  std::vector<std::size_t> begins;
  each_code_point(text, [&](CodePoint, std::size_t at) { begins.push_back(at); });
  begins.push_back(text.size());
  return begins;
}

}  // namespace heed
