/*
 * pthread_exit, wrapped for the first thread.  A program may end it and go on
 * in the others; when the last thread has ended, libc ends the process.  With
 * threads of ours that would never happen, so one of them waits for the
 * program's and does it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pprof/pprof.h"
#include "runtime/hook/env.h"
#include "runtime/hook/hook_next.h"
#include "runtime/own_code.h"
#include "runtime/own_thread.h"
#include "runtime/rawcall.h"
#include "runtime/say.h"
#include "runtime/state.h"
#include "runtime/thread/thread_list.h"

#define LOOK_NS 10000000

/* The first thread's id stays in the list after its end. */
static bool is_dead(int tid)
{
    char path[64], text[256], *end;
    ssize_t n = 0;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof(text) - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    end = strrchr(text, ')');
    return end && (end[2] == 'Z' || end[2] == 'X');
}

static bool is_programs(void *found, int tid)
{
    if (own_thread_is(tid) || is_dead(tid))
        return true;
    *(bool *)found = true;
    return false;
}

static void *end_with_the_last(void *arg)
{
    bool found = true;

    while (found) {
        runtime_sleep_ns(LOOK_NS);
        found = false;
        if (!threads_each(is_programs, &found) && !found)
            found = true; /* it could not be read: look again */
    }
    own_thread_leave();
    exit(0);
    return arg;
}

PPROF_API OWN_WRAPPER _Noreturn void pthread_exit(void *value)
{
    static hook_slot next;
    void (*real)(void *);
    struct own_scope scope;
    pthread_t thread;
    struct error err;
    int first;

    *(void **)&real = hook_next(&next, "pthread_exit");
    if (env_is_profiled() && raw_gettid() == (int)getpid() &&
        own_threads_list(&first, 1) > 0) {
        scope = own_scope_enter(NULL);
        if (own_thread_start(&thread, "pprof-last", end_with_the_last, NULL,
                             &err))
            pthread_detach(thread);
        else
            say_note("the program may not end: %s", err.text);
        own_scope_restore(&scope);
    }
    real(value);
    __builtin_unreachable();
}
