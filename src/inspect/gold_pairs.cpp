#include "inspect/gold_pairs.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "data/corpus.h"
#include "data/data_files.h"
#include "inspect/gold.h"
#include "text/utf8.h"

namespace heed {
namespace {

// The characters or words of a line, in bytes.
std::vector<Span> units_of(std::string_view line, bool characters) {
  std::vector<Span> units;
  if (characters) {
    const std::vector<std::size_t> begins = character_begins(line);
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) units.push_back({begins[i], begins[i + 1]});
  } else {
    for (const std::string_view word : split_words(line)) {
      const auto begin = static_cast<std::size_t>(word.data() - line.data());
      units.push_back({begin, begin + word.size()});
    }
  }
  return units;
}

// For each unit the tokens that overlap it.
std::vector<std::vector<int>> tokens_of_units(const std::vector<Span>& units,
                                              const std::vector<Token>& tokens) {
  std::vector<std::vector<int>> found(units.size());
  for (std::size_t u = 0; u < units.size(); ++u)
    for (std::size_t t = 0; t < tokens.size(); ++t)
      if (units[u].overlaps({tokens[t].begin, tokens[t].end}))
        found[u].push_back(static_cast<int>(t));
  return found;
}

// Which source tokens determine each target token.
std::vector<std::set<int>> aligned_tokens(const GoldLine& line, std::string_view source,
                                          std::string_view target,
                                          const std::vector<Token>& source_tokens,
                                          const std::vector<Token>& target_tokens) {
  const nlohmann::json& unit = line.at("unit");
  if (unit != "token" && unit != "char")
    line.fail(fmt::format(R"("unit" must be "token" or "char"; found {}.)", unit.dump()));
  const auto source_units = tokens_of_units(units_of(source, unit == "char"), source_tokens);
  const auto target_units = tokens_of_units(units_of(target, unit == "char"), target_tokens);
  const nlohmann::json& alignment = line.array(line.at("alignment"), "\"alignment\"");
  if (alignment.size() != target_units.size())
    line.fail(
        fmt::format("\"alignment\" is about {} target positions, but the target line has {}. Does "
                    "the gold file belong to these texts?",
                    alignment.size(), target_units.size()));
  std::vector<std::set<int>> aligned(target_tokens.size());
  for (std::size_t t = 0; t < target_units.size(); ++t)
    for (const nlohmann::json& position : line.array(alignment[t], "\"alignment\"")) {
      const std::size_t s = line.index(position, source_units.size(), "a source position");
      for (const int token : target_units[t])
        aligned[token].insert(source_units[s].begin(), source_units[s].end());
    }
  return aligned;
}

}  // namespace

GoldSet read_pair_gold(const GoldFiles& files, const std::vector<std::string>& lines,
                       const RunConfig& config, const Tokenizers& tokenizers) {
  const Pairs pairs = read_parallel(files.source, files.target, read_options(config));
  if (lines.size() != pairs.size())
    throw Error(Exit::data,
                fmt::format("{} has {} lines, but {} has {}. Does the gold file belong to these "
                            "texts?",
                            files.gold, lines.size(), files.source, pairs.size()));
  const auto objective = make_objective(config);
  GoldSet set{AttentionKind::cross, {}, "lines", {}};
  std::size_t too_long = 0;
  const std::size_t n = files.limit > 0 ? std::min(files.limit, lines.size()) : lines.size();
  for (std::size_t i = 0; i < n; ++i) {
    const GoldLine line(files.gold, i + 1, lines[i]);
    if (line.index(line.at("line"), lines.size(), "\"line\"") != i)
      line.fail(fmt::format("\"line\" must be {}: one object for each line, in order.", i));
    const auto source = tokenizers.source().encode_with_offsets(pairs.source[i]);
    const auto target = tokenizers.target->encode_with_offsets(pairs.target[i]);
    GoldExample example;
    example.input = {objective->framed_source(tokenizers.source().encode(pairs.source[i])),
                     Objective::framed_target(tokenizers.target->encode(pairs.target[i]))};
    example.input.target.pop_back();  // the last token is predicted, not read
    example.group = static_cast<int>(i);
    if (static_cast<int>(example.input.source.size()) > objective->traits().longest_source ||
        static_cast<int>(example.input.target.size()) > objective->traits().longest_target) {
      ++too_long;
      continue;
    }
    const auto aligned = aligned_tokens(line, pairs.source[i], pairs.target[i], source, target);
    for (std::size_t t = 0; t < aligned.size(); ++t) {
      if (aligned[t].empty()) continue;
      const std::vector<int> keys(aligned[t].begin(), aligned[t].end());
      example.links.push_back({static_cast<int>(t), keys, {}});
      example.add_distractor(keys);
    }
    if (!example.links.empty()) set.examples.push_back(std::move(example));
  }
  if (too_long > 0)
    set.notes.push_back(fmt::format("{} lines left out: longer than the model reads", too_long));
  return set;
}

}  // namespace heed
