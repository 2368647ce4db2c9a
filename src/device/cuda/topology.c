/* The machine tree of one CUDA device. */
#include "device/card.h"
#include "device/cuda/cuda.h"

enum as_status as_cu_topology(struct as_device *dev, struct as_buf *json, struct as_error *err)
{
    return as_card_topology(&dev->info, "SM", json, err);
}
