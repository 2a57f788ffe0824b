#include "store/metrics_file.h"

#include <nlohmann/json.hpp>

#include "base/folders.h"
#include "base/input_file.h"

namespace heed {

void for_each_metrics_line(const std::filesystem::path& run,
                           const std::function<void(const std::string& line, bool ended)>& use) {
  const std::filesystem::path path = run / kMetrics;
  if (!path_exists(path)) return;
  // One step's record of a model of a thousand matrices has some 100 KB.
  constexpr std::size_t kLongest = 16u << 20;
  InputLines lines(path, InputFile::Allow::link, Exit::store, kLongest);
  while (const auto line = lines.next()) use(*line, lines.ended());
}

void for_each_event(const std::filesystem::path& run,
                    const std::function<void(nlohmann::ordered_json& event)>& use) {
  for_each_metrics_line(run, [&](const std::string& line, bool) {
    auto event = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!event.is_object() || !event.contains("kind") || !event.contains("step")) return;
    if (event["kind"].is_string() && event["step"].is_number_integer()) use(event);
  });
}

}  // namespace heed
