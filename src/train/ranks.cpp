#include "train/ranks.h"

#include "base/signals.h"
#include "train/speed.h"
#include "train/trainer.h"

namespace heed {
namespace {

// What the others get, on all ranks in the same order.
struct Assignment {
  std::int64_t task = 0, stop_at = 0, threads = 0;
  std::string config;
  std::vector<NamedBytes> tokenizers = {};

  void share(Exchange& x) {
    for (std::int64_t* number : {&task, &stop_at, &threads}) x.share(*number);
    x.share(config);
    tokenizers.resize(2);  // at most
    for (NamedBytes& file : tokenizers) {
      x.share(file.name);
      x.share(file.bytes);
    }
    std::erase_if(tokenizers, [](const NamedBytes& file) { return file.name.empty(); });
  }
};

void share_ids(Exchange& x, Ids& ids) {
  int vocab = ids.vocab();
  x.share(vocab);
  if (vocab != ids.vocab()) ids = Ids(vocab);
  ids.visit([&](auto& numbers) { x.share(numbers); });
}

void share_split(Exchange& x, Split& split) {
  share_ids(x, split.source);
  share_ids(x, split.target);
  x.share(split.source_begin);
  x.share(split.target_begin);
  x.share(split.lines);
  x.share(split.source_file);
  x.share(split.target_file);
  x.share(split.target_bytes);
  x.share(split.lossy);
}

// One that could not prepare has ended the job.
void all_are_ready(Exchange& x) {
  std::vector<char> ready(x.ranks());
  x.gather(ready.data(), equal_parts(ready.size(), x.ranks()));
}

}  // namespace

void lead(const PreparedRun& run, Task task, std::int64_t stop_at) {
  Exchange& x = *run.exchange;
  if (x.ranks() == 1) return;
  x.timeout = run.config.train.rank_timeout;
  Assignment{static_cast<int>(task), stop_at, run.threads, dump_config(run.config),
             run.tokenizers.files()}
      .share(x);
  Dataset& data = const_cast<PreparedRun&>(run).data;  // only read, on this rank
  share_split(x, data.train);
  share_split(x, data.valid);
  all_are_ready(x);
}

void follow(Exchange& x) {
  watch_signals();
  while (true) {
    x.timeout = 0;  // the first rank may read and plan for as long as it needs
    Assignment assignment;
    assignment.share(x);
    const auto task = static_cast<Task>(assignment.task);
    if (task == Task::end) return;
    Dataset data;
    share_split(x, data.train);
    share_split(x, data.valid);
    RunConfig config = parse_config(assignment.config, "the first rank's config");
    config.train.max_minutes = 0;  // the first rank looks at the clock
    const PreparedRun run = prepare_run(config, std::move(data),
                                        Tokenizers::load(assignment.tokenizers, "the first rank's"),
                                        static_cast<int>(assignment.threads), x);
    x.timeout = config.train.rank_timeout;
    all_are_ready(x);
    if (task == Task::train)
      Trainer(run, nullptr).run(assignment.stop_at);
    else
      measure_speed(run, [](std::int64_t, double) { return false; });
  }
}

void dismiss(Exchange& x) {
  if (x.ranks() > 1) Assignment{}.share(x);
}

}  // namespace heed
