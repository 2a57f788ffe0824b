#include "show/parameters.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace heed {

Comparison compare(const float* one, const float* other, std::size_t size) {
  double aa = 0, bb = 0, ab = 0, dd = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double a = one[i], b = other[i];
    aa += a * a;
    bb += b * b;
    ab += a * b;
    dd += (a - b) * (a - b);
  }
  const double cosine = aa == 0 && bb == 0 ? 1 : aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
  return {aa, std::sqrt(aa), std::sqrt(bb), std::sqrt(dd), cosine};
}

std::vector<ParameterRow> parameter_table(const Transformer& model, const ParamVec<float>& values,
                                          const ParamVec<float>& initial) {
  std::vector<ParameterRow> rows;
  for (const ParamInfo& info : model.table.infos()) {
    const float* now = values.data() + info.param.offset;
    const auto n = static_cast<double>(info.param.size());
    const Comparison c = compare(now, initial.data() + info.param.offset, info.param.size());
    ParameterRow row;
    row.name = info.name;
    row.shape = info.vector ? std::vector<std::int64_t>{info.param.cols}
                            : std::vector<std::int64_t>{info.param.rows, info.param.cols};
    row.norm = c.norm;
    row.initial_norm = c.other_norm;
    row.distance = c.distance;
    row.cosine = c.cosine;
    row.mean = std::accumulate(now, now + info.param.size(), 0.0) / n;
    row.deviation = std::sqrt(std::max(0.0, c.squares / n - row.mean * row.mean));
    rows.push_back(row);
  }
  return rows;
}

nlohmann::ordered_json json_of(const std::vector<ParameterRow>& rows) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ParameterRow& r : rows)
    json.push_back({{"name", r.name},
                    {"shape", r.shape},
                    {"norm", r.norm},
                    {"initial_norm", r.initial_norm},
                    {"distance", r.distance},
                    {"cosine", r.cosine},
                    {"mean", r.mean},
                    {"deviation", r.deviation}});
  return json;
}

}  // namespace heed
