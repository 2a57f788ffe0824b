// A config file. What is accepted is complete: its dump gives the same config.
#include "data/run_config.h"
#include "fuzz.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string dump = dump_config(parse_config(view(data, size), "config.json"));
    try {
      expect(dump_config(parse_config(dump, "dump")) == dump);
    } catch (const Error&) {
      expect(false);
    }
  } catch (const Error&) {
  }
  return 0;
}
