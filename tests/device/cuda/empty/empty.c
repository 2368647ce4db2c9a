/* A library named libcuda without any CUDA function. */
__attribute__((visibility("default"))) int not_cuda(void);
int not_cuda(void)
{
    return 0;
}
