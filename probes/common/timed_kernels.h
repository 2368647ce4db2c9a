/* Device code that self-timing kernels share, in the dialect; timed.c puts it in front of theirs. */
#define AS_TIMED_KERNELS                                                                                               \
    "#if HAVE_CYCLES\n"                                                                                                \
    "#define CYCLES_NOW() CYCLES()\n"                                                                                  \
    "#define HAS_CYCLES 1u\n"                                                                                          \
    "#else\n"                                                                                                          \
    "#define CYCLES_NOW() 0\n"                                                                                         \
    "#define HAS_CYCLES 0u\n"                                                                                          \
    "#endif\n"                                                                                                         \
    "#if HAVE_NANOS\n"                                                                                                 \
    "#define NANOS_NOW() NANOS()\n"                                                                                    \
    "#define HAS_NANOS 2u\n"                                                                                           \
    "#else\n"                                                                                                          \
    "#define NANOS_NOW() 0\n"                                                                                          \
    "#define HAS_NANOS 0u\n"                                                                                           \
    "#endif\n"                                                                                                         \
    "#if HAVE_UNIT\n"                                                                                                  \
    "#define UNIT_NOW() (1u + UNIT())\n"                                                                               \
    "#define HAS_UNIT 4u\n"                                                                                            \
    "#else\n"                                                                                                          \
    "#define UNIT_NOW() 0u\n"                                                                                          \
    "#define HAS_UNIT 0u\n"                                                                                            \
    "#endif\n"                                                                                                         \
    "#if HAVE_LOCAL_DYNAMIC\n"                                                                                         \
    "#define HAS_LOCAL 8u\n"                                                                                           \
    "#else\n"                                                                                                          \
    "#define HAS_LOCAL 0u\n"                                                                                           \
    "#endif\n"                                                                                                         \
    "FUNCTION void timed_record(GLOBAL u64 *r, u64 value, u64 c0, u64 c1, u64 n0, u64 n1)\n"                           \
    "{\n"                                                                                                              \
    "    r[0] = value;\n"                                                                                              \
    "    r[1] = c1 - c0;\n"                                                                                            \
    "    r[2] = n1 - n0;\n"                                                                                            \
    "    r[3] = UNIT_NOW();\n"                                                                                         \
    "    r[4] = HAS_CYCLES | HAS_NANOS | HAS_UNIT | HAS_LOCAL;\n"                                                      \
    "    r[5] = c0;\n"                                                                                                 \
    "    r[6] = c1;\n"                                                                                                 \
    "}\n"
