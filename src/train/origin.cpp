#include "train/origin.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxFile = 16u << 20;

}  // namespace

std::string origin_json(const std::string& folder, const DataHash& hash,
                        const std::string& command) {
  Json origin{{"folder", folder}, {"data_sha256", hash.data}};
  if (!hash.valid.empty()) origin["valid_sha256"] = hash.valid;
  origin["command"] = command;
  return origin.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string data_folder(const std::string& run) {
  std::error_code ignored;
  for (const fs::path& folder : {fs::path(run), fs::path(run) / ".." / ".."}) {
    const fs::path path = folder / "origin.json";
    if (!fs::exists(path, ignored)) continue;
    const Json origin = Json::parse(read_file(path, kMaxFile), nullptr, false);
    if (!origin.is_object())
      throw Error(Exit::store, quoted_path(path) + " is damaged: not a JSON object.");
    const auto found = origin.find("folder");
    return found != origin.end() && found->is_string() ? found->get<std::string>() : "";
  }
  return "";
}

}  // namespace heed
