// The pull of attention: which way, and how strongly, the loss L of a text would move each score.
//
// With S the scores (after the scale), P = softmax(S), o = P V and g = dL/do, backward gives
//
//   pull_ij = -dL/dS_ij = -P_ij g_i . (v_j - o_i)          nats per unit of score
//
//   ‖ dL/dv_j ‖ = ‖ Σ_i P_ij g_i ‖                     nats per unit of v_j
//
// The second is how strongly the same loss pushes the value v_j, which it does along -Σ_i P_ij g_i;
// with grouped heads the sum is also over the heads that share v_j. Agarwal, Dalal and Misra 2025
// (arXiv 2512.22473) derive both: they are the two halves of what a step does to attention, where
// it looks and what it finds there.
//
// To first order a higher score S_ij lowers the loss if and only if v_j would lower it more than
// the present mixture o_i does. (A step of training changes every row that shares the matrices, so
// the weights follow the pull on average only.) A row's pulls add up to 0. L is the unsmoothed
// loss, summed over the labels of the text, without dropout. Uniform attention has no scores to
// move: there the formula says how they would be pulled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/std_names.h"
#include "data/objective.h"
#include "show/heat_map.h"
#include "store/run_records.h"

namespace heed {

// Fills in the pulls of the maps of `read`, which has labels, by the backward pass of training; and
// adds dL/dv_j where a map of all heads has room for it.
template <class T>
void add_pull(const Transformer& model, const ParamVec<T>& values, const Example& read,
              Workspace& workspace, AttentionMaps& maps);

// Of each kind that the model has, for a frame of the film. `read` has labels.
vector<PackedPull> packed_pulls(const Transformer& model, const ParamVec<float>& values,
                                const Example& read);
// Of one row, with its label alone: [{"part", "kind", "layer", "head", "pull", "value_pull"}] of
// each head that writes into it (docs/formats.md, "What heed explain prints").
Json pulls_of_row(const Transformer& model, const ParamVec<double>& values, const Example& read,
                  int row);

// A text alone, as its objective asks for it. Error (usage) where it says too little: pairs, and
// texts with [MASK] of a model with a decoder.
Example asked_of(const Model& model, const TokenIds& text);
// The labels of what the model reads, each side framed: the token after each one of the decoder; or
// the words that belong in the [MASK]s of an encoder's text. Error (usage) if they do not fit.
TokenIds labels_of(const Model& model, const Example& read, const string& words);

// For a terminal: the strongest pull of each head, and the whole map of each chosen one or, without
// a choice, a part of that of the one that is pulled most.
string draw_pull(const HeadChoice& choice, const InputTokens& tokens, const AttentionMaps& maps,
                 const HeatMapStyle& style);

}  // namespace heed
