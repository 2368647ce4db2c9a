/* A libnvidia-ml that has nothing of it. */
__attribute__((visibility("default"))) int fake_nvml_without_functions;
