#include "evaluate/yardsticks.h"

#include <fmt/core.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <numbers>

#include "base/format.h"
#include "base/std_names.h"
#include "evaluate/kneser_ney.h"

namespace heed {
namespace {

constexpr int64_t kMostLabels = 5'000'000;  // of training text

using Stopped = function<bool()>;  // never empty

template <class Use>
void each_label(const ExampleList& list, int64_t first, const Stopped& stop, Use&& use) {
  Example e;
  for (int64_t i = first; i < list.count; ++i) {
    list.get(i, e);
    for (const int label : e.labels) {
      if (label < 0) continue;
      if (stop()) return;
      use(label);
    }
  }
}

// The last example with at least `labels` labels from it to the end, or the first one.
int64_t tail_begin(const ExampleList& list, double labels) {
  Example e;
  int64_t i = list.count;
  for (double n = 0; i > 0 && n < labels;) {
    list.get(--i, e);
    n += double(e.scored());
  }
  return i;
}

struct LabelScan {
  Stopped stop;
  ExampleList train, held_out;
  int64_t tail;                      // the first example of `train` that counts
  vector<int64_t> seen;              // how often each id is in that tail
  int64_t in_train = 0, scored = 0;  // in the tail, held out
  int ids = 0;                       // how many can be written
  bool unknown = false;              // <unk> is among them
};

LabelScan scan_labels(const Objective& objective, const Tokenizer& target, const Split& train,
                      const Split& held_out, const Stopped& stop) {
  LabelScan l{stop, objective.evaluation(train), objective.evaluation(held_out), 0, {}};
  l.tail = tail_begin(l.train, kMostLabels);
  l.seen.resize(target.size());
  vector<bool> possible(target.size(), true);
  for (const int id : objective.never_written(target)) possible[id] = false;
  each_label(l.train, l.tail, l.stop, [&](int id) {
    ++l.in_train;
    ++l.seen[id];
    possible[id] = true;
  });
  each_label(l.held_out, 0, l.stop, [&](int id) {
    ++l.scored;
    possible[id] = true;
  });
  l.ids = int(ranges::count(possible, true));
  l.unknown = possible[Tokenizer::kUnk];
  return l;
}

double ngram_nats(const LabelScan& l, int order) {
  KneserNey model(order, l.ids);
  double nats = 0;
  auto context = model.start();
  const auto begin_line_after = [&](int id) {
    if (id == Tokenizer::kEos) context = model.start();
  };
  const auto enough = [&] { return l.stop() || model.full(); };
  each_label(l.train, l.tail, enough, [&](int id) {
    model.learn(context, id);
    begin_line_after(id);
  });
  context = model.start();
  each_label(l.held_out, 0, l.stop, [&](int id) {
    nats -= std::log(model.read(context, id));
    begin_line_after(id);
  });
  return nats;
}

// The text that the labels spell; </s> ends a line.
string labels_as_text(const ExampleList& list, int64_t first, const Stopped& stop,
                      const Tokenizer& tokenizer) {
  string text;
  int previous = -1;
  each_label(list, first, stop, [&](int id) {
    text += id == Tokenizer::kEos ? "\n" : tokenizer.text_after(previous, id);
    previous = id == Tokenizer::kEos ? -1 : id;
  });
  return text;
}

constexpr double kXzLooksBack = 8 << 20;  // bytes; text further back makes no difference

// The size in bytes of a text as an .xz file of preset 6, which `xz` and Python's lzma.compress()
// write. std::bad_alloc if there is no room for the 100 MB that xz needs.
double xz_size(const string& text, const Stopped& stop) {
  lzma_stream stream = LZMA_STREAM_INIT;
  array<uint8_t, 4096> written;  // only its size matters
  stream.next_in = reinterpret_cast<const uint8_t*>(text.data());
  stream.avail_in = text.size();
  lzma_ret result = lzma_easy_encoder(&stream, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64);
  while (result == LZMA_OK && !stop()) {
    stream.next_out = written.data();
    stream.avail_out = written.size();
    result = lzma_code(&stream, LZMA_FINISH);
  }
  const auto size = double(stream.total_out);
  lzma_end(&stream);
  if (result != LZMA_OK && result != LZMA_STREAM_END) throw bad_alloc();
  return size;
}

}  // namespace

Yardsticks measure_yardsticks(const Objective& objective, const Tokenizer& target,
                              const Split& train, const Split& held_out, Pool& pool,
                              const function<bool()>& stop) {
  const LabelScan l = scan_labels(objective, target, train, held_out, stop);
  const auto tokens = double(l.scored), bytes = double(objective.scored_bytes(held_out));
  Yardsticks yardsticks;
  if (l.scored == 0 || l.stop()) return yardsticks;
  const auto add = [&](const string& name, double nats) {
    yardsticks.push_back(
        {name, nats / tokens, bytes > 0 ? nats / (std::numbers::ln2 * bytes) : kNotMeasured});
  };
  add("uniform", tokens * std::log(l.ids));
  const auto all = double(l.in_train + l.ids);
  double unigram = 0, ngram = 0;
  each_label(l.held_out, 0, l.stop, [&](int id) { unigram -= std::log((l.seen[id] + 1.0) / all); });
  add("unigram", unigram);
  if (!objective.traits().bits_per_byte) return yardsticks;

  const int order = is_char_or_byte(target.type()) ? 6 : 3;
  const double of_train = double(train.target_bytes);
  const int64_t text_begin =
      tail_begin(l.train, kXzLooksBack / of_train * double(train.target.size()));
  double both = 0, alone = 0;  // of training and held-out text as .xz; of the former
  try {
    pool.run(l.unknown ? 1 : 3, [&](int task, int) {
      if (task == 0) return void(ngram = ngram_nats(l, order));
      string text = labels_as_text(l.train, text_begin, stop, target);
      if (task == 1) text += labels_as_text(l.held_out, 0, stop, target);
      (task == 1 ? both : alone) = xz_size(text, stop);
    });
  } catch (const bad_alloc&) {
    return yardsticks;
  }
  if (l.stop()) return {};
  add(to_string(order) + "-gram", ngram);
  if (!l.unknown) add("xz", 8 * std::numbers::ln2 * (both - alone));
  return yardsticks;
}

string compared(double loss, const Yardsticks& yardsticks) {
  vector<string> beaten, others, parts;
  for (const Yardstick& y : yardsticks)
    (loss < y.nats_per_token ? beaten : others)
        .push_back(fmt::format("{} ({:.2f})", y.name, y.nats_per_token));
  if (!beaten.empty()) parts.push_back("better than " + listed(beaten));
  if (!others.empty()) parts.push_back("not better than " + listed(others));
  return fmt::format("{:.4f} nats per token: {}", loss, joined(parts));
}

double yardsticks_memory(const Objective& objective, const Split& train, int threads) {
  if (!objective.traits().bits_per_byte) return 0;
  // A hash table, and the text with a tree over it.
  const double xz = 17e6 + 10 * min(double(train.target_bytes), kXzLooksBack),
               labels = double(train.target.size() + train.sentences()),
               ngram = KneserNey::memory(min<double>(kMostLabels, labels));
  return max(ngram, xz) + min(2, threads - 1) * xz;
}

}  // namespace heed
