#include "data/split.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/cgroup.h"
#include "base/utf8.h"

namespace heed {

void Ids::reserve(std::size_t n) {
  if (n > capacity())
    require_memory(static_cast<double>(n) * bytes_per_id(), "the data, as token ids,");
  wide_ ? long_.reserve(n) : short_.reserve(n);
}

void Ids::grow() {
  reserve(std::max<std::size_t>(1 << 10, size() + size() / 2));
}

std::string Split::longest_in_words() const {
  std::uint64_t most = 0;
  std::size_t at = 0;
  const std::string* file = &source_file;
  for (const bool of_source : {true, false}) {
    const auto& begin = of_source ? source_begin : target_begin;
    for (std::size_t i = 0; i < sentences(); ++i) {
      if (begin[i + 1] - begin[i] <= most) continue;
      most = begin[i + 1] - begin[i];
      at = i;
      file = of_source ? &source_file : &target_file;
    }
  }
  return fmt::format("{}:{}, {} tokens", *file, lines[at], most);
}

std::int64_t Split::longest(Side side) const {
  const auto& begin = side == Side::source ? source_begin : target_begin;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < sentences(); ++i) most = std::max(most, begin[i + 1] - begin[i]);
  return static_cast<std::int64_t>(most);
}

std::vector<int> Split::sentence(Side side, std::int64_t i) const {
  std::vector<int> ids;
  side == Side::source ? source.copy(source_begin[i], source_begin[i + 1], ids)
                       : target.copy(target_begin[i], target_begin[i + 1], ids);
  return ids;
}

void TextToIds::say_difference(Split& split) const {
  if (difference_.empty() || split.lossy_said) return;
  split.lossy_said = true;
  split.notes.push_back("the tokens do not give back the text exactly: " + difference_ +
                        "; so there may be no bits per byte");
}

void TextToIds::take(std::string_view part, Split& split, Ids& ids) {
  // Every byte and every known character has an id of its own.
  const bool loses =
      tokenizer_.type() != TokenizerConfig::byte && tokenizer_.type() != TokenizerConfig::char_;
  std::size_t after = 0;  // the last token
  tokenizer_.scan(part, [&](const Token& t) {
    ids.push_back(t.id);
    const std::size_t from = std::exchange(after, t.end);
    if (t.id == Tokenizer::kUnk) {
      split.unknown.add(part.substr(t.begin, t.end - t.begin));
      between_.clear();
      mid_text_ = true;
    } else if (loses && difference_.empty()) {
      const std::string text = between_ + std::string(part.substr(from, t.end - from));
      const std::string given = tokenizer_.text_after(previous_, t.id);
      if (text != given && !(mid_text_ && text == " " + given))
        difference_ = fmt::format("'{}' becomes '{}'", excerpt(text), excerpt(given));
      previous_ = t.id;
      between_.clear();
      mid_text_ = false;
    }
  });
  if (loses) between_ += part.substr(after);
}

}  // namespace heed
