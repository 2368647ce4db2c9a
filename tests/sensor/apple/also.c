/* A library found under another name, which provides the stand-in's functions. */
#include "fake.h"

__attribute__((visibility("default"))) int fake_also(void);
int fake_also(void)
{
    return fake_live();
}
