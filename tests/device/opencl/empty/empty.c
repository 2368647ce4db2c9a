/* A library by the name of libOpenCL in which nothing is of OpenCL. */
__attribute__((visibility("default"))) int not_opencl(void);
int not_opencl(void)
{
    return 0;
}
