/* Counts of instructions, and identity of programs. */
#include "base/clock.h"
#include "base/text.h"
#include "device/device.h"

#include <string.h>

static struct as_instruction *find_instruction(struct as_instructions *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->list[i].name, name) == 0)
            return &list->list[i];
    return NULL;
}

void as_instructions_add(struct as_instructions *list, const char *name)
{
    struct as_instruction *found = find_instruction(list, name);
    if (!found && list->n >= AS_INSTRUCTIONS_MAX - 1)
        name = "others";
    if (!found && !(found = find_instruction(list, name))) {
        found = &list->list[list->n++];
        *found = (struct as_instruction){.n = 0};
        as_copy_text(found->name, sizeof found->name, name);
    }
    found->n++;
}

uint64_t as_instructions_of(const struct as_instructions *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->list[i].name, name) == 0)
            return list->list[i].n;
    return 0;
}

void as_device_note_code(struct as_device *dev, uint64_t source, uint64_t binary)
{
    struct as_code_identity *code = &dev->code;
    const uint64_t sources[] = {code->source, source}, binaries[] = {code->binary, binary};
    bool known = binary && (code->binary || code->programs == 0);
    code->source = as_hash(sources, sizeof sources);
    code->binary = known ? as_hash(binaries, sizeof binaries) : 0;
    code->programs++;
}

enum as_status as_kernel_count(struct as_device *dev, struct as_kernel *kernel, const char *operation, uint64_t *n,
                               struct as_error *err)
{
    struct as_error reason = {0};
    if (!(dev->info.capabilities & AS_CAP_CODE) || !dev->program->count)
        return as_fail(err, AS_UNSUPPORTED, AS_CODE_NOT_COUNTED);
    enum as_status st = dev->program->count(dev, kernel, operation, n, &reason);
    return st ? as_fail(err, st, "%s cannot be counted: %s", operation, reason.text) : AS_OK;
}
