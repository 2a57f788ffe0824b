// Which source token each token of a translation comes from: the one that the row which writes it
// weights most, as a mean over the heads of one layer of cross-attention. The last layer but one
// does this best (Garg et al. 2019, "Jointly Learning to Align and Translate with Transformers").
#pragma once

#include "show/attention_maps.h"
#include "store/trained_model.h"

namespace heed {

// "1" or "1.0", from 0; "": the last layer but one. Error (usage) if the model lacks them.
HeadChoice alignment_heads(const std::string& text, const ModelConfig& model);

// In Pharaoh's form, "0-0 1-2": source token - target token, from 0, for each target token, without
// <s> and </s>.
std::string alignment(const ModelView& model, const HeadChoice& heads, const TokenIds& source,
                      const TokenIds& target);

}  // namespace heed
