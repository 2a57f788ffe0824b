#include "store/metrics_file.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/folders.h"
#include "base/input_file.h"

namespace heed {

namespace {

// One step's record of a model of a thousand matrices has some 100 KB. A film has at most a hundred
// frames (train/film.h) of less than 100 KB each (inspect/run_film.h).
constexpr std::size_t kLongest = 16u << 20;

// The step of a metrics line, -1 if it has none; nullopt if the line is not a JSON object.
std::optional<std::int64_t> step_of(const std::string& line) {
  const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  const auto step = object.find("step");
  return step != object.end() && step->is_number_integer() ? step->get<std::int64_t>() : -1;
}

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

MetricsCut copy_lines(const std::filesystem::path& from, const std::filesystem::path& to,
                      const char* file, std::int64_t step, SystemCalls& calls) {
  const std::filesystem::path temporary = to / (std::string(".tmp-") + file);
  MetricsCut cut;
  OutputFile kept(temporary, calls);
  std::string text;
  const auto keep = [&](const std::string& line, bool ended) {
    const std::optional<std::int64_t> at = ended ? step_of(line) : std::nullopt;
    if (!at) {
      ++cut.damaged;
    } else if (*at > step) {
      ++cut.later;
    } else {
      ++cut.kept;
      text += line + '\n';
    }
    if (text.size() > (1 << 20)) {
      kept.write(text);
      text.clear();
    }
  };
  for_each_metrics_line(from, keep, file);
  kept.write(text);
  kept.finish();
  rename_path(temporary, to / file, calls);
  sync_folder(to, calls);
  return cut;
}

}  // namespace heed
