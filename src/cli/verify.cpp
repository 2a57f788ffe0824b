// heed verify RUN: checks all checksums, that links lead where they should, that numbers are finite
// and that files of lines are in order, with the readers' own checks. It writes nothing, so it
// works on a read-only disk and during training.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/table.h"
#include "data/dataset.h"
#include "store/best.h"
#include "store/checkpoint.h"
#include "store/layout.h"
#include "store/model.h"
#include "store/origin.h"
#include "store/run_folder.h"
#include "store/run_records.h"
#include "store/run_writer.h"
#include "store/safetensors.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kLinks[] = {"last", "best"};

struct Verification {
  Json checkpoints = Json::array(), files = Json::array();  // of {"name", "whole", "wrong"}
  std::vector<std::string> damaged, unread;                 // names; the unread may be whole
  std::string resume;
  RunConfig config;  // this and the next: of that checkpoint
  Tokenizers tokenizers;
  std::int64_t step = -1;  // of the last whole checkpoint of a step; -1: there is none
  bool has_text = false;   // of heed train -
};

void require_file(const fs::path& path) {
  const fs::file_type type = type_of(path);
  if (type == fs::file_type::regular) return;
  throw Error(Exit::store, type == fs::file_type::not_found ? "it is missing"
                           : type == fs::file_type::symlink ? "it is a link, expected a file"
                                                            : "it is not a file");
}

template <class Check>
void add(Verification& v, Json& parts, const std::string& name, Check check) {
  parts.push_back({{"name", name}, {"whole", true}});
  try {
    check();
  } catch (const Error& e) {
    parts.back()["whole"] = false;
    parts.back()["wrong"] = replace_all(e.text(), "\n", " ");
    (dynamic_cast<const Unreadable*>(&e) ? v.unread : v.damaged).push_back(name);
  }
}

// Opening it verified the checksums.
Model load_all(const Checkpoint& checkpoint) {
  Model m = load_model(checkpoint);
  if (!checkpoint.has_training()) return m;
  Optimizer<float> optimizer(m.net.table, m.config.optimizer);
  ParamVec<float> raw(m.values.size());
  checkpoint.load_training(
      training_slots(m.net.table, optimizer, m.config.train.ema_decay > 0 ? &raw : nullptr));
  return m;
}

void add_checkpoint(Verification& v, const std::string& name, const fs::path& folder) {
  bool there = true;
  add(v, v.checkpoints, name, [&] {
    const std::optional<Checkpoint> checkpoint = open_if_there(folder);
    there = checkpoint.has_value();
    if (!there) return;
    const bool resumed = name == step_folder_name(checkpoint->state().step);
    if (resumed) v.resume = "";  // unless it loads
    if (resumed) v.step = checkpoint->state().step;
    Model m = load_all(*checkpoint);
    if (!resumed) return;
    v.resume = name;
    v.config = std::move(m.config);
    v.tokenizers = std::move(m.tokenizers);
  });
  if (!there) v.checkpoints.erase(v.checkpoints.size() - 1);  // a saver has removed it
}

// A saver writes a checkpoint before its links, and removes it once they point elsewhere. One that
// was killed in between leaves them as they were before its checkpoint.
void check_link(const Verification& v, const std::string& run, const std::string& link) {
  const fs::path path = fs::path(run) / kCheckpoints / link;
  std::error_code none;
  const bool is_link = fs::is_symlink(path, none), is_there = fs::exists(path, none);
  if (!is_link || !is_there)
    throw Error(Exit::store,
                fmt::format("it {}; heed resume makes the link again",
                            is_there  ? "is not a link"
                            : is_link ? "leads to " + printable(fs::read_symlink(path).string()) +
                                            ", which is not there"
                                      : "is not there"));
  for (int left = 3;; --left) try {
      const std::string found = checkpoint_name(find_checkpoint(run, link));
      const std::vector<std::int64_t> steps = list_steps(run);
      const Json whole{{"name", found}, {"whole", true}};
      bool right = std::find(v.checkpoints.begin(), v.checkpoints.end(), whole) ==
                   v.checkpoints.end();  // it is damaged or new
      for (std::size_t n = steps.size(); n > 0 && n + 2 > steps.size(); --n) {
        const auto best = best_checkpoint(run, steps[n - 1]);
        right |= found == step_folder_name(link == "last" || !best ? steps[n - 1] : best->step);
      }
      if (right) return;
      throw Error(Exit::store, "it leads to " + found + ", which is not the " + link + " one");
    } catch (const Error&) {
      if (left == 1) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

// The text that heed train read from standard input.
void check_text(const std::string& run, Verification& v) {
  v.config.data.valid = {};  // other files
  if (load_dataset(v.config, run, v.tokenizers).hash.data != read_origin(run).hash.data)
    throw Error(Exit::store, "it is not the text that the run was trained on");
}

// heed resume would refuse other changes.
void check_config(const std::string& run, const Verification& v) {
  const RunConfig config = config_of_run(run);
  if (v.resume.empty()) return;
  for (const KeyChange& change : changed_keys(v.config, config))
    if (change.on_resume == OnResume::refused)
      throw Error(Exit::store, fmt::format("it is not that of {}: {}", v.resume, in_words(change)));
}

void check_origin(const std::string& run, Verification& v) {
  const Origin origin = read_origin(run);
  const fs::path first = fs::path(run) / kCheckpoints / step_folder_name(0);
  std::error_code none;
  v.has_text = fs::equivalent(origin.folder, run, none) &&
               v.config.data.train.paths == std::vector<std::string>{kRunText};
  if (!origin.init_from.empty() && v.step >= 0 && !path_exists(first))
    throw Error(Exit::store, "the run began with the weights of another one, and " +
                                 checkpoint_name(first) + ", which keeps them, is missing");
}

Verification verify(const std::string& run) {
  Verification v;
  const fs::path checkpoints = fs::path(run) / kCheckpoints;
  std::error_code none;
  if (!fs::is_directory(checkpoints, none)) {
    const fs::path folder = find_checkpoint(run);
    add_checkpoint(v, checkpoint_name(folder), folder);
    v.resume = "";
    return v;
  }
  for (const std::string& name : names_in(checkpoints))
    if (name.starts_with(kStepPrefix) || name.starts_with(kAveragePrefix))
      add_checkpoint(v, name, checkpoints / name);
  if (fs::is_symlink(checkpoints, none))
    add(v, v.files, kCheckpoints, [&] { RunWriter::require_own_checkpoints(run); });
  for (const char* link : kLinks)
    if (v.step >= 0 || path_exists(checkpoints / link))
      add(v, v.files, link, [&] { check_link(v, run, link); });
  const auto add_file = [&](const char* file, auto check) {
    add(v, v.files, file, [&] {
      require_file(fs::path(run) / file);
      check();
    });
  };
  add_file(kConfigFile, [&] { check_config(run, v); });
  add_file(kOriginFile, [&] { check_origin(run, v); });
  if (v.has_text) add_file(kRunText, [&] { check_text(run, v); });
  for (const char* file : kLineFiles)
    if (file == std::string_view(kMetrics) || path_exists(fs::path(run) / file))
      add_file(file, [&] { check_lines(run, file, v.step); });
  for (const char* file : {kTrainLog, kChain, kLockFile}) {  // named only if they are damaged
    if (!path_exists(fs::path(run) / file)) continue;
    add_file(file, [&] {
      if (file == std::string_view(kChain)) check_lines(run, file, v.step);
    });
    if (v.files.back()["whole"]) v.files.erase(v.files.size() - 1);
  }
  for (const char* folder : kRunFolders)
    if (const auto type = type_of(fs::path(run) / folder);
        type != fs::file_type::not_found && type != fs::file_type::directory)
      add(v, v.files, folder, [] { throw Error(Exit::store, "it is not a folder"); });
  return v;
}

void print_verification(const Json& result, const Verification& v) {
  Json fields = Json::object();
  for (const char* key : {"checkpoints", "files"})
    for (const Json& part : result[key]) {
      const std::string name = part["name"];
      const bool unread = std::ranges::count(v.unread, name) > 0;
      fields[name] =
          part["whole"] ? "whole" : (unread ? "NOT READ: " : "DAMAGED: ") + plain(part["wrong"]);
    }
  print_fields(fields);
  if (!v.resume.empty()) print(fmt::format("heed resume would continue from {}\n", v.resume));
}

[[noreturn]] void throw_damage(const Verification& v, const std::string& run) {
  if (v.damaged.empty())
    throw Error(Exit::store, "cannot be read: " + joined(v.unread) + ".",
                "the reason is beside each name");
  const bool links =
      v.unread.empty() && std::ranges::all_of(v.damaged, [](const std::string& name) {
        return std::ranges::count(kLinks, name) > 0;
      });
  throw Error(Exit::store, "damaged: " + joined(v.damaged) + ".",
              links ? fmt::format("heed resume {}, which makes the links again and continues",
                                  shell_word(run))
              : v.resume.empty() ? "a copy of it; or --checkpoint with one that is whole"
                                 : "a copy of it; heed resume uses " + v.resume);
}

}  // namespace

Exit run_verify(CommandLine& line) {
  std::string run;
  line.add_run(run);
  line.parse();
  const Verification v = verify(run);
  const bool whole = v.damaged.empty() && v.unread.empty();
  const Json result{{"run", run},
                    {"whole", whole},
                    {"checkpoints", v.checkpoints},
                    {"files", v.files},
                    {"resume", v.resume.empty() ? Json() : Json(v.resume)}};
  line.json() ? print_line(result) : print_verification(result, v);
  if (whole) return Exit::ok;
  flush_output();
  throw_damage(v, run);
}

}  // namespace heed
