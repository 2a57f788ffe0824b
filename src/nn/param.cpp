#include "nn/param.h"

#include <cmath>
#include <numbers>

#include "base/noise.h"
#include "base/std_names.h"

namespace heed {

namespace {

// A standard normal number (Box and Muller 1958).
double normal_number(uint64_t key, uint64_t i) {
  const double u = 1.0 - uniform01(key, 2 * i), v = uniform01(key, 2 * i + 1);
  return sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

double initial_value(const ParamInfo& info, uint64_t key, uint64_t i) {
  switch (info.init.kind) {
    case Initializer::zeros:
      return 0.0;
    case Initializer::ones:
      return 1.0;
    case Initializer::uniform:
      return info.init.scale * (2.0 * uniform01(key, i) - 1.0);
    case Initializer::normal:
      return info.init.scale * normal_number(key, i);
    case Initializer::identity:
      return i / info.param.cols == i % info.param.cols ? 1.0 : 0.0;
  }
  return 0.0;
}

}  // namespace

template <class T>
void initialize(const ParamTable& table, uint64_t seed, ParamVec<T>& values) {
  for (const ParamInfo& info : table.infos()) {
    const uint64_t key = noise_key(seed, Purpose::init, name_key(info.name));
    T* to = values.data() + info.param.offset;
    for (size_t i = 0; i < info.param.size(); ++i) to[i] = T(initial_value(info, key, i));
  }
}

template void initialize(const ParamTable&, uint64_t, ParamVec<float>&);
template void initialize(const ParamTable&, uint64_t, ParamVec<double>&);

}  // namespace heed
