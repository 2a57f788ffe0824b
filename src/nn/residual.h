// A branch f beside the straight way, with dropout and its norm before or after:
//   pre:  y = x + drop(f(norm(x)))          post:  y = norm(x + drop(f(x)))
// The branch is given as a callable.
#pragma once

#include <string>

#include "base/noise.h"
#include "config/model_config.h"
#include "math/dropout.h"
#include "math/rows.h"
#include "nn/norm.h"

namespace heed {

template <class T>
struct ResidualSaved {
  Mat<T> in;      // what the norm read: x (pre), x + drop(f(x)) (post)
  Mat<T> branch;  // what f read: norm(x) (pre), x (post)
  Mat<T> stats;   // of the norm
};

struct Residual {
  NormPlacement placement;
  Norm norm;
  double rate;         // of dropout
  std::uint64_t site;  // names its draws

  Residual(ParamTable& table, const std::string& norm_name, const ModelConfig& config)
      : placement(config.norm),
        norm(table, norm_name, config.d_model),
        rate(config.dropout),
        site(name_key(norm_name)) {}

  // branch: Mat<const T> -> Mat<T>, freshly taken from the workspace.
  template <class T, class Branch>
  Mat<T> forward(Pass<T>& pass, Mat<T> x, const Rows& rows, ResidualSaved<T>& saved,
                 Branch&& branch) const {
    const bool pre = placement == NormPlacement::pre;
    typename Norm::Forward<T> n;
    if (pre) n = norm.forward(pass, Mat<const T>(x));
    saved.branch = pre ? n.y : x;
    Mat<T> y = branch(Mat<const T>(saved.branch));
    {
      Timed timed(pass.profile, Work::dropout);
      drop_add(y, Mat<const T>(x), rows.dropout(rate, site));
    }
    if (!pre) n = norm.forward(pass, Mat<const T>(y));
    saved.in = pre ? x : y;
    saved.stats = n.stats;
    return pre ? y : n.y;
  }

  // In place: d is the gradient of y and becomes that of x.
  // branch_backward(dbranch, dx): adds to dx, the gradient of what the branch read.
  template <class T, class Branch>
  void backward(Pass<T>& pass, Mat<T> d, const Rows& rows, const ResidualSaved<T>& saved,
                Branch&& branch_backward) const {
    WorkspaceScope scope(pass.workspace);
    const Mat<T> other = pass.workspace.template zeros<T>(d.rows, d.cols);
    const Mat<T> dbranch = pass.workspace.template rows<T>(d.rows, d.cols);
    const auto drop = [&](Mat<T> from) {
      Timed timed(pass.profile, Work::dropout);
      drop_add_backward(Mat<const T>(from), dbranch, rows.dropout(rate, site));
    };
    const Mat<const T> in = saved.in, stats = saved.stats;
    if (placement == NormPlacement::pre) {
      drop(d);
      branch_backward(Mat<const T>(dbranch), other);
      norm.backward(pass, in, stats, Mat<const T>(other), d);
    } else {
      norm.backward(pass, in, stats, Mat<const T>(d), other);
      drop(other);
      copy_rows(Mat<const T>(other), d);
      branch_backward(Mat<const T>(dbranch), d);
    }
  }
};

}  // namespace heed
