#include "store/metrics_file.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/folders.h"

namespace heed {

void for_each_metrics_line(const std::filesystem::path& run,
                           const std::function<void(const std::string& line, bool ended)>& use) {
  const std::filesystem::path path = run / kMetrics;
  if (!path_exists(path)) return;
  InputFile{path};  // refuses a pipe, which would block
  std::ifstream file(path, std::ios::binary);
  if (!file) throw_file_error("read", path, errno);
  for (std::string line; std::getline(file, line);) use(line, !file.eof());
  if (file.bad()) throw_file_error("read", path, EIO);
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
