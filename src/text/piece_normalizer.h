// SentencePiece's own normalisers, by name. What one does is in a table ("precompiled charsmap")
// that the library writes into the models that it trains; models of others are read with the table
// of the library at hand, never with their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

inline constexpr std::string_view kIdentity = "identity";  // it has no table

// identity, nfkc, nmt_nfkc, nfkc_cf, nmt_nfkc_cf
const std::vector<std::string>& normalizers();
bool is_normalizer(std::string_view name);

// The table of one of them.
const std::string& normalizer_table(const std::string& name);

}  // namespace heed
