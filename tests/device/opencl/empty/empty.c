/* A library named libOpenCL without any OpenCL function. */
__attribute__((visibility("default"))) int not_opencl(void);
int not_opencl(void)
{
    return 0;
}
