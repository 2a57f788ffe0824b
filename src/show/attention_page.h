// The maps of one input as JSON, and as the page of `heed attend --html` (web/attention.html):
// interactive, for mouse, touch and keyboard.
#pragma once

#include <string>

#include "show/attention_maps.h"
#include "show/page.h"
#include "text/tokenizer.h"

namespace heed {

// {"source_ids", "source_tokens", "source_bytes", "target_ids", "target_tokens",
// "target_bytes", "encoder", "decoder", "cross", "patterns": heads_in_words()}. The kinds are
// [layer][head][query][key];
// kinds that the model lacks and bytes that are not known are left out.
// With `contributions` also "contribution_encoder" ... in the same layout.
Json attention_json(const Example& input, const InputTokens& tokens, const AttentionMaps& maps,
                    bool contributions);

// {"pull": {"encoder", "decoder", "cross"}, "label_ids"}: the same layout, with every digit.
std::string pull_json(const AttentionMaps& maps, const TokenIds& labels);

inline constexpr int kNextTokens = 5;  // shown beside each row of a decoder

// A page holds every weight of every head; browsers are slow with larger pages.
inline constexpr double kMostPageBytes = 64 << 20;

// `about` names the model, in one line; `target` the next tokens. A page that `reloads` loads
// itself again and again, and so shows what its file has become. Error (usage) if the weights would
// take more than that.
std::string attention_page(const std::string& about, const Example& input,
                           const InputTokens& tokens, const MapsAndNext& pass,
                           const Tokenizer& target, bool reloads = false);

}  // namespace heed
