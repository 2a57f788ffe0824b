#include "store/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "base/files.h"
#include "base/format.h"
#include "base/sha256.h"
#include "base/std_names.h"
#include "step/optimizers.h"
#include "store/run_folder.h"

namespace heed {
namespace {

constexpr string_view kTemporary = ".tmp-";
constexpr string_view kSetAside = ".tmp-old-";
constexpr uint64_t kMaxTextFile = 256u << 20;  // configs and tokenizers

[[noreturn]] void fail(const fs::path& path, const string& what) {
  throw store_error("{}: {}", path.string(), what);
}

}  // namespace

void write_checkpoint(const fs::path& parent, const string& name,
                      const CheckpointContents& contents) {
  const fs::path place = parent / name, aside = parent / (string(kSetAside) + name);
  if (path_exists(place)) remove_tree(aside);
  NewFolder folder(place, aside);
  StateFile state{contents.state, !contents.exported, {}};
  const auto write_text = [&](const string& file_name, const string& bytes) {
    OutputFile file(folder.path() / file_name);
    file.write(bytes);
    file.finish();
    state.files[file_name] = sha256(bytes);
    contents.meanwhile();
  };
  const auto write_tensors = [&](const char* file_name, const vector<TensorSlot>& tensors) {
    state.files[file_name] =
        write_safetensors(folder.path() / file_name, tensors, contents.meanwhile);
  };
  write_tensors(kModelFile, contents.model);
  if (!contents.exported) write_tensors(kTrainingFile, contents.training);
  write_text(kConfigFile, contents.config);
  for (const NamedBytes& file : contents.tokenizers) write_text(file.name, file.bytes);
  write_text(kStateFile, format_state(state));
  folder.put_in_place();
  remove_tree(aside);
}

void clean_up(const fs::path& parent) {
  for (const string& name : names_in(parent)) {
    if (!name.starts_with(kTemporary)) continue;
    const bool aside = name.starts_with(kSetAside);
    const fs::path place = parent / name.substr(aside ? kSetAside.size() : kTemporary.size());
    if (aside && !path_exists(place))
      rename_path(parent / name, place);
    else
      remove_tree(parent / name);
  }
}

Checkpoint Checkpoint::open(const fs::path& folder, bool with_weights) {
  vector<string> names = names_in(folder);
  const auto [state, has_training, sums, format] = read_state(folder);
  Checkpoint checkpoint;
  checkpoint.folder = folder;
  checkpoint.state = state;
  checkpoint.has_training = has_training;
  if (!sums.contains(kModelFile) || !sums.contains(kConfigFile) ||
      sums.contains(kTrainingFile) != has_training)
    fail(folder / kStateFile, "it does not list the files of a checkpoint");
  for (const auto& [name, sum] : sums)
    if (erase(names, name) == 0) fail(folder / name, "it is missing");
  for (const string& name : names)
    if (!name.starts_with('.') && name != kStateFile)
      fail(folder / name, "it does not belong to this checkpoint");
  // Opens all before reading any: from then on a saver may remove the folder.
  map<string, unique_ptr<InputFile>> files;
  for (const auto& [name, sum] : sums) files[name] = make_unique<InputFile>(folder / name);
  for (auto& [name, file] : files) {
    const bool of_tensors = name == kModelFile || name == kTrainingFile;
    if (of_tensors && !with_weights) continue;
    if (of_tensors) {
      list_safetensors(*file);  // a sparse file takes long to hash
      file->rewind();
    }
    string bytes = of_tensors ? "" : read_file(*file, kMaxTextFile);
    const string digits = of_tensors ? sha256_of(*file) : sha256(bytes);
    if (digits != sums.at(name))
      fail(folder / name,
           fmt::format("its bytes do not match the checksum in state.json: altered or cut short "
                       "(SHA-256 {:.12}..., expected {:.12}...)",
                       digits, sums.at(name)));
    if (of_tensors)
      checkpoint.files_[name] = std::move(file);
    else if (name == kConfigFile)
      checkpoint.config = std::move(bytes);
    else
      checkpoint.tokenizers.push_back({name, std::move(bytes)});
  }
  return checkpoint;
}

void Checkpoint::load(const char* name, span<const TensorSlot> tensors) const {
  InputFile& file = *files_.at(name);
  file.rewind();
  read_safetensors(file, tensors);
  for (const TensorSlot& t : tensors) {
    const span<const float> numbers(t.data, numbers_in(t.shape));
    if (!ranges::all_of(numbers, [](float x) { return isfinite(x); }))
      throw store_error("{}: NaN or infinity in {}, so it cannot be used", file.name().string(),
                        t.name)
          .hint(
              "another checkpoint: --checkpoint step-N; to resume from the previous one, move "
              "this one's folder away");
  }
}

bool saved_since(const fs::path& run, fs::file_time_type time) {
  constexpr auto kTick = chrono::milliseconds(20);  // of the clock of file systems
  return fs::last_write_time(run / kCheckpoints, ignored()) + kTick > time;
}

Checkpoint open_checkpoint(const fs::path& run, const string& which) {
  fs::path folder;
  try {
    return read_beside_saver(run, [&] {
      folder = find_checkpoint(run, which);
      return Checkpoint::open(folder);
    });
  } catch (const Unreadable&) {
    throw;
  } catch (const Error& e) {
    if (folder.empty() || !is_folder(run / kCheckpoints)) throw;
    const optional<Checkpoint> whole = newest_checkpoint(run).checkpoint;
    throw e.as(e.exit(),
               whole ? fmt::format("--checkpoint step-{}, which is whole", whole->state.step)
                     : "a copy; no other checkpoint of the run is whole");
  }
}

NewestCheckpoint newest_checkpoint(const fs::path& run, int64_t up_to, bool with_weights) {
  return read_beside_saver(run, [&] {
    NewestCheckpoint found;
    const vector<int64_t> steps = list_steps(run);
    for (auto step = steps.rbegin(); step != steps.rend() && !found.checkpoint; ++step) {
      if (*step > up_to) continue;
      const fs::path folder = step_folder(run, *step);
      try {
        found.checkpoint = Checkpoint::open(folder, with_weights);
      } catch (const Unreadable&) {
        throw;
      } catch (const Error& e) {
        if (!path_exists(folder)) throw;  // a saver has removed it
        found.damaged.push_back({folder, e.what()});
      }
    }
    return found;
  });
}

vector<TensorSlot> training_slots(Stepper& stepper) {
  const Weights w = stepper.weights();
  return training_slots(stepper.table(), stepper.optimizer(), w.differ() ? &w.trained : nullptr);
}

vector<TensorSlot> training_slots(const ParamTable& table, Optimizer<float>& optimizer,
                                  ParamVec<float>* raw) {
  vector<TensorSlot> all;
  for (const auto& [name, tensor, values] : optimizer.moments())
    all.push_back(tensor_slot(name, *tensor, values));
  if (raw != nullptr)
    for (TensorSlot& slot : tensor_slots(table, *raw, "raw.")) all.push_back(std::move(slot));
  return all;
}

}  // namespace heed
