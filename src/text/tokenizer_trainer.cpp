#include "text/tokenizer_trainer.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "text/piece_tokenizer.h"
#include "text/piece_trainer.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::size_t kMaxWordBytes = 1000;  // longer words become <unk>

// At most `room` keys with a count of at least min_frequency, by falling count, then rising key.
std::vector<std::string> most_frequent(const StringMap<std::int64_t>& counts,
                                       std::int64_t min_frequency, std::size_t room) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [key, n] : counts)
    if (n >= min_frequency) order.emplace_back(-n, key);
  std::ranges::sort(order);
  if (order.size() > room) order.resize(room);
  std::vector<std::string> keys;
  for (auto& [minus_n, key] : order) keys.push_back(std::move(key));
  return keys;
}

std::string megabytes(std::uint64_t bytes) {
  if (bytes < 100'000) return fmt::format("{} bytes", bytes);
  const std::uint64_t tenths = (bytes + 50'000) / 100'000;
  return fmt::format("{}.{} MB", tenths / 10, tenths % 10);
}

}  // namespace

TokenizerTrainer::TokenizerTrainer(const TokenizerConfig& config, std::vector<std::string> specials,
                                   std::uint64_t seed)
    : config_(config),
      specials_(std::move(specials)),
      characters_(config.type == TokenizerConfig::char_  ? 0x110000
                  : config.type == TokenizerConfig::byte ? 256
                                                         : 0),
      sample_(seed, static_cast<std::size_t>(config.sample_bytes)) {
  const int least = first_id() + (config.type == TokenizerConfig::byte ? 256 : 2);
  const bool fixed = config.type == TokenizerConfig::byte;
  const int size = config.vocab_size;
  if (size != 0 && (size < least || size > Tokenizer::kMaxSize || (fixed && size != least)))
    throw Error(
        Exit::usage,
        fmt::format("tokenizer.vocab_size is {}; tokenizer.type \"{}\" needs {}, special ids "
                    "included.",
                    size, type_name(config.type),
                    fixed ? fmt::format("exactly {}", least)
                          : fmt::format("at least {} and at most {}", least, Tokenizer::kMaxSize)),
        "leave tokenizer.vocab_size out");
}

std::size_t TokenizerTrainer::room() const {
  const int ids = config_.vocab_size == 0 ? Tokenizer::kMaxSize : config_.vocab_size;
  return static_cast<std::size_t>(ids - first_id());
}

void TokenizerTrainer::add(std::string_view text) {
  bytes_ += text.size();
  switch (config_.type) {
    case TokenizerConfig::char_:
      each_code_point(text, [&](CodePoint c, std::size_t) { ++characters_[c.value]; });
      break;
    case TokenizerConfig::byte:
      for (const char byte : text) ++characters_[static_cast<unsigned char>(byte)];
      break;
    case TokenizerConfig::word:
      WordTokenizer::split(text, config_.punctuation, [&](std::size_t begin, std::size_t end) {
        if (end - begin > kMaxWordBytes) return;
        const std::string_view word = text.substr(begin, end - begin);
        const auto found = words_.find(word);
        if (found != words_.end())
          ++found->second;
        else
          words_.emplace(word, 1);
      });
      break;
    default:
      sample_.add(text);
  }
}

TrainedTokenizer TokenizerTrainer::finish_tokens() {
  TokenList list{config_.type, config_.punctuation, specials_};
  if (config_.type == TokenizerConfig::byte) {
    const auto n = characters_.size() - std::ranges::count(characters_, 0);
    need_two(n, n, "byte");
    return {tokenizer_of(list), fmt::format("{} of 256 bytes occur", n)};
  }
  for (char32_t c = 0; c < characters_.size(); ++c)
    if (characters_[c] > 0) words_.emplace(encode_utf8(c), characters_[c]);
  const bool words = config_.type == TokenizerConfig::word;
  const std::string what = words ? "word" : "character";
  list.tokens = most_frequent(words_, config_.min_frequency, room());
  const std::size_t kept = list.tokens.size();
  need_two(kept, words_.size(), what);
  return {tokenizer_of(std::move(list)), fmt::format("{} of {} distinct {}s{}", kept, words_.size(),
                                                     what, words ? " (newline included)" : "")};
}

TrainedTokenizer TokenizerTrainer::finish_pieces() {
  const bool all = sample_.bytes_seen() <= static_cast<std::uint64_t>(config_.sample_bytes);
  std::string note = all ? "pieces learnt from all of it"
                         : "pieces learnt from a sample of " + megabytes(sample_.bytes_kept());
  TrainedPieces trained = train_pieces(config_, specials_, sample_.take());
  if (trained.model.size() < config_.vocab_size)
    note += fmt::format(", too little text for tokenizer.vocab_size {}", config_.vocab_size);
  if (trained.rare_characters > 0)
    note += ", " + counted(std::to_string(trained.rare_characters), "rare character") +
            " written as bytes";
  return {std::make_unique<PieceTokenizer>(std::move(trained.model), "the trained model"), note};
}

TrainedTokenizer TokenizerTrainer::finish() {
  TrainedTokenizer trained = is_subword(config_.type) ? finish_pieces() : finish_tokens();
  const Tokenizer& tokenizer = *trained.tokenizer;
  if (tokenizer.serialize().size() > Tokenizer::kMaxFileBytes)
    throw Error(
        Exit::data,
        fmt::format("the vocabulary would take more than {}.", megabytes(Tokenizer::kMaxFileBytes)),
        "set tokenizer.vocab_size or tokenizer.min_frequency");
  trained.note =
      fmt::format("tokenizer {}: {} ids from {} of training text; {}", type_name(config_.type),
                  tokenizer.size(), megabytes(bytes_), trained.note);
  return trained;
}

}  // namespace heed
