#include "store/metrics_file.h"

#include <nlohmann/json.hpp>

#include "base/folders.h"
#include "base/input_file.h"

namespace heed {

namespace {

// One step's record of a model of a thousand matrices has some 100 KB. A film has at most a hundred
// frames (train/film.h) of less than 100 KB each (inspect/run_film.h).
constexpr std::size_t kLongest = 16u << 20;

}  // namespace

bool has_film(const std::filesystem::path& run) {
  namespace fs = std::filesystem;
  std::error_code error;
  return fs::symlink_status(run / kFilm, error).type() == fs::file_type::regular &&
         fs::file_size(run / kFilm, error) < kLongest;
}

void for_each_metrics_line(const std::filesystem::path& run,
                           const std::function<void(const std::string& line, bool ended)>& use,
                           const char* file) {
  const std::filesystem::path path = run / file;
  if (!path_exists(path)) return;
  InputLines lines(path, InputFile::Allow::link, Exit::store, kLongest);
  while (const auto line = lines.next()) use(*line, lines.ended());
}

void for_each_event(const std::filesystem::path& run,
                    const std::function<void(nlohmann::ordered_json& event)>& use,
                    const char* file) {
  const auto use_event = [&](const std::string& line, bool) {
    auto event = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!event.is_object() || !event.contains("kind") || !event.contains("step")) return;
    if (event["kind"].is_string() && event["step"].is_number_integer()) use(event);
  };
  for_each_metrics_line(run, use_event, file);
}

}  // namespace heed
