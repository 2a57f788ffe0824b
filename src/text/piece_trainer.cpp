#include "text/piece_trainer.h"

#include <fmt/core.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/format.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr double kCharacterCoverage = 0.99995;
constexpr int kAutomaticVocabSize = 4000;

using Counts = std::unordered_map<char32_t, std::int64_t>;

Counts count_characters(const std::vector<std::string>& lines) {
  Counts counts;
  for (const std::string& line : lines)
    each_code_point(line, [&](CodePoint c, std::size_t at) {
      if (reserved_length(line, at) == 0) ++counts[c.value];
    });
  return counts;
}

// The most frequent characters that together make up kCharacterCoverage of the text.
std::unordered_set<char32_t> frequent(const Counts& counts) {
  std::vector<std::pair<std::int64_t, char32_t>> order;
  std::int64_t total = 0;
  for (const auto& [c, n] : counts) {
    order.emplace_back(-n, c);
    total += n;
  }
  std::sort(order.begin(), order.end());
  std::unordered_set<char32_t> kept;
  std::int64_t covered = 0;
  for (const auto& [minus_n, c] : order) {
    if (static_cast<double>(covered) >= kCharacterCoverage * static_cast<double>(total)) break;
    covered -= minus_n;
    kept.insert(c);
  }
  return kept;
}

// Iterates over the longest parts of all lines with only kept characters.
class PartIterator final : public sentencepiece::SentenceIterator {
 public:
  PartIterator(const std::vector<std::string>& lines, const std::unordered_set<char32_t>& kept) {
    const auto separates = [&](char32_t c) { return !kept.contains(c); };  // includes reserved
    for (const std::string_view line : lines)
      for (const std::string_view part : parts_between(line, separates)) parts_.emplace_back(part);
  }
  bool done() const override { return next_ >= parts_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return parts_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::vector<std::string> parts_;
  std::size_t next_ = 0;
};

int vocabulary_size(const TokenizerConfig& config, int minimum) {
  if (config.vocab_size == 0) return std::max(kAutomaticVocabSize, 2 * minimum);
  if (config.vocab_size < minimum)
    throw Error(Exit::usage,
                fmt::format("tokenizer.vocab_size is {}; this text needs at least {} with "
                            "tokenizer.type \"{}\": the special ids, 256 bytes, every character of "
                            "the text and one more.",
                            config.vocab_size, minimum, type_name(config.type)),
                fmt::format("set tokenizer.vocab_size to {}, or leave it out",
                            std::max(minimum * 2, 1000)));
  return config.vocab_size;
}

}  // namespace

void need_two(std::size_t kept, std::size_t found, const std::string& what) {
  if (kept >= 2) return;
  throw Error(
      Exit::data,
      fmt::format("the training text has {}; there is nothing to learn.",
                  counted(std::to_string(kept), "distinct " + what)),
      kept < found ? "a lower tokenizer.min_frequency" : "more text, with different " + what + "s");
}

TrainedPieces train_pieces(const TokenizerConfig& config, const std::vector<std::string>& specials,
                           const std::vector<std::string>& lines) {
  const Counts counts = count_characters(lines);
  need_two(counts.size(), counts.size(), "character");
  const auto kept = frequent(counts);
  const auto minimum =
      static_cast<int>(Tokenizer::kFirstFurther + specials.size() + 256 + kept.size() + 1);
  const std::unordered_map<std::string, std::string> settings = {
      {"model_type", std::string(type_name(config.type))},
      {"vocab_size", std::to_string(vocabulary_size(config, minimum))},
      {"hard_vocab_limit", "false"},
      {"character_coverage", "1.0"},
      {"normalization_rule_name", "identity"},
      {"add_dummy_prefix", "false"},
      {"remove_extra_whitespaces", "false"},
      {"byte_fallback", "true"},
      {"max_sentence_length", "1000000"},
      {"num_threads", "1"},
      {"unk_id", "0"},
      {"bos_id", "1"},
      {"eos_id", "2"},
      {"pad_id", "-1"},
      {"control_symbols", joined(specials, ",")},
      {"minloglevel", "3"},
  };
  PartIterator parts(lines, kept);
  std::string trained;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &parts, &trained);
  if (!status.ok())
    throw Error(Exit::data,
                fmt::format("SentencePiece cannot learn a vocabulary: {}.", status.ToString()),
                "more text, another tokenizer.vocab_size, or tokenizer.type \"byte\"");
  return {read_piece_model(trained, "the trained model"),
          static_cast<int>(counts.size() - kept.size())};
}

}  // namespace heed
