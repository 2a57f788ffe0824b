#include "store/chain.h"

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/folders.h"
#include "base/json_object.h"
#include "base/sha256.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Hashes = std::map<std::string, std::string>;  // by name of file

std::string chain_text(const fs::path& run) {
  return path_exists(run / kChain) ? read_file(run / kChain, 1u << 30) : "";
}

Hashes hashes_of(const fs::path& checkpoint) {
  Hashes files = read_state(checkpoint).files;
  files[kStateFile] = sha256(read_file(checkpoint / kStateFile, kMaxStateFile));
  return files;
}

std::string program_hash() try {
  InputFile program("/proc/self/exe", InputFile::Allow::link);
  return sha256_of(program);
} catch (const Error&) {  // no /proc
  return "";
}

// True if it cannot be read: heed verify names it by itself.
bool may_be(const fs::path& checkpoint, const Hashes& hashes) try {
  return hashes_of(checkpoint) == hashes;
} catch (const Error&) {
  return true;
}

std::string beginning_of_line(std::int64_t step) {
  return fmt::format("{{\"step\":{},", step);
}

}  // namespace

std::string next_chain_line(const fs::path& run, std::int64_t step, const std::string& stem) {
  std::string text = chain_text(run);
  if (const std::size_t whole = text.rfind('\n') + 1; whole < text.size())
    replace_file(run / kChain, text.erase(whole));
  if (!text.empty()) text.pop_back();
  const std::string last = text.substr(text.rfind('\n') + 1);
  const fs::path checkpoint = run / kCheckpoints / step_folder_name(step);
  const std::string begin =
      beginning_of_line(step) + "\"files\":" + nlohmann::json(hashes_of(checkpoint)).dump() + ",";
  if (last.starts_with(begin)) return "";
  static const std::string program = program_hash();
  return begin + fmt::format("\"data\":\"{}\",\"program\":\"{}\",\"before\":\"{}\"}}",
                             read_state(checkpoint).state.data_hash, program,
                             last.empty() ? stem : sha256(last));
}

std::string chain_hash(const fs::path& run, std::int64_t step) {
  std::istringstream lines(chain_text(run));
  std::string hash;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(beginning_of_line(step))) hash = sha256(line);
  return hash;
}

void check_chain(const fs::path& run) {
  std::map<std::int64_t, Hashes> history;  // what led to the last line
  std::string before;
  int number = 0;
  const std::string text = chain_text(run);
  std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
  for (std::string bytes; std::getline(lines, bytes); before = sha256(bytes)) {
    JsonObject line = JsonObject::parse(bytes, {.name = fmt::format("line {}", ++number)});
    const std::int64_t step = line.count("step");
    JsonObject files = line.object("files");
    Hashes hashes;
    for (const std::string& key : files.keys()) hashes[key] = files.text(key);
    if (line.text("before") != before && number > 1)
      line.fail("it does not follow from the line before");
    if (const auto old = history.find(step); old != history.end())
      for (const char* name : {kModelFile, kTrainingFile})
        if (old->second[name] != hashes[name])
          line.fail(fmt::format("it returns to step {}, which had another {}", step, name));
    history.erase(history.lower_bound(step), history.end());
    history[step] = hashes;
  }
  for (const std::int64_t step : list_steps(run)) {
    const fs::path folder = run / kCheckpoints / step_folder_name(step);
    if (history.contains(step) && !may_be(folder, history[step]))
      throw Error(Exit::store, checkpoint_name(folder) + " is another than it says");
  }
}

}  // namespace heed
