/* A library by the name of libamdhip64 in which nothing is of HIP. */
__attribute__((visibility("default"))) int not_hip(void);
int not_hip(void)
{
    return 0;
}
