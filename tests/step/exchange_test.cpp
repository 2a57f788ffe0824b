// Several ranks give the numbers of one process, to the last bit. Here they are threads.
#include "step/exchange.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "data/batcher.h"
#include "data/splits.h"
#include "step/stepper.h"

namespace heed {
namespace {

// Letters on their way between ranks.
struct Post {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<int, int>, std::deque<std::string>> letters;  // from, to
};

class ThreadExchange : public Exchange {
 public:
  ThreadExchange(Post& post, int rank, int ranks) : post_(post) {
    rank_ = rank;
    ranks_ = ranks;
  }
  void swap(const std::vector<Message>& sends, const std::vector<Message>& receives) override {
    std::unique_lock lock(post_.mutex);
    for (const Message& m : sends)
      post_.letters[{rank_, m.rank}].emplace_back(static_cast<const char*>(m.bytes), m.size);
    post_.arrived.notify_all();
    for (const Message& m : receives) {
      auto& box = post_.letters[{m.rank, rank_}];
      post_.arrived.wait(lock, [&] { return !box.empty(); });
      ASSERT_EQ(box.front().size(), m.size);
      if (m.size > 0) std::memcpy(m.bytes, box.front().data(), m.size);
      box.pop_front();
    }
  }

 private:
  Post& post_;
};

template <class Work>
void on_ranks(int ranks, Work&& work) {
  Post post;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      ThreadExchange exchange(post, r, ranks);
      work(exchange);
    });
  for (std::thread& t : threads) t.join();
}

struct Numbers {
  std::vector<float> values, used, moments, gradient;
  std::vector<double> norms, losses;
  bool operator==(const Numbers&) const = default;
};

class Ranks : public testing::Test {
 protected:
  // Four steps of training, and what the first rank has gathered then.
  Numbers trained(const RunConfig& config, const Transformer& model, Exchange& exchange) {
    Pool pool(1);
    Stepper stepper(model, step_options(config), Crew(pool, exchange));
    StepBatch batch;
    const auto objective = make_objective(config);
    const Split split = counting_text(300);
    Batcher batcher(*objective, split, config);
    Cursor cursor;
    Numbers n;
    const auto copy = [](const ParamVec<float>& from) {
      return std::vector<float>(from.data(), from.data() + from.size());
    };
    for (int step = 1; step <= 4; ++step) {
      cursor = batcher.fill(step, cursor, batch);
      batch.requests = 1 << exchange.rank();
      const StepResult result = stepper.gradient(step, batch);
      EXPECT_EQ(result.requests, (1 << exchange.ranks()) - 1);
      n.norms.push_back(result.gradient_norm);
      n.losses.push_back(result.sums.objective);
      if (step == 3) {  // looking at it changes nothing
        stepper.gather_gradient();
        n.gradient = copy(stepper.gradients().sum());
      }
      stepper.update(result);
    }
    stepper.gather_for_save();
    n.values = copy(stepper.values());
    n.used = copy(stepper.weights().used);
    for (ParamVec<float>& moments : stepper.optimizer().moment_arrays())
      n.moments.insert(n.moments.end(), moments.data(), moments.data() + moments.size());
    return n;
  }
  RunConfig config_of(int shards, const std::string& optimizer) {
    return causal_config({"train.shards=" + std::to_string(shards), "train.batch_tokens=200",
                          "objective.target_length=16", "model.d_model=64", "model.d_ff=600",
                          "model.n_heads=2", "train.ema_decay=0.9", "optimizer.type=" + optimizer});
  }
};

TEST_F(Ranks, HaveTheNumbersOfOneProcess) {
  for (const int shards : {5, 8})
    for (const std::string optimizer : {"adamw", "muon"}) {
      const RunConfig config = config_of(shards, optimizer);
      const Transformer model(config.model, 310, 310);
      const Numbers alone = trained(config, model, one_process());
      for (const int ranks : {2, 3, 8}) {
        if (ranks > shards) continue;
        on_ranks(ranks, [&](Exchange& exchange) {
          const Numbers n = trained(config, model, exchange);
          EXPECT_EQ(n.values, alone.values) << shards << " " << ranks << optimizer;
          EXPECT_EQ(n.norms, alone.norms);
          EXPECT_EQ(n.losses, alone.losses);
          if (exchange.rank() > 0) return;
          EXPECT_EQ(n.used, alone.used);
          EXPECT_EQ(n.moments, alone.moments) << shards << " " << ranks << optimizer;
          EXPECT_EQ(n.gradient, alone.gradient);
        });
      }
    }
}

}  // namespace
}  // namespace heed
