// Allocates by all forms of new and frees every second block by the matching
// delete; and by malloc, across threads.
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

struct alignas(64) Line {
    char bytes[192];
};

struct Record {
    char bytes[1000];
};

static const int N = 1000;
static std::vector<void *> kept; // so that nothing is optimised away

// No tail call: the caller shall be on the stack.
static void *seen(void *p)
{
    __asm__ volatile("" : "+r"(p) : : "memory");
    return p;
}

extern "C" {
__attribute__((noinline)) void *site_new()
{
    return seen(new Record);
}

__attribute__((noinline)) void *site_aligned()
{
    return seen(new Line);
}

__attribute__((noinline)) void *site_array()
{
    return seen(new char[500]);
}

__attribute__((noinline)) void *site_nothrow()
{
    return seen(new (std::nothrow) Record);
}
}

static void crowd()
{
    std::vector<std::thread> threads;

    for (int t = 0; t < 4; t++) {
        threads.emplace_back([] {
            for (int i = 0; i < 20000; i++) {
                void *p = std::malloc(static_cast<size_t>(i % 3000));

                p = std::realloc(p, static_cast<size_t>(i % 7000 + 1));
                std::free(p);
                delete new Record;
            }
        });
    }
    for (auto &t : threads)
        t.join();
}

int main()
{
    kept.reserve(8 * N);
    for (int i = 0; i < N; i++) {
        auto *a = static_cast<Record *>(site_new());
        auto *b = static_cast<Line *>(site_aligned());
        auto *c = static_cast<char *>(site_array());
        auto *d = static_cast<Record *>(site_nothrow());

        if (i % 2) {
            delete a;
            delete b;
            delete[] c;
            operator delete(d, std::nothrow);
        } else {
            kept.insert(kept.end(), {a, b, c, d});
        }
    }
    crowd();
    return 0;
}
