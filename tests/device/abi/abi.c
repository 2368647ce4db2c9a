/* Our declarations of a library without its headers equal those of the headers. LEAST: minimum number of facts
 * compared. */
#include "abi.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    int wrong = 0, n = 0;
    for (size_t i = 0; abi_ours[i].name; i++, n++) {
        if (abi_sdk[i].name && strcmp(abi_ours[i].name, abi_sdk[i].name) == 0 && abi_ours[i].value == abi_sdk[i].value)
            continue;
        printf("%s is %lld here and %lld in the headers\n", abi_ours[i].name, abi_ours[i].value, abi_sdk[i].value);
        wrong++;
    }
    for (size_t i = 0; abi_functions[i].name; i++, n++)
        if (!abi_functions[i].value) {
            printf("%s has other parameters in the headers\n", abi_functions[i].name);
            wrong++;
        }
    printf("%d of %d agree\n", n - wrong, n);
    return wrong != 0 || n < LEAST;
}
