// The maps of a frame as text: a byte for each number, in base64, in the order layer, head, query,
// key. web/maps.js unpacks them too.
#pragma once

#include <string>
#include <vector>

#include "show/attention_maps.h"
#include "store/run_records.h"

namespace heed {

// With padding (RFC 4648, section 4).
std::string base64(const std::vector<unsigned char>& bytes);

// The kinds that the model has.
std::vector<MapKind> kinds_of(const InputTokens& tokens, const AttentionMaps& maps);

// For each of these kinds: a byte b for each weight (b / 255)^2, so that small ones can be told
// apart.
std::vector<std::string> packed_weights(const AttentionMaps& maps);
// The pull of the piece's loss (show/pull.h): a byte b for each stands for
// largest (b - 128) |b - 128| / 127^2 nats per unit of score.
std::vector<PackedPull> packed_pull(const AttentionMaps& maps);

// The tokens of a probe, and the weights of a frame that has them.
struct ShownMaps {
  InputTokens tokens;
  AttentionMaps maps;  // without lengths
};
ShownMaps unpacked(const Probe& probe, const Frame& frame);

}  // namespace heed
