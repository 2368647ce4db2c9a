/* Between the host's words of the dialect and a program's source, in the C++ that the stand-in's compiler makes a
 * library of: kernels get their place from an item that the stand-in sets for each thread, and can be called by a
 * table. AS_KERNEL_NAMES lists what the source might define, some of it not with the options at hand. */
#undef KERNEL
#undef LOCAL
#undef THREAD
#undef THREADS
#undef GROUP
#undef GROUPS
#undef BARRIER
#undef HAVE_CYCLES
#define KERNEL(name) extern "C" void name
#define LOCAL static thread_local
#define HAVE_LOCAL_DYNAMIC 1
#define LOCAL_DYNAMIC(type, name) type *name = (type *)fake_dynamic

struct fake_item {
    uint32_t thread, threads, group, workgroups;
    void (*barrier)(void);
    double step_ns; /* of a chase, 0: as long as it takes */
    u32 loses;      /* additions */
};
static thread_local const fake_item *fake_at;
alignas(64) static thread_local unsigned char fake_dynamic[65536];
extern "C" __attribute__((visibility("default"))) const fake_item **fake_current(void)
{
    return &fake_at;
}
#define THREAD (fake_at->thread)
#define THREADS (fake_at->threads)
#define GROUP (fake_at->group)
#define GROUPS (fake_at->workgroups)
#define BARRIER() (fake_at->barrier())

/* A clock of 1.5 GHz. */
static u64 fake_nanos(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}
#define HAVE_NANOS 1
#define NANOS() fake_nanos()
#define HAVE_CYCLES 1
#define CYCLES() (fake_nanos() * 3 / 2)

/* ---- what is planted; see planted.c ---- */

/* Steps wait for a clock that runs ahead by each step's time, so that what the host takes for one does not add up; one
 * that is far behind starts anew: a chase that was interrupted does not hurry. */
static thread_local double fake_due;
static u64 fake_follow(u64 at)
{
    const u64 next = *(const volatile u64 *)at;
    if (fake_at->step_ns == 0)
        return next;
    double now = (double)fake_nanos();
    fake_due = (fake_due < now - 2e3 ? now : fake_due) + fake_at->step_ns;
    while (now < fake_due)
        now = (double)fake_nanos();
    return next;
}
#undef FOLLOW
#define FOLLOW(a) fake_follow(a)

static bool fake_loses(void)
{
    static thread_local u32 additions;
    return fake_at->loses && ++additions % 1024 == 0;
}
#undef ATOMIC_ADD_U64
#define ATOMIC_ADD_U64(p, v, order, scope) (fake_loses() ? *(p) : __atomic_fetch_add(p, v, order))

/* ---- the table ---- */

struct fake_entry {
    const char *name;
    void (*function)(void);
    void (*call)(void (*function)(void), void **arguments);
    unsigned count;
    const unsigned *sizes;
};
struct fake_none {
};
template <class T, T... I> struct fake_numbers {
};
template <class... A, unsigned... I>
static void fake_apply(void (*f)(A...), void **arguments, fake_numbers<unsigned, I...>)
{
    f(*(A *)arguments[I]...);
}
template <class... A> static void fake_call(void (*f)(void), void **arguments)
{
    fake_apply((void (*)(A...))f, arguments, __make_integer_seq<fake_numbers, unsigned, sizeof...(A)>());
}
template <class... A> struct fake_sizes {
    static constexpr unsigned of[] = {sizeof(A)..., 0};
};
template <class... A> static fake_entry fake_describe(const char *name, void (*f)(A...))
{
    return {name, (void (*)(void))f, fake_call<A...>, sizeof...(A), fake_sizes<A...>::of};
}
static fake_entry fake_describe(const char *, fake_none)
{
    return {"", nullptr, nullptr, 0, nullptr};
}

/* A name that the source does not define is this one. */
#define FAKE_NONE(name) static fake_none name;
#define FAKE_ENTRY(name) fake_describe(#name, name),
#define FAKE_TABLE                                                                                                     \
    extern "C" __attribute__((visibility("default")))                                                                  \
    const fake_entry fake_table[] = {AS_KERNEL_NAMES(FAKE_ENTRY){nullptr, nullptr, nullptr, 0, nullptr}};
