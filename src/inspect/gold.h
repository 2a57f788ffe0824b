// Gold attention: files that say which source positions determine a target position, or which noun
// a pronoun refers to (formats: data/README.md), as links between the rows that a model reads.
//
// Pairs: row t of the decoder reads token t - 1 (<s> for t = 0) and predicts token t, so the gold
// of target token t is about query row t of cross-attention. A token has the gold of every unit
// (word or character) that it overlaps; tokens without gold are not scored. Pronouns: the query
// rows of self-attention read the pronoun's tokens, the key rows read the noun's. "mentions", if
// the file has them, are also right: earlier nouns of the same referent. The input is the story up
// to the pronoun, or as much of its end as fits.
//
// Every line is checked against its texts; a mismatch is an Error (Exit::data) that names file and
// line. The notes count what is left out (input too long, noun out of reach).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_object.h"
#include "inspect/attention_maps.h"
#include "text/tokenizers.h"

namespace heed {

struct GoldFiles {
  std::string gold;
  std::string source;     // lines; for pronouns: the text
  std::string target;     // lines; for pronouns: ""
  std::size_t limit = 0;  // use at most this many entries of the gold file; 0: all
};

struct GoldLink {
  int query;                    // this row
  std::vector<int> keys;        // should look at these rows: ascending, not empty
  std::vector<int> also_right;  // pronouns: all mentions in reach, ascending, `keys` included
};

struct GoldExample {
  Example input;
  std::vector<GoldLink> links;
  // Wrong answers of the right kind, visible to every link: the gold of other positions of the
  // line, or the nouns of other referents of the story.
  std::vector<std::vector<int>> distractors;
  void add_distractor(const std::vector<int>& rows);  // once
  int group = 0;  // line or story: examples of one group are not independent
};

// Have two ascending lists no row in common?
bool disjoint(const std::vector<int>& a, const std::vector<int>& b);

// The examples for one kind of attention.
struct GoldSet {
  AttentionKind kind;
  std::vector<GoldExample> examples;
  std::string group_name;          // "lines" or "stories"
  std::vector<std::string> notes;  // what was left out, what is unknown
};

// Pairs: one set. Pronouns: one set for each stack. Error (usage) if the file does not suit the
// model.
std::vector<GoldSet> read_gold(const GoldFiles& files, const RunConfig& config,
                               const Tokenizers& tokenizers);

// [begin, end), in bytes of a text or in tokens.
struct Span {
  std::size_t begin = 0, end = 0;
  bool operator==(const Span&) const = default;
  bool overlaps(const Span& o) const { return begin < o.end && o.begin < end; }
};

// A line of a gold file; an error names file and line.
class GoldLine : public JsonObject {
 public:
  // Line `number` (from 1) of `file`; must be a JSON object.
  GoldLine(const std::string& file, std::size_t number, const std::string& text);

  // A whole number of at least 0 and below `limit`.
  std::size_t index(const nlohmann::json& value, std::size_t limit, const char* what) const;
  const nlohmann::json& array(const nlohmann::json& value, const char* what) const;
  // [begin, end, ...] with begin < end <= limit.
  Span span(const nlohmann::json& value, std::size_t limit, const char* what) const;
};

// Where each character (code point) of a text begins, in bytes, then the end of the text.
std::vector<std::size_t> character_begins(std::string_view text);

}  // namespace heed
