#include "store/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <set>

#include "base/files.h"
#include "base/folders.h"
#include "base/sha256.h"
#include "step/optimizers.h"
#include "store/layout.h"
#include "store/run_folder.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTemporary = ".tmp-";
constexpr std::string_view kSetAside = ".tmp-old-";
constexpr std::uint64_t kMaxTextFile = 256u << 20;  // configs and tokenizers

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw Error(Exit::store, path.string() + ": " + what);
}

// Error if a tensor has a number that no training gives it.
void refuse_impossible(const fs::path& path, std::span<const TensorSlot> tensors) {
  for (const TensorSlot& t : tensors) {
    const std::span<const float> numbers(t.data, numbers_in(t.shape));
    const bool finite = std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); });
    const bool negative = t.name.starts_with(kSecondMoments) &&
                          std::ranges::any_of(numbers, [](float x) { return x < 0; });
    const char* what = finite ? "a negative square" : "NaN or infinity";
    if (!finite || negative)
      throw Error(Exit::store,
                  fmt::format("{}: {} in {}, so it cannot be used", path.string(), what, t.name),
                  "another checkpoint: --checkpoint step-N; to resume from the previous one, move "
                  "this one's folder away");
  }
}

void write_files(const fs::path& folder, const CheckpointContents& contents) {
  StateFile state_file{contents.state, !contents.exported, {}};
  const auto write_text = [&](const std::string& name, const std::string& bytes) {
    OutputFile file(folder / name);
    file.write(bytes);
    file.finish();
    assert(!state_file.files.contains(name));
    state_file.files[name] = sha256(bytes);
    contents.meanwhile();
  };
  state_file.files[kModelFile] =
      write_safetensors(folder / kModelFile, contents.model, contents.meanwhile);
  if (!contents.exported)
    state_file.files[kTrainingFile] =
        write_safetensors(folder / kTrainingFile, contents.training, contents.meanwhile);
  write_text(kConfigFile, contents.config);
  for (const NamedBytes& file : contents.tokenizers) write_text(file.name, file.bytes);
  write_text(kStateFile, format_state(state_file));
}

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with('.')) names.insert(name);
  }
  return names;
}

// `names` as found, state.json without its own checksum.
void check_names(const fs::path& folder, std::set<std::string> names, const StateFile& state) {
  for (const auto& [name, digits] : state.files) {
    if (names.erase(name) == 0) fail(folder / name, "it is missing");
  }
  names.erase(kStateFile);
  if (!names.empty()) fail(folder / *names.begin(), "it does not belong to this checkpoint");
  for (const char* name : {kModelFile, kConfigFile}) {
    if (!state.files.contains(name))
      fail(folder / kStateFile, std::string(name) + " is not listed");
  }
  if (state.files.contains(kTrainingFile) != state.training)
    fail(folder / kStateFile, state.training
                                  ? "training.safetensors is not listed"
                                  : "training.safetensors is listed for an exported model");
}

void check_sum(const fs::path& path, const std::string& found, const std::string& expected) {
  if (found == expected) return;
  fail(path, fmt::format("its bytes do not match the checksum in state.json: altered or cut short "
                         "(SHA-256 {:.12}..., expected {:.12}...)",
                         found, expected));
}

constexpr int kTries = 3;      // while another process saves and removes checkpoints
constexpr int kMostGone = 50;  // checkpoints that are removed while they are read

// One pass over a run, newest step first; nullopt if a step was removed meanwhile.
std::optional<NewestCheckpoint> look_for_newest(const fs::path& run, std::int64_t up_to) {
  NewestCheckpoint result;
  std::vector<std::int64_t> steps = list_steps(run);
  std::erase_if(steps, [&](std::int64_t step) { return step > up_to; });
  for (auto step = steps.rbegin(); step != steps.rend() && !result.checkpoint; ++step) {
    const fs::path folder = run / kCheckpoints / step_folder_name(*step);
    try {
      result.checkpoint = open_if_there(folder);
      if (!result.checkpoint) return std::nullopt;
    } catch (const Unreadable& e) {
      throw Unreadable(e.as(e.exit(), again_or_before(run, *step)));
    } catch (const Error& e) {
      result.damaged.push_back({folder, e.what()});
    }
  }
  return result;
}

}  // namespace

void write_checkpoint(const fs::path& parent, const std::string& name,
                      const CheckpointContents& contents) {
  const fs::path place = parent / name;
  const fs::path aside = parent / (std::string(kSetAside) + name);
  if (path_exists(place)) remove_tree(aside);
  make_whole_folder(place, aside, [&](const fs::path& made) { write_files(made, contents); });
  remove_tree(aside);
}

void clean_up(const fs::path& parent) {
  for (const std::string& name : names_in(parent)) {
    if (!name.starts_with(kTemporary)) continue;
    const bool aside = name.starts_with(kSetAside);
    const fs::path place = parent / name.substr(aside ? kSetAside.size() : kTemporary.size());
    if (aside && !path_exists(place)) {
      rename_path(parent / name, place);
    } else {
      remove_tree(parent / name);
    }
  }
}

void CheckpointTexts::add(const std::string& name, std::string bytes) {
  if (name == kConfigFile)
    config = std::move(bytes);
  else
    tokenizers.push_back({name, std::move(bytes)});
}

CheckpointTexts read_texts(const fs::path& checkpoint) {
  CheckpointTexts texts;
  for (const auto& [name, digits] : read_state(checkpoint).files) {
    if (name == kModelFile || name == kTrainingFile) continue;
    texts.add(name, read_file(checkpoint / name, kMaxTextFile));
  }
  return texts;
}

Checkpoint Checkpoint::open(const fs::path& folder) {
  std::set<std::string> names = files_in(folder);
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  checkpoint.state_file_ = read_state(folder);
  check_names(folder, std::move(names), checkpoint.state_file_);
  // Opens all before reading any: from then on a saver may remove the folder.
  std::map<std::string, std::unique_ptr<InputFile>> files;
  for (const auto& [name, digits] : checkpoint.state_file_.files)
    files[name] = std::make_unique<InputFile>(folder / name);
  for (auto& [name, file] : files) {
    const std::string& digits = checkpoint.state_file_.files.at(name);
    if (name == kModelFile || name == kTrainingFile) {
      list_safetensors(*file);  // checks its size first: a sparse file takes long to hash
      file->rewind();
      check_sum(folder / name, sha256_of(*file), digits);
      (name == kModelFile ? checkpoint.model_ : checkpoint.training_) = std::move(file);
      continue;
    }
    std::string bytes = read_file(*file, kMaxTextFile);
    check_sum(folder / name, sha256(bytes), digits);
    checkpoint.texts_.add(name, std::move(bytes));
  }
  return checkpoint;
}

void Checkpoint::load_model(std::span<const TensorSlot> slots) const {
  model_->rewind();
  read_safetensors(*model_, slots);
  refuse_impossible(folder_ / kModelFile, slots);
}

void Checkpoint::load_training(std::span<const TensorSlot> slots) const {
  if (!has_training())
    throw Error(Exit::store,
                folder_.string() + ": an exported model, without the optimizer's state",
                "start a new run from it with --init-from");
  training_->rewind();
  read_safetensors(*training_, slots);
  refuse_impossible(folder_ / kTrainingFile, slots);
}

std::optional<Checkpoint> open_if_there(const fs::path& folder) {
  std::error_code none;
  for (int left = kTries;; --left) {
    const auto before = fs::last_write_time(folder, none);
    try {
      return Checkpoint::open(folder);
    } catch (const Error&) {
      if (!path_exists(folder)) return std::nullopt;
      const bool replaced = fs::last_write_time(folder, none) != before;
      if (!replaced || left == 1) throw;
    }
  }
}

Checkpoint open_checkpoint(const fs::path& run, const std::string& which) {
  int gone = 0;
  for (int left = kTries;; --left) {
    fs::path folder;
    try {
      folder = find_checkpoint(run, which);
      return Checkpoint::open(folder);
    } catch (const Error& e) {
      const bool moved = !folder.empty() && !path_exists(folder);
      if (!moved && dynamic_cast<const Unreadable*>(&e)) throw;
      if (moved && ++gone < kMostGone) left = kTries;
      if (left > 1) continue;
      std::error_code error;
      if (folder.empty() || !fs::is_directory(run / kCheckpoints, error)) throw;
      const std::optional<Checkpoint> whole = newest_checkpoint(run).checkpoint;
      if (!whole) throw e.as(e.exit(), "a copy; no other checkpoint of the run is whole");
      throw e.as(e.exit(),
                 fmt::format("--checkpoint step-{}, which is whole", whole->state().step));
    }
  }
}

NewestCheckpoint newest_checkpoint(const fs::path& run, std::int64_t up_to) {
  std::optional<NewestCheckpoint> found;
  // A folder listed while its checkpoints are replaced may seem empty.
  for (int left = kTries, gone = 0; left > 0 && (!found || !found->checkpoint); --left) {
    found = look_for_newest(run, up_to);
    if (!found && ++gone < kMostGone) left = kTries;
  }
  if (!found)
    throw Error(Exit::store,
                fmt::format("the checkpoints of {} kept being replaced while they were read.",
                            quoted_path(run)),
                "the same command again");
  return std::move(*found);
}

std::vector<TensorSlot> model_slots(Stepper& stepper) {
  return tensor_slots(stepper.table(), stepper.weights().used);
}

std::vector<TensorSlot> training_slots(Stepper& stepper) {
  const Weights w = stepper.weights();
  return training_slots(stepper.table(), stepper.optimizer(), w.differ() ? &w.trained : nullptr);
}

std::vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                       ParamVec<float>* raw) {
  std::vector<TensorSlot> all;
  for (const auto& [name, tensor, values] : optimizer.moments())
    all.push_back(tensor_slot(name, *tensor, values));
  if (raw != nullptr)
    for (TensorSlot& slot : tensor_slots(table, *raw, "raw.")) all.push_back(std::move(slot));
  return all;
}

}  // namespace heed
