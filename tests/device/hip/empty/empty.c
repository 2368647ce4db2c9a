/* A library named libamdhip64 without any HIP function. */
__attribute__((visibility("default"))) int not_hip(void);
int not_hip(void)
{
    return 0;
}
