// The layers that go through the generic test (nn/layer_test.cpp). A new layer is one more row.
#pragma once

#include "nn/layers.h"

namespace heed::test {

inline std::vector<LayerRow> layer_rows() {
  using enum AttentionKind;
  constexpr auto kPre = NormPlacement::pre, kPost = NormPlacement::post;
  // The same change for all kinds of attention.
  const auto ablation = [](std::function<void(AttentionConfig&)> change) -> Change {
    return [=](ModelConfig& c) {
      for (AttentionConfig* a :
           {&c.attention.encoder_self, &c.attention.decoder_self, &c.attention.cross})
        change(*a);
    };
  };
  const Change uniform = ablation([](auto&a) { a.uniform = true; }),
               unscaled = ablation([](auto&a) { a.scaled = false; }),
               unturned = ablation([](auto&a) { a.positions = false; }),
               frozen = ablation([](auto&a) {
                 a.query = a.key = Projection::identity;
                 a.value = Projection::random;
               });
  const Change as_is = no_change;
  const auto variants = block_variants();
  // Longer than the blocks in which queries are handled.
  LayerRow many_queries = attention_row("attention_causal_long", decoder_self);
  many_queries.lengths = {67, 2};
  many_queries.memory_lengths = {1, 1};
  std::vector<LayerRow> rows = {
      linear_row("linear", false, true),
      linear_row("linear_without_bias", false, false),
      linear_row("linear_slice", true, true),
      norm_row("norm", as_is),
      norm_row("norm_of_heads", as_is, true),
      norm_row("norm_rms", variants.at("rms")),
      norm_row("norm_without_bias", variants.at("no_bias")),
      norm_row("norm_eps", [](ModelConfig& c) { c.norm_eps = 0.1; }),
      embedding_row("embedding_sinusoidal", Positions::sinusoidal),
      embedding_row("embedding_learned", Positions::learned),
      embedding_row("embedding_rotary", Positions::rotary),
      embedding_row("embedding_no_positions", Positions::none),
      attention_row("attention_self", encoder_self),
      attention_row("attention_causal", decoder_self),
      attention_row("attention_cross", cross),
      attention_row("attention_self_rotary", encoder_self, as_is, true),
      attention_row("attention_causal_rotary", decoder_self, as_is, true),
      attention_row("attention_causal_unturned", decoder_self, unturned, true),
      attention_row("attention_self_uniform", encoder_self, uniform),
      attention_row("attention_causal_uniform", decoder_self, uniform),
      attention_row("attention_cross_uniform", cross, uniform),
      attention_row("attention_self_frozen", encoder_self, frozen),
      attention_row("attention_causal_unscaled", decoder_self, unscaled),
      attention_row("attention_cross_unscaled", cross, unscaled),
      many_queries,
      feed_forward_row("feed_forward_relu", Activation::relu),
      feed_forward_row("feed_forward_gelu", Activation::gelu),
      feed_forward_row("feed_forward_silu", Activation::silu),
      feed_forward_row("feed_forward_relu2", Activation::relu2),
      feed_forward_row("feed_forward_gelu_tanh", Activation::gelu_tanh),
      feed_forward_row("feed_forward_gated_silu", Activation::silu, variants.at("gated")),
      feed_forward_row("feed_forward_gated_relu2", Activation::relu2, variants.at("gated")),
      feed_forward_row("feed_forward_without_bias", Activation::gelu, variants.at("no_bias")),
      residual_row("residual_pre", kPre),
      residual_row("residual_post", kPost),
      block_row("block_encoder_pre", kPre, encoder_self, false),
      block_row("block_encoder_post", kPost, encoder_self, false),
      block_row("block_decoder_only_pre", kPre, decoder_self, false),
      block_row("block_decoder_pre", kPre, decoder_self, true),
      block_row("block_decoder_post", kPost, decoder_self, true),
      stack_row("stack_pre", kPre, Positions::sinusoidal, 2),
      stack_row("stack_post", kPost, Positions::sinusoidal, 2),
      stack_row("stack_pre_rotary", kPre, Positions::rotary, 1),
      loss_row("loss", 0.0),
      loss_row("loss_smoothed", 0.1),
  };
  for (const std::string name : {"grouped", "qk_norm", "no_bias", "modern_rotary"})
    for (const AttentionKind kind : kAttentionKinds)
      rows.push_back(attention_row(std::string("attention_") + attention_name(kind) + "_" + name,
                                   kind, variants.at(name), name == "modern_rotary"));
  for (const auto& [name, change] : variants) {
    rows.push_back(block_row("block_decoder_pre_" + name, kPre, decoder_self, true, change));
    rows.push_back(block_row("block_encoder_post_" + name, kPost, encoder_self, false, change));
  }
  return rows;
}

}  // namespace heed::test
