#include "data/line_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "base/format.h"

namespace heed {
namespace {

constexpr std::ptrdiff_t kLongLine = 40;      // characters
constexpr std::size_t kMostOfLine = 1 << 16;  // bytes; longer lines are told apart by their first

bool is_long(std::string_view line) {
  const auto n = static_cast<std::size_t>(4 * kLongLine);
  return std::ranges::count_if(line.substr(0, n), [](char b) { return (b & 0xC0) != 0x80; }) >=
         kLongLine;
}

std::int64_t lines_in(const std::vector<std::uint32_t>& of_length, std::size_t from = 0) {
  const auto begin =
      of_length.begin() + static_cast<std::ptrdiff_t>(std::min(from, of_length.size()));
  return std::accumulate(begin, of_length.end(), std::int64_t{0});
}

}  // namespace

void LineFacts::add(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view part = text.substr(0, end);
    if (open_.empty() && end != std::string_view::npos)
      add_line(part);
    else
      open_ += part.substr(0, kMostOfLine - std::min(open_.size(), kMostOfLine));
    if (end == std::string_view::npos) return;
    if (!open_.empty()) add_line(open_);
    open_.clear();
    text.remove_prefix(end + 1);
  }
}

void LineFacts::add_line(std::string_view line) {
  line = line.substr(0, kMostOfLine);
  if (line.ends_with('\r')) line.remove_suffix(1);
  count(line.size());
  if (is_long(line)) hashes.push_back(std::hash<std::string_view>()(line));
}

void LineFacts::add_pair(std::string_view source, std::string_view target) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // a side alone must not tell the pair
  pairs = true;
  count(std::min(kMostOfLine, source.size() + target.size()));
  const std::hash<std::string_view> hash;
  hashes.push_back((hash(source) * kOdd) ^ hash(target));
}

void LineFacts::count(std::size_t bytes) {
  if (of_length.size() <= bytes) of_length.resize(bytes + 1);
  ++of_length[bytes];
}

Leak leak_between(const LineFacts& train, const LineFacts& held_out) {
  const std::unordered_set<std::uint64_t> asked(held_out.hashes.begin(), held_out.hashes.end());
  std::unordered_set<std::uint64_t> found;
  if (!asked.empty())
    for (const std::uint64_t hash : train.hashes)
      if (asked.contains(hash)) found.insert(hash);
  if (found.empty()) return {};
  const auto n = std::ranges::count_if(held_out.hashes,
                                       [&](std::uint64_t hash) { return found.contains(hash); });
  const std::ptrdiff_t all = std::ssize(held_out.hashes);
  return {fmt::format(
              "{} of {} held-out {} {} in the training data", format_count(n), format_count(all),
              held_out.pairs ? "pairs" : "lines (of 40 characters or more)", n == 1 ? "is" : "are"),
          static_cast<double>(n) / static_cast<double>(all)};
}

std::string longer_in_words(const LineFacts& train, const LineFacts& held_out) {
  const std::int64_t longer = lines_in(held_out.of_length, train.of_length.size()),
                     all = lines_in(held_out.of_length);
  if (10 * longer <= all) return "";
  return fmt::format("{} of {} held-out {} are longer than any that is trained on",
                     format_count(longer), format_count(all), held_out.pairs ? "pairs" : "lines");
}

}  // namespace heed
