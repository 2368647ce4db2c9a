/* Every format that assay writes: texts of a foreign store stay inside their comment, cell, attribute or
 * string. The input chooses texts, built from terminators of such places, and the columns that have them. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "cli/commands/commands.h"

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <sqlite3.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MARK "zmarkz"

static char folder[64], store[96], out[96], sheet[96];

/* ---- hostile texts ---- */

static const char *const fragments[] = {
    "*/",
    "/*",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\"",
    "'",
    "<",
    ">",
    "</script>",
    "<" MARK ">",
    "-->",
    "<!--",
    "]]>",
    "|",
    "\\",
    "\\\n",
    "`",
    "#",
    "\n# " MARK "\n",
    "=",
    "=1+1",
    "+",
    "-",
    "@",
    ",",
    ";",
    "\x1b[31m",
    "\xff",
    "\xc0\xaf",
    "\xe2\x80\xa8",
    "\xe2\x80\xae",
    "\xef\xbf\xbe",
    "&",
    "&#10;",
    "%s%n",
    "?\?/\n",
    (" " MARK "=1"),
    "{",
    "}",
    ("[x](" MARK ")"),
    "~~",
    ("\n#error " MARK "\n"),
    "</style>",
    ("javascript:" MARK),
    "\x7f",
    "\xc2\x85",
    " ",
};

/* MARK, then a number of fragments. */
static void make_text(const uint8_t **at, size_t *left, struct as_buf *b)
{
    as_buf_clear(b);
    size_t n = *left ? 1 + **at % 5 : 1;
    if (*left && **at % 2) /* the first character matters in a CSV cell */
        n++;
    else
        as_buf_str(b, MARK);
    for (; n && *left; n--) {
        ++*at, --*left;
        if (*left)
            as_buf_str(b, fragments[**at % COUNT(fragments)]);
    }
    as_buf_str(b, MARK);
}

/* Columns with texts. Those that the schema refuses are left out. */
static const char *const plants[] = {
    "UPDATE runs SET uuid = substr(?1, 1, 30) || '12345678'",
    "UPDATE runs SET host = ?1",
    "UPDATE runs SET suite = ?1",
    "UPDATE runs SET command = ?1",
    "UPDATE runs SET tool_version = ?1, tool_commit = ?1",
    "UPDATE runs SET devices = json_set(devices, '$[0].name', ?1, '$[1].name', ?1, '$[1].vendor', ?1)",
    "UPDATE runs SET devices = json_set(devices, '$[1].driver', ?1, '$[1].uuid', ?1, '$[1].bus_id', ?1)",
    "UPDATE runs SET devices = json_set(devices, '$[0].sensor_why', ?1, '$[1].unfit', ?1, '$[1].arch', ?1, '$[1].bus', "
    "?1)",
    "UPDATE runs SET devices = json_set(devices, '$[1].words', json_object('compute_unit', ?1, 'workgroup', ?1, "
    "'subgroup', ?1, 'shared_memory', ?1, 'queue', ?1))",
    "UPDATE runs SET devices = json_set(devices, '$[1].allocators[0].name', ?1, '$[1].caches[0].name', ?1)",
    "UPDATE runs SET provenance = json_set(provenance, '$.cpu.model', ?1, '$.host.virtualization', ?1, "
    "'$.host.kernel', "
    "?1, '$.memory.thp', ?1, '$.notes', json_array(?1))",
    "UPDATE cells SET unit = ?1 WHERE id % 3 = 0",
    "UPDATE cells SET counts = ?1",
    "UPDATE cells SET reason = ?1",
    "UPDATE cells SET metric = ?1 WHERE id % 3 = 1",
    "UPDATE cells SET gate_limit_text = ?1, gate_code_text = ?1, gate_checksum_text = ?1",
    "UPDATE cells SET axes = json_set(axes, '$.allocator', ?1) WHERE json_extract(axes, '$.allocator') IS NOT NULL AND "
    "id % 2",
    "UPDATE cells SET axes = json_set(axes, '$.op', ?1) WHERE json_extract(axes, '$.op') IS NOT NULL AND id % 4 = 1",
    "UPDATE cells SET detail = json_set(coalesce(detail, '{}'), '$.note', ?1, '$.variant', ?1, '$.page', ?1)",
    "UPDATE trials SET reason = ?1, code_text = ?1, bound_text = ?1",
    /* a device has the same id everywhere */
    "UPDATE runs SET devices = json_set(devices, '$[1].id', substr(?1, 1, 31))",
    "UPDATE cells SET device = substr(?1, 1, 31) WHERE device = 'cuda:0'",
};

enum { ID_OF_DEVICE = COUNT(plants) - 2 };

static void plant(sqlite3 *db, const char *sql, const char *text)
{
    sqlite3_stmt *st;
    fuzz_require(sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_bind_text(st, 1, text, -1, SQLITE_STATIC);
    sqlite3_step(st);
    sqlite3_finalize(st);
}

static void fill_store(const uint8_t **at, size_t *left)
{
    struct as_buf text = AS_BUF_INIT, sample = AS_BUF_INIT;
    sqlite3 *db;
    struct as_error err;
    if (as_buf_read_file(&sample, FUZZ_SAMPLES "/h100-quick.db", 64 << 20, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    unlink(store);
    fuzz_require(as_write_file(store, as_buf_get(&sample), sample.len, &err) == AS_OK, "no store");
    fuzz_require(sqlite3_open(store, &db) == SQLITE_OK, "no store");
    sqlite3_exec(db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", NULL, NULL, NULL);
    /* one column, or all but the id, which must be the same everywhere */
    const unsigned which = *left ? **at % (COUNT(plants) + 4) : COUNT(plants);
    for (size_t i = 0; i < ID_OF_DEVICE; i++) {
        if (which != i && which < COUNT(plants))
            continue;
        make_text(at, left, &text);
        plant(db, plants[i], as_buf_get(&text));
    }
    make_text(at, left, &text);
    for (size_t i = ID_OF_DEVICE; i < COUNT(plants) && which >= ID_OF_DEVICE && which < COUNT(plants); i++)
        plant(db, plants[i], as_buf_get(&text));
    sqlite3_close(db);
    as_buf_finish(&text);
    as_buf_finish(&sample);
}

/* ---- what formats allow ---- */

static void broken(const char *what, const char *at)
{
    fprintf(stderr, "%s: a text leaves its place: %.120s\n", what, at);
    abort();
}

/* Outside of comments only: #ifndef, #define NAME [NUMBER], #endif. */
static void check_header(const char *text)
{
    struct as_buf code = AS_BUF_INIT;
    bool comment = false;
    for (const char *p = text; *p; p++) {
        if (!comment && strncmp(p, "/*", 2) == 0)
            comment = true, p++;
        else if (comment && strncmp(p, "*/", 2) == 0)
            comment = false, p++;
        else if (!comment)
            as_buf_char(&code, *p);
    }
    if (comment)
        broken("header: a comment without end", text);
    for (char *rest = (char *)as_buf_get(&code), *line; (line = strsep(&rest, "\n"));) {
        const char *define = strncmp(line, "#define ASSAY_", 14) == 0 ? line + 14 : NULL;
        size_t n = define ? strspn(define, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;
        if (define && (!define[n] || define[n + strspn(define + n, " 0123456789.e+-")] == 0))
            continue;
        if (line[0] && strcmp(line, " ") != 0 && strcmp(line, "#ifndef ASSAY_MACHINE_H") != 0 &&
            strcmp(line, "#endif") != 0)
            broken("header", line);
    }
    as_buf_finish(&code);
}

static bool is_number(const char *text, size_t n)
{
    char *end;
    (void)strtod(text, &end);
    return n && (size_t)(end - text) == n;
}

/* RFC 4180: all rows have as many cells as the header; no cell is a formula. */
static void check_csv(const char *text)
{
    size_t columns = 0, cells = 0;
    for (const char *p = text; *p;) {
        const bool quoted = *p == '"';
        const char *from = quoted ? ++p : p;
        while (*p && (quoted ? !(*p == '"' && p[1] != '"') : !strchr(",\r\n", *p)))
            p += quoted && *p == '"' ? 2 : 1;
        if (*from && p > from && strchr("=+-@\t\r", *from) && !is_number(from, (size_t)(p - from)))
            broken("csv: a formula", from);
        p += quoted;
        cells++;
        if (*p != ',' && *p != '\n' && strncmp(p, "\r\n", 2) != 0 && *p)
            broken("csv: text behind a cell", p);
        if (*p == ',') {
            p++;
            continue;
        }
        columns = columns ? columns : cells;
        if (cells != columns)
            broken("csv: a row of another length", from);
        cells = 0;
        p += *p == '\r';
        p += *p == '\n';
    }
}

static void check_json(const char *text, size_t n)
{
    json_error_t why;
    json_t *j = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    if (!j)
        broken("json", why.text);
    json_decref(j);
}

/* No tag or attribute has a name from the text. Returns the position after the tag. */
static const char *check_tag(const char *p, const char *what)
{
    const char *name = p + 1 + (p[1] == '/');
    if (strncmp(name, MARK, strlen(MARK)) == 0)
        broken(what, p);
    for (p = name + strcspn(name, " \n\t>/"); *p && *p != '>';) {
        p += strspn(p, " \n\t/");
        if (strncmp(p, MARK, strlen(MARK)) == 0)
            broken(what, p);
        p += strcspn(p, "= \n\t>/");
        if (*p == '=' && (p[1] == '"' || p[1] == '\'')) {
            const char *end = strchr(p + 2, p[1]);
            if (!end || memchr(p, '<', (size_t)(end - p)))
                broken(what, p);
            p = end + 1;
        } else if (*p == '=')
            p += 1 + strcspn(p + 1, " \n\t>");
    }
    return *p ? p + 1 : p;
}

static void check_markup(const char *text, const char *what)
{
    for (const char *p = text; (p = strchr(p, '<'));) {
        const bool script = strncmp(p, "<script", 7) == 0, style = strncmp(p, "<style", 6) == 0;
        if (strncmp(p, "<!--", 4) == 0) {
            p = strstr(p, "-->");
            fuzz_require(p != NULL, "a comment without end");
            continue;
        }
        p = p[1] == '!' || p[1] == '?' || !(p[1] == '/' || isalpha((unsigned char)p[1])) ? p + 1 : check_tag(p, what);
        if (script || style) {
            p = strstr(p, script ? "</script>" : "</style>");
            fuzz_require(p != NULL, "a script without end");
        }
    }
}

/* XML has no other entities, and no bare '<' or '&'. */
static void check_xml(const char *text, const char *what)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#"};
    check_markup(text, what);
    for (const char *p = text; (p = strchr(p, '&')); p++) {
        bool known = false;
        for (size_t i = 0; i < COUNT(entities); i++)
            known |= strncmp(p, entities[i], strlen(entities[i])) == 0;
        if (!known)
            broken(what, p);
    }
    for (const char *p = text; (p = strchr(p, '<')); p++)
        if (!isalpha((unsigned char)p[1]) && !strchr("/?!", p[1]))
            broken(what, p);
}

/* A heading, the base, and a table whose rows have six cells. */
static void check_markdown(const char *text)
{
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        const size_t n = strcspn(p, "\n");
        size_t bars = 0;
        for (size_t i = 0; i < n; i++) {
            bars += p[i] == '|';
            i += p[i] == '\\';
        }
        const bool row = *p == '|' && bars == 7;
        if (n && !row && strncmp(p, "### ", 4) != 0 && strncmp(p, "Base: ", 6) != 0)
            broken("markdown", p);
        if (memmem(p, n, "<" MARK, strlen(MARK) + 1))
            broken("markdown", p);
        if (!p[n])
            break;
    }
}

static void check_plain(const char *text, size_t n, const char *what)
{
    for (size_t at = 0; at < n;) {
        uint32_t cp = 0;
        const size_t step = as_utf8_decode(text + at, n - at, &cp);
        if (!step || (as_utf8_is_control(cp) && cp != '\n' && cp != '\t' && cp != '\r'))
            broken(what, text + at);
        at += step;
    }
}

/* ---- writing them ---- */

/* The command's output file, else its terminal output; NULL: it refused. Owned by the caller (free). */
static char *written(const char *line, size_t *n)
{
    static char program[] = "assay";
    char words[512], *argv[20] = {program};
    int argc = 1, null = dup(STDOUT_FILENO), said = dup(STDERR_FILENO);
    snprintf(words, sizeof words, "%s --store %s", line, store);
    for (char *word = strtok(words, " "); word && argc < 19; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "OUT") == 0 ? out : strcmp(word, "SHEET") == 0 ? sheet : word;
    const struct as_command *command = as_command_find(argv[1]);
    struct as_args args = {0};
    struct as_buf b = AS_BUF_INIT;
    struct as_error err;
    fuzz_require(command && as_args_parse(command, argc, argv, 2, &args, &err) == AS_OK, "no such command");
    unlink(out);
    fflush(NULL);
    if (!getenv("FUZZ_TELL") && !freopen("/dev/null", "w", stderr))
        exit(1);
    const int to = as_open(strstr(line, "OUT") ? "/dev/null" : out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(to, STDOUT_FILENO);
    const int code = command->run(command, &args);
    fflush(NULL);
    dup2(null, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    close(null);
    close(said);
    close(to);
    as_args_finish(&args);
    fuzz_require(code >= AS_EXIT_OK && code <= AS_EXIT_NOTHING, "an exit code that there is not");
    if (as_buf_read_file(&b, out, 64 << 20, &err) != AS_OK) {
        as_buf_finish(&b);
        return NULL;
    }
    *n = b.len;
    return as_buf_take(&b);
}

static void html(const char *text, size_t n)
{
    check_plain(text, n, "page");
    check_markup(text, "page");
}

static void header(const char *text, size_t n)
{
    check_plain(text, n, "header");
    check_header(text);
}

static void csv(const char *text, size_t n)
{
    check_plain(text, n, "csv");
    check_csv(text);
}

static void json(const char *text, size_t n)
{
    check_plain(text, n, "json");
    check_json(text, n);
}

static void xml(const char *text, size_t n)
{
    check_plain(text, n, "xml");
    check_xml(text, "xml");
}

static void markdown(const char *text, size_t n)
{
    check_plain(text, n, "markdown");
    check_markdown(text);
}

/* Outside of quotes a text's parts would be a family, a label or a value. */
static void metrics(const char *text, size_t n)
{
    check_plain(text, n, "metrics");
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1) {
        bool quoted = false;
        for (const char *at = p; *at && *at != '\n'; at++) {
            if (!quoted && strncmp(at, MARK, strlen(MARK)) == 0)
                broken("metrics", p);
            if (quoted && *at == '\\' && at[1] && at[1] != '\n')
                at++;
            else if (*at == '"')
                quoted = !quoted;
        }
        if (quoted || (strncmp(p, "assay_", 6) != 0 && strncmp(p, "# ", 2) != 0))
            broken("metrics", p);
        if (!p[strcspn(p, "\n")])
            break;
    }
}

static void terminal(const char *text, size_t n)
{
    check_plain(text, n, "terminal");
}

static const struct {
    const char *line;
    void (*check)(const char *text, size_t n);
    unsigned every; /* input */
} formats[] = {
    {"export --format header -o OUT", header, 1},
    {"export --format csv -o OUT", csv, 1},
    {"export --format json -o OUT", json, 4},
    {"export --format sheet -o OUT", json, 1},
    {"check --against SHEET --allow-missing --junit OUT", xml, 1},
    {"check --against SHEET --allow-missing --summary OUT", markdown, 1},
    {"check --against 1 SHEET --allow-missing --junit OUT", xml, 1},
    {"check --against 1 SHEET --allow-missing --summary OUT", markdown, 1},
    {"check --against 1 SHEET --allow-missing --prometheus OUT", metrics, 1},
    {"check --against SHEET --allow-missing --prometheus OUT", metrics, 1},
    {"check --against SHEET --allow-missing", terminal, 1},
    {"check --against 1 SHEET --allow-missing", terminal, 1},
    {"show", terminal, 4},
    {"facts", terminal, 4},
    {"compare 1 1", terminal, 4},
    {"list runs", terminal, 1},
    {"explain 1", terminal, 1},
    {"report -o OUT", html, 4},
    {"compare 1 1 --report OUT", html, 16},
};

static void remove_files(void)
{
    unlink(store);
    unlink(out);
    unlink(sheet);
    rmdir(folder);
}

static void begin(void)
{
    struct as_error err;
    snprintf(folder, sizeof folder, "%s/assay-formats-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    fuzz_require(mkdtemp(folder) != NULL, "no folder");
    snprintf(store, sizeof store, "%s/s.db", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(sheet, sizeof sheet, "%s/sheet.json", folder);
    atexit(remove_files);
    const char *base =
        "{\"sheet_version\":1,\"run\":\"12345678\",\"host\":\"h\",\"suite\":\"s\",\"devices\":[{\"id\":\"cpu\","
        "\"name\":\"n\",\"lines\":[{\"group\":\"Memory\",\"quantity\":\"read\",\"value\":100,\"unit\":\"GB/s\","
        "\"ci_low\":99,\"ci_high\":101}]},{\"id\":\"cuda:0\",\"name\":\"n\",\"lines\":[{\"group\":\"Clock\","
        "\"quantity\":\"core\",\"value\":2e9,\"unit\":\"Hz\",\"ci_low\":2e9,\"ci_high\":2e9}]}]}";
    fuzz_require(as_write_file(sheet, base, strlen(base), &err) == AS_OK, "no sheet");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned inputs;
    if (!folder[0])
        begin();
    const uint8_t *at = data;
    size_t left = size;
    fill_store(&at, &left);
    for (size_t i = 0; i < COUNT(formats); i++) {
        size_t n = 0;
        char *text = inputs % formats[i].every ? NULL : written(formats[i].line, &n);
        if (text)
            formats[i].check(text, n);
        free(text);
    }
    inputs++;
    return 0;
}
