#include "show/learning_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fields.h"
#include "base/format.h"
#include "base/std_names.h"

namespace heed {
namespace {

bool is_watched(const ParamInfo& info) {
  const auto has = [&](const char* part) { return info.name.find(part) != string::npos; };
  return !info.vector && (has("_attn.") || has("embed"));
}

// A record has many numbers.
double rounded(double x) {
  return rounded_to(x, 6);
}

// Two tensors as vectors.
struct Comparison {
  double squares = 0;               // of the first one
  double norm = 0, other_norm = 0;  // L2
  double distance = 0;
  double cosine = 1;  // 1 if both are zero, 0 if only one is
};

Comparison compare(const float* one, const float* other, size_t size) {
  double aa = 0, bb = 0, ab = 0, dd = 0;
  for (size_t i = 0; i < size; ++i) {
    const double a = one[i], b = other[i];
    aa += a * a;
    bb += b * b;
    ab += a * b;
    dd += (a - b) * (a - b);
  }
  const double cosine = aa == 0 && bb == 0 ? 1 : aa == 0 || bb == 0 ? 0 : ab / sqrt(aa * bb);
  return {aa, sqrt(aa), sqrt(bb), sqrt(dd), cosine};
}

}  // namespace

size_t recorded_size(const ParamTable& table) {
  size_t size = 0;
  for (const ParamInfo& info : table.infos())
    if (is_watched(info)) size += info.param.size();
  return size;
}

LearningRecord::LearningRecord(const ParamTable& table) {
  for (const ParamInfo& info : table.infos())
    if (is_watched(info)) matrices_.push_back(&info);
}

vector<vector<float>> LearningRecord::watched(const ParamVec<float>& values) const {
  return mapped(matrices_, [&](const ParamInfo* info) {
    const float* from = values.data() + info->param.offset;
    return vector(from, from + info->param.size());
  });
}

void LearningRecord::before_update(const ParamVec<float>& values,
                                   const ParamVec<float>& gradients) {
  before_ = watched(values);
  gradient_norms_ = mapped(matrices_, [&](const ParamInfo* info) {
    const float* g = gradients.data() + info->param.offset;
    return compare(g, g, info->param.size()).norm;
  });
}

ByName<MatrixChange> LearningRecord::measure(const ParamVec<float>& values, Pool& pool) {
  ByName<MatrixChange> matrices(matrices_.size());
  pool.run(int(matrices_.size()), [&](int i, int) {
    const Param& p = matrices_[i]->param;
    const float* now = values.data() + p.offset;
    matrices[i].first = matrices_[i]->name;
    MatrixChange& m = matrices[i].second;
    m.weight_norm = rounded(compare(now, now, p.size()).norm);
    if (!initial_.empty()) m.cosine = rounded(compare(now, initial_[i].data(), p.size()).cosine);
    if (before_.empty()) return;
    const Comparison update = compare(now, before_[i].data(), p.size());
    m.gradient_norm = rounded(gradient_norms_[i]);
    m.update_ratio = update.other_norm > 0 ? rounded(update.distance / update.other_norm) : 0;
  });
  before_.clear();
  return matrices;
}

ByName<Entropy> entropy_of(const AttentionMaps& maps) {
  ByName<Entropy> all;
  for (const AttentionMap& map : maps) {
    if (map.empty()) continue;
    Entropy& entropy = all.emplace_back(attention_name(map.kind), Entropy{0, {}}).second;
    for (int q = 0; q < map.queries; ++q)
      entropy.uniform += std::log(map.kind == AttentionKind::decoder_self ? q + 1 : map.keys);
    entropy.uniform = rounded(entropy.uniform / map.queries);
    for (int layer = 0; layer < map.layers; ++layer) {
      vector<double>& heads = entropy.heads.emplace_back();
      for (int h = 0; h < map.heads; ++h) {
        const Mat<const float> weights = map.head(layer, h);
        double sum = 0;  // p ln p is 0 at p = 0
        for (int q = 0; q < map.queries; ++q)
          for (int k = 0; k < map.keys; ++k)
            if (const double p = weights.row(q)[k]; p > 0) sum -= p * std::log(p);
        heads.push_back(rounded(sum / map.queries));
      }
    }
  }
  return all;
}

Json learning_json(const vector<Frame>& frames) {
  Json learning = Json::array();
  for (const Frame& frame : frames)
    if (!frame.matrices.empty())
      learning.push_back(
          {{"step", frame.step}, {"matrices", frame.matrices}, {"entropy", frame.entropy}});
  return learning;
}

Json last_move(const Json& learning) {
  const auto moves = [](const Json& record) {
    return ranges::any_of(record["matrices"], [](const Json& m) { return m["update_ratio"] > 0; });
  };
  const auto last = std::find_if(learning.rbegin(), learning.rend(), moves);
  return last == learning.rend() ? Json() : *last;
}

Json tensor_table(const ParamTable& table, const ParamVec<float>& values,
                  const ParamVec<float>& initial) {
  Json rows = Json::array();
  for (const ParamInfo& info : table.infos()) {
    const size_t size = info.param.size();
    const float* now = values.data() + info.param.offset;
    const auto n = double(size);
    const Comparison c = compare(now, initial.data() + info.param.offset, size);
    const double mean = accumulate(now, now + size, 0.0) / n;
    rows.push_back(
        {{"name", info.name},
         {"shape", info.vector ? Json{info.param.cols} : Json{info.param.rows, info.param.cols}},
         {"norm", c.norm},
         {"initial_norm", c.other_norm},
         {"distance", c.distance},
         {"cosine", c.cosine},
         {"mean", mean},
         {"deviation", sqrt(max(0.0, c.squares / n - mean * mean))}});
  }
  return rows;
}

}  // namespace heed
