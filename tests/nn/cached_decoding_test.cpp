// Decoding with a cache: as the full pass in double, and to the bit whatever the steps, the batch,
// the slots and the threads.
#include <gtest/gtest.h>

#include <algorithm>

#include "nn/models.h"

namespace heed {
namespace {

using test::Family;

constexpr int kVocab = 7;
using Row = std::vector<int>;
const std::vector<Row> kSources = {{3, 1, 4, 1}, {5}, {2, 6, 5}};
const std::vector<Row> kTargets = {{1, 5, 2, 6, 0, 3}, {1, 4, 4, 2, 6, 1}, {1, 0, 3, 5, 5, 2}};

Transformer model_of(const test::ModelVariant& variant) {
  ModelConfig config = test::tiny_config(variant.family);
  variant.change(config);
  return Transformer(config, kVocab, kVocab);
}

// A model, its cache and the memory of its sources.
template <class T>
class Decoder {
 public:
  Decoder(const Transformer& model, const std::vector<Row>& sources, int slots,
          Pool* pool = nullptr)
      : model_(model),
        values_(test::lively_values<T>(model, 3)),
        cache_(model.config.decoder_layers, kv_width(model.config), slots, 10),
        products_(pool),
        pass_{.values = values_, .workspace = workspace_, .products = &products_} {
    for (const Row& s : sources) source_.add_sequence(s.data(), static_cast<int>(s.size()));
    if (!model.has_encoder()) return;
    StackSaved<T> saved;
    const Mat<T> memory = model.encode(pass_, source_, saved);
    model.cache_memory(pass_, memory, cache_);
  }

  // Tokens of a slot that reads a source, the first of them at a position.
  struct Part {
    int slot, source, position;
    Row ids;
  };
  // Logits of all rows, one after the other.
  std::vector<T> feed(const std::vector<Part>& parts) {
    const WorkspaceScope scope(workspace_);
    Packed rows;
    use_.slot_of.clear();
    use_.source_of.clear();
    for (const Part& p : parts) {
      rows.add_sequence(p.ids.data(), static_cast<int>(p.ids.size()), p.position);
      use_.slot_of.push_back(p.slot);
      use_.source_of.push_back(p.source);
    }
    const AttentionInput<T> input{.rows = &rows, .memory_rows = &source_, .cache = &use_};
    StackSaved<T> saved;
    const Mat<T> hidden = model_.decode(pass_, input, saved);
    const Mat<T> l = model_.output.forward(pass_, hidden);
    return {l.data, l.data + l.rows * l.cols};
  }
  Cache<T>& cache() { return cache_; }

 private:
  const Transformer& model_;
  ParamVec<T> values_;
  Workspace workspace_;
  Cache<T> cache_;
  CacheSlots<T> use_{&cache_, {}, {}};
  Packed source_;
  RowProducts<T> products_;
  Pass<T> pass_;
};

template <class T>
std::vector<T> prompt_at_once(const Transformer& model, int i) {
  Decoder<T> decoder(model, {kSources[i]}, 1);
  return decoder.feed({{0, 0, 0, kTargets[i]}});
}

class CachedDecoding : public testing::TestWithParam<test::ModelVariant> {
 protected:
  CachedDecoding() : model_(model_of(GetParam())) {}
  Transformer model_;
};

TEST_P(CachedDecoding, EqualsTheFullPassInDouble) {
  const ParamVec<double> values = test::lively_values<double>(model_, 3);
  for (int i = 0; i < 3; ++i) {
    Batch batch;
    if (model_.has_encoder())
      batch.source.add_sequence(kSources[i].data(), static_cast<int>(kSources[i].size()));
    batch.target.add_sequence(kTargets[i].data(), static_cast<int>(kTargets[i].size()));
    test::Forward<double> run{model_, values, batch};
    const Mat<double> full = model_.output.forward(run.pass, run.hidden);
    Decoder<double> decoder(model_, {kSources[i]}, 1);
    for (int t = 0; t < full.rows; ++t) {
      const std::vector<double> step = decoder.feed({{0, 0, t, {kTargets[i][t]}}});
      for (int k = 0; k < kVocab; ++k) ASSERT_NEAR(step[k], full(t, k), 1e-12) << "token " << t;
    }
  }
}

TEST_P(CachedDecoding, PromptAtOnceHasTheBitsOfTokenByToken) {
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> at_once = prompt_at_once<float>(model_, i);
    for (int first : {1, 2, 5}) {  // tokens read together, then the others one by one
      Decoder<float> decoder(model_, {kSources[i]}, 1);
      std::vector<float> pieces =
          decoder.feed({{0, 0, 0, Row(kTargets[i].begin(), kTargets[i].begin() + first)}});
      for (int t = first; t < static_cast<int>(kTargets[i].size()); ++t) {
        const std::vector<float> step = decoder.feed({{0, 0, t, {kTargets[i][t]}}});
        pieces.insert(pieces.end(), step.begin(), step.end());
      }
      EXPECT_EQ(pieces, at_once) << "first " << first;
    }
  }
}

// Three sequences join a batch at different times, in slots of another order.
TEST_P(CachedDecoding, ABatchHasTheBitsOfEachAloneOnAnyThreads) {
  std::vector<float> alone[3];
  for (int i = 0; i < 3; ++i) alone[i] = prompt_at_once<float>(model_, i);
  const int slot[3] = {2, 0, 3}, joins[3] = {0, 1, 3},
            length = static_cast<int>(kTargets[0].size());
  for (int threads : {0, 1, 2, 3}) {
    const auto pool = threads > 0 ? std::make_unique<Pool>(threads) : nullptr;
    Decoder<float> decoder(model_, kSources, 4, pool.get());
    for (int step = 0; step < length + 3; ++step) {
      std::vector<Decoder<float>::Part> parts;
      std::vector<float> expected;
      for (int i : {1, 2, 0}) {
        const int t = step - joins[i];
        if (t < 0 || t >= length) continue;
        parts.push_back({slot[i], i, t, {kTargets[i][t]}});
        expected.insert(expected.end(), alone[i].begin() + t * kVocab,
                        alone[i].begin() + (t + 1) * kVocab);
      }
      if (parts.empty()) continue;
      EXPECT_EQ(decoder.feed(parts), expected) << "step " << step << ", threads " << threads;
    }
  }
}

// As in beam search: a copied slot continues like the original.
TEST_P(CachedDecoding, ACopiedSlotGoesOnAsTheOriginal) {
  Decoder<float> decoder(model_, {kSources[0]}, 3);
  const Row& ids = kTargets[0];
  decoder.feed({{0, 0, 0, {ids[0], ids[1], ids[2]}}, {1, 0, 0, {6, 6, 6}}});
  decoder.cache().copy(0, 1, 3);
  const std::vector<float> both = decoder.feed({{0, 0, 3, {ids[3]}}, {1, 0, 3, {ids[3]}}});
  const std::vector<float> expected = prompt_at_once<float>(model_, 0);
  EXPECT_TRUE(std::equal(both.begin(), both.begin() + kVocab, expected.begin() + 3 * kVocab));
  EXPECT_TRUE(std::equal(both.begin() + kVocab, both.end(), both.begin()));
}

// A slot may be reused without clearing: the first position says how much it holds.
TEST_P(CachedDecoding, AUsedSlotStartsAfresh) {
  Decoder<float> decoder(model_, {kSources[1]}, 1);
  decoder.feed({{0, 0, 0, {6, 5, 4, 3, 2, 1, 0, 6}}});
  EXPECT_EQ(decoder.feed({{0, 0, 0, kTargets[1]}}), prompt_at_once<float>(model_, 1));
}

std::vector<test::ModelVariant> cases() {
  std::vector<test::ModelVariant> all;
  const auto add = [&](const std::string& name, Family family, Positions positions,
                       NormPlacement norm, const test::Change& change = test::no_change) {
    all.push_back({name, family, [=](ModelConfig& c) {
                     c.positions = positions;
                     c.norm = norm;
                     change(c);
                   }});
  };
  for (const auto& [family, family_name] :
       {std::pair{Family::encoder_decoder, "encdec_"}, {Family::decoder_only, "decoder_"}})
    for (const auto& [positions, positions_name] : {std::pair{Positions::sinusoidal, "sinusoidal"},
                                                    {Positions::learned, "learned"},
                                                    {Positions::rotary, "rotary"},
                                                    {Positions::none, "none"}})
      for (const auto& [norm, norm_name] :
           {std::pair{NormPlacement::pre, "_pre"}, {NormPlacement::post, "_post"}})
        add(std::string(family_name) + positions_name + norm_name, family, positions, norm);
  auto variants = test::block_variants();
  variants["uniform"] = [](ModelConfig& c) {
    c.attention.decoder_self.uniform = c.attention.cross.uniform = true;
  };
  variants["unscaled"] = [](ModelConfig& c) {
    c.attention.decoder_self.scaled = c.attention.cross.scaled = false;
  };
  for (const auto& [name, change] : variants)
    add("encdec_" + name, Family::encoder_decoder, Positions::rotary, NormPlacement::pre, change);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, CachedDecoding, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace heed
