/* What the probe finds out of an allocator. */
#ifndef AS_PROBE_SHARING_ANSWERS_H
#define AS_PROBE_SHARING_ANSWERS_H

/* The value of a sample; the worse the larger. */
enum as_sharing_found {
    AS_SHARING_ONE_ADDRESS = 1,
    AS_SHARING_NO_ACCESS,
    AS_SHARING_OTHER_VALUE,
    AS_SHARING_READ_ONLY,
    AS_SHARING_ONE_WAY,
    AS_SHARING_FOUND_N,
};

#endif
