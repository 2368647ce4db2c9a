/* The library that a program finds by another name: what is in it is the stand-in's. */
#include "fake.h"

__attribute__((visibility("default"))) int fake_also(void);
int fake_also(void)
{
    return fake_live();
}
