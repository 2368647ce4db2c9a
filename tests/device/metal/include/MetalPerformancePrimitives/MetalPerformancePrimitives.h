// As metal_tensor.
#if __METAL_VERSION__ < 400
#error "'MetalPerformancePrimitives.h' file not found"
#endif
#pragma msl include metal_primitives.h
