/*
 * Every system call that waits, again and again, and what each of them
 * returned: a profiler must not change it.
 *
 * usage: waiting_calls none|wall|dump|leak ROUNDS
 *
 * Each call has a thread, which makes it ROUNDS times with a short time limit
 * (or is woken by a second thread) and does a little work between.  Prints for
 * each how often it returned what, and how often it came back too early.
 * Meanwhile the main thread takes a wall profile at 1000 Hz, thread dumps or
 * leak profiles.  Some threads that only run keep all CPUs busy.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <pprof/pprof.h>

#define WAIT_NS 20000000
#define WAIT_MS 20

static _Atomic int over;
static int rounds;

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ns / 1000000000, ns % 1000000000};
}

static const struct timespec short_time = {0, WAIT_NS};
static const struct timeval short_timeval = {0, WAIT_NS / 1000};

/* What a call says: its value, or the error as a negative number. */
static int result(long rc)
{
    return rc < 0 ? -errno : (int)rc;
}

/* --- with a time limit -----------------------------------------------------
 */

static int call_nanosleep(void)
{
    return result(nanosleep(&short_time, NULL));
}

static int call_clock_nanosleep(void)
{
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &short_time, NULL);
}

static int call_clock_nanosleep_absolute(void)
{
    struct timespec t = timespec_of(clock_ns(CLOCK_MONOTONIC) + WAIT_NS);

    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int call_usleep(void)
{
    return result(usleep(WAIT_NS / 1000));
}

static int call_thrd_sleep(void)
{
    return thrd_sleep(&short_time, NULL);
}

static int call_poll(void)
{
    return result(poll(NULL, 0, WAIT_MS));
}

static int call_ppoll(void)
{
    return result(ppoll(NULL, 0, &short_time, NULL));
}

static int call_select(void)
{
    struct timeval t = short_timeval;

    return result(select(0, NULL, NULL, NULL, &t));
}

static int call_pselect(void)
{
    return result(pselect(0, NULL, NULL, NULL, &short_time, NULL));
}

static int call_epoll_wait(void)
{
    struct epoll_event event;
    int fd = epoll_create1(0), rc = result(epoll_wait(fd, &event, 1, WAIT_MS));

    close(fd);
    return rc;
}

static int call_epoll_pwait2(void)
{
    struct epoll_event event;
    int fd = epoll_create1(0);
    int rc =
        result(syscall(SYS_epoll_pwait2, fd, &event, 1, &short_time, NULL, 0));

    close(fd);
    return rc;
}

static int call_sigtimedwait(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return result(sigtimedwait(&set, NULL, &short_time));
}

static int call_sem_timedwait(void)
{
    struct timespec t = timespec_of(clock_ns(CLOCK_REALTIME) + WAIT_NS);
    sem_t s;

    sem_init(&s, 0, 0);
    return result(sem_timedwait(&s, &t));
}

static int call_io_getevents(void)
{
    aio_context_t context = 0;
    struct io_event event;
    struct timespec t = short_time;
    int rc;

    if (syscall(SYS_io_setup, 1, &context) != 0)
        return 0;
    rc = result(syscall(SYS_io_getevents, context, 1L, 1L, &event, &t));
    syscall(SYS_io_destroy, context);
    return rc;
}

static int call_futex(void)
{
    uint32_t word = 0;

    return result(
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &short_time, NULL, 0));
}

static int call_cond_timedwait(void)
{
    struct timespec t = timespec_of(clock_ns(CLOCK_REALTIME) + WAIT_NS);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    int rc;

    pthread_mutex_lock(&m);
    rc = pthread_cond_timedwait(&c, &m, &t);
    pthread_mutex_unlock(&m);
    return rc;
}

static int call_recv(void)
{
    int fds[2], rc;
    char c;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return 1;
    setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &short_timeval,
               sizeof(short_timeval));
    rc = result(recv(fds[0], &c, 1, 0));
    close(fds[0]);
    close(fds[1]);
    return rc;
}

static int call_send(void)
{
    static char bytes[1 << 16];
    int fds[2], rc;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return 1;
    while (send(fds[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        ;
    setsockopt(fds[0], SOL_SOCKET, SO_SNDTIMEO, &short_timeval,
               sizeof(short_timeval));
    rc = result(send(fds[0], bytes, sizeof(bytes), 0));
    close(fds[0]);
    close(fds[1]);
    return rc;
}

/* A listener whose queue is full. */
static int full_listener(struct sockaddr_un *address, int *fillers)
{
    static _Atomic int n;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
             "waiting-%d-%d", (int)getpid(), atomic_fetch_add(&n, 1));
    if (bind(fd, (struct sockaddr *)address, sizeof(*address)) != 0 ||
        listen(fd, 0) != 0)
        return -1;
    *fillers = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(*fillers, (struct sockaddr *)address, sizeof(*address)) == 0
               ? fd
               : -1;
}

static int call_connect(void)
{
    struct sockaddr_un address;
    int filler = -1, listener = full_listener(&address, &filler), rc;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &short_timeval,
               sizeof(short_timeval));
    rc = result(connect(fd, (struct sockaddr *)&address, sizeof(address)));
    close(fd);
    close(filler);
    close(listener);
    return rc;
}

static int call_accept(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0), rc;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, 1) != 0)
        return 1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &short_timeval,
               sizeof(short_timeval));
    rc = result(accept(fd, NULL, NULL));
    close(fd);
    return rc;
}

static int call_semtimedop(void)
{
    struct sembuf down = {.sem_op = -1};
    struct timespec t = short_time;
    int id = semget(IPC_PRIVATE, 1, 0600), rc;

    rc = result(semtimedop(id, &down, 1, &t));
    semctl(id, 0, IPC_RMID);
    return rc;
}

static int call_mq_timedreceive(void)
{
    struct timespec t = timespec_of(clock_ns(CLOCK_REALTIME) + WAIT_NS);
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[32], text[8];
    mqd_t q;
    int rc;

    snprintf(name, sizeof(name), "/waiting-%d", (int)getpid());
    q = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
    if (q < 0)
        return -ETIMEDOUT; /* no such file system here */
    rc = result(mq_timedreceive(q, text, sizeof(text), NULL, &t));
    mq_close(q);
    mq_unlink(name);
    return rc;
}

static int call_timerfd(void)
{
    struct itimerspec t = {.it_value = short_time};
    int fd = timerfd_create(CLOCK_MONOTONIC, 0), rc;
    uint64_t n;

    timerfd_settime(fd, 0, &t, NULL);
    rc = result(read(fd, &n, sizeof(n)));
    close(fd);
    return rc;
}

static int call_waitpid(void)
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    int status;

    if (child == 0) {
        struct timespec t = short_time;

        syscall(SYS_nanosleep, &t, NULL);
        syscall(SYS_exit_group, 0);
    }
    return waitpid(child, &status, 0) == child ? 0 : -errno;
}

/* Only one second will do. */
static int call_sleep(void)
{
    int64_t start = clock_ns(CLOCK_MONOTONIC);
    unsigned left = sleep(1);

    return left == 0 && clock_ns(CLOCK_MONOTONIC) - start >= 1000000000
               ? 0
               : -EINTR;
}

/* --- until somebody else does something ------------------------------------
 */

/* Does it WAIT_NS after the call has begun. */
struct waker {
    pthread_t thread;
    void (*wake)(void *arg);
    void *arg;
};

static void *waker_main(void *arg)
{
    struct waker *w = arg;

    nanosleep(&short_time, NULL);
    w->wake(w->arg);
    return NULL;
}

static void waker_start(struct waker *w, void (*wake)(void *), void *arg)
{
    w->wake = wake;
    w->arg = arg;
    pthread_create(&w->thread, NULL, waker_main, w);
}

static void write_word(void *arg)
{
    uint64_t one = 1;

    (void)!write(*(int *)arg, &one, sizeof(one));
}

static int call_read_pipe(void)
{
    struct waker w;
    uint64_t word;
    int fds[2], rc;

    if (pipe(fds) != 0)
        return 1;
    waker_start(&w, write_word, &fds[1]);
    rc = result(read(fds[0], &word, sizeof(word)));
    pthread_join(w.thread, NULL);
    close(fds[0]);
    close(fds[1]);
    return rc;
}

static int call_read_eventfd(void)
{
    struct waker w;
    uint64_t word;
    int fd = eventfd(0, 0), rc;

    waker_start(&w, write_word, &fd);
    rc = result(read(fd, &word, sizeof(word)));
    pthread_join(w.thread, NULL);
    close(fd);
    return rc;
}

static int call_recv_forever(void)
{
    struct waker w;
    uint64_t word;
    int fds[2], rc;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return 1;
    waker_start(&w, write_word, &fds[1]);
    rc = result(recv(fds[0], &word, sizeof(word), 0));
    pthread_join(w.thread, NULL);
    close(fds[0]);
    close(fds[1]);
    return rc;
}

static void make_file(void *arg)
{
    close(open(arg, O_CREAT | O_WRONLY, 0600));
}

static int call_read_inotify(void)
{
    char dir[] = "/tmp/waiting-XXXXXX", file[64], events[512];
    int fd = inotify_init(), rc;
    struct waker w;

    if (!mkdtemp(dir))
        return 1;
    snprintf(file, sizeof(file), "%s/x", dir);
    inotify_add_watch(fd, dir, IN_CREATE);
    waker_start(&w, make_file, file);
    rc = read(fd, events, sizeof(events)) > 0 ? 0 : -errno;
    pthread_join(w.thread, NULL);
    close(fd);
    unlink(file);
    rmdir(dir);
    return rc;
}

static void post(void *arg)
{
    sem_post(arg);
}

static int call_sem_wait(void)
{
    struct waker w;
    sem_t s;
    int rc;

    sem_init(&s, 0, 0);
    waker_start(&w, post, &s);
    rc = result(sem_wait(&s));
    pthread_join(w.thread, NULL);
    return rc;
}

static void wake_word(void *arg)
{
    atomic_store((_Atomic uint32_t *)arg, 1);
    syscall(SYS_futex, arg, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int call_futex_forever(void)
{
    _Atomic uint32_t word = 0;
    struct waker w;
    int rc;

    waker_start(&w, wake_word, &word);
    rc =
        result(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
    pthread_join(w.thread, NULL);
    return rc == -EAGAIN ? 0 : rc; /* woken before it slept */
}

struct message {
    long type;
    char text[8];
};

static void send_message(void *arg)
{
    struct message m = {.type = 1};

    msgsnd(*(int *)arg, &m, sizeof(m.text), 0);
}

static int call_msgrcv(void)
{
    int id = msgget(IPC_PRIVATE, 0600), rc;
    struct message m;
    struct waker w;

    waker_start(&w, send_message, &id);
    rc = result(msgrcv(id, &m, sizeof(m.text), 0, 0));
    pthread_join(w.thread, NULL);
    msgctl(id, IPC_RMID, NULL);
    return rc;
}

static void semaphore_up(void *arg)
{
    struct sembuf up = {.sem_op = 1};

    semop(*(int *)arg, &up, 1);
}

static int call_semop(void)
{
    struct sembuf down = {.sem_op = -1};
    int id = semget(IPC_PRIVATE, 1, 0600), rc;
    struct waker w;

    waker_start(&w, semaphore_up, &id);
    rc = result(semop(id, &down, 1));
    pthread_join(w.thread, NULL);
    semctl(id, 0, IPC_RMID);
    return rc;
}

static void unlock_file(void *arg)
{
    flock(*(int *)arg, LOCK_UN);
}

static int call_flock(void)
{
    char path[] = "/tmp/waiting-XXXXXX";
    int holder = mkstemp(path), fd = open(path, O_RDWR), rc;
    struct waker w;

    flock(holder, LOCK_EX);
    waker_start(&w, unlock_file, &holder);
    rc = result(flock(fd, LOCK_EX));
    pthread_join(w.thread, NULL);
    close(fd);
    close(holder);
    unlink(path);
    return rc;
}

/* pause() and sigsuspend() may come back only after a signal of ours. */
static __thread volatile sig_atomic_t n_signals;

static void on_signal(int sig)
{
    (void)sig;
    n_signals++;
}

struct sleeper {
    pthread_t thread;
    _Atomic int is_back;
};

/* Again and again: the first may come before the thread waits. */
static void *signaller(void *arg)
{
    struct sleeper *s = arg;

    do {
        nanosleep(&short_time, NULL);
        if (!s->is_back)
            pthread_kill(s->thread, SIGUSR1);
    } while (!s->is_back);
    return NULL;
}

static int wait_for_signal(int (*wait)(const sigset_t *))
{
    struct sleeper s = {.thread = pthread_self()};
    sigset_t none;
    pthread_t thread;
    int before, back;

    sigemptyset(&none);
    pthread_create(&thread, NULL, signaller, &s);
    before = n_signals;
    wait(&none);
    back = n_signals;
    s.is_back = 1;
    pthread_join(thread, NULL);
    return back != before ? 0 : -EINTR;
}

static int pause_for(const sigset_t *set)
{
    (void)set;
    return pause();
}

static int call_pause(void)
{
    return wait_for_signal(pause_for);
}

static int call_sigsuspend(void)
{
    return wait_for_signal(sigsuspend);
}

/* --- all of them -----------------------------------------------------------
 */

static const struct call {
    const char *name;
    int (*make)(void);
    int rounds;     /* 0: as many as wanted */
    int is_untimed; /* it may come back at any time */
} calls[] = {
    {"nanosleep", call_nanosleep, 0, 0},
    {"clock_nanosleep", call_clock_nanosleep, 0, 0},
    {"clock_nanosleep absolute", call_clock_nanosleep_absolute, 0, 0},
    {"usleep", call_usleep, 0, 0},
    {"thrd_sleep", call_thrd_sleep, 0, 0},
    {"sleep", call_sleep, 3, 0},
    {"poll", call_poll, 0, 0},
    {"ppoll", call_ppoll, 0, 0},
    {"select", call_select, 0, 0},
    {"pselect", call_pselect, 0, 0},
    {"epoll_wait", call_epoll_wait, 0, 0},
    {"epoll_pwait2", call_epoll_pwait2, 0, 0},
    {"sigtimedwait", call_sigtimedwait, 0, 0},
    {"sem_timedwait", call_sem_timedwait, 0, 0},
    {"io_getevents", call_io_getevents, 0, 0},
    {"futex with timeout", call_futex, 0, 0},
    {"futex", call_futex_forever, 0, 0},
    {"pthread_cond_timedwait", call_cond_timedwait, 0, 0},
    {"recv with timeout", call_recv, 0, 0},
    {"recv", call_recv_forever, 0, 0},
    {"send with timeout", call_send, 0, 0},
    {"connect with timeout", call_connect, 0, 0},
    {"accept with timeout", call_accept, 0, 0},
    {"msgrcv", call_msgrcv, 0, 0},
    {"semop", call_semop, 0, 0},
    {"semtimedop", call_semtimedop, 0, 0},
    {"mq_timedreceive", call_mq_timedreceive, 0, 1},
    {"pause", call_pause, 0, 1},
    {"sigsuspend", call_sigsuspend, 0, 1},
    {"read of a pipe", call_read_pipe, 0, 0},
    {"read of an eventfd", call_read_eventfd, 0, 0},
    {"read of a timerfd", call_timerfd, 0, 0},
    {"read of an inotify", call_read_inotify, 0, 0},
    {"sem_wait", call_sem_wait, 0, 0},
    {"waitpid", call_waitpid, 0, 0},
    {"flock", call_flock, 0, 0},
};
#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

static char reports[N_CALLS][256];

static void work(int64_t ns)
{
    int64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
        ;
}

/* Different results of one call, each with its count. */
static void *make_calls(void *arg)
{
    const struct call *c = arg;
    int n = c->rounds && c->rounds < rounds ? c->rounds : rounds;
    int values[8], counts[8] = {0}, n_values = 0, early = 0;
    char *out = reports[c - calls];
    size_t used = 0;

    for (int i = 0; i < n; i++) {
        int64_t start = clock_ns(CLOCK_MONOTONIC);
        int value = c->make(), at = 0;

        early += !c->is_untimed &&
                 clock_ns(CLOCK_MONOTONIC) - start < WAIT_NS - 1000000;
        while (at < n_values && values[at] != value)
            at++;
        if (at == n_values && n_values < 8)
            values[n_values++] = value;
        counts[at < 8 ? at : 7]++;
        work(50000);
    }
    for (int i = 0; i < n_values; i++)
        used += (size_t)snprintf(out + used, sizeof(reports[0]) - used,
                                 " %d x %d", counts[i], values[i]);
    snprintf(out + used, sizeof(reports[0]) - used, ", %d early", early);
    return NULL;
}

static void *runs(void *arg)
{
    while (!over)
        ;
    return arg;
}

static void *profiles(void *arg)
{
    const char *kind = arg;
    int null = open("/dev/null", O_WRONLY);

    while (!over) {
        if (pprof_write_profile(kind, null, 0) != 0)
            fprintf(stderr, "%s\n", pprof_last_error());
        if (strcmp(kind, "threads") == 0)
            usleep(1000);
    }
    close(null);
    return NULL;
}

int main(int argc, char **argv)
{
    struct pprof_wall_options options = {sizeof(options), 1000, 0};
    struct sigaction sa = {.sa_handler = on_signal};
    pthread_t threads[N_CALLS], busy[2], asker;
    bool wall, asks;

    if (argc < 3)
        return 2;
    rounds = (int)strtol(argv[2], NULL, 10);
    wall = strcmp(argv[1], "wall") == 0;
    asks = strcmp(argv[1], "dump") == 0 || strcmp(argv[1], "leak") == 0;
    sigaction(SIGUSR1, &sa, NULL);
    if (wall &&
        pprof_start_wall_profile(open(argc > 3 ? argv[3] : "/dev/null",
                                      O_WRONLY | O_CREAT | O_TRUNC, 0600),
                                 &options) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&busy[i], NULL, runs, NULL);
    if (asks)
        pthread_create(&asker, NULL, profiles,
                       (void *)(argv[1][0] == 'd' ? "threads" : "leak"));
    for (size_t i = 0; i < N_CALLS; i++)
        pthread_create(&threads[i], NULL, make_calls, (void *)&calls[i]);
    for (size_t i = 0; i < N_CALLS; i++)
        pthread_join(threads[i], NULL);
    over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(busy[i], NULL);
    if (asks)
        pthread_join(asker, NULL);
    if (wall && pprof_stop_wall_profile() != 0)
        return 1;
    for (size_t i = 0; i < N_CALLS; i++)
        printf("%s:%s\n", calls[i].name, reports[i]);
    return 0;
}
