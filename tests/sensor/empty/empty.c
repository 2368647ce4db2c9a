/* A libnvidia-ml without any of its functions. */
__attribute__((visibility("default"))) int fake_nvml_without_functions;
