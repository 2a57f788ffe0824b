// Texts for tests: hard cases for tokenizers and random valid UTF-8.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "text/utf8.h"

namespace heed {

// A small text with enough repetition to learn from.
inline std::string training_text() {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "The old miller walked to the river, and the river was high.\n";
    text += "\"Where is the bridge?\" asked the miller; nobody (not one!) knew.\n";
    text += "Männer und Frauen gingen über die Brücke.\tZwölf Tage später: 3 Fische, 14 Vögel.\r\n";
  }
  return text;
}

inline std::vector<std::string> hard_texts() {
  return {"",
          " ",
          "   two  spaces   and more ",
          "\t tab \t\ttabs",
          "line\n\n\nlines\n",
          "\r\nwindows\r\nlines\r\n",
          std::string("a\0b\0\0 c", 8),
          "\xE2\x96\x81 lower one eighth block \xE2\x96\x81\xE2\x96\x81x",
          "a\xE2\x96\x85 \xE2\x96\x85 U+2585",
          "<s>the</s> <unk> [MASK] <0x0A> <0xE2><0x96>",
          "\xEF\xBF\xBD replacement, \xEF\xBB\xBF BOM, \xF4\x8F\xBF\xBF last",
          "e\xCC\x81 \xC2\xA0 \xE3\x80\x80 \xE2\x80\x8B zero width",
          "\\n \\t \\ <0x41> ##",
          std::string(5000, 'x'),
          std::string(3000, ' ') + "end"};
}

// Any code points but surrogates, with a taste for short and troublesome ones.
inline std::string random_text(std::mt19937& random, int length) {
  static const std::vector<char32_t> likely = {' ',    ' ',    'e',    't',  'h',     '\n',
                                               '\t',   '\r',   0,      '<',  's',     '>',
                                               0x2581, 0x2585, 0xFFFD, 0xE4, 0x1F600, 0x4E2D};
  std::string text;
  while (length-- > 0) {
    char32_t c = random() % 3 ? likely[random() % likely.size()] : random() % 0x110000;
    if (c >= 0xD800 && c <= 0xDFFF) c = 'a';
    text += encode_utf8(c);
  }
  return text;
}

}  // namespace heed
