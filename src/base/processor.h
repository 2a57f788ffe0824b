// Whether this processor can run the program, which is asked before anything else runs.
#pragma once

namespace heed {

// For .preinit_array, as its first function: a sentence and exit code 2 on a processor without
// AVX2, FMA and BMI2, if the program was built for x86-64-v3. The only file that is built for every
// x86-64. It calls nothing that another file may have compiled for newer ones.
void require_processor(int, char**, char**);

}  // namespace heed
