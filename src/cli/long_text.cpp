#include "cli/long_text.h"

#include <fmt/core.h>

namespace heed {

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
