#include "data/split.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "base/cgroup.h"
#include "base/format.h"
#include "base/std_names.h"
#include "text/utf8.h"

namespace heed {
namespace {

const std::hash<string_view> line_hash{};

bool is_long(string_view line) {  // in characters
  return ranges::count_if(line.substr(0, 160), [](char b) { return (b & 0xC0) != 0x80; }) >= 40;
}

}  // namespace

void Ids::reserve(size_t n) {
  require_memory(1.0 * n * bytes_per_id(), "the data, as token ids,");
  wide_ ? long_.reserve(n) : short_.reserve(n);
}

void TextToIds::take(string_view part, Split& split, Ids& ids) {
  // Every byte and every known character has an id of its own.
  const bool loses = !is_char_or_byte(tokenizer_.type());
  size_t after = 0;  // the last token
  tokenizer_.scan(part, [&](const Token& t) {
    ids.push_back(t.id);
    const size_t from = exchange(after, t.end);
    if (t.id == Tokenizer::kUnk) {
      split.unknown.add(part.substr(t.begin, t.end - t.begin));
      between_.clear();
      mid_text_ = true;
    } else if (loses && same_) {
      const string text = between_ + string(part.substr(from, t.end - from));
      const string given = tokenizer_.text_after(previous_, t.id);
      same_ = text == given || (mid_text_ && text == " " + given);
      previous_ = t.id;
      between_.clear();
      mid_text_ = false;
    }
  });
  if (loses) between_ += part.substr(after);
}

void LineFacts::add(string_view text) {
  for (const string_view line : lines_of(text))
    if (const string_view own = stripped(line); is_long(own)) hashes.push_back(line_hash(own));
}

void LineFacts::add(string_view source, string_view target) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // the sides are not the same
  pairs = true;
  hashes.push_back((line_hash(stripped(source)) * kOdd) ^ line_hash(stripped(target)));
}

int64_t common(const LineFacts& train, const LineFacts& held_out) {
  unordered_set<uint64_t> asked(held_out.hashes.begin(), held_out.hashes.end()), found;
  for (const uint64_t hash : train.hashes)
    if (asked.contains(hash)) found.insert(hash);
  return ranges::count_if(held_out.hashes, [&](auto hash) { return found.contains(hash); });
}

string leaks(const LineFacts& train, const LineFacts& held_out) {
  const int64_t n = common(train, held_out);
  if (n == 0) return "";
  return fmt::format("{} of {} held-out {} {} in the training data", format_count(n),
                     format_count(ssize(held_out.hashes)),
                     held_out.pairs ? "pairs" : "lines (of 40 characters or more)",
                     n == 1 ? "is" : "are");
}

vector<int64_t> counts_of(const Split& split, optional<Side> side) {
  vector<int64_t> counts(max(split.source.vocab(), split.target.vocab()));
  for (const Side each : {Side::source, Side::target}) {
    if (side && split.pairs() && each != *side) continue;
    const Ids& ids = each == Side::source ? split.source : split.target;
    for (size_t i = 0; i < ids.size(); ++i) ++counts[ids[i]];
  }
  return counts;
}

}  // namespace heed
