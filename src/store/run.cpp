#include "store/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/input_file.h"
#include "base/profile.h"
#include "base/std_names.h"
#include "math/blas.h"
#include "store/model.h"
#include "store/run_folder.h"
#include "store/run_writer.h"

namespace heed {
namespace {

// Read as characters, or bytes, of which nothing is learnt: the hash is of the text.
bool has_hash(DataPlace place, const DataHash& hash) try {
  if (!read_options(place.config).any_bytes) place.config.tokenizer = {};
  Tokenizers none;
  return load_dataset(place.config, place.folder, none).hash == hash;
} catch (const Error&) {
  return false;
}

}  // namespace

string data_in_words(const DataConfig& d) {
  const auto name = [](const fs::path& path) {
    return (path / "").parent_path().filename().string();  // of a folder: without its slash
  };
  const vector<string>& texts = d.train.paths;
  if (texts.size() == 1) return name(texts[0]);
  if (!texts.empty()) {
    const fs::path folder = fs::path(texts[0]).parent_path();
    return fmt::format("{}, {} files", name(folder.empty() ? fs::path(texts[0]) : folder),
                       texts.size());
  }
  if (!d.pairs.empty()) return name(d.pairs);
  return fs::path(d.source).stem().string() + " pairs";
}

string origin_json(const Origin& origin) {
  Json json = origin;
  if (origin.branched_from.empty()) json["branched_at"] = "";
  for (const char* key : {"valid_sha256", "init_from", "branched_from", "branched_at"})
    if (json[key] == "") json.erase(key);
  json["core_type"] = blas_core_type();  // another may change the last digits
  json["processor"] = processor_name();
  json["version"] = HEED_VERSION;
  json["started"] = date_and_time();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

string processor_name() {
  ifstream info("/proc/cpuinfo");
  for (string line; getline(info, line);)
    if (line.starts_with("model name")) return line.substr(min(line.find(": ") + 2, line.size()));
  return "";
}

Origin read_origin(const fs::path& run) {
  constexpr const char* kRemedy =
      "restore it, or move it away: the data's relative paths are then taken from the current "
      "folder";
  for (const fs::path& folder : {run, run / ".." / ".."}) {
    const fs::path path = folder / kOriginFile;
    if (ranges::count(folder == run ? names_in(folder) : readable_names(folder), kOriginFile) == 0)
      continue;
    const JsonSource source{.name = quoted_path(path), .verdict = "damaged: ", .hint = kRemedy};
    Origin origin;
    Faults faults;
    read_json(parse_strict_json(read_file(path, kMaxConfigFile), source), origin, faults);
    if (!faults.wrong.empty()) source.fail(faults.wrong);
    // canonical: behind a link to a checkpoint, ".." is not the folder that the link is in.
    const fs::path real = fs::canonical(folder, ignored());
    if (!origin.folder.empty()) origin.folder = (real / origin.folder).lexically_normal();
    return origin;
  }
  return {};
}

DataPlace data_place(const RunConfig& config, const fs::path& run, const Origin& origin) {
  DataPlace first{config, origin.folder};
  if (missing_files(first.config.data, origin.folder).empty()) return first;
  const fs::path own = fs::absolute(with_name(run)), above = own.parent_path();
  RunConfig ends = config;  // of the paths, ever shorter
  for (bool shorter = true; exchange(shorter, false);) {
    for (const fs::path& folder : {fs::current_path(), own, above, above.parent_path()}) {
      DataPlace place{ends, folder};
      if (!missing_files(place.config.data, folder).empty()) continue;
      place.moved = "the data of the run was found elsewhere: " +
                    resolve_path(folder, *paths_of(place.config.data)[0].second);
      if (has_hash(place, origin.hash)) return place;
      if (first.moved.empty()) first = place;
    }
    for (const auto& [key, path] : paths_of(ends.data))
      if (const size_t slash = path->find('/'); slash != path->npos)
        path->erase(0, slash + 1), shorter = true;
  }
  return first;
}

string still_training(const fs::path& folder) try {
  if (!is_run(folder) || !is_locked(folder)) return "";
  const vector<TrainEvent> lines = read_events(folder).train;
  const int64_t end = config_of_run(folder).train.max_steps;
  return fmt::format("{} is still training: step {}{}", folder.string(),
                     lines.empty() ? 0 : lines.back().step,
                     end > 0 ? fmt::format(" of {}", end) : "");
} catch (const Error&) {
  return "";
}

Run read_run(const fs::path& folder, int64_t up_to) {
  Run run{.folder = folder, .states = states_of(folder, up_to)};
  run.best = best_of(run.states);
  run.damaged = up_to == kAnyStep && run.states.size() < list_steps(folder).size();
  run.config = config_of_run(folder);
  run.origin = read_origin(folder);
  run.logged = read_events(folder, up_to);
  run.locked = is_locked(folder);
  return run;
}

}  // namespace heed
