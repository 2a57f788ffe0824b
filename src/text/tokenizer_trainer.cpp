#include "text/tokenizer_trainer.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/format.h"
#include "base/noise.h"
#include "base/std_names.h"
#include "text/piece_model.h"
#include "text/utf8.h"

namespace heed {
void LineSample::add(string_view text) {
  constexpr size_t kLongLine = 4096;
  for (string_view line : split(text, '\n')) {
    while (line.size() > kLongLine) {
      const size_t space = line.rfind(' ', kLongLine);
      const bool usable = space != string_view::npos && space > 0;
      const size_t cut = usable ? space : utf8_floor(line, kLongLine);
      add_line(line.substr(0, cut));
      line.remove_prefix(cut);
    }
    if (!line.empty()) add_line(line);
  }
}

void LineSample::add_line(string_view line) {
  const uint64_t number = lines_++;
  const uint64_t hash = noise_key(seed_, Purpose::tokenizer_sample, number);
  if (line.size() > max_bytes_) return;
  if (bytes_kept_ + line.size() > max_bytes_ && !heap_.empty() && hash > heap_.front().hash) return;
  heap_.push_back({hash, number, string(line)});
  ranges::push_heap(heap_, {}, &Line::hash);
  bytes_kept_ += line.size();
  while (bytes_kept_ > max_bytes_) {
    ranges::pop_heap(heap_, {}, &Line::hash);
    bytes_kept_ -= heap_.back().text.size();
    heap_.pop_back();
  }
}

vector<string> LineSample::take() {
  ranges::sort(heap_, {}, &Line::number);
  vector<string> lines;
  for (Line& line : exchange(heap_, {})) lines.push_back(std::move(line.text));
  return lines;
}

namespace {

// The most frequent characters that together make up 99.995 % of the text.
unordered_set<char32_t> frequent(const unordered_map<char32_t, int64_t>& counts) {
  vector<pair<int64_t, char32_t>> order;
  int64_t total = 0;
  for (const auto& [c, n] : counts) {
    order.emplace_back(-n, c);
    total += n;
  }
  ranges::sort(order);
  unordered_set<char32_t> kept;
  int64_t covered = 0;
  for (const auto& [minus_n, c] : order) {
    if (covered >= 0.99995 * total) break;
    covered -= minus_n;
    kept.insert(c);
  }
  return kept;
}

int vocabulary_size(const TokenizerConfig& config, int minimum) {
  if (config.vocab_size == 0) return max(4000, 2 * minimum);
  if (config.vocab_size >= minimum) return config.vocab_size;
  throw usage_error(
      "tokenizer.vocab_size is {}; this text needs at least {}: the special ids, 256 bytes, every "
      "character of the text and one more.",
      config.vocab_size, minimum)
      .hint(fmt::format("set tokenizer.vocab_size to {}, or leave it out", max(minimum * 2, 1000)));
}

// Error (data) if fewer than two distinct tokens, without line ends, were `kept` of those `found`.
// `what`: "word".
void need_two(size_t kept, size_t found, const string& what) {
  if (kept >= 2) return;
  throw data_error("the training text has {} besides line ends; there is nothing to learn.",
                   counted(to_string(kept), "distinct " + what))
      .hint(kept < found ? "a lower tokenizer.min_frequency"
                         : "more text, with different " + what + "s");
}

// From lines of valid UTF-8 without newlines, as far as their characters are `kept`.
PieceModel train_pieces(const TokenizerConfig& config, const vector<string>& specials,
                        const vector<string>& lines, const unordered_set<char32_t>& kept) {
  vector<string> parts;
  const auto separates = [&](char32_t c) { return !kept.contains(c); };  // includes reserved
  for (const string_view line : lines)
    for (const string_view part : parts_between(line, separates)) parts.emplace_back(part);
  const int minimum = Tokenizer::kFirstFurther + specials.size() + 256 + kept.size() + 1;
  const unordered_map<string, string> settings = {
      {"model_type", string(type_name(config.type))},
      {"vocab_size", to_string(vocabulary_size(config, minimum))},
      {"hard_vocab_limit", "false"},
      {"character_coverage", "1.0"},
      {"normalization_rule_name", "identity"},
      {"add_dummy_prefix", "false"},
      {"remove_extra_whitespaces", "false"},
      {"byte_fallback", "true"},
      {"max_sentence_length", "1000000"},
      {"num_threads", "1"},
      {"control_symbols", joined(specials, ",")},
      {"minloglevel", "3"},
  };
  return adopt_pieces(learn_pieces(settings, parts), "the trained model", specials);
}

constexpr size_t kMaxWordBytes = 1000;  // longer words become <unk>

// At most `room` keys with a count of 0 or at least min_frequency, by falling count, then rising
// key.
vector<string> most_frequent(const unordered_map<string, int64_t>& counts, int64_t min_frequency,
                             size_t room) {
  vector<pair<int64_t, string>> order;
  for (const auto& [key, n] : counts)
    if (n == 0 || n >= min_frequency) order.emplace_back(-n, key);
  ranges::sort(order);
  if (order.size() > room) order.resize(room);
  return mapped(order, [](const auto& counted) { return counted.second; });
}

}  // namespace

TokenizerTrainer::TokenizerTrainer(const TokenizerConfig& config, vector<string> specials,
                                   uint64_t seed)
    : config_(config),
      specials_(specials),
      characters_(config.type == TokenizerConfig::char_ ? 0x110000 : 0),
      sample_(seed, config.sample_bytes) {
  const bool fixed = config.type == TokenizerConfig::byte;
  const int least = first_id() + (fixed ? 256 : 2);
  const int size = config.vocab_size;
  if (size != 0 && (size < least || size > Tokenizer::kMaxSize || (fixed && size != least)))
    throw usage_error(
        "tokenizer.vocab_size is {}; tokenizer.type \"{}\" needs {}, special ids included.", size,
        type_name(config.type),
        fixed ? fmt::format("exactly {}", least)
              : fmt::format("at least {} and at most {}", least, Tokenizer::kMaxSize))
        .hint("leave tokenizer.vocab_size out");
}

void TokenizerTrainer::add(string_view text) {
  bytes_ += text.size();
  if (config_.type == TokenizerConfig::char_) {
    each_code_point(text, [&](CodePoint c, size_t) { ++characters_[c.value]; });
  } else if (config_.type == TokenizerConfig::word) {
    each_word(text, config_.punctuation, [&](size_t begin, size_t end) {
      if (end - begin <= kMaxWordBytes) ++words_[string(text.substr(begin, end - begin))];
    });
  } else if (is_subword(config_.type)) {
    sample_.add(text);
  }
}

void TokenizerTrainer::add_held_out(string_view text) {
  if (config_.type != TokenizerConfig::char_ || config_.min_frequency > 1) return;
  each_code_point(text, [&](CodePoint c, size_t at) {
    if (characters_[c.value] == 0) held_out_ += words_.emplace(text.substr(at, c.length), 0).second;
  });
}

TrainedTokenizer TokenizerTrainer::finish_tokens() {
  TokenList list{config_.type, config_.punctuation, specials_};
  if (config_.type == TokenizerConfig::byte) return {tokenizer_of(list), "one for each byte"};
  for (char32_t c = 0; c < characters_.size(); ++c)
    if (characters_[c] > 0) words_.emplace(encode_utf8(c), characters_[c]);
  const bool words = config_.type == TokenizerConfig::word;
  const string what = words ? "word" : "character";
  const int ids = config_.vocab_size == 0 ? Tokenizer::kMaxSize : config_.vocab_size;
  list.tokens = most_frequent(words_, config_.min_frequency,
                              ids - first_id());  // room for learnt ones
  const size_t kept = list.tokens.size();
  const size_t lines = ranges::count(list.tokens, "\n");
  need_two(kept - lines, words_.size() - lines, what);
  string note = fmt::format("{} of {} distinct {}s{}", kept, words_.size(), what,
                            words && lines > 0 ? " (newline included)" : "");
  if (held_out_ > 0) note += fmt::format(", {} of them only held out", held_out_);
  return {tokenizer_of(std::move(list)), note};
}

TrainedTokenizer TokenizerTrainer::finish_pieces() {
  const bool all = bytes_ <= uint64_t(config_.sample_bytes);
  string note = all ? "pieces learnt from all of it"
                    : "pieces learnt from a sample of " + format_bytes(sample_.bytes_kept());
  const vector<string> lines = sample_.take();
  unordered_map<char32_t, int64_t> counts;
  for (const string& line : lines)
    each_code_point(line, [&](CodePoint c, size_t at) {
      if (reserved_length(line, at) == 0) ++counts[c.value];
    });
  need_two(counts.size(), counts.size(), "character");
  const auto kept = frequent(counts);
  PieceModel model = train_pieces(config_, specials_, lines, kept);
  if (model.size() < config_.vocab_size)
    note += fmt::format(", too little text for tokenizer.vocab_size {}", config_.vocab_size);
  if (const size_t rare = counts.size() - kept.size(); rare > 0)
    note += fmt::format(", {} written as bytes", counted(to_string(rare), "rare character"));
  return {tokenizer_of(std::move(model), "the trained model"), note};
}

TrainedTokenizer TokenizerTrainer::finish() {
  TrainedTokenizer trained = is_subword(config_.type) ? finish_pieces() : finish_tokens();
  const Tokenizer& tokenizer = *trained.tokenizer;
  trained.note =
      fmt::format("tokenizer {}: {} ids from {} of training text; {}", type_name(config_.type),
                  tokenizer.size(), format_bytes(bytes_), trained.note);
  return trained;
}

}  // namespace heed
