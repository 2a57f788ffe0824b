"""Faults for scripts/mutate.py: (what is wrong, file, text, what replaces it).

Each text occurs exactly once in its file. Short texts survive edits around them.
"""
ROWS, DROPOUT, MASK = "src/math/row_ops.cpp", "src/math/dropout.cpp", "src/math/dropout.h"
ACTIVATION, NORM = "src/math/activation.cpp", "src/math/layer_norm.cpp"
SOFTMAX, ROTARY = "src/math/softmax.cpp", "src/math/rotary.cpp"
PACKED = "src/math/packed_gemm.cpp"
HEAD, ATTENTION = "src/nn/attention_head.cpp", "src/nn/attention.cpp"
KERNEL, LINEAR, FEED_FORWARD = "src/math/batch_invariant.cpp", "src/nn/linear.cpp", "src/nn/feed_forward.cpp"
RESIDUAL, BLOCK, STACK = "src/nn/residual.h", "src/nn/block.cpp", "src/nn/stack.cpp"
EMBEDDING, TRANSFORMER = "src/nn/embedding.cpp", "src/nn/transformer.cpp"
LOSS = "src/nn/loss.cpp"
SPANS = "src/data/span_corruption.h"
OPTIMIZER, GRADIENTS = "src/train/optimizer.cpp", "src/train/gradients.cpp"

MUTATIONS = [
    ("dropout: kept numbers are not scaled", MASK, "static_cast<T>(1.0 / (1.0 - d.rate))", "T{1}"),
    ("dropout: all sites share a mask", MASK, "combine(d.row_keys[r], d.id)", "d.row_keys[r]"),
    ("column sums: a row is left out", ROWS, "(c[j] + d[j])", "(c[j])"),
    ("residual sum: x is left out", DROPOUT, "p[c] = q[c] + mask(c) * p[c]", "p[c] = mask(c) * p[c]"),
    ("residual backward: no mask", DROPOUT, "p[c] = mask(c) * d[c];", "p[c] = d[c];"),
    ("activation backward: no mask", ACTIVATION, "p[c] = k * f.slope;", "p[c] = f.slope;"),
    ("gelu': u phi(u) is missing", ACTIVATION, "n.cdf + u * n.pdf}", "n.cdf}"),
    ("silu': factor 1 - s is missing", ACTIVATION, "s + u * s * (T{1} - s)", "s + u * s"),
    ("relu': slope 1 everywhere", ACTIVATION, "u > T{0} ? T{1} : T{0}};", "T{1}};"),
    ("norm: another eps", NORM, "T{1e-5}", "T{1e-3}"),
    ("norm: no bias", NORM, "* inverse * g[c] + b[c];", "* inverse * g[c];"),
    ("norm backward: mean(e) is missing", NORM, "d[c] * g[c] - e_mean - h * eh_mean", "d[c] * g[c] - h * eh_mean"),
    ("norm backward: sign of h mean(e h)", NORM, "- e_mean - h * eh_mean", "- e_mean + h * eh_mean"),
    ("norm backward: overwrites dx", NORM, "q[c] += inverse *", "q[c] = inverse *"),
    ("norm backward: dgain without h", NORM, "dg[c] += d[c] * h;", "dg[c] += d[c];"),
    ("softmax: largest is not subtracted", SOFTMAX, "fast_exp(p[i] - m)", "fast_exp(p[i])"),
    ("loss gradient: smoothing of the others", SOFTMAX, "logits[c] * factor - floor", "logits[c] * factor"),
    ("loss gradient: smoothing of the label", SOFTMAX, "scale * (1 - smoothing)", "scale"),
    ("smoothed loss: mean logit is missing", SOFTMAX, "(lse - s.logits / classes)", "lse"),
    ("rotate: backward turns forward", ROTARY, "direction * t[c + 1]", "t[c + 1]"),
    ("rotate: sign", ROTARY, "fuse(a, cosine, -(b * sine))", "fuse(a, cosine, b * sine)"),
    ("packed product: rows of a part", PACKED, "data + static_cast<std::ptrdiff_t>(begin) * kPanel<T>", "data"),
    ("packed product: the old C is lost", PACKED, "old_factor * load(p)", "Vector<T>{}"),
    ("row kernel: no bias", KERNEL, "+ (b ? b[j] : T{0})", ""),
    ("cached attention: no scale", KERNEL, "w[i] *= scale;", ";"),
    ("linear: no bias", LINEAR, "fill_rows(pass[bias], y);", "set_zero(y);"),
    ("linear backward: no bias", LINEAR, "add_column_sums(dy, pass.gradient(bias));", ""),
    ("linear backward: overwrites dW", LINEAR, "as_is(x), 1, pass.gradient(weight)", "as_is(x), 0, pass.gradient(weight)"),
    ("linear backward: overwrites dx", LINEAR, "as_is(pass[weight]), 1, dx", "as_is(pass[weight]), 0, dx"),
    ("attention: causal queries see all keys", "src/nn/attention_head.h", "return visible_keys(causal, query, q.rows, k.rows);", "return k.rows;"),
    ("attention: no scale", HEAD, "gemm(h.scale, as_is(h.q", "gemm(1, as_is(h.q"),
    ("attention: dropout keys of the first block", HEAD, "dropout.row_keys += begin", "dropout.row_keys += 0 * begin"),
    ("attention backward: dV from undropped P", HEAD, "transposed(dropped_p.col_range(0, keys))", "transposed(p.col_range(0, keys))"),
    ("attention backward: dP is not dropped", HEAD, "x[j] = drop_p[j] * x[j]", "x[j] = weight[j] * x[j]"),
    ("attention backward: softmax without its sum", HEAD, "drop_p[j] * x[j] - weight[j] * sum", "drop_p[j] * x[j]"),
    ("attention backward: dQ without scale", HEAD, "gemm(h.scale, as_is(ds_keys)", "gemm(1, as_is(ds_keys)"),
    ("attention backward: dK without scale", HEAD, "gemm(h.scale, transposed(ds_keys)", "gemm(1, transposed(ds_keys)"),
    ("attention: heads share a dropout mask", ATTENTION, "combine(a.dropout_id, static_cast<std::uint64_t>(h))", "a.dropout_id"),
    ("attention: ablation of scale ignored", ATTENTION, "return ablation.scaled ?", "return true ?"),
    ("attention: keys are not rotated", ATTENTION, "rotate(k, n_heads,", "if (false) rotate(k, n_heads,"),
    ("attention backward: dk is not rotated back", ATTENTION, "rotate_both(dq, dk, input, T{-1});", ""),
    ("cross backward: nothing for the memory", ATTENTION, "dkv, input.dmemory)", "dkv, Mat<T>())"),
    ("cached attention: sees later tokens", ATTENTION, "visible_keys(causal(), r, n, kv.rows)", "kv.rows"),
    ("feed-forward backward: slope of another function", FEED_FORWARD, "activate_with_slope(activation, u, h,", "activate_with_slope(Activation::relu, u, h,"),
    ("feed-forward backward: fc2 from u", FEED_FORWARD, "fc2.backward(pass, h,", "fc2.backward(pass, u,"),
    ("residual: the branch reads x, not norm(x)", RESIDUAL, "const Mat<T> y = branch(n.y);", "const Mat<T> y = branch(x);"),
    ("residual post: norm(x) instead of norm(x + f(x))", RESIDUAL, "norm.forward(pass, sum);", "norm.forward(pass, x);"),
    ("residual post backward: the straight way is cut", RESIDUAL, "copy_rows(other, d);", "set_zero(d);"),
    ("stack: no final norm", STACK, "return n.y;", "return x;"),
    ("stack backward: final norm adds to dy", STACK, "set_zero(d);", ""),
    ("stack backward: first block first", STACK, "for (std::size_t i = blocks.size(); i-- > 0;)", "for (std::size_t i = 0; i < blocks.size(); ++i)"),
    ("stack: gpt2 start counts two branches only", STACK, "has_cross_attention(self_kind, config) ? 3 : 2", "2"),
    ("embedding: no sqrt(d)", EMBEDDING, "std::sqrt(static_cast<double>(config.d_model))", "1.0"),
    ("embedding backward: no scale", EMBEDDING, "to[c] += factor * from[c]", "to[c] += T{1} * from[c]"),
    ("embedding backward: overwrites positions", EMBEDDING, "position[c] += from[c]", "position[c] = from[c]"),
    ("embedding backward: no mask", EMBEDDING, "drop_in_place(d, rows.dropout(rate, dropout_id));", ""),
    ("positions: sin and cos swapped", EMBEDDING, "(cos_first ? 1 : 0)) =", "(cos_first ? 0 : 1)) ="),
    ("model backward: source table forgotten", TRANSFORMER, "embeddings.source->backward(pass, batch.source, dmemory);", ";"),
    ("model backward: target table forgotten", TRANSFORMER, "embeddings.target->backward(pass, batch.target, d);", ";"),
    ("output layer backward: reads the rows by the wrong numbers", LOSS, "copy_row(dh, i, dhidden, numbers[i])", "copy_row(dh, i, dhidden, i)"),
    ("loss: unscored rows keep old gradient", LOSS, "set_zero(dhidden);", ""),
    ("loss: log-probabilities are smoothed", LOSS, "-row.nll", "-row.objective"),
    ("rows: one dropout key for a whole sequence", "src/nn/packed.cpp", "combine(key, static_cast<std::uint64_t>(first_position + i))", "key"),
    ("cache: last token is not copied", "src/nn/cache.cpp", "a.row(tokens)", "a.row(tokens - 1)"),
    ("parameters: identity is not the identity", "src/nn/param.cpp", "i / info.param.cols == i % info.param.cols ?", "i % info.param.cols == 0 ?"),
    ("adam: eps under the root", OPTIMIZER, "(std::sqrt(v[i]) * root + eps)", "(std::sqrt(v[i] + eps) * root)"),
    ("adam: no bias correction", OPTIMIZER, "rate / (1.0 - std::pow(config_.betas[0], t))", "rate"),
    ("adamw: decays vectors too", OPTIMIZER, "&& !info.vector", ""),
    ("span_corruption: short spans are likelier", SPANS, "* places < runs", "* 2 < 1"),
    ("span_corruption: no span begins or ends a tile", SPANS, "kept.next() - (i == 0) - (i == noise.spans)", "kept.next() - 2 * (i == noise.spans)"),
    ("span_corruption: all tiles have the same noise", SPANS, "epoch, tile.begin)", "epoch)"),
    ("masked_lm: shows what is to be predicted", "src/data/masked_lm.h", "fate < 0.8", "fate < 0.4"),
    ("clipping: 1e-6 left out", OPTIMIZER, "(gradient_norm + 1e-6)", "gradient_norm"),
    ("tree sum: a running sum", "src/train/tree_sum.h", "for (int s = 0; s + d < n; s += 2 * d) add(s, s + d);", "for (int s = 1; d == 1 && s < n; ++s) add(0, s);"),
    ("gradient norm: blocks one after the other", GRADIENTS, "return std::sqrt(tree_sum(squares_));", "double all = 0;\n  for (const double s : squares_) all += s;\n  return std::sqrt(all);"),
    ("gradient norm: only the last run of a block", GRADIENTS, "squares += run;", "squares = run;"),
]
