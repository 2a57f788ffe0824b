#include "train/training_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/format.h"
#include "base/signals.h"
#include "math/blas.h"
#include "nn/flops.h"
#include "train/ids_cache.h"
#include "train/memory.h"
#include "train/trained_model.h"
#include "train/trainer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxSmallFile = 16u << 20;

std::string origin_json(const std::string& folder, const Dataset& data,
                        const std::string& command) {
  return Json{{"folder", folder}, {"data_sha256", data.hash}, {"command", command}}.dump(
             2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Json read_origin(const fs::path& run) {
  const fs::path path = run / "origin.json";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  const Json j = Json::parse(read_file(path, kMaxSmallFile), nullptr, false);
  if (!j.is_object())
    throw Error(Exit::store, quoted_path(path) + " is damaged: not a JSON object.");
  return j;
}

std::string text_of(const Json& j, const char* key) {
  return j.contains(key) && j[key].is_string() ? j[key].get<std::string>() : "";
}

int longest_example(const Examples& examples) {
  int longest = 1;
  Example e;
  const std::int64_t n = std::min<std::int64_t>(examples.count(0), 20000);
  for (std::int64_t i = 0; i < n; ++i) {
    examples.make(0, i, e);
    longest = std::max(longest, e.tokens());
  }
  return longest;
}

// Seconds of one step, from its arithmetic and a quick look at how fast products are here.
double predicted_step_seconds(const Transformer& model, const Examples& examples,
                              const RunConfig& config, int threads) {
  StepBatch batch;
  Batcher(examples, config).fill(1, {}, batch);
  double flops = 0;
  for (std::size_t s = 0; s < batch.shards.size(); ++s)
    for (int i = 0; i < batch.used[s]; ++i) flops += training_flops(model, batch.shards[s][i]);
  constexpr int n = 384;
  std::vector<float> a(n * n, 0.5f), b(n * n, 0.5f), c(n * n);
  double best = 1e9;
  for (int i = 0; i < 4; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    gemm<float>(1.0f, plain(Mat<const float>{a.data(), n, n}),
                transposed(Mat<const float>{b.data(), n, n}), 0.0f, Mat<float>{c.data(), n, n});
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  const double peak =
      2.0 * n * n * n / best * std::min({threads, config.train.shards, available_cores()});
  constexpr double kShare = 0.65;  // of that speed a step usually reaches
  return flops / (peak * kShare);
}

void say_start(Log& log, const RunConfig& c, const Transformer& model, const Dataset& data,
               const Tokenizers& tokenizers, const MemoryPlan& memory, double step_seconds,
               int threads, std::int64_t done) {
  for (const std::string& note : data.notes) log.info(note);
  const auto n = [](std::size_t x) { return format_count(static_cast<std::int64_t>(x)); };
  log.info("model: " + n(model.table.size()) + " parameters, " +
           std::to_string(c.model.encoder_layers) + " encoder and " +
           std::to_string(c.model.decoder_layers) + " decoder layers, d_model " +
           std::to_string(c.model.d_model) + ", vocabulary " +
           n(static_cast<std::size_t>(tokenizers.target->size())));
  std::string text =
      "data: " + n(data.train.target.size() + data.train.source.size()) + " training tokens";
  if (data.train.pairs()) text += " in " + n(data.train.sentences()) + " pairs";
  if (c.data.has_validation())
    text += ", " + n(data.valid.target.size() + data.valid.source.size()) + " held out";
  log.info(text);
  text = "plan: ";
  if (c.train.max_steps > 0) {
    const double left = static_cast<double>(c.train.max_steps - done);
    text += n(c.train.max_steps) + " steps of " + n(c.train.batch_tokens) + " tokens, about " +
            format_duration(left * step_seconds) + " on " + std::to_string(threads) +
            (threads == 1 ? " thread" : " threads");
  } else {
    text += "steps of " + n(c.train.batch_tokens) + " tokens on " + std::to_string(threads) +
            (threads == 1 ? " thread" : " threads");
  }
  log.info(text + ", about " + format_bytes(memory.total()) + " of memory");
}

Exit say_end(Log& log, Stop stop, const Trainer& trainer, const RunWriter& run, double seconds) {
  const State& s = trainer.state();
  const std::string run_name = run.path().string();
  std::string text;
  switch (stop) {
    case Stop::finished:
      text = "finished at step " + std::to_string(s.step);
      break;
    case Stop::early:
      text = "stopped early at step " + std::to_string(s.step) + ": " + std::to_string(s.stalled) +
             " validations without a new best";
      break;
    case Stop::time:
      text = "time is up at step " + std::to_string(s.step);
      break;
    case Stop::asked:
    case Stop::signal:
      text = "stopped and saved at step " + std::to_string(s.step);
      break;
  }
  text += " after " + format_duration(seconds);
  if (std::isfinite(s.best_loss))
    text += "; best validation loss " + format_fixed(s.best_loss, 4) + " @ " +
            std::to_string(s.best_step);
  log.info(text);
  log.info("run: " + run_name);
  if (stop == Stop::asked || stop == Stop::signal || stop == Stop::time)
    log.info("go on: heed resume " + shell_word(run_name));
  return stop == Stop::signal ? exit_of_signal(stop_signal()) : Exit::ok;
}

void say_profile(Log& log, const Profile& profile) {
  double total = 0;
  for (std::uint64_t ns : profile.ns) total += static_cast<double>(ns);
  for (std::size_t i = 0; i < profile.ns.size(); ++i)
    if (profile.ns[i] > 0)
      log.info("profile: " + std::string(kWorkNames[i]) + " " +
               format_fixed(static_cast<double>(profile.ns[i]) * 1e-9, 2) + " s, " +
               format_fixed(100.0 * static_cast<double>(profile.ns[i]) / total, 1) + " %");
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What both ways of training share once the run folder is there.
struct Prepared {
  const RunConfig& config;
  const Transformer& model;
  const Dataset& data;
  const Tokenizers& tokenizers;
  int threads;
};

// Error (memory) if the training cannot fit.
MemoryPlan plan_memory(const Prepared& p) {
  const Examples examples(p.data.train, p.config, p.tokenizers.target->size(),
                          p.tokenizers.target->mask_id());
  const double ids = static_cast<double>((p.data.train.source.size() + p.data.valid.source.size()) *
                                             p.data.train.source.bytes_per_id() +
                                         (p.data.train.target.size() + p.data.valid.target.size()) *
                                             p.data.train.target.bytes_per_id());
  const MemoryPlan plan =
      predict_memory(p.model, p.config, p.threads, longest_example(examples), ids);
  check_memory(plan);
  return plan;
}

void announce(const Prepared& p, const MemoryPlan& memory, Log& log, std::int64_t done) {
  const Examples examples(p.data.train, p.config, p.tokenizers.target->size(),
                          p.tokenizers.target->mask_id());
  say_start(log, p.config, p.model, p.data, p.tokenizers, memory,
            predicted_step_seconds(p.model, examples, p.config, p.threads), p.threads, done);
}

// Subword ids are kept beside the run; characters, bytes and words are as quick to make as to read.
bool keeps_ids(const RunConfig& c) {
  return (c.tokenizer.type == TokenizerConfig::bpe ||
          c.tokenizer.type == TokenizerConfig::unigram) &&
         !c.data.has_valid_files();
}

void try_to_keep_ids(const fs::path& path, const RunConfig& config, const Dataset& data,
                     const Tokenizers& tokenizers, Log& log) {
  try {
    save_ids(path, ids_cache_key(data.hash, config, tokenizers), data);
  } catch (const Error& e) {
    log.warn(std::string("resuming will tokenise again: ") + e.what());
  }
}

Dataset load_dataset_of_run(const RunConfig& config, const fs::path& run, const std::string& folder,
                            Tokenizers& tokenizers, Log& log) {
  if (!keeps_ids(config) || !tokenizers.target) return load_dataset(config, folder, tokenizers);
  const std::string hash = hash_dataset(config, folder);
  const fs::path path = run / "ids.bin";
  const std::string key = ids_cache_key(hash, config, tokenizers);
  if (std::optional<Dataset> kept = load_ids(path, key, tokenizers)) {
    kept->hash = hash;
    return std::move(*kept);
  }
  log.info("ids.bin is missing or of other data: the text is tokenised again");
  return load_dataset(config, folder, tokenizers);
}

void refuse_misfit(const RunConfig& config, const RunConfig& other, const std::string& run) {
  const auto differs = [&](const std::string& key) {
    throw Error(Exit::usage, "--init-from " + run + ": its " + key + " is not this config's.");
  };
  if (other.tokenizer.type != config.tokenizer.type) differs("tokenizer.type");
  const bool mask = config.objective.type == ObjectiveType::masked_lm;
  if ((other.objective.type == ObjectiveType::masked_lm) != mask) differs("objective.type");
}

}  // namespace

std::string data_folder(const std::string& run) {
  const fs::path path(run);
  std::error_code ignored;
  for (const fs::path& candidate : {path, path / ".." / ".."})
    if (fs::exists(candidate / "origin.json", ignored))
      return text_of(read_origin(candidate), "folder");
  return "";
}

Exit train_run(const TrainRequest& request, Log& log) {
  const double begin = seconds_now();
  const RunConfig config = load_config(request.config, request.sets);
  const fs::path config_path = fs::absolute(request.config).lexically_normal();
  const std::string folder = config_path.parent_path().string();
  const std::string run_path =
      request.run.empty() ? (fs::path("runs") / config_path.stem()).string() : request.run;
  std::error_code ignored;
  if (!request.force && fs::exists(fs::symlink_status(run_path, ignored)))
    throw Error(Exit::usage, "The run " + quoted_path(run_path) + " exists already.",
                "heed resume " + shell_word(run_path) +
                    ", another --run, or --force (renames the old one)");

  std::optional<Checkpoint> initial;
  Tokenizers tokenizers;
  if (!request.init_from.empty()) {
    initial = Checkpoint::open(find_checkpoint(request.init_from));
    refuse_misfit(config, checkpoint_config(*initial), request.init_from);
    tokenizers = Tokenizers::load(*initial);
  }
  const Dataset data = load_dataset(config, folder, tokenizers);
  const Transformer model(config.model, tokenizers.source().size(), tokenizers.target->size());
  const int threads = thread_count(request.threads, config);
  const Prepared prepared{config, model, data, tokenizers, threads};
  const MemoryPlan memory = plan_memory(prepared);
  watch_signals();

  if (initial) {  // a misfit is to be known before there is a folder
    ParamVec<float> probe(model.table.size());
    initial->load_model(tensor_slots(model.table, probe));
  }
  RunWriter run = RunWriter::create(run_path, request.force);
  // The config last: with it the folder can be resumed.
  run.write_origin(origin_json(folder, data, request.command));
  run.write_config(dump_config(config));

  log.open_file((run.path() / "train.log").string());
  if (keeps_ids(config)) try_to_keep_ids(run.path() / "ids.bin", config, data, tokenizers, log);
  announce(prepared, memory, log, 0);
  Pool pool(threads);
  Trainer trainer(config, model, data, tokenizers, run, pool, log);
  if (initial) trainer.start_from(*initial);
  if (request.profile) trainer.stepper().gradients().enable_profile();
  run.append_metrics(event_metrics(0, "start", request.command));
  const Stop stop = trainer.run(request.stop_at);
  if (request.profile) say_profile(log, trainer.stepper().gradients().profile());
  return say_end(log, stop, trainer, run, seconds_now() - begin);
}

Exit resume_run(const ResumeRequest& request, Log& log) {
  const double begin = seconds_now();
  RunWriter run = RunWriter::open(request.run);
  log.open_file((run.path() / "train.log").string());
  NewestCheckpoint newest = newest_checkpoint(run.path());
  for (const DamagedCheckpoint& d : newest.damaged)
    log.warn("passed over a checkpoint: " + d.reason);
  if (!newest.checkpoint && !newest.damaged.empty())
    throw Error(
        Exit::store,
        "No checkpoint of " + quoted_path(run.path()) +
            " is whole; starting at step 0 would write over what is left of them.",
        "the warnings above say what is wrong with each; restore a copy, or train a new run");
  // A killed save may not have come to the links, even the one of the last step.
  if (newest.checkpoint) run.repair_links(newest.checkpoint->state());
  const std::int64_t done = newest.checkpoint ? newest.checkpoint->state().step : 0;

  // What is asked for stands in the run's config.json, what was done in the checkpoint's.
  fs::path asked_path = run.path() / "config.json";
  std::string asked_text;
  try {
    asked_text = read_file(asked_path, kMaxSmallFile);
    parse_config(asked_text, asked_path.string());
  } catch (const Error& e) {
    if (!newest.checkpoint) throw Error(Exit::store, e.what());
    log.warn("going on with the checkpoint's config: " + std::string(e.what()));
    asked_path = newest.checkpoint->folder() / "config.json";
    asked_text = newest.checkpoint->config();
  }
  const RunConfig before = newest.checkpoint ? checkpoint_config(*newest.checkpoint)
                                             : parse_config(asked_text, asked_path.string());
  std::vector<std::string> sets = request.sets;
  if (request.max_steps > 0) sets.push_back("train.max_steps=" + std::to_string(request.max_steps));
  if (request.more > 0) sets.push_back("train.max_steps=" + std::to_string(done + request.more));
  const RunConfig config = parse_config(asked_text, asked_path.string(), sets);
  for (const KeyChange& change : changed_keys(before, config)) {
    if (change.key == "train.threads") continue;
    const std::string text = change.key + " from " + change.before + " to " + change.after;
    if (change.on_resume == OnResume::refused)
      throw Error(Exit::usage,
                  "A resumed run cannot change " + text +
                      ": the steps already done would have been others.",
                  "heed train with --init-from " + shell_word(request.run));
    log.info("changed: " + text);
  }
  if (newest.checkpoint) {
    const State& s = newest.checkpoint->state();
    if (config.train.max_steps > 0 && done >= config.train.max_steps) {
      log.info("already at step " + std::to_string(done) + " of " +
               std::to_string(config.train.max_steps) + "; nothing to do");
      return Exit::ok;
    }
    if (config.train.patience > 0 && s.stalled >= config.train.patience) {
      log.info("already stopped early at step " + std::to_string(done) + "; nothing to do");
      return Exit::ok;
    }
  } else {
    std::error_code ignored;
    if (fs::exists(run.path() / kInitialWeights, ignored))
      throw Error(Exit::store,
                  "The run " + quoted_path(run.path()) +
                      " began with another run's weights and has no checkpoint yet.",
                  "train it again: " + text_of(read_origin(run.path()), "command") + " --force");
    log.info("no checkpoint yet: starting at step 0");
  }

  const std::string folder = data_folder(request.run);
  Tokenizers tokenizers;
  if (newest.checkpoint) tokenizers = Tokenizers::load(*newest.checkpoint);
  const Dataset data = load_dataset_of_run(config, run.path(), folder, tokenizers, log);
  const Transformer model(config.model, tokenizers.source().size(), tokenizers.target->size());
  const int threads = thread_count(request.threads, config);
  watch_signals();

  const Prepared prepared{config, model, data, tokenizers, threads};
  announce(prepared, plan_memory(prepared), log, done);
  Pool pool(threads);
  Trainer trainer(config, model, data, tokenizers, run, pool, log);
  if (newest.checkpoint) trainer.restore(*newest.checkpoint);
  if (request.profile) trainer.stepper().gradients().enable_profile();
  const MetricsCut cut = run.cut_metrics(done);
  if (cut.later + cut.damaged > 0)
    log.info("metrics.jsonl: dropped " + std::to_string(cut.later) + " lines of later steps and " +
             std::to_string(cut.damaged) + " torn ones");
  run.write_config(dump_config(config));
  log.info("resuming at step " + std::to_string(done));
  const Stop stop = trainer.run(request.stop_at);
  if (request.profile) say_profile(log, trainer.stepper().gradients().profile());
  return say_end(log, stop, trainer, run, seconds_now() - begin);
}

}  // namespace heed
