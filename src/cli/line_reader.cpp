#include "cli/line_reader.h"

#include "base/utf8.h"

namespace heed {

std::string LineReader::checked(std::string line) {
  ++number_;
  if (number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  if (line.ends_with('\r')) line.pop_back();
  if (!options_.any_bytes) check_utf8(line, name_ + ", line " + std::to_string(number_));
  return as_read(line, options_);
}

std::vector<std::string> LineReader::read(std::size_t n) {
  if (failed_) std::rethrow_exception(failed_);
  std::vector<std::string> lines;
  try {
    while (lines.size() < n && (lines.empty() || lines_.ready())) {
      std::optional<std::string> line = lines_.next();
      if (!line) break;
      lines.push_back(checked(std::move(*line)));
    }
  } catch (const Error&) {
    if (lines.empty()) throw;
    failed_ = std::current_exception();
  }
  return lines;
}

}  // namespace heed
