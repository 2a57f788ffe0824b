#include "text/piece_tokenizer.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "base/std_names.h"
#include "text/utf8.h"

namespace heed {
namespace {

// Limits the memory of one call: the cache is cleared when it has this many words.
constexpr size_t kMaxCachedWords = 200'000;

// The end of the word that starts at text[begin], which is not a reserved character.
size_t word_end(string_view text, size_t begin) {
  size_t end = begin;
  if (text[end] == ' ') ++end;
  while (end < text.size() && text[end] != ' ' && reserved_length(text, end) == 0) {
    const size_t next = end + code_point_at(text, end).length;
    if (next - begin > PieceTokenizer::kMaxWordBytes) break;
    end = next;
  }
  return end;
}

}  // namespace

PieceTokenizer::PieceTokenizer(PieceModel model, const string& path)
    : Tokenizer(model.unigram ? TokenizerConfig::unigram : TokenizerConfig::bpe, model.specials),
      model_(std::move(model)),
      processor_(make_unique<sentencepiece::SentencePieceProcessor>()) {
  model_.charsmap = normalizer_table(model_.reading.normalizer);
  const auto status = processor_->LoadFromSerializedProto(serialize());
  if (!status.ok()) throw store_error("{}: SentencePiece rejects it: {}.", path, status.ToString());
  bytes_.resize(model_.first_byte_id());
  for (int byte = 0; byte < 256; ++byte) bytes_.emplace_back(1, static_cast<char>(byte));
  for (const auto& piece : model_.pieces)
    bytes_.push_back(replace_all(piece.text, kSpaceMark, " "));
}

PieceTokenizer::~PieceTokenizer() = default;

vector<int> PieceTokenizer::encode_word(string_view word) const {
  vector<int> ids;
  const auto status = processor_->Encode(word, &ids);
  string covered;
  for (const int id : ids) covered += bytes_[id];
  if (status.ok() && covered == word) return ids;
  ids.clear();  // SentencePiece changed the text: use bytes, which are exact
  for (const char byte : word) ids.push_back(byte_id(byte));
  return ids;
}

void PieceTokenizer::scan_lines(string_view text, const Sink& sink) const {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = min(text.find('\n', begin), text.size());
    const auto found = processor_->EncodeAsImmutableProto(text.substr(begin, end - begin));
    const auto pieces = found.pieces();
    for (size_t i = 0; i < pieces.size();) {
      // The bytes of a character are at its begin, but for the last one, which has all of it.
      size_t last = i;
      while (pieces[last].begin() == pieces[last].end() && last + 1 < pieces.size() &&
             is_byte(int(pieces[last].id())))
        ++last;
      size_t at = begin + pieces[last].begin();
      const bool bytes = is_byte(int(pieces[last].id())) &&
                         pieces[last].end() - pieces[last].begin() == last - i + 1;
      for (; i <= last; ++i, ++at) {
        const int id = int(pieces[i].id());
        if (bytes)
          sink({id, at, at + 1});
        else
          sink({id, begin + pieces[i].begin(), begin + pieces[i].end()});
      }
    }
    if (end < text.size()) sink({byte_id('\n'), end, end + 1});
    begin = end + 1;
  }
}

void PieceTokenizer::scan(string_view text, const Sink& sink) const {
  if (model_.by_line) return scan_lines(text, sink);
  std::unordered_map<string_view, vector<int>> cache;
  for (size_t at = 0; at < text.size();) {
    if (const int reserved = reserved_length(text, at)) {
      for (int i = 0; i < reserved; ++i, ++at) sink({byte_id(text[at]), at, at + 1});
      continue;
    }
    const size_t end = word_end(text, at);
    const string_view word = text.substr(at, end - at);
    auto found = cache.find(word);
    if (found == cache.end()) {
      if (cache.size() >= kMaxCachedWords) cache.clear();
      found = cache.emplace(word, encode_word(word)).first;
    }
    for (const int id : found->second) {
      const size_t next = at + bytes_[id].size();
      sink({id, at, next});
      at = next;
    }
  }
}

string PieceTokenizer::text_after(int previous, int id) const {
  const bool begins_line = previous < 0 || previous == byte_id('\n');
  const bool prefixed = model_.reading.add_dummy_prefix && begins_line;
  return prefixed && bytes_[id].starts_with(' ') ? bytes_[id].substr(1) : bytes_[id];
}

string PieceTokenizer::ordinary_piece(int id) const {
  if (id >= model_.first_piece_id())
    return printable(model_.pieces[id - model_.first_piece_id()].text);
  return byte_piece(id - model_.first_byte_id());
}

}  // namespace heed
