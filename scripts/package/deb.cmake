# What cpack makes of the installed files (scripts/package.sh).
set(CPACK_PACKAGE_NAME heed)
set(CPACK_PACKAGE_VENDOR heed)
set(CPACK_TOPLEVEL_TAG deb)
set(CPACK_PACKAGE_FILE_NAME heed)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trainer of small transformers that shows what they learn")
set(CPACK_PACKAGE_DESCRIPTION
"Trains small transformers (like GPT, BERT, T5, and translation) on texts of
one's own, on a CPU, from the command line, and shows what they learn: where
heads look, what they are worth, and why a word was written. A config gives
the same bytes with any number of threads. For students and researchers who
want to see inside a model. Needs a processor with AVX2 (x86-64-v3).")
