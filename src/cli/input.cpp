#include "cli/input.h"

#include <fmt/core.h>

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

bool warn_if_long(const TrainedModel& m, const Tokenizer& tokenizer, std::string_view text,
                  const std::string& name, Log& log) {
  const ObjectiveTraits& traits = m.objective->traits();
  const auto most = static_cast<std::size_t>(traits.pairs       ? m.config.data.max_length
                                             : traits.encoder() ? traits.longest_source
                                                                : traits.longest_target);
  if (text.size() <= most) return false;  // no more tokens than bytes
  const std::size_t tokens = tokenizer.encode(text).size();
  if (tokens <= most) return false;
  if (!traits.pairs)
    log.warn(fmt::format("{} has {} tokens; the model reads only the last {}", name, tokens, most));
  else if (m.config.model.positions != Positions::learned)  // there, too long is an error
    log.warn(
        fmt::format("{} has {} tokens, training pairs have at most {}: the result may be poor "
                    "and slow",
                    name, tokens, most));
  return true;
}

}  // namespace heed
