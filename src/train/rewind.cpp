#include "train/rewind.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/fields.h"
#include "base/files.h"
#include "base/format.h"
#include "base/sha256.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "store/run_writer.h"
#include "train/resume.h"
#include "train/training_run.h"

namespace heed {
namespace {

struct Lines : Listener {
  explicit Lines(vector<string>& all) : lines(all) {}
  void logged(const TrainEvent& line) override { lines.push_back(text_of(line)); }
  void validated(const ValidEvent& e, const Moment&) override { lines.push_back(text_of(e)); }
  vector<string>& lines;
};

class Replay {
 public:
  Replay(const RewindRequest& request, Log& log)
      : request_(request),
        log_(log),
        run_(with_name(request.run)),
        lock_(run_),
        origin_(read_origin(run_)),
        events_(read_events(run_)) {
    for (const State& state : states_of(run_)) kept_.push_back(state.step);
    if (kept_.empty()) throw store_error("{} has no checkpoint yet.", quoted_path(run_));
    saved_ = chain_steps(run_);
    saved_.erase(saved_.upper_bound(kept_.back()), saved_.end());
    set<string> texts;
    for (const int64_t step : kept_) {
      const fs::path folder = step_folder(run_, step);
      saved_[step] = read_state(folder).files;
      texts.insert(read_file(folder / kConfigFile, kMaxConfigFile));
    }
    for (const string& text : texts) configs_.push_back(parse_config(text, kConfigFile));
  }
  ~Replay() {
    fs::remove_all(unproved(), ignored());
    fs::remove(run_ / kRewound, ignored());  // if it is empty
  }

  Rewound steps() {
    set<int64_t> wanted;
    for (const int64_t step : asked()) {
      // With the weights of another run, the first step is not trained.
      const bool first = step == origin_.branched_at && !origin_.weights_of().empty();
      const bool kept = (request_.log || first) && ranges::count(kept_, step) > 0;
      if (!kept) wanted.insert(step);
      rewound_.steps[step] = kept ? step_folder(run_, step) : place_of(step);
    }
    if (wanted.empty()) return rewound_;
    train(wanted);
    for (const int64_t step : wanted) {
      remove_tree(place_of(step));
      rename_path(unproved() / step_folder_name(step), place_of(step));
    }
    sync_folder(run_ / kRewound);
    return rewound_;
  }

 private:
  fs::path place_of(int64_t step) const { return run_ / kRewound / step_folder_name(step); }
  fs::path unproved() const { return run_ / kRewound / ".tmp-unproved"; }

  set<int64_t> asked() const {
    set<int64_t> steps(request_.steps.begin(), request_.steps.end());
    const int64_t last = kept_.back();
    if (request_.log) {
      steps = {origin_.branched_at, last};
      for (int64_t step = 1; step < last; step *= 2)
        if (step > origin_.branched_at) steps.insert(step);
    }
    if (*steps.rbegin() > last)
      throw usage_error("step {} has not been done: the last checkpoint of {} is of step {}.",
                        *steps.rbegin(), quoted_path(run_), last)
          .hint("heed resume, which trains on");
    return steps;
  }

  // The kept step before one, or -1.
  int64_t kept_before(int64_t step) const {
    const auto next = ranges::lower_bound(kept_, step);
    return next == kept_.begin() ? -1 : next[-1];
  }
  const string& config_hash(int64_t step) const {
    return saved_.lower_bound(step)->second.at(kConfigFile);
  }

  // Where training halts: at the steps wanted, where the config changed before them, and where they
  // are proved.
  set<int64_t> halts(const set<int64_t>& wanted) const {
    set<int64_t> halts = wanted;
    for (const int64_t step : wanted) {
      halts.insert(saved_.lower_bound(step)->first);
      for (auto at = saved_.upper_bound(kept_before(step)); at->first < step; ++at)
        if (config_hash(at->first) != config_hash(at->first + 1)) halts.insert(at->first);
    }
    return halts;
  }

  // Did time end the run there? Then it logged and validated.
  bool time_was_up(int64_t step) const {
    const auto is_at = [step](const auto& line) { return line.step == step; };
    return request_.crew.alone() && ranges::any_of(events_.train, is_at) &&
           (events_.valid.empty() || ranges::any_of(events_.valid, is_at));
  }

  void train(const set<int64_t>& wanted) {
    uint64_t bytes = 0;
    for (const char* file : {kModelFile, kTrainingFile})
      bytes += fs::file_size(step_folder(run_, kept_.back()) / file);
    log_.info(fmt::format("{} of {} will be in {}", counted(to_string(wanted.size()), "checkpoint"),
                          format_bytes(double(bytes) * double(wanted.size())),
                          (run_ / kRewound).string()));
    make_folder(run_ / kRewound);
    remove_tree(unproved());
    make_folder(unproved());
    check_free_space(unproved(), double(bytes) * double(wanted.size()));
    stored_ = read_stored_run(run_, newest_checkpoint(run_), log_);
    load_data(stored_, stored_.asked, log_);
    watch_signals();
    const set<int64_t> all = halts(wanted);
    for (const int64_t halt : all) config_of(halt);  // Error if it is gone
    for (size_t done = 0; const int64_t halt : all) {
      go_to(halt);
      log_.share_done(double(++done) / double(all.size()));
    }
    log_.end_progress();
  }

  void go_to(int64_t halt) {
    const int64_t kept = kept_before(halt);
    const bool goes_on = trainer_ && trainer_->state().step >= kept;
    const int64_t from = goes_on ? trainer_->state().step : kept;
    if (!goes_on || config_hash(halt) != trained_with_)
      begin_at(from, goes_on ? unproved() / step_folder_name(from) : step_folder(run_, from), halt);
    require_same_kernels(from, halt);
    if (trainer_->state().step < halt)
      trainer_->run(halt, time_was_up(halt) ? Stop::time : Stop::asked);
    if (stop_signal() != 0)
      throw Error(exit_of_signal(stop_signal()), "stopped; nothing is written.");
    if (trainer_->state().step < halt)
      throw usage_error("with the config of step {} the training ends at step {}.", halt,
                        trainer_->state().step);
    write_checkpoint(unproved(), step_folder_name(halt), trainer_->contents());
    if (saved_.contains(halt)) prove(halt);
  }

  // Puts the trainer at a step, with the config of `halt`.
  void begin_at(int64_t from, const fs::path& checkpoint, int64_t halt) {
    if (const string& of = origin_.weights_of(); !of.empty() && from < origin_.branched_at)
      throw usage_error(
          "{} began at step {} with the weights of {}, and no checkpoint from there to "
          "step {} is left.",
          quoted_path(run_), origin_.branched_at, quoted_path(of), halt)
          .hint(halt > origin_.branched_at || of == origin_.init_from
                    ? fmt::format("a step after {}; train.keep_every keeps checkpoints", kept_[0])
                    : fmt::format("heed rewind {} {}", shell_word(of), halt));
    trainer_.reset();
    if (prepared_) {
      stored_.data = std::move(prepared_->data);
      stored_.tokenizers = std::move(prepared_->tokenizers);
    }
    prepared_.reset();
    prepared_.emplace(prepare_run(config_of(halt), std::move(stored_.data),
                                  std::move(stored_.tokenizers), request_.threads, request_.crew));
    trained_with_ = config_hash(halt);
    trainer_.emplace(*prepared_, nullptr);
    Listeners listeners;
    listeners.push_back(make_unique<Lines>(rewound_.lines));
    trainer_->listen(std::move(listeners));
    if (from >= 0) trainer_->restore(Checkpoint::open(checkpoint));
  }

  // As it was when the next save wrote it.
  RunConfig config_of(int64_t step) const {
    const int64_t save = saved_.lower_bound(step)->first;
    for (const bool other_end : {false, true})
      for (RunConfig config : configs_) {
        if (other_end) config.train.max_steps = save;
        if (sha256(dump_config(config, DumpFor::checkpoint)) == config_hash(step)) return config;
      }
    throw usage_error(
        "step {} cannot be trained again: no checkpoint that is left has the config of step {}, "
        "which heed resume changed later.",
        step, save)
        .hint("train.keep_every, which keeps checkpoints");
  }

  // The last digits depend on what multiplies, unless the run is portable.
  void require_same_kernels(int64_t from, int64_t to) const {
    const string here = kernels(*prepared_);
    string there = here;
    for (const RunEvent& event : events_.events)
      if (event.core_type && event.step < to && (event.step <= from || there == here))
        there = *event.core_type;
    if (there != here && prepared_->config.train.arithmetic != Arithmetic::portable)
      throw usage_error(
          "the run was on a processor of type {}, and this is one of type {}: its "
          "last digits would differ.",
          there, here)
          .hint("such a processor; runs with train.arithmetic portable can be rewound on any");
  }

  void prove(int64_t step) const {
    const StateFile came = read_state(unproved() / step_folder_name(step));
    for (const char* file : {kModelFile, kTrainingFile})
      if (came.files.at(file) != saved_.at(step).at(file))
        throw Error(Exit::check_failed,
                    fmt::format("step {} came out otherwise than it was saved ({}): the run was "
                                "trained by another heed, or changed; nothing is written.",
                                step, file));
  }

  const RewindRequest& request_;
  Log& log_;
  fs::path run_;
  RunLock lock_;
  const Origin origin_;
  const LoggedEvents events_;
  vector<int64_t> kept_;  // steps
  vector<RunConfig> configs_;
  SavedSteps saved_;  // of the chain, which may lack lines, and those that are kept
  StoredRun stored_;
  optional<PreparedRun> prepared_;
  optional<Trainer> trainer_;
  string trained_with_;  // the hash of its config
  Rewound rewound_;
};

}  // namespace

Rewound rewind(const RewindRequest& request, Log& log) {
  return Replay(request, log).steps();
}

}  // namespace heed
