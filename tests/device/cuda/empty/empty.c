/* A library by the name of libcuda in which nothing is of CUDA. */
__attribute__((visibility("default"))) int not_cuda(void);
int not_cuda(void)
{
    return 0;
}
