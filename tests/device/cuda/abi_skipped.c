/* Where the SDK is not installed, there is nothing to compare with. */
#include <stdio.h>

int main(void)
{
    puts("skipped: no cuda.h of CUDA 13 in the usual places");
    return 77;
}
