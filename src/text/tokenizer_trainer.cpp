#include "text/tokenizer_trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <bitset>
#include <unordered_map>

#include "base/error.h"
#include "text/byte_tokenizer.h"
#include "text/char_tokenizer.h"
#include "text/line_sample.h"
#include "text/piece_tokenizer.h"
#include "text/piece_trainer.h"
#include "text/utf8.h"
#include "text/word_tokenizer.h"

namespace heed {
namespace {

constexpr std::size_t kMaxWordBytes = 1000;  // longer words become <unk>

// At most `room` keys with a count of at least min_frequency, by falling count, then by rising key.
template <class Map>
auto most_frequent(const Map& counts, std::int64_t min_frequency, std::size_t room) {
  using Key = typename Map::key_type;
  std::vector<std::pair<std::int64_t, const Key*>> order;
  for (const auto& [key, n] : counts)
    if (n >= min_frequency) order.emplace_back(-n, &key);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  });
  if (order.size() > room) order.resize(room);
  std::vector<Key> keys;
  for (const auto& entry : order) keys.push_back(*entry.second);
  return keys;
}

void need_two(std::size_t found, const std::string& what) {
  if (found >= 2) return;
  throw Error(Exit::data,
              fmt::format("the training text has {} distinct {}{}; there is nothing to learn.",
                          found, what, found == 1 ? "" : "s"),
              "more text; a lower tokenizer.min_frequency; a larger tokenizer.vocab_size");
}

std::string megabytes(std::uint64_t bytes) {
  if (bytes < 100'000) return fmt::format("{} bytes", bytes);
  const std::uint64_t tenths = (bytes + 50'000) / 100'000;
  return fmt::format("{}.{} MB", tenths / 10, tenths % 10);
}

}  // namespace

struct TokenizerTrainer::State {
  TokenizerConfig config;
  std::vector<std::string> specials;
  std::uint64_t bytes = 0;
  std::unordered_map<char32_t, std::int64_t> characters;             // counts from U+0080 on
  std::vector<std::int64_t> ascii = std::vector<std::int64_t>(128);  // counts below
  StringMap<std::int64_t> words;
  std::bitset<256> byte_values;
  LineSample sample;

  int first_id() const { return Tokenizer::kFirstFurther + static_cast<int>(specials.size()); }
  std::size_t room() const {
    const int ids = config.vocab_size == 0 ? Tokenizer::kMaxSize : config.vocab_size;
    return static_cast<std::size_t>(ids - first_id());
  }
  std::string kept_of(std::size_t kept, std::size_t found, const std::string& what) const {
    return fmt::format("{} of {} distinct {}", kept, found, what);
  }
  TrainedTokenizer finish_char();
  TrainedTokenizer finish_byte();
  TrainedTokenizer finish_word();
  TrainedTokenizer finish_pieces();
};

TokenizerTrainer::TokenizerTrainer(const TokenizerConfig& config, std::vector<std::string> specials,
                                   std::uint64_t seed)
    : state_(new State{.config = config,
                       .specials = std::move(specials),
                       .characters = {},
                       .words = {},
                       .byte_values = {},
                       .sample = {seed, static_cast<std::size_t>(config.sample_bytes)}}) {
  const int least = state_->first_id() + (config.type == TokenizerConfig::byte ? 256 : 2);
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

TokenizerTrainer::~TokenizerTrainer() = default;
TokenizerTrainer::TokenizerTrainer(TokenizerTrainer&&) noexcept = default;

void TokenizerTrainer::add(std::string_view text) {
  State& s = *state_;
  s.bytes += text.size();
  switch (s.config.type) {
    case TokenizerConfig::char_:
      for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point_at(text, at);
        ++(c.value < 128 ? s.ascii[c.value] : s.characters[c.value]);
        at += c.length;
      }
      break;
    case TokenizerConfig::byte:
      for (const char byte : text) s.byte_values.set(static_cast<unsigned char>(byte));
      break;
    case TokenizerConfig::word:
      WordTokenizer::split(text, [&](std::size_t begin, std::size_t end) {
        if (end - begin > kMaxWordBytes) return;
        const std::string_view word = text.substr(begin, end - begin);
        const auto found = s.words.find(word);
        if (found != s.words.end())
          ++found->second;
        else
          s.words.emplace(word, 1);
      });
      break;
    default:
      s.sample.add(text);
  }
}

TrainedTokenizer TokenizerTrainer::State::finish_char() {
  for (char32_t c = 0; c < 128; ++c)
    if (ascii[c] > 0) characters[c] = ascii[c];
  auto kept = most_frequent(characters, config.min_frequency, room());
  need_two(kept.size(), "character");
  const std::string note = kept_of(kept.size(), characters.size(), "characters");
  return {std::make_unique<CharTokenizer>(specials, std::move(kept)), note};
}

TrainedTokenizer TokenizerTrainer::State::finish_byte() {
  need_two(byte_values.count(), "byte");
  return {std::make_unique<ByteTokenizer>(specials),
          fmt::format("{} of 256 bytes occur", byte_values.count())};
}

TrainedTokenizer TokenizerTrainer::State::finish_word() {
  auto kept = most_frequent(words, config.min_frequency, room());
  need_two(kept.size(), "word");
  const std::string note = kept_of(kept.size(), words.size(), "words (newline included)");
  return {std::make_unique<WordTokenizer>(specials, std::move(kept)), note};
}

TrainedTokenizer TokenizerTrainer::State::finish_pieces() {
  const bool all = sample.bytes_seen() <= static_cast<std::uint64_t>(config.sample_bytes);
  const std::string from = all ? "pieces learnt from all of it"
                               : "pieces learnt from a sample of " + megabytes(sample.bytes_kept());
  TrainedPieces trained = train_pieces(config, specials, sample.take());
  std::string note = from;
  if (trained.rare_characters > 0)
    note += fmt::format(", {} rare characters written as bytes", trained.rare_characters);
  return {std::make_unique<PieceTokenizer>(std::move(trained.model), "the trained model"), note};
}

TrainedTokenizer TokenizerTrainer::finish() {
  State& s = *state_;
  TrainedTokenizer trained = s.config.type == TokenizerConfig::char_  ? s.finish_char()
                             : s.config.type == TokenizerConfig::byte ? s.finish_byte()
                             : s.config.type == TokenizerConfig::word ? s.finish_word()
                                                                      : s.finish_pieces();
  const Tokenizer& tokenizer = *trained.tokenizer;
  if (tokenizer.serialize().size() > Tokenizer::kMaxFileBytes)
    throw Error(
        Exit::data,
        fmt::format("the vocabulary would take more than {}.", megabytes(Tokenizer::kMaxFileBytes)),
        "set tokenizer.vocab_size or tokenizer.min_frequency");
  trained.note =
      fmt::format("tokenizer {}: {} ids from {} of training text; {}", type_name(s.config.type),
                  tokenizer.size(), megabytes(s.bytes), trained.note);
  return trained;
}

}  // namespace heed
