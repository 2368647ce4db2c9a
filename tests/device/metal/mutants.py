"""Faults planted in the Metal backend, one at a time; the tests on the stand-in have to see each.

mutants.py BUILD [NUMBER...]: BUILD is a folder that meson has set up and ninja has built. It takes minutes, so that no
suite runs it."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
import planted_faults  # noqa: E402  (in tests/)

TESTS = ("conformance_metal", "metal_run", "metal_open", "metal_matrix", "metal_products")
# File, text, what it becomes.
MUTANTS = (
    ("queue.c", "as_mtl_buffer(a->u.memory), 0, i)", "as_mtl_buffer(a->u.memory), 0, i + 1)"),
    ("queue.c", "a->kind == AS_ARG_U64 ? 8 : 4, i)", "4, i)"),
    ("queue.c", "((struct as_mtl_size){l->workgroups, 1, 1})", "((struct as_mtl_size){l->workgroup_size, 1, 1})"),
    ("queue.c", "((struct as_mtl_size){l->workgroups, 1, 1})", "((struct as_mtl_size){1, 1, l->workgroups})"),
    ("queue.c", "    AS_SEND_WITH(m, set_pipeline, encoder, l->kernel->pipeline);\n", ""),
    ("queue.c", "    AS_SEND(m, end_encoding, encoder);\n", ""),
    ("queue.c", "i < n; i++)\n        AS_SEND_WITH(m, dispatch", "i <= n; i++)\n        AS_SEND_WITH(m, dispatch"),
    ("queue.c", "        done += n;\n", "        done += DISPATCHES_MAX + 1;\n"),
    ("queue.c", "        d->api->pool_pop(pool);\n", ""),
    ("queue.c", "l->workgroup_size > most", "l->workgroup_size > 1024"),
    ("queue.c", "metal_put_all(d, q, launch, NULL, err)", "metal_put_all(d, &d->queue, launch, NULL, err)"),
    ("commands.c", "AS_SEND(d->api, retain, commands)", "commands"),
    ("commands.c", "    as_mtl_release(m, &commands);\n", ""),
    ("commands.c", "    AS_SEND(d->api, commit, commands);\n", ""),
    ("commands.c", "q->n == AS_MTL_OUTSTANDING", "false"),
    ("commands.c", "(q->first + 1) % AS_MTL_OUTSTANDING", "(q->first + 1)"),
    ("commands.c", "        AS_SEND(m, wait, commands);\n", "        (void)0;\n"),
    ("commands.c", "    return st;\n}\n\nenum as_status as_mtl_begin", "    return AS_OK;\n}\n\nenum as_status as_mtl_begin"),
    ("commands.c", "t->end > t->start ?", "true ?"),
    ("commands.c", "        st = st ? st : one;\n    }", "        st = one;\n    }"),
    ("commands.c", "end > t->end ? end", "end < t->end ? end"),
    ("errors.c", "!= AS_MTL_ERROR)", "== 77)"),
    ("errors.c", "code == AS_MTL_ERROR_ACCESS_REVOKED || ", ""),
    ("errors.c", "code == AS_MTL_ERROR_OUT_OF_MEMORY ? AS_NOMEM", "code == 9 ? AS_NOMEM"),
    ("memory.c", "bytes = (bytes + page - 1) / page * page;", ";"),
    ("memory.c", "{\"MTLStorageModePrivate\", PRIVATE, AS_MTL_PRIVATE}", "{\"MTLStorageModePrivate\", PRIVATE, AS_MTL_SHARED}"),
    ("memory.c", "    as_mtl_release(m, &staging);\n", ""),
    ("memory.c", "blit(d, staging, 0, b->buffer, offset + done, part, err)", "blit(d, staging, 0, b->buffer, offset, part, err)"),
    ("memory.c", "managed && to ? blit", "false ? blit"),
    ("memory.c", "    if (managed && from)\n", "    if (false)\n"),
    ("memory.c", "    as_mtl_release(d->api, &b->buffer);\n", ""),
    ("memory.c", "        AS_SEND_WITH(d->api, modified, b->buffer, ((struct as_ns_range){0, mem->bytes}));\n", "        (void)0;\n"),
    ("program.c", "AS_MTL_MATH_MODE_SAFE", "1"),
    ("program.c", "AS_SEND_WITH(m, fast_math, o, 0)", "AS_SEND_WITH(m, fast_math, o, 1)"),
    ("program.c", "o && as_mtl_responds(m, o, m->math_mode.sel)", "o"),
    ("program.c", "    as_mtl_release(m, &o);\n", ""),
    ("program.c", "    as_mtl_release(m, &f);\n", ""),
    ("program.c", "word < n ? at + word + 1 : \"1\"", "\"1\""),
    ("program.c", "if ((*out)->key == key)", "if ((*out)->key != key)"),
    ("program.c", "= AS_SEND(d->api, pipeline_memory,", "= AS_SEND(d->api, pipeline_lanes,"),
    ("program.c", "(unsigned)AS_SEND(d->api, pipeline_threads, kernel->pipeline)", "1024"),
    ("info.c", "as_mtl_supports(d, FIRST) && ", ""),
    ("info.c", " && !as_mtl_supports(d, LAST + 1)", ""),
    ("info.c", "    info->unit_fma = unit_fma(d);\n", ""),
    ("info.c", "    info->unit_threads_published = metal_info_unit_threads(d);\n", ""),
    ("copy.c", "encoder, c->from, 0, c->to, 0, bytes", "encoder, c->to, 0, c->from, 0, bytes"),
    ("copy.c", "    st = metal_copy_run(d, courses, copy->back_to ? 2 : 1", "    st = metal_copy_run(d, courses, 1"),
    ("queues.c", "queue <= d->more_n", "queue < d->more_n"),
    ("queues.c", "    if (urgent)\n", "    if (false)\n"),
    ("backend.c", "AS_SEND(m, retain, AS_SEND_WITH(m, object_at, b->devices, index))", "AS_SEND_WITH(m, object_at, b->devices, index)"),
    ("backend.c", "    as_mtl_release(&b->api, &b->devices);\n", ""),
    ("backend.c", "    as_mtl_release(d->api, &d->device);\n", ""),
    ("backend.c", "    as_mtl_forget_programs(d);\n", ""),
    ("cores.c", "    as_mtl_release(m, &number);\n", ""),
    ("cores.c", "n > 0 && n < 4096", "true"),
    ("info.c", "d->total > used ? d->total - used : 0", "d->total"),
    ("info.c", "long f = AS_MTL_APPLE_LAST", "long f = AS_MTL_APPLE1 + 7"),
    ("api.c", "\"objc_msgSend_stret\"", "\"objc_msgSend\""),
    ("messages.h", "    as_ns_uinteger width, height, depth;", "    unsigned width, height, depth;"),
    ("messages.h", "    as_ns_uinteger location, length;", "    unsigned location, length;"),
    ("messages.h", "\"setBytes:length:atIndex:\"", "\"setBytes:atIndex:length:\""),
    ("language.c", "!languages[i].family || ", "true || "),
    ("language.c", "AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS | AS_CAP_TENSOR_FP8,", "AS_CAP_TENSOR_OPS | AS_CAP_TENSOR_FRAGMENTS,"),
    ("language.c", "\"float\") FRAGMENTS)}", "\"float\"))}"),
    ("language.c", "info->capabilities |= languages[i].has", "info->capabilities = languages[i].has"),
    ("language.c", "    as_mtl_release(d->api, &pipeline);\n", ""),
    ("language.c", "    as_mtl_release(d->api, &library);\n", ""),
    ("language.c", "MATRIX(\"bfloat\", \"float\")", ""),
    ("mps.c", "desc->k, 1.0, 0.0)", "desc->k, 0.0, 1.0)"),
    ("mps.c", "desc->m, desc->n, desc->k, 1.0", "desc->n, desc->m, desc->k, 1.0"),
    ("mps.c", "(as_objc_bool)desc->a_transposed,", "(as_objc_bool)desc->b_transposed,"),
    ("mps.c", "desc->b_transposed ? desc->n : desc->k", "desc->b_transposed ? desc->k : desc->n"),
    ("mps.c", "columns * t->bytes", "rows * t->bytes"),
    ("mps.c", "{\"f16\", 2, 0x10000000u | 16}", "{\"f16\", 2, 0x10000000u | 32}"),
    ("mps.c", "commands, g->matrices[0], g->matrices[1],", "commands, g->matrices[1], g->matrices[0],"),
    ("mps.c", "    as_mtl_release(d->api, &g->gemm);\n", ""),
    ("mps.c", "i < MATRICES; i++)\n        as_mtl_release", "i < MATRICES - 1; i++)\n        as_mtl_release"),
    ("mps.c", "supports(d->device) ? AS_OK", "true ? AS_OK"),
    ("mps.c", "    if (!st)\n        as_mtl_commit(d, &d->queue, commands);\n", ""),
    ("mps.c", "    d->api->pool_pop(pool);\n    return st;\n}\n\nstatic enum as_status mps_gemm_run",
     "    return st;\n}\n\nstatic enum as_status mps_gemm_run"),
    ("mps.c", "    st = st ? st : end;\n", ""),
    ("mps.c", "    if (st)\n        mps_gemm_destroy(dev, g);\n    else\n", "    if (!st)\n"),
    ("messages.h", "transposeLeft:transposeRight:", "transposeRight:transposeLeft:"),
    ("messages.h", "as_ns_uinteger, double, double", "as_ns_uinteger, float, float"),
    ("messages.h", "columns:rowBytes:dataType:", "columns:dataType:rowBytes:"),
    ("language.c", "for (size_t i = 0; i < LANGUAGES && st; i++)", "for (size_t i = LANGUAGES - 1; i < LANGUAGES && st; i++)"),
)


def environment(build):
    return {"LD_LIBRARY_PATH": os.path.join(build, "tests/device/metal/fake"), "ASSAY_MSL_FOLDER": HERE}


if __name__ == "__main__":
    planted_faults.main("src/device/metal", [f"tests/device/metal/{t}" for t in TESTS], MUTANTS, environment)
