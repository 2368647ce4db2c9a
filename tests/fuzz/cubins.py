"""Makes the seeds of fuzz_cubin that a real compiler wrote: cubins.py LIBNVRTC FOLDER. Small kernels keep them small."""
import ctypes
import os
import sys

MEMORY = b"""extern "C" __global__ void k(const float4 *a, float4 *b, unsigned n) {
    __shared__ float s[64];
    float4 v = a[threadIdx.x];
    s[threadIdx.x] = v.x;
    __syncthreads();
    for (unsigned i = 0; i < n; i++) { v.x = v.x * v.y + s[(threadIdx.x + i) & 63]; atomicAdd((float *)b, v.x); }
    b[threadIdx.x] = v;
}
"""
TWO = b"""extern "C" __global__ void k(const unsigned *a, unsigned *b) { b[threadIdx.x] = a[b[threadIdx.x]]; }
extern "C" __global__ void another_kernel_with_a_longer_name(double *a) { a[threadIdx.x] *= a[0] + 1; }
"""
SEEDS = (("sm_80", MEMORY, b"sm_80"), ("sm_90", MEMORY, b"sm_90"), ("two_kernels", TWO, b"sm_90"))


def must(code, call):
    if code:
        sys.exit(f"{call}: error {code}")


def compiled(nvrtc, source, arch):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    must(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None), "nvrtcCreateProgram")
    must(nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"-arch=" + arch)), "nvrtcCompileProgram")
    must(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
    cubin = ctypes.create_string_buffer(size.value)
    must(nvrtc.nvrtcGetCUBIN(program, cubin), "nvrtcGetCUBIN")
    return cubin.raw


def main():
    nvrtc = ctypes.CDLL(sys.argv[1])
    for name, source, arch in SEEDS:
        with open(os.path.join(sys.argv[2], name), "wb") as f:
            f.write(compiled(nvrtc, source, arch))


main()
