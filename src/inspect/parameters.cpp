#include "inspect/parameters.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "train/learning_record.h"

namespace heed {

std::vector<ParameterRow> parameter_table(const Transformer& model, const ParamVec<float>& values,
                                          const ParamVec<float>& initial) {
  std::vector<ParameterRow> rows;
  for (const ParamInfo& info : model.table.infos()) {
    const float* a = values.data() + info.param.offset;
    const float* b = initial.data() + info.param.offset;
    const auto n = static_cast<double>(info.param.size());
    double aa = 0, bb = 0, ab = 0, dd = 0, sum = 0;
    for (std::size_t i = 0; i < info.param.size(); ++i) {
      const double x = a[i], y = b[i];
      aa += x * x;
      bb += y * y;
      ab += x * y;
      dd += (x - y) * (x - y);
      sum += x;
    }
    ParameterRow row;
    row.name = info.name;
    row.shape = info.vector ? std::vector<std::int64_t>{info.param.cols}
                            : std::vector<std::int64_t>{info.param.rows, info.param.cols};
    row.norm = std::sqrt(aa);
    row.initial_norm = std::sqrt(bb);
    row.distance = std::sqrt(dd);
    row.cosine = cosine(aa, bb, ab);
    row.mean = sum / n;
    row.deviation = std::sqrt(std::max(0.0, aa / n - row.mean * row.mean));
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
