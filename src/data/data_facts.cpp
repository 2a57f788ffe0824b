#include "data/data_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "base/format.h"
#include "data/dataset.h"

namespace heed {
namespace {

constexpr std::size_t kMostOfLine = 1 << 16;  // bytes: a longer one is several
const std::hash<std::string_view> line_hash{};

bool is_long(std::string_view line) {  // in characters
  return std::ranges::count_if(line.substr(0, 160), [](char b) { return (b & 0xC0) != 0x80; }) >=
         40;
}

// Without spaces around it: a copy may be indented.
std::string_view trimmed(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t\r\n"), line.size());
  return line.substr(begin, line.find_last_not_of(" \t\r\n") + 1 - begin);
}

}  // namespace

void LineFacts::add(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), kMostOfLine - open_.size());
    open_ += text.substr(0, end);
    text.remove_prefix(std::min(end, text.size()));
    if (open_.size() < kMostOfLine) {
      if (text.empty()) return;
      text.remove_prefix(1);  // \n
    }
    if (open_.ends_with('\r')) open_.pop_back();
    add_length(open_.size());
    const std::string_view line = trimmed(open_);
    if (is_long(line)) hashes.push_back(line_hash(line));
    open_.clear();
  }
}

void LineFacts::add(std::string_view source, std::string_view target) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // the sides are not the same
  pairs = true;
  add_length(std::min(kMostOfLine, source.size() + target.size()));
  hashes.push_back((line_hash(trimmed(source)) * kOdd) ^ line_hash(trimmed(target)));
}

void LineFacts::add_length(std::size_t bytes) {
  if (of_length.size() <= bytes) of_length.resize(bytes + 1);
  ++of_length[bytes];
}

std::int64_t common(const LineFacts& train, const LineFacts& held_out) {
  std::unordered_set<std::uint64_t> asked(held_out.hashes.begin(), held_out.hashes.end()), found;
  for (const std::uint64_t hash : train.hashes)
    if (asked.contains(hash)) found.insert(hash);
  return std::ranges::count_if(held_out.hashes, [&](auto hash) { return found.contains(hash); });
}

std::string leaks(const LineFacts& train, const LineFacts& held_out) {
  const std::int64_t n = common(train, held_out);
  if (n == 0) return "";
  return fmt::format("{} of {} held-out {} {} in the training data", format_count(n),
                     format_count(std::ssize(held_out.hashes)),
                     held_out.pairs ? "pairs" : "lines (of 40 characters or more)",
                     n == 1 ? "is" : "are");
}

void say_common(Dataset& data) {
  const LineFacts &train = data.train.facts, &held_out = data.valid.facts;
  if (std::string leak = leaks(train, held_out); !leak.empty()) data.warnings.push_back(leak);
  const std::vector<std::uint32_t>& n = held_out.of_length;
  const auto from = [&](std::size_t length) {
    const auto begin = static_cast<std::ptrdiff_t>(std::min(length, n.size()));
    return std::accumulate(n.begin() + begin, n.end(), std::int64_t{0});
  };
  const std::int64_t longer = from(train.of_length.size()), all = from(0);
  if (train.of_length.empty() || 10 * longer <= all) return;  // of one line: a part
  data.notes.push_back(fmt::format(
      "{} of {} held-out {} are longer than any that is trained on; if they are sorted by length, "
      "shuffle them (shuf)",
      format_count(longer), format_count(all), held_out.pairs ? "pairs" : "lines"));
}

std::vector<std::int64_t> counts_of(const Split& split, std::optional<Side> side) {
  std::vector<std::int64_t> counts(
      static_cast<std::size_t>(std::max(split.source.vocab(), split.target.vocab())));
  for (const Side each : {Side::source, Side::target}) {
    if (side && split.pairs() && each != *side) continue;
    const Ids& ids = each == Side::source ? split.source : split.target;
    for (std::size_t i = 0; i < ids.size(); ++i) ++counts[static_cast<std::size_t>(ids[i])];
  }
  return counts;
}

}  // namespace heed
