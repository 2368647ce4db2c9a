/* Where the instructions of a function start. Fixed-length instructions start at every fourth byte. x86-64 has variable
 * lengths, so the CPU runs in single-step mode and the trap addresses are recorded. */
#include "codegen.h"

#include "os/process.h"

#include <signal.h>
#include <string.h>

#if defined(__x86_64__)

enum { TRAP_FLAG = 0x100 };

static struct {
    const unsigned char *start;
    size_t bytes;
    unsigned char *marks;
    size_t seen;
} stepping;

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    uintptr_t at = as_signal_address(context) - (uintptr_t)stepping.start;
    if (at >= stepping.bytes)
        return;
    stepping.marks[at] = 1;
    stepping.seen++;
}

static enum as_status step_through(const struct codegen_native *f, union codegen_data *d, unsigned char *marks,
                                   struct as_error *err)
{
    struct sigaction now = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO}, before;
    union codegen_data warm = *d;
    sigset_t trap, mask;
    f->run(&warm); /* lazy binding resolves the call target */
    stepping.start = f->start;
    stepping.bytes = (size_t)(f->stop - f->start);
    stepping.marks = marks;
    stepping.seen = 0;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    if (sigaction(SIGTRAP, &now, &before) || pthread_sigmask(SIG_UNBLOCK, &trap, &mask))
        return as_fail(err, AS_UNSUPPORTED, "single-step mode is unavailable: no signal handler can be set");
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
    f->run(d);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(unsigned long long)TRAP_FLAG);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    (void)sigaction(SIGTRAP, &before, NULL);
    return stepping.seen ? AS_OK : as_fail(err, AS_UNSUPPORTED, "the system does not deliver single-step traps");
}

#elif defined(__aarch64__)

static enum as_status step_through(const struct codegen_native *f, union codegen_data *d, unsigned char *marks,
                                   struct as_error *err)
{
    (void)err;
    for (size_t at = 0; at + 4 <= (size_t)(f->stop - f->start); at += 4)
        marks[at] = 1;
    f->run(d);
    return AS_OK;
}

#else

static enum as_status step_through(const struct codegen_native *f, union codegen_data *d, unsigned char *marks,
                                   struct as_error *err)
{
    (void)f, (void)d, (void)marks;
    return as_fail(err, AS_UNSUPPORTED, "the instructions of this CPU architecture cannot be decoded");
}

#endif

enum as_status as_codegen_walk(const struct codegen_native *f, union codegen_data *d,
                               unsigned char marks[CODEGEN_CODE_MAX], struct as_error *err)
{
    if (f->stop <= f->start || f->stop - f->start > CODEGEN_CODE_MAX)
        return as_fail(err, AS_UNSUPPORTED, "the function has %td bytes of code, more than the limit of %d",
                       f->stop - f->start, (int)CODEGEN_CODE_MAX);
    memset(marks, 0, CODEGEN_CODE_MAX);
    return step_through(f, d, marks, err);
}
