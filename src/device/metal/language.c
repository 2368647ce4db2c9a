/* Language features available to kernels, found by building empty kernels. */
#include "device/metal/metal.h"

#define NOTHING(body) "kernel void nothing(device int *p [[buffer(0)]]) { " body "p[0] = 0; }\n"
#define STANDARD "#include <metal_stdlib>\nusing namespace metal;\n"
#define MATRIX(a, c) "{ simdgroup_" a "8x8 a(0); simdgroup_" c "8x8 c(0); simdgroup_multiply_accumulate(c, a, a, c); } "

#define MATRICES MATRIX("half", "float") MATRIX("float", "float") MATRIX("bfloat", "float")
/* Metal 4: one simdgroup multiplies tensors in memory into a cooperative tensor (see
 * lib/gemm/tensor.kernel). */
#define TENSORS                                                                                                        \
    "#include <metal_stdlib>\n#include <metal_tensor>\n"                                                               \
    "#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\nusing namespace metal;\n"
#define TENSOR(element, data, sum)                                                                                     \
    "{ constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(16, 32, 16, false, true, false,"                        \
    " mpp::tensor_ops::matmul2d_descriptor::mode::multiply);"                                                          \
    " mpp::tensor_ops::matmul2d<d, execution_simdgroups<1>> o;"                                                        \
    " tensor<device " element ", dextents<int32_t, 2>, tensor_inline> t((device " data                                 \
    " *)p, dextents<int32_t, 2>(16, 32));"                                                                             \
    " auto s = o.get_destination_cooperative_tensor<decltype(t), decltype(t), " sum ">(); o.run(t, t, s);"             \
    " if (s.is_valid_element(0)) p[1] = (int)s[0] + s.get_multidimensional_index(0)[1]; } "
/* The same with cooperative tensors as factors (see lib/mma/instructions/fragment.kernel). */
#define FRAGMENTS                                                                                                      \
    "{ typedef mpp::tensor_ops::matmul2d<mpp::tensor_ops::matmul2d_descriptor(16, 32, 16, false, true, false,"         \
    " mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate), execution_simdgroups<1>> u;"                   \
    " typedef u::cooperative_tensor_left_input_t<half, half, float> l;"                                                \
    " typedef u::cooperative_tensor_right_input_t<half, half, float> r; l a; r b; a[0] = b[0] = 0;"                    \
    " u::cooperative_tensor_destination_t<l, r, float> c; c[0] = 0; u().run(a, b, c); p[2] = (int)c[0]; } "

/* The language depends on the GPU and the system: the first of these kernels that builds decides, among those that
 * the GPU's family supports. */
static const struct {
    long family; /* 0: any */
    unsigned has;
    const char *source;
} languages[] = {
    {AS_MTL_METAL4, AS_CAP_MATRIX | AS_CAP_BF16 | AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS | AS_CAP_TENSOR_FP8,
     TENSORS NOTHING(MATRICES TENSOR("half", "half", "float")
                         FRAGMENTS TENSOR("metal_fp8_e4m3_format", "uchar", "float"))},
    {AS_MTL_METAL4, AS_CAP_MATRIX | AS_CAP_BF16 | AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS,
     TENSORS NOTHING(MATRICES TENSOR("half", "half", "float") FRAGMENTS)},
    {AS_MTL_METAL4, AS_CAP_MATRIX | AS_CAP_BF16 | AS_CAP_TENSOR_OPS,
     TENSORS NOTHING(MATRICES TENSOR("half", "half", "float"))},
    {AS_MTL_APPLE7, AS_CAP_MATRIX | AS_CAP_BF16, STANDARD NOTHING(MATRICES)},
    {AS_MTL_APPLE7, AS_CAP_MATRIX, STANDARD NOTHING(MATRIX("half", "float") MATRIX("float", "float"))},
    {0, 0, NOTHING("")},
};
enum { LANGUAGES = sizeof languages / sizeof *languages };

/* The SIMD width is a property of pipelines, read from an empty one. */
static enum as_status try_language(struct as_mtl_device *d, size_t i, struct as_device_info *info, struct as_error *err)
{
    as_objc_id library = NULL, pipeline = NULL;
    enum as_status st = as_mtl_compile(d, "nothing", languages[i].source, &library, err);
    if (!st)
        st = as_mtl_pipeline(d, library, "nothing", "nothing", &pipeline, err);
    if (!st) {
        info->warp = (unsigned)AS_SEND(d->api, pipeline_lanes, pipeline);
        info->capabilities |= languages[i].has;
    }
    as_mtl_release(d->api, &pipeline);
    as_mtl_release(d->api, &library);
    return st;
}

/* Fails if there is no compiler. */
enum as_status as_mtl_fill_language(struct as_mtl_device *d, struct as_device_info *info, struct as_error *err)
{
    enum as_status st = AS_FAILED;
    for (size_t i = 0; i < LANGUAGES && st; i++)
        if (!languages[i].family || as_mtl_supports(d, languages[i].family))
            st = try_language(d, i, info, err);
    return st;
}
