// heed verify RUN: checks all checksums, that links lead somewhere and that numbers are finite,
// with the readers' own checks. It writes nothing, so it works on a read-only disk and during
// training.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.h"
#include "base/folders.h"
#include "base/format.h"
#include "cli/command.h"
#include "cli/output.h"
#include "store/layout.h"
#include "store/open_checkpoint.h"
#include "store/origin.h"
#include "store/run_events.h"
#include "store/run_folder.h"
#include "store/trained_model.h"
#include "store/training_tensors.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kVerifyNotes =
    "Reads every byte and changes nothing, even while the run trains: checksums, links,\n"
    "tensors (finite, of the config's sizes), tokenizers, config.json, origin.json, "
    "metrics.jsonl.\n"
    "Exit code 4 if anything is damaged or cannot be read. --json keys: run, whole, checkpoints\n"
    "and files (each a list of name, whole and, if it is not, wrong), resume (the checkpoint that\n"
    "heed resume would take, or null).";

struct Part {
  std::string name;      // "step-00001000", "best", "metrics.jsonl"
  std::string wrong;     // a sentence on one line; "": it is whole
  bool readable = true;  // false: may be whole
};

struct Verification {
  std::vector<Part> checkpoints, files;
  std::string resume;
  bool best = false;  // the newest checkpoint names a best one
};

template <class Check>
void add(std::vector<Part>& parts, const std::string& name, Check check) {
  Part part{name, ""};
  try {
    check();
  } catch (const Error& e) {
    part.wrong = e.text();
    std::ranges::replace(part.wrong, '\n', ' ');
    part.readable = dynamic_cast<const Unreadable*>(&e) == nullptr;
  }
  parts.push_back(std::move(part));
}

// Opening it verified the checksums.
void load_all(const Checkpoint& checkpoint) {
  const TrainedModel m = load_trained_model(checkpoint);
  if (!checkpoint.has_training()) return;
  Optimizer<float> optimizer(m.model.table, m.config.optimizer);
  ParamVec<float> raw(m.values.size());
  checkpoint.load_training(
      training_slots(m.model.table, optimizer, m.config.train.ema_decay > 0 ? &raw : nullptr));
}

void add_checkpoint(Verification& v, const fs::path& folder) {
  const std::string name = checkpoint_name(folder);
  bool there = true;
  add(v.checkpoints, name, [&] {
    const std::optional<Checkpoint> checkpoint = open_if_there(folder);
    there = checkpoint.has_value();
    if (!there) return;
    const bool resumed =
        checkpoint->has_training() && name == step_folder_name(checkpoint->state().step);
    if (resumed) v.resume = "";  // unless it loads
    if (resumed) v.best = true;
    load_all(*checkpoint);
    if (resumed) v.resume = name;
  });
  if (!there) v.checkpoints.pop_back();  // a saver has removed it
}

// A saver writes a checkpoint before its links, and removes it once they point elsewhere.
void check_link(const fs::path& run, const char* link) {
  for (int left = 3;; --left) try {
      find_checkpoint(run, link);
      return;
    } catch (const Error&) {
      if (left == 1) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

void check_metrics(const fs::path& run) {
  const fs::path path = run / kMetrics;
  if (!path_exists(path)) throw Error(Exit::store, path.string() + ": it is missing");
  std::int64_t number = 0;
  for_each_line(run, kMetrics, [&](const std::string& line, bool ended) {
    ++number;  // heed resume drops a last line that is cut short
    if (ended && !Json::parse(line, nullptr, false).is_object())
      throw Error(Exit::store,
                  fmt::format("{}: line {} is not a JSON object", path.string(), number));
  });
}

Verification verify(const std::string& run) {
  Verification v;
  const fs::path checkpoints = fs::path(run) / kCheckpoints;
  std::error_code none;
  if (!fs::is_directory(checkpoints, none)) {
    add_checkpoint(v, find_checkpoint(run));
    v.resume = "";
    return v;
  }
  for (const std::string& name : names_in(checkpoints))
    if (name.starts_with("step-") || name.starts_with("average-"))
      add_checkpoint(v, checkpoints / name);
  if (!v.checkpoints.empty()) add(v.files, "last", [&] { check_link(run, "last"); });
  if (v.best || path_exists(checkpoints / "best"))
    add(v.files, "best", [&] { check_link(run, "best"); });
  add(v.files, kConfigFile, [&] { load_config((fs::path(run) / kConfigFile).string()); });
  if (path_exists(fs::path(run) / kOriginFile))
    add(v.files, kOriginFile, [&] { read_origin(run); });
  add(v.files, kMetrics, [&] { check_metrics(run); });
  return v;
}

Json json_of(const std::vector<Part>& parts) {
  Json list = Json::array();
  for (const Part& p : parts) {
    list.push_back({{"name", p.name}, {"whole", p.wrong.empty()}});
    if (!p.wrong.empty()) list.back()["wrong"] = p.wrong;
  }
  return list;
}

}  // namespace

Exit run_verify(CommandLine& line) {
  std::string run;
  line.add_run(run);
  line.app().footer(kVerifyNotes);
  if (!line.parse()) return Exit::ok;
  const Verification v = verify(run);
  std::string text;
  std::vector<std::string> damaged, unread;
  for (const auto* parts : {&v.checkpoints, &v.files})
    for (const Part& p : *parts) {
      const char* word = p.wrong.empty() ? "whole" : p.readable ? "DAMAGED: " : "NOT READ: ";
      text += fmt::format("{:15} {}{}\n", p.name, word, p.wrong);
      if (!p.wrong.empty()) (p.readable ? damaged : unread).push_back(p.name);
    }
  const bool whole = damaged.empty() && unread.empty();
  if (!v.resume.empty()) text += fmt::format("heed resume would continue from {}\n", v.resume);
  if (!line.json())
    print(text);
  else
    print_line({{"run", run},
                {"whole", whole},
                {"checkpoints", json_of(v.checkpoints)},
                {"files", json_of(v.files)},
                {"resume", v.resume.empty() ? Json() : Json(v.resume)}});
  if (whole) return Exit::ok;
  flush_output();
  if (damaged.empty())
    throw Error(Exit::store, "cannot be read: " + joined(unread) + ".",
                "the reason is beside each name");
  throw Error(Exit::store, "damaged: " + joined(damaged) + ".",
              "a copy of it; or --checkpoint with one that is whole");
}

}  // namespace heed
