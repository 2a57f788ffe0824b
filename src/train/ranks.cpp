#include "train/ranks.h"

#include <fmt/core.h>

#include "base/format.h"
#include "base/input_file.h"
#include "base/sha256.h"
#include "base/signals.h"
#include "base/std_names.h"
#include "step/exchange.h"
#include "train/speed.h"
#include "train/trainer.h"

namespace heed {
namespace {

// What the others are told; share() is called on all ranks in the same order.
struct Assignment {
  Task task = Task::end;
  int64_t stop_at = 0;
  string config;

  void share(Exchange& x) { x.share(task, stop_at, config); }
};

void share_split(Exchange& x, Split& split) {
  for (Ids* ids : {&split.source, &split.target}) {
    int vocab = ids->vocab();
    x.share(vocab);
    if (vocab != ids->vocab()) *ids = Ids(vocab);
    ids->visit([&](auto& numbers) { x.share(numbers); });
  }
  x.share(split.source_begin, split.target_begin, split.lines, split.target_bytes, split.lossy);
}

void share_parts(Exchange& x, Dataset& data, vector<NamedBytes>& tokenizers, int& threads) {
  share_split(x, data.train);
  share_split(x, data.valid);
  size_t files = tokenizers.size();
  x.share(files, threads);
  tokenizers.resize(files);
  for (NamedBytes& file : tokenizers) x.share(file.name, file.bytes);
}

// All that the other ranks do: one task after the other.
void follow(Exchange& x) {
  watch_signals();
  optional<PreparedRun> run;
  while (true) {
    x.timeout = 0;  // the first rank may read and plan for as long as it needs
    Assignment told;
    told.share(x);
    if (told.task == Task::end) return;
    RunConfig config = parse_config(told.config, "the first rank's config");
    config.train.max_minutes = 0;  // the first rank looks at the clock
    if (told.task == Task::prepare) {
      Dataset data;
      vector<NamedBytes> tokenizers;
      int threads = 0;
      share_parts(x, data, tokenizers, threads);
      run.emplace(prepare_run(config, std::move(data),
                              Tokenizers::load(tokenizers, "the first rank's"), threads, x));
      continue;
    }
    x.timeout = config.train.rank_timeout;
    run->config = config;
    plan_steps(*run);
    if (told.task == Task::train)
      Trainer(*run, nullptr).run(told.stop_at);
    else
      measure_speed(*run, [](int64_t, double) { return false; });
  }
}

// Only equal programs with equal commands on equal processors train together.
void require_equal_ranks(Exchange& x, const vector<string>& args) {
  InputFile program("/proc/self/exe", InputFile::Allow::link);
  string command = "heed";
  for (const string& arg : args) command += ' ' + shell_word(arg);
  x.require_same("this program", sha256_of(program).substr(0, 12));
  x.require_same("this command", command);
}

bool leads(const Crew& crew) {
  return !crew.alone() && crew.exchange().rank() == 0;
}

}  // namespace

Exit run_together(const vector<string>& args, const function<Exit(const Crew&)>& command,
                  const function<Exit(const string& where)>& failed) {
  auto exchange = make_unique<Exchange>();  // one process
  try {
    if (const int ranks = launched_ranks(); ranks != 0 && ranks != 1) {
      exchange = open_exchange(ranks);
      require_equal_ranks(*exchange, args);
    }
    Exit exit = Exit::ok;
    if (exchange->rank() == 0) {
      exit = command(*exchange);
      Assignment().share(*exchange);
    } else {
      follow(*exchange);
    }
    exchange->finish();
    return exit;
  } catch (...) {
    const Exit exit = failed(exchange->where());
    exchange->abort(exit);
    return exit;
  }
}

void share_run(const Crew& crew, const RunConfig& config, Dataset& data,
               const Tokenizers& tokenizers, int threads) {
  if (crew.ranks() > config.train.shards)
    throw usage_error("{} ranks are more than train.shards, which is {}.", crew.ranks(),
                      config.train.shards)
        .hint("fewer ranks; or, in a new run, --set train.shards=N, which changes its results");
  if (!leads(crew)) return;
  Exchange& x = crew.exchange();
  x.timeout = config.train.rank_timeout;
  Assignment{Task::prepare, 0, dump_config(config)}.share(x);
  vector<NamedBytes> files = tokenizers.files();
  share_parts(x, data, files, threads);
}

void lead(const PreparedRun& run, Task task, int64_t stop_at) {
  if (!leads(run.crew)) return;
  run.crew.exchange().timeout = run.config.train.rank_timeout;
  Assignment{task, stop_at, dump_config(run.config)}.share(run.crew.exchange());
}

}  // namespace heed
