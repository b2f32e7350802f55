/*
 * A program that generates code and writes names for perf, as runtimes do.
 *
 * usage: jit SECONDS map|dump DIRECTORY
 *
 * Half of the CPU time is spent in generated code that loops, half in burn(),
 * called through generated code that only passes the call on.  The first has
 * a frame pointer; the second has none on x86-64, as CPython 3.12's.
 * DIRECTORY is for the dump; the map has its place in /tmp.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
/* push %rbp; mov %rsp, %rbp; 1: dec %rdi; jne 1b; pop %rbp; ret */
static const uint8_t loop_code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
                                    0xcf, 0x75, 0xfb, 0x5d, 0xc3};
/* sub $8, %rsp; call *%rsi; add $8, %rsp; ret */
static const uint8_t pass_code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6,
                                    0x48, 0x83, 0xc4, 0x08, 0xc3};
#else
/* stp x29, x30, [sp, #-16]!; mov x29, sp; 1: subs x0, x0, #1; b.ne 1b;
 * ldp x29, x30, [sp], #16; ret */
static const uint32_t loop_code[] = {0xa9bf7bfd, 0x910003fd, 0xf1000400,
                                     0x54ffffe1, 0xa8c17bfd, 0xd65f03c0};
/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x1; ldp x29, x30, [sp], #16;
 * ret */
static const uint32_t pass_code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0020,
                                     0xa8c17bfd, 0xd65f03c0};
#endif

#define PASS_AT 256 /* in the page */

typedef void loop_fn(uint64_t turns);
typedef void pass_fn(uint64_t turns, loop_fn *callee);

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void burn(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns / 4; i++)
        ;
}

static __attribute__((noinline)) void run_loop(loop_fn *loop, double seconds)
{
    double end = cpu_seconds() + seconds;

    while (cpu_seconds() < end)
        loop(1000000);
    __asm__ volatile("");
}

static __attribute__((noinline)) void run_pass(pass_fn *pass, double seconds)
{
    double end = cpu_seconds() + seconds;

    while (cpu_seconds() < end)
        pass(1000000, burn);
    __asm__ volatile("");
}

static void write_map(const uint8_t *code)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
    f = fopen(path, "w");
    if (!f)
        exit(1);
    fprintf(f, "%lx %zx JS:*generatedLoop /app/view.js:12:8\n",
            (unsigned long)(uintptr_t)code, sizeof(loop_code));
    fprintf(f, "%lx %zx py::generated_pass:/app/view.py\n",
            (unsigned long)(uintptr_t)code + PASS_AT, sizeof(pass_code));
    fclose(f);
}

static void put(FILE *f, uint64_t value, size_t n)
{
    fwrite(&value, n, 1, f);
}

static void put_load(FILE *f, const uint8_t *code, size_t n, const char *name)
{
    put(f, 0, 4);
    put(f, 16 + 40 + strlen(name) + 1 + n, 4);
    put(f, 0, 8); /* time */
    put(f, (uint64_t)getpid(), 4);
    put(f, (uint64_t)getpid(), 4);
    put(f, (uintptr_t)code, 8);
    put(f, (uintptr_t)code, 8);
    put(f, n, 8);
    put(f, 1, 8); /* number */
    fwrite(name, strlen(name) + 1, 1, f);
    fwrite(code, n, 1, f);
}

static void write_dump(const uint8_t *code, const char *directory)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s/jit-%d.dump", directory, (int)getpid());
    f = fopen(path, "w+");
    if (!f)
        exit(1);
    put(f, 0x4a695444, 4);
    put(f, 1, 4);
    put(f, 40, 4);
    put(f, 0, 8); /* machine */
    put(f, (uint64_t)getpid(), 4);
    put(f, 0, 8); /* time */
    put(f, 0, 8); /* flags */
    put_load(f, code, sizeof(loop_code), "JS:*generatedLoop /app/view.js:12:8");
    put_load(f, code + PASS_AT, sizeof(pass_code),
             "py::generated_pass:/app/view.py");
    fflush(f);
    /* So that perf, and we, learn of it. */
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
}

int main(int argc, char **argv)
{
    double seconds = argc == 4 ? strtod(argv[1], NULL) : 0;
    uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (seconds <= 0 || code == MAP_FAILED)
        return 2;
    memcpy(code, loop_code, sizeof(loop_code));
    memcpy(code + PASS_AT, pass_code, sizeof(pass_code));
    __builtin___clear_cache((char *)code, (char *)code + 4096);
    if (strcmp(argv[2], "map") == 0)
        write_map(code);
    else
        write_dump(code, argv[3]);
    printf("%d\n", (int)getpid());
    fflush(stdout);
    run_loop((loop_fn *)code, seconds / 2);
    run_pass((pass_fn *)(code + PASS_AT), seconds / 2);
    return 0;
}
