#include "decode/session.h"

#include <cassert>

#include "math/rows.h"

namespace heed {

Session::Session(const Transformer& model, const ParamVec<float>& values, Pool& pool, int slots,
                 int capacity)
    : model_(model),
      values_(values),
      pool_(pool),
      cache_(model.config.decoder_layers, model.config.d_model, slots, capacity),
      lengths_(slots, 0),
      workers_(pool.threads()) {
  assert(model.has_decoder());
}

Pass<float> Session::pass() {
  Pass<float> p{.values = values_, .workspace = workspace_};
  p.exact_rows = true;
  p.pool = &pool_;
  return p;
}

void Session::read_sources(std::span<const std::vector<int>> sources) {
  if (!model_.has_encoder()) return;
  source_rows_.clear();
  for (const auto& s : sources) source_rows_.add_sequence(s.data(), static_cast<int>(s.size()));
  workspace_.rewind();
  const Mat<float> memory = workspace_.rows<float>(source_rows_.count(), model_.config.d_model);
  // One source at a time: several in parallel, or one with the pool's help.
  const auto read = [&](int i, Workspace& workspace, Pool* pool) {
    WorkspaceScope scope(workspace);
    Pass<float> p{.values = values_, .workspace = workspace};
    p.exact_rows = true;
    p.pool = pool;
    Rows rows;
    rows.add_sequence(sources[i].data(), static_cast<int>(sources[i].size()));
    StackSaved<float> saved;
    copy_rows<float>(model_.encode(p, rows, saved),
                     memory.row_range(source_rows_.begin[i], source_rows_.begin[i + 1]));
  };
  const int n = source_rows_.sequences();
  if (n == 1) {
    read(0, workspace_, &pool_);
  } else {
    pool_.run(n, [&](int i, int worker) { read(i, workers_[worker], nullptr); });
  }
  Pass<float> p = pass();
  model_.cache_memory(p, Mat<const float>(memory), cache_);
}

Mat<float> Session::feed(std::span<const Feed> feeds) {
  rows_.clear();
  cache_.slot_of.clear();
  cache_.source_of.clear();
  for (const Feed& f : feeds) {
    const int n = static_cast<int>(f.ids.size());
    assert(n > 0 && lengths_[f.slot] + n <= capacity());
    rows_.add_sequence(f.ids.data(), n, lengths_[f.slot]);
    cache_.slot_of.push_back(f.slot);
    cache_.source_of.push_back(f.source);
    lengths_[f.slot] += n;
  }
  workspace_.rewind();
  Pass<float> p = pass();
  AttentionInput<float> input;
  input.memory_rows = &source_rows_;
  input.cache = &cache_;
  Mat<float> hidden = model_.decode(p, rows_, input, saved_);
  if (rows_.count() > rows_.sequences()) {
    const Mat<float> last = workspace_.rows<float>(rows_.sequences(), hidden.cols);
    for (int i = 0; i < last.rows; ++i) {
      const int r = rows_.begin[i + 1];
      copy_rows<float>(hidden.row_range(r - 1, r), last.row_range(i, i + 1));
    }
    hidden = last;
  }
  return model_.logits(p, Mat<const float>(hidden));
}

void Session::copy(int from, int to) {
  if (from == to) return;
  cache_.copy(from, to, lengths_[from]);
  lengths_[to] = lengths_[from];
}

}  // namespace heed
