#include "store/chain.h"

#include <fmt/core.h>

#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

std::string chain_text(const fs::path& run) {
  return is_listed(run / kChain) ? read_file(run / kChain, 1u << 30) : "";
}

std::string program_hash() try {
  InputFile program("/proc/self/exe", InputFile::Allow::link);
  return sha256_of(program);
} catch (const Error&) {  // no /proc
  return "";
}

std::string step_of_line(std::int64_t step) {
  return fmt::format("{{\"step\":{},", step);
}

// All that the line of a checkpoint says of it.
std::string beginning_of_line(const fs::path& run, std::int64_t step) {
  const fs::path checkpoint = run / kCheckpoints / step_folder_name(step);
  StateFile stored = read_state(checkpoint);
  stored.files[kStateFile] = sha256(read_file(checkpoint / kStateFile, kMaxStateFile));
  return fmt::format("{}\"files\":{},\"data\":\"{}\",", step_of_line(step),
                     Json(stored.files).dump(), stored.state.data_hash);
}

}  // namespace

std::string next_chain_line(const fs::path& run, std::int64_t step, const std::string& stem) {
  std::string text = chain_text(run);
  if (const std::size_t whole = text.rfind('\n') + 1; whole < text.size())
    replace_file(run / kChain, text.erase(whole));
  if (!text.empty()) text.pop_back();
  const std::string last = text.substr(text.rfind('\n') + 1);
  const std::string begin = beginning_of_line(run, step);
  if (last.starts_with(begin)) return "";
  static const std::string program = program_hash();
  return begin + fmt::format("\"program\":\"{}\",\"before\":\"{}\"}}", program,
                             last.empty() ? stem : sha256(last));
}

std::string stem_hash(const fs::path& run) {
  const std::string text = chain_text(run), before = "\"before\":\"";
  const std::size_t at = text.find(before), begin = at + before.size();
  return at == text.npos ? "" : text.substr(begin, text.find('"', begin) - begin);
}

std::string chain_hash(const fs::path& run, std::int64_t step) {
  std::istringstream lines(chain_text(run));
  std::string hash;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(step_of_line(step))) hash = sha256(line);
  return hash;
}

}  // namespace heed
