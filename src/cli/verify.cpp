// heed verify RUN: checks all checksums, that links lead where they should, that numbers are finite
// and that files of lines are in order, with the readers' own checks. It writes nothing, so it
// works on a read-only disk and during training.
#include <algorithm>
#include <optional>

#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/std_names.h"
#include "cli/command.h"
#include "cli/output.h"
#include "data/dataset.h"
#include "store/checkpoint.h"
#include "store/model.h"
#include "store/run.h"
#include "store/run_folder.h"
#include "store/run_records.h"
#include "store/run_writer.h"
#include "store/safetensors.h"

namespace heed {
namespace {

struct Verification {
  // Parts as --json prints them: {"name", "whole", "wrong": why it is not}.
  Json checkpoints = Json::array(), files = Json::array();
  optional<Model> newest;  // of the checkpoint that heed resume would take
  bool has_text = false;   // of heed train -
};

template <class Check>
Json checked(const string& name, Check check) try {
  check();
  return {{"name", name}, {"whole", true}};
} catch (const Error& e) {
  return {{"name", name}, {"whole", false}, {"wrong", replace_all(e.text(), "\n", " ")}};
}

void add_checkpoint(Verification& v, const string& name, const fs::path& folder) {
  const Json part = checked(name, [&] {
    const Checkpoint checkpoint = Checkpoint::open(folder);  // verifies the checksums
    const bool of_step = name == step_folder_name(checkpoint.state.step);
    if (of_step) v.newest.reset();  // unless it loads
    Model m = load_model(checkpoint);
    if (checkpoint.has_training) {
      Optimizer<float> optimizer(m.net.table, m.config.optimizer);
      ParamVec<float> raw(m.values.size());
      checkpoint.load(kTrainingFile, training_slots(m.net.table, optimizer,
                                                    m.config.train.ema_decay > 0 ? &raw : nullptr));
    }
    if (of_step) v.newest.emplace(std::move(m));
  });
  if (path_exists(folder)) v.checkpoints.push_back(part);  // else a saver has removed it
}

void check_link(const Verification& v, const fs::path& run, const string& link) {
  read_beside_saver(run, [&] {
    const string target = fs::read_symlink(run / kCheckpoints / link, ignored()).string();
    if (target.empty())
      throw store_error("it is no link, or not there; heed resume makes the link again");
    for (const Json& part : v.checkpoints)
      if (part["name"] == target && !part["whole"]) return;  // which is said
    // A saver writes a checkpoint before its links. One that was killed in between leaves them as
    // they were before its checkpoint.
    vector<State> states = states_of(run);
    for (int n = 0; n < 2 && !states.empty(); ++n, states.pop_back())
      if (target == step_folder_name((link == "last" ? states.back() : *best_of(states)).step))
        return;
    throw store_error("it leads to {}, which is not the {} one", printable(target), link);
  });
}

// heed resume would refuse other changes.
void check_config(const string& run, const Verification& v) {
  const RunConfig config = config_of_run(run);
  if (!v.newest) return;
  for (const KeyChange& change : changed_keys(v.newest->config, config))
    if (change.on_resume == OnResume::refused)
      throw store_error("it is not that of {}: {}", checkpoint_name(v.newest->folder),
                        in_words(change));
}

void check_origin(const string& run, Verification& v) {
  const Origin origin = read_origin(run);
  const fs::path first = step_folder(run, 0);
  if (!v.newest) return;
  v.has_text = fs::equivalent(origin.folder, run, ignored()) &&
               (v.newest->config.data.train.paths == vector<string>{kRunText} ||
                v.newest->config.data.pairs == kRunText);
  if (!origin.init_from.empty() && !path_exists(first))
    throw store_error(
        "the run began with the weights of another one, and {}, which keeps them, is missing",
        checkpoint_name(first));
}

// The text that heed train read from standard input.
void check_text(const string& run, Model& model) {
  model.config.data.valid = {};  // other files
  if (load_dataset(model.config, run, model.tokenizers).hash.data != read_origin(run).hash.data)
    throw store_error("it is not the text that the run was trained on");
}

void check_file(const string& run, const string& file, Verification& v) {
  const fs::file_type type = type_of(fs::path(run) / file);
  if (type != (file == kTensorboard ? fs::file_type::directory : fs::file_type::regular))
    throw store_error("it is {}", type == fs::file_type::not_found ? "missing"
                                  : type == fs::file_type::symlink ? "a link"
                                                                   : "not a file");
  if (file == kConfigFile) check_config(run, v);
  if (file == kOriginFile) check_origin(run, v);
  if (file == kRunText) check_text(run, *v.newest);
  if (file == kMetrics || file == kFilm || file == kChain)
    check_lines(run, file.c_str(), v.newest ? v.newest->state.step : -1);
}

Verification verify(const string& run) {
  Verification v;
  const fs::path checkpoints = fs::path(run) / kCheckpoints;
  if (!is_folder(checkpoints)) {
    const fs::path folder = find_checkpoint(run);
    add_checkpoint(v, checkpoint_name(folder), folder);
    v.newest.reset();  // heed resume takes runs
    return v;
  }
  for (const string& name : names_in(checkpoints))
    if (name.starts_with(kStepPrefix) || name.starts_with(kAveragePrefix))
      add_checkpoint(v, name, checkpoints / name);
  if (fs::is_symlink(checkpoints, ignored()))
    v.files.push_back(checked(kCheckpoints, [&] { RunWriter::require_own_checkpoints(run); }));
  for (const char* link : {"last", "best"})
    if (v.newest || path_exists(checkpoints / link))
      v.files.push_back(checked(link, [&] { check_link(v, run, link); }));
  vector<string> files(std::begin(kRunFiles), std::end(kRunFiles));
  files.insert(files.end(), {kReportPage, kLivePage});
  for (const string& file : files) {
    const bool needed = file == kConfigFile || file == kOriginFile || file == kMetrics ||
                        (file == kRunText && v.has_text);
    if (!needed && (file == kRunText || !path_exists(fs::path(run) / file))) continue;
    const Json part = checked(file, [&] { check_file(run, file, v); });
    if (needed || file == kFilm || !part["whole"]) v.files.push_back(part);
  }
  return v;
}

}  // namespace

Exit run_verify(CommandLine& line) {
  string run;
  line.add_run(run);
  line.parse();
  const Verification v = verify(run);
  const string resume = v.newest ? checkpoint_name(v.newest->folder) : "";
  vector<string> wrong;
  Json fields = Json::object();
  for (const Json* parts : {&v.checkpoints, &v.files})
    for (const Json& part : *parts) {
      const bool whole = part["whole"];
      fields[plain(part["name"])] = whole ? "whole" : "NOT WHOLE: " + plain(part["wrong"]);
      if (!whole) wrong.push_back(part["name"]);
    }
  if (line.json) {
    print_line({{"run", run},
                {"whole", wrong.empty()},
                {"checkpoints", v.checkpoints},
                {"files", v.files},
                {"resume", resume.empty() ? Json() : Json(resume)}});
  } else {
    print_fields(fields);
    if (!resume.empty()) print(fmt::format("heed resume would continue from {}\n", resume));
  }
  if (wrong.empty()) return Exit::ok;
  flush_output();
  throw store_error("not whole: {}; the reason is beside each name.", joined(wrong))
      .hint(resume.empty()
                ? "a copy of it; or --checkpoint with one that is whole"
                : fmt::format("a copy of it; heed resume {} goes on from {}, and makes links again",
                              shell_word(run), resume));
}

}  // namespace heed
