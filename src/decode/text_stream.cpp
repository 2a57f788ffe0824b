#include "decode/text_stream.h"

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace heed {
namespace {

// How many bytes at the end of `text` begin an incomplete character.
std::size_t unfinished(std::string_view text) {
  for (std::size_t n = 1; n <= std::min<std::size_t>(3, text.size()); ++n) {
    const auto lead = static_cast<unsigned char>(text[text.size() - n]);
    if ((lead & 0xC0) == 0x80) continue;
    const std::size_t whole = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    return whole > n ? n : 0;
  }
  return 0;
}

// The length of the longest proper prefix of `stop` that ends `text`.
std::size_t overlap(std::string_view text, std::string_view stop) {
  std::size_t n = std::min(text.size(), stop.size() - 1);
  while (n > 0 && text.substr(text.size() - n) != stop.substr(0, n)) --n;
  return n;
}

}  // namespace

std::string to_valid_utf8(std::string_view bytes) {
  std::string text;
  each_code_point(bytes, [&](CodePoint c, std::size_t at) {
    text += c.value == kInvalidCodePoint ? "\xEF\xBF\xBD" : bytes.substr(at, c.length);
  });
  return text;
}

TextStream::TextStream(const Tokenizer& tokenizer, int previous, std::vector<std::string> stops,
                       bool after_space)
    : tokenizer_(tokenizer),
      previous_(previous),
      stops_(std::move(stops)),
      after_space_(after_space) {
  std::erase(stops_, "");
}

std::string TextStream::push(int id) {
  if (stopped_ || tokenizer_.is_special(id)) return "";
  const std::string text = tokenizer_.text_after(previous_, id);
  held_ += text.substr(std::exchange(after_space_, false) && text.starts_with(' ') ? 1 : 0);
  previous_ = id;
  // The text before held_ cannot be part of a stop, so searching held_ is enough.
  std::size_t stop_at = std::string::npos;
  for (const std::string& stop : stops_) stop_at = std::min(stop_at, held_.find(stop));
  if (stop_at != std::string::npos) {
    held_.resize(stop_at);
    stopped_ = true;
    return finish();
  }
  std::size_t back = unfinished(held_);
  for (const std::string& stop : stops_) back = std::max(back, overlap(held_, stop));
  // The beginning of a stop may itself follow an incomplete character.
  const std::size_t end = held_.size() - back;
  return show_to(end - unfinished(std::string_view(held_).substr(0, end)));
}

std::string TextStream::finish() {
  return show_to(held_.size());
}

std::string TextStream::show_to(std::size_t end) {
  std::string text = to_valid_utf8(std::string_view(held_).substr(0, end));
  held_.erase(0, end);
  return text;
}

}  // namespace heed
