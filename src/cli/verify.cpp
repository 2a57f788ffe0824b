// heed verify RUN: checks all checksums, that links lead where they should, that numbers are finite
// and that files of lines are in order, with the readers' own checks. It writes nothing, so it
// works on a read-only disk and during training.
#include <algorithm>

#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/dataset.h"
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
// A checkpoint or a file, and what is wrong with it.
struct Part {
  std::string name, wrong = "";  // "": nothing
  bool unread = false;           // it may be whole, but cannot be read now
};

struct Verification {
  std::vector<Part> checkpoints, files;
  std::string resume;  // the checkpoint that heed resume would take; "": none
  RunConfig config;    // this and the next: of that checkpoint
  Tokenizers tokenizers;
  std::int64_t step = -1;  // of the last whole checkpoint of a step; -1: there is none
  bool has_text = false;   // of heed train -

  std::string names(bool unread) const {
    std::vector<std::string> names;
    for (const auto* parts : {&checkpoints, &files})
      for (const Part& part : *parts)
        if (!part.wrong.empty() && part.unread == unread) names.push_back(part.name);
    return joined(names);
  }
};

template <class Check>
void add(std::vector<Part>& parts, const std::string& name, Check check) {
  parts.push_back({name});
  try {
    check();
  } catch (const Error& e) {
    parts.back().wrong = replace_all(e.text(), "\n", " ");
    parts.back().unread = dynamic_cast<const Unreadable*>(&e) != nullptr;
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
  add(v.checkpoints, name, [&] {
    const Checkpoint checkpoint = Checkpoint::open(folder);
    const bool resumed = name == step_folder_name(checkpoint.state().step);
    if (resumed) v.resume = "";  // unless it loads
    if (resumed) v.step = checkpoint.state().step;
    Model m = load_all(checkpoint);
    if (!resumed) return;
    v.resume = name;
    v.config = std::move(m.config);
    v.tokenizers = std::move(m.tokenizers);
  });
  if (!path_exists(folder)) v.checkpoints.pop_back();  // a saver has removed it
}

// A saver writes a checkpoint before its links. One that was killed in between leaves them as they
// were before its checkpoint.
void check_link(const fs::path& run, const std::string& link) {
  read_beside_saver(run, [&] {
    std::error_code none;
    const fs::path path = run / kCheckpoints / link;
    const std::string target = fs::read_symlink(path, none).string();
    if (target.empty() || !fs::exists(path, none))
      throw Error(Exit::store, fmt::format("it {} not there; heed resume makes the link again",
                                           target.empty() ? "is no link, or"
                                                          : "leads to " + printable(target) + ","));
    const std::string found = find_checkpoint(run, link).filename();
    const auto is_found = [&](const State& s) { return found == step_folder_name(s.step); };
    std::vector<State> states = states_of(run);
    if (std::ranges::none_of(states, is_found)) return;  // it is damaged, and said to be
    for (int n = 0; n < 2 && !states.empty(); ++n, states.pop_back())
      if (is_found(link == "last" ? states.back() : *best_of(states))) return;
    throw Error(Exit::store, "it leads to " + found + ", which is not the " + link + " one");
  });
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
  const fs::path first = step_folder(run, 0);
  std::error_code none;
  v.has_text = fs::equivalent(origin.folder, run, none) &&
               v.config.data.train.paths == std::vector<std::string>{kRunText};
  if (!origin.init_from.empty() && v.step >= 0 && !path_exists(first))
    throw Error(Exit::store, "the run began with the weights of another one, and " +
                                 checkpoint_name(first) + ", which keeps them, is missing");
}

void check_file(const std::string& run, std::string_view file, Verification& v) {
  const fs::file_type type = type_of(fs::path(run) / file), right = file == kTensorboard
                                                                        ? fs::file_type::directory
                                                                        : fs::file_type::regular;
  if (type != right)
    throw Error(Exit::store, type == fs::file_type::not_found ? "it is missing"
                             : type == fs::file_type::symlink ? "it is a link"
                                                              : "it is not a file");
  if (file == kConfigFile) check_config(run, v);
  if (file == kOriginFile) check_origin(run, v);
  if (file == kRunText) check_text(run, v);
  if (file == kMetrics || file == kFilm || file == kChain) check_lines(run, file.data(), v.step);
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
    add(v.files, kCheckpoints, [&] { RunWriter::require_own_checkpoints(run); });
  for (const char* link : {"last", "best"})
    if (v.step >= 0 || path_exists(checkpoints / link))
      add(v.files, link, [&] { check_link(run, link); });
  for (const std::string_view file : {kConfigFile, kOriginFile, kRunText, kMetrics, kFilm}) {
    const bool may_lack = file == kFilm && !path_exists(fs::path(run) / file);
    if (file == kRunText ? v.has_text : !may_lack)
      add(v.files, std::string(file), [&] { check_file(run, file, v); });
  }
  for (const std::string_view file : {kTrainLog, kChain, kLockFile, kTensorboard}) {
    if (!path_exists(fs::path(run) / file)) continue;
    add(v.files, std::string(file), [&] { check_file(run, file, v); });
    if (v.files.back().wrong.empty()) v.files.pop_back();  // named only if they are damaged
  }
  return v;
}

Json json_of(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& part : parts) {
    list.push_back({{"name", part.name}, {"whole", part.wrong.empty()}});
    if (!part.wrong.empty()) list.back()["wrong"] = part.wrong;
  }
  return list;
}

void print_verification(const Verification& v) {
  Json fields = Json::object();
  for (const auto* parts : {&v.checkpoints, &v.files})
    for (const Part& part : *parts)
      fields[part.name] =
          part.wrong.empty() ? "whole" : (part.unread ? "NOT READ: " : "DAMAGED: ") + part.wrong;
  print_fields(fields);
  if (!v.resume.empty()) print(fmt::format("heed resume would continue from {}\n", v.resume));
}

[[noreturn]] void throw_damage(const Verification& v, const std::string& run) {
  const std::string damaged = v.names(false), unread = v.names(true);
  if (damaged.empty())
    throw Error(Exit::store, "cannot be read: " + unread + ".", "the reason is beside each name");
  throw Error(Exit::store, "damaged: " + damaged + ".",
              v.resume.empty() ? "a copy of it; or --checkpoint with one that is whole"
                               : fmt::format("a copy of it; heed resume {} goes on from {}, and "
                                             "makes links again",
                                             shell_word(run), v.resume));
}

}  // namespace

Exit run_verify(CommandLine& line) {
  std::string run;
  line.add_run(run);
  line.parse();
  const Verification v = verify(run);
  const bool whole = v.names(false).empty() && v.names(true).empty();
  if (line.json())
    print_line({{"run", run},
                {"whole", whole},
                {"checkpoints", json_of(v.checkpoints)},
                {"files", json_of(v.files)},
                {"resume", v.resume.empty() ? Json() : Json(v.resume)}});
  else
    print_verification(v);
  if (whole) return Exit::ok;
  flush_output();
  throw_damage(v, run);
}

}  // namespace heed
