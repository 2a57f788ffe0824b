#include <fmt/core.h>

#include <sstream>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/std_names.h"
#include "store/run_folder.h"
#include "store/run_writer.h"

namespace heed {
namespace {

string chain_text(const fs::path& run) {
  return is_listed(run / kChain) ? read_file(run / kChain, 1u << 30) : "";
}

string program_hash() try {
  InputFile program("/proc/self/exe", InputFile::Allow::link);
  return sha256_of(program);
} catch (const Error&) {  // no /proc
  return "";
}

string step_of_line(int64_t step) {
  return fmt::format("{{\"step\":{},", step);
}

}  // namespace

void extend_chain(const fs::path& run, int64_t step, const string& stem) {
  const bool begins = !path_exists(run / kChain);
  string text = chain_text(run);
  if (const size_t whole = text.rfind('\n') + 1; whole < text.size())
    replace_file(run / kChain, text.erase(whole));
  if (!text.empty()) text.pop_back();
  const string last = text.substr(text.rfind('\n') + 1);
  const fs::path checkpoint = step_folder(run, step);
  StateFile stored = read_state(checkpoint);
  stored.files[kStateFile] = sha256(read_file(checkpoint / kStateFile, kMaxStateFile));
  const string begin = fmt::format("{}\"files\":{},\"data\":\"{}\",", step_of_line(step),
                                   Json(stored.files).dump(), stored.state.data_hash);
  if (last.starts_with(begin)) return;
  static const string program = program_hash();
  AppendFile chain(run / kChain);
  chain.append_line(begin + fmt::format("\"program\":\"{}\",\"before\":\"{}\"}}", program,
                                        last.empty() ? stem : sha256(last)));
  chain.sync();
  if (begins) sync_folder(run);
}

string stem_hash(const fs::path& run) {
  const string text = chain_text(run), before = "\"before\":\"";
  const size_t at = text.find(before), begin = at + before.size();
  return at == text.npos ? "" : text.substr(begin, text.find('"', begin) - begin);
}

string chain_hash(const fs::path& run, int64_t step) {
  const string text = chain_text(run);
  string hash;
  for (const string_view line : split(text, '\n'))
    if (line.starts_with(step_of_line(step))) hash = sha256(line);
  return hash;
}

SavedSteps chain_steps(const fs::path& run) {
  SavedSteps saved;
  const string chain = chain_text(run);
  std::istringstream lines(chain.substr(0, chain.rfind('\n') + 1));  // without a torn one
  for (string text; getline(lines, text);) {
    const Json line = parse_strict_json(text, {run / kChain});
    const int64_t step = line.value("step", int64_t{0});
    saved.erase(saved.lower_bound(step), saved.end());  // a run that went back repeats steps
    saved[step] = line.value("files", map<string, string>());
  }
  return saved;
}

}  // namespace heed
