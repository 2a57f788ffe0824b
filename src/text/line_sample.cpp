#include "text/line_sample.h"

#include <algorithm>

#include "base/noise.h"
#include "text/utf8.h"

namespace heed {
namespace {

constexpr std::size_t kLongLine = 4096;

}  // namespace

void LineSample::add(std::string_view text) {
  bytes_seen_ += text.size();
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    while (line.size() > kLongLine) {
      const std::size_t space = line.rfind(' ', kLongLine);
      const bool usable = space != std::string_view::npos && space > 0;
      const std::size_t cut = usable ? space : utf8_floor(line, kLongLine);
      add_line(line.substr(0, cut));
      line.remove_prefix(cut);
    }
    if (!line.empty()) add_line(line);
  }
}

void LineSample::add_line(std::string_view line) {
  const std::uint64_t number = lines_++;
  const std::uint64_t hash = noise_key(seed_, Purpose::tokenizer_sample, number);
  if (line.size() > max_bytes_) return;
  if (bytes_kept_ + line.size() > max_bytes_ && !heap_.empty() && hash > heap_.front().hash) return;
  heap_.push_back({hash, number, std::string(line)});
  std::ranges::push_heap(heap_, {}, &Line::hash);
  bytes_kept_ += line.size();
  while (bytes_kept_ > max_bytes_) {
    std::ranges::pop_heap(heap_, {}, &Line::hash);
    bytes_kept_ -= heap_.back().text.size();
    heap_.pop_back();
  }
}

std::vector<std::string> LineSample::take() {
  std::ranges::sort(heap_, {}, &Line::number);
  std::vector<std::string> lines;
  lines.reserve(heap_.size());
  for (Line& line : heap_) lines.push_back(std::move(line.text));
  heap_.clear();
  return lines;
}

}  // namespace heed
