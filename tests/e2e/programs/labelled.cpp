// A C++ program with labels on what it does, and std's locks.
//
// usage: labelled cpu SECONDS FILE     two threads run, each with labels
//        labelled threads FILE         threads wait, each with labels
//        labelled locks FILE           waits in std::mutex and friends
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <pprof/pprof.h>

using std::chrono::milliseconds;

static int open_file(const char *path)
{
    return open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
}

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    std::fprintf(stderr, "%s: %s\n", what, pprof_last_error());
    std::exit(1);
}

static volatile unsigned sink;

static double cpu_seconds()
{
    timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

__attribute__((noinline)) static void burn(double seconds)
{
    double end = cpu_seconds() + seconds;

    while (cpu_seconds() < end)
        for (unsigned i = 0; i < 10000; i++)
            sink = sink + i;
}

// Three parts of four for ann, one for bob, nothing for nobody.
static void serve(double seconds)
{
    pprof::label request("request", "search");
    {
        PPROF_LABEL("user", "ann");
        burn(seconds * 3 / 4);
    }
    {
        PPROF_LABEL("user", "bob");
        burn(seconds / 4);
    }
}

static void cpu(double seconds, const char *path)
{
    int fd = open_file(path);
    pprof_cpu_options options = {};

    options.size = sizeof(options);
    options.rate_hz = 500;
    options.thread_labels = std::getenv("THREAD_LABELS") != nullptr;
    check(pprof_start_cpu_profile_opts(fd, &options), "start");
    std::thread other([=] {
        pthread_setname_np(pthread_self(), "other");
        burn(seconds);
    });
    serve(seconds);
    other.join();
    check(pprof_stop_cpu_profile(), "stop");
    close(fd);
}

static void threads(const char *path)
{
    std::mutex m;
    std::condition_variable ready, leave;
    int n = 0;
    bool over = false;
    std::vector<std::thread> all;

    pprof_label_mark mark = pprof_label_push("pool", "a");
    for (int i = 0; i < 6; i++)
        all.emplace_back([&, i] {
            pprof::label shard("shard", std::to_string(i % 2).c_str());
            std::unique_lock<std::mutex> lock(m);
            n++;
            ready.notify_one();
            leave.wait(lock, [&] { return over; });
        });
    pprof_label_pop(mark);
    {
        std::unique_lock<std::mutex> lock(m);
        ready.wait(lock, [&] { return n == 6; });
    }
    std::this_thread::sleep_for(milliseconds(20));
    int fd = open_file(path);
    check(pprof_write_profile("threads", fd, 0), "threads");
    close(fd);
    {
        std::lock_guard<std::mutex> lock(m);
        over = true;
    }
    leave.notify_all();
    for (auto &t : all)
        t.join();
}

// Ten waits in each, unless a thread is held up before it.
static void locks(const char *path)
{
    std::mutex m;
    std::shared_mutex s;
    std::timed_mutex timed;
    std::condition_variable c;

    check(pprof_set_block_profile_rate(1), "rate");
    for (int i = 0; i < 10; i++) {
        m.lock();
        s.lock();
        timed.lock();
        std::atomic<int> here{0};
        std::thread a([&] {
            here++;
            std::lock_guard<std::mutex> l(m);
        });
        std::thread b([&] {
            here++;
            std::shared_lock<std::shared_mutex> l(s);
        });
        std::thread t([&] {
            here++;
            if (timed.try_lock_for(std::chrono::seconds(60)))
                timed.unlock();
        });
        while (here < 3)
            std::this_thread::sleep_for(milliseconds(1));
        std::this_thread::sleep_for(milliseconds(20));
        timed.unlock();
        s.unlock();
        m.unlock();
        a.join();
        b.join();
        t.join();
        std::unique_lock<std::mutex> l(m);
        c.wait_for(l, milliseconds(5));
    }
    int fd = open_file(path);
    check(pprof_write_profile("block", fd, 0), "block");
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc == 4 && std::strcmp(argv[1], "cpu") == 0)
        cpu(std::strtod(argv[2], nullptr), argv[3]);
    else if (argc == 3 && std::strcmp(argv[1], "threads") == 0)
        threads(argv[2]);
    else if (argc == 3 && std::strcmp(argv[1], "locks") == 0)
        locks(argv[2]);
    else
        return 2;
    return 0;
}
