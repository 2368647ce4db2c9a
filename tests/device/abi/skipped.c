/* Without the headers there is nothing to compare. */
#include <stdio.h>

int main(void)
{
    puts("skipped: " WHY);
    return 77;
}
