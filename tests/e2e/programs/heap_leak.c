/*
 * Loses some blocks and holds others in every place that can hold one; then
 * serves its endpoint (port 0) until it is killed.
 *
 * lost_*: nothing points to them.  held_*: something does.
 */
#include <errno.h>
#include <pprof/pprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SITE __attribute__((noinline)) static void *
#define N    50

struct node {
    struct node *next;
    char bytes[200];
};

/* Not optimised away, no tail call. */
static void *seen(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

SITE lost_block(void)
{
    return seen(malloc(500));
}

SITE lost_node(void)
{
    return seen(malloc(sizeof(struct node)));
}

SITE lost_big(void)
{
    return seen(calloc(1, 300000));
}

SITE lost_on_stack(void)
{
    return seen(malloc(499));
}

SITE held_static(void)
{
    return seen(malloc(501));
}

SITE held_inside(void)
{
    return seen(malloc(502));
}

SITE held_by_block(void)
{
    return seen(malloc(503));
}

SITE held_thread_local(void)
{
    return seen(malloc(504));
}

SITE held_register(void)
{
    return seen(malloc(505));
}

SITE held_stack(void)
{
    return seen(malloc(506));
}

SITE held_mapped(void)
{
    return seen(malloc(507));
}

static void *volatile statics[N];
static char *volatile insides[N];
static void *volatile *volatile owner;
static __thread void *volatile local;
static void *volatile *volatile mapped;
static volatile int children_seen;

/* Waits for ever with a block that nothing but a callee-saved register
 * knows: the system call leaves it alone. */
static void hold_in_register(void)
{
#if defined(__x86_64__)
    register void *p __asm__("rbx") = held_register();

    __asm__ volatile("1: mov $34, %%eax\n\tsyscall\n\tjmp 1b" /* pause */
                     :
                     : "r"(p)
                     : "rax", "rcx", "r11", "memory");
#else
    register void *p __asm__("x19") = held_register();

    __asm__ volatile("1: mov x0, xzr\n\tmov x1, xzr\n\tmov x2, xzr\n\t"
                     "mov x3, xzr\n\tmov x8, #73\n\tsvc #0\n\tb 1b" /* ppoll */
                     :
                     : "r"(p)
                     : "x0", "x1", "x2", "x3", "x8", "memory");
#endif
}

static void *thread_with_register(void *arg)
{
    hold_in_register();
    return arg;
}

/* Leaves pointers far below the frames of its caller. */
__attribute__((noinline)) static void leave_on_stack(int depth)
{
    void *volatile on_stack[N];

    if (depth > 0)
        leave_on_stack(depth - 1);
    for (int i = 0; i < N; i++)
        on_stack[i] = depth == 0 ? lost_on_stack() : NULL;
    seen((void *)on_stack);
}

static void *thread_with_old_frames(void *arg)
{
    leave_on_stack(8);
    for (;;)
        pause();
    return arg;
}

static void *thread_with_locals(void *arg)
{
    void *volatile on_stack[N];

    local = held_thread_local();
    for (int i = 0; i < N; i++)
        on_stack[i] = held_stack();
    for (;;)
        pause();
    return on_stack[0] ? arg : NULL;
}

__attribute__((noinline)) static void lose(void)
{
    struct node *list = NULL;

    for (int i = 0; i < N; i++) {
        struct node *n = lost_node();

        n->next = list;
        list = n;
        memset(lost_block(), 0, 500);
    }
    memset(lost_big(), 0, 8);
}

__attribute__((noinline)) static void hold(void)
{
    owner = malloc(N * sizeof(*owner));
    mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < N; i++) {
        statics[i] = held_static();
        insides[i] = (char *)held_inside() + 100;
        owner[i] = held_by_block();
        mapped[i] = held_mapped();
    }
}

/* Other things on the stack, where lost pointers were.  Everything that main
 * calls leaves some, and it wakes up so often that the search may have to
 * read its whole stack. */
__attribute__((noinline)) static void clean_stack(void)
{
    volatile char bytes[65536];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = 0;
}

static void on_child(int sig)
{
    (void)sig;
    children_seen++;
}

/* HEAP_LEAK_UID=N: becomes that user once it serves, as daemons do. */
static int drop_privileges(void)
{
    const char *text = getenv("HEAP_LEAK_UID");
    unsigned id = text ? (unsigned)strtoul(text, NULL, 10) : 0;

    return text && (setgid(id) != 0 || setuid(id) != 0);
}

int main(void)
{
    pthread_t thread;

    signal(SIGCHLD, on_child);
    hold();
    lose();
    if (pthread_create(&thread, NULL, thread_with_register, NULL) != 0 ||
        pthread_create(&thread, NULL, thread_with_old_frames, NULL) != 0 ||
        pthread_create(&thread, NULL, thread_with_locals, NULL) != 0 ||
        pprof_serve("127.0.0.1:0") != 0 || drop_privileges() != 0)
        return 1;
    clean_stack();
    /* The program has no children, and none shall be seen. */
    for (;;) {
        if (waitpid(-1, NULL, 0) >= 0 || errno != ECHILD || children_seen)
            return 3;
        usleep(1000);
    }
}
