/* Readers: whatever an import accepts is sound, every reader accepts it and writes plain text, and readers of a
 * store with undetected false data end with one of assay's exit codes. */
#include "forged.h"

#include "base/utf8.h"
#include "cli/commands/commands.h"
#include "model/gates.h"
#include "plan/plan.h"
#include "store/store.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static char path[64], page[64], text_file[64];
static int captured = -1;
static FILE *real_stderr;

static void remove_files(void)
{
    char journal[80];
    snprintf(journal, sizeof journal, "%s-journal", path);
    unlink(path);
    unlink(journal);
    unlink(page);
    unlink(text_file);
}

static void begin(void)
{
    const char *folder = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    snprintf(path, sizeof path, "%s/assay-readers-%ld.db", folder, (long)getpid());
    snprintf(page, sizeof page, "%s/assay-readers-%ld.html", folder, (long)getpid());
    snprintf(text_file, sizeof text_file, "%s/assay-readers-%ld.json", folder, (long)getpid());
    captured = memfd_create("stdout", 0);
    real_stderr = stderr;
    fuzz_require(captured >= 0, "no memory file");
    setenv("LC_ALL", "C.UTF-8", 1);
    atexit(remove_files);
}

/* ---- what readers may write ---- */

/* Lines of plain UTF-8; a page may have tabs, and CSV has its own line ends. */
static void check_plain(const char *text, size_t n, const char *what)
{
    for (size_t at = 0; at < n;) {
        uint32_t cp = 0;
        const size_t step = as_utf8_decode(text + at, n - at, &cp);
        if (!step || (as_utf8_is_control(cp) && cp != '\n' && cp != '\t' && cp != '\r')) {
            fprintf(real_stderr, "%s: byte %zu: %.60s\n", what, at, text + (at > 30 ? at - 30 : 0));
            fuzz_require(0, "what is written is no plain UTF-8");
        }
        at += step;
    }
}

static void check_json(const char *text, size_t n)
{
    json_error_t why;
    for (size_t at = 0; at < n;) {
        json_t *j = json_loadb(text + at, n - at, JSON_DISABLE_EOF_CHECK, &why);
        if (!j)
            fprintf(real_stderr, "%s\n", why.text);
        fuzz_require(j != NULL, "what is written is no JSON");
        json_decref(j);
        at += (size_t)why.position;
        while (at < n && text[at] == '\n')
            at++;
    }
}

static bool is_number_end(char c)
{
    return strchr(" ,.\"MHVLCSQTAZ()%;", c) != NULL;
}

/* In a picture, an invalid number hides or misplaces parts. */
static void check_pictures(const char *html)
{
    for (const char *svg = strstr(html, "<svg"); svg; svg = strstr(svg + 4, "<svg")) {
        const char *end = strstr(svg, "</svg>");
        for (const char *tag = svg; tag && tag < end; tag = strchr(tag + 1, '<')) {
            const size_t n = strcspn(tag, ">");
            for (size_t i = 1; i + 3 < n; i++)
                if ((memcmp(tag + i, "nan", 3) == 0 || memcmp(tag + i, "inf", 3) == 0) &&
                    (is_number_end(tag[i - 1]) || tag[i - 1] == '-') && is_number_end(tag[i + 3])) {
                    fprintf(real_stderr, "%.*s\n", (int)(n < 300 ? n : 300), tag);
                    fuzz_require(0, "a picture has a number that is none");
                }
        }
    }
}

static void check_output(const char *command, bool json)
{
    const off_t n = lseek(captured, 0, SEEK_END);
    char *text = n > 0 ? mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, captured, 0) : NULL;
    if (n <= 0)
        return;
    fuzz_require(text != MAP_FAILED, "no memory");
    check_plain(text, (size_t)n, command);
    if (json)
        check_json(text, (size_t)n);
    munmap(text, (size_t)n);
}

/* ---- running them ---- */

/* The exit code of a command line; P stands for the page, S for the store. */
static int run_line(const char *line)
{
    static char program[] = "assay";
    char words[256], *argv[16] = {program}, *said = NULL;
    size_t said_n = 0;
    int argc = 1, out = dup(STDOUT_FILENO);
    snprintf(words, sizeof words, "%s --store S", line);
    for (char *word = strtok(words, " "); word && argc < 15; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "P") == 0 ? page : strcmp(word, "S") == 0 ? path : word;
    const struct as_command *command = as_command_find(argv[1]);
    struct as_args args = {0};
    struct as_error err = {0};
    fuzz_require(command && as_args_parse(command, argc, argv, 2, &args, &err) == AS_OK, "no such command");
    fuzz_require(ftruncate(captured, 0) == 0 && lseek(captured, 0, SEEK_SET) == 0, "no memory file");
    fflush(stdout);
    stderr = open_memstream(&said, &said_n);
    dup2(captured, STDOUT_FILENO);
    const int code = command->run(command, &args);
    dup2(out, STDOUT_FILENO);
    close(out);
    fclose(stderr);
    stderr = real_stderr;
    as_args_finish(&args);
    check_plain(said, said_n, line);
    if (code != AS_EXIT_OK && getenv("FUZZ_TELL"))
        fprintf(stderr, "%s: %d: %s", line, code, said);
    check_output(line, strstr(line, "--json") || strcmp(line, "export") == 0);
    free(said);
    fuzz_require(code >= AS_EXIT_OK && code <= AS_EXIT_NOTHING, "an exit code that there is not");
    return code;
}

static void check_page(void)
{
    struct as_buf text = AS_BUF_INIT;
    struct as_error err;
    if (as_buf_read_file(&text, page, 64 << 20, &err) == AS_OK) {
        check_plain(as_buf_get(&text), text.len, "page");
        check_pictures(as_buf_get(&text));
    }
    as_buf_finish(&text);
    unlink(page);
}

static const char *const commands[] = {
    "show",
    "show --all",
    "show --json --all",
    "facts",
    "facts --all",
    "facts --json",
    "facts --refs mi300a",
    "show --refs h100",
    "advise",
    "advise --json",
    "report -o P",
    "export",
    "export --format csv",
    "export --format sheet",
    "export --format header",
    "list runs",
    "list runs --json",
    "compare 1 1",
    "compare 1 1 --check 5%",
    "compare 1 1 --json",
    "explain 1",
    "explain 2",
};

/* Runs the commands in mask, 0: all. sound: an import has accepted it, so all commands must. */
static void read_all(unsigned mask, bool sound)
{
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (mask && !(mask >> i % 8 & 1))
            continue;
        const int code = run_line(commands[i]);
        const bool may_fail = strncmp(commands[i], "explain", 7) == 0 || strncmp(commands[i], "compare", 7) == 0;
        if (sound && code != AS_EXIT_OK && !may_fail) {
            fprintf(stderr, "%s: exit %d\n", commands[i], code);
            fuzz_require(0, "what an import accepted cannot be read");
        }
        if (strncmp(commands[i], "report", 6) == 0)
            check_page();
    }
}

static void check_plan(const struct as_cell *cells, size_t n, const json_t *device)
{
    char *text = json_dumps(device, JSON_COMPACT | JSON_ENCODE_ANY);
    struct as_device_info info;
    struct as_error err = {0};
    const bool good = as_info_from_json(text, &info, &err) == AS_OK;
    for (size_t i = 0; good && i < n; i++) {
        err = (struct as_error){0};
        if (as_plan_check_cell(&cells[i], &info, &err))
            fuzz_require(err.text[0] != 0, "refused without a reason");
    }
    free(text);
}

static void judge_again(struct as_store *store, const struct as_run *run, struct as_cell *cell)
{
    struct as_trials trials = {0};
    struct as_error err;
    struct as_judge judge = {.trials_asked = run->trials, .reference_hz = NAN};
    const struct as_judge_context context = {.largest_cache = 1 << 20, .memory_least = 4 << 20};
    if (as_store_trials(store, run->id, cell->id, &trials.v, &trials.n, &err))
        return;
    fuzz_require(as_judge_learn(&judge, cell, &trials, 1, &err) == AS_OK &&
                     as_judge_cell(&judge, cell, &trials, &context, &err) == AS_OK,
                 "a cell cannot be judged");
    as_trials_finish(&trials);
    as_judge_finish(&judge);
}

/* What a resumed or replayed run does with stored cells before it uses a worker. */
static void plan_all(void)
{
    struct as_store *store;
    struct as_error err;
    struct as_run run = {0};
    struct as_cell *cells = NULL;
    size_t n = 0;
    if (as_store_open(path, AS_STORE_READ, &store, &err))
        return;
    json_t *devices =
        as_store_run(store, NULL, &run, &err) ? NULL : json_loads(run.devices ? run.devices : "", 0, NULL);
    if (as_store_cells(store, &(struct as_cell_filter){.run_id = run.id, .hidden = 1}, &cells, &n, &err))
        n = 0;
    for (size_t d = 0; d < json_array_size(devices); d++)
        check_plan(cells, n, json_array_get(devices, d));
    for (size_t i = 0; i < n; i++)
        judge_again(store, &run, &cells[i]);
    as_cells_free(cells, n);
    json_decref(devices);
    as_run_finish(&run);
    as_store_close(store);
}

/* Whether it is accepted. */
static bool import(const json_t *root)
{
    struct as_store *store = NULL;
    struct as_error err = {0};
    int64_t id = 0;
    char *text = json_dumps(root, JSON_COMPACT);
    if (!text) /* text that JSON cannot represent */
        return false;
    if (as_store_open(path, AS_STORE_WRITE, &store, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    const enum as_status st = as_store_import_json(store, text, strlen(text), &id, &err);
    free(text);
    if (st)
        fuzz_require(err.text[0] != 0 && err.code == st && id == 0, "refused without a reason");
    else if (as_store_verify(store, &err)) {
        fprintf(stderr, "%s\n", err.text);
        fuzz_require(0, "the store is not in order after an import");
    }
    if (st && getenv("FUZZ_TELL"))
        fprintf(stderr, "%s\n", err.text);
    as_store_close(store);
    return st == AS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    if (captured < 0)
        begin();
    remove_files();
    const unsigned mask = fuzz_byte(&bytes);
    json_t *root = forged_sample(&bytes);
    forged_in_export(root, &bytes);
    const bool accepted = import(root);
    json_decref(root);
    if (!accepted)
        return 0;
    read_all(mask, true);
    plan_all();
    if (!bytes.left)
        return 0;
    forged_in_store(path, &bytes);
    read_all(mask, false);
    plan_all();
    return 0;
}
