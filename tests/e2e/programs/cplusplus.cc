// A C++ program as they are: templates, exceptions through many frames,
// std::thread, -O2 without frame pointers.  Links nothing of ours; run it
// under pprof-run.  It spends about two thirds of a second in each of two
// threads.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace zoo
{

struct Escape : std::runtime_error {
    explicit Escape(int depth)
        : std::runtime_error("depth " + std::to_string(depth))
    {
    }
};

// The exception leaves through as many frames as there are cages, each with
// something to destroy.
template <int Depth> struct Cage {
    [[gnu::noinline]] static size_t open(const std::string &name)
    {
        std::vector<std::string> keys(4, name);
        return Cage<Depth - 1>::open(keys[Depth % 4] + "x") + keys.size();
    }
};

template <> struct Cage<0> {
    [[gnu::noinline]] static size_t open(const std::string &name)
    {
        if (name.size() % 2 == 0)
            throw Escape(static_cast<int>(name.size()));
        return name.size();
    }
};

template <typename Key, typename Value> class Register
{
  public:
    virtual ~Register() = default;

    [[gnu::noinline]] virtual Value count(const Key &key)
    {
        return ++entries[key];
    }

  private:
    std::map<Key, Value> entries;
};

[[gnu::noinline]] size_t try_to_escape(int i)
{
    try {
        return Cage<12>::open(std::string(static_cast<size_t>(i % 7), 'a'));
    } catch (const Escape &e) {
        return std::string(e.what()).size();
    }
}

// Nearly half of its time is spent in count().
[[gnu::noinline]] size_t feed(Register<std::string, int> &animals, int round)
{
    std::vector<int> food(500);
    int sum = 0;

    std::iota(food.begin(), food.end(), round);
    std::sort(food.begin(), food.end(),
              [](int a, int b) { return a * 37 % 101 < b * 37 % 101; });
    for (int amount : food)
        sum += animals.count("animal" + std::to_string(amount % 97));
    return static_cast<size_t>(sum);
}

} // namespace zoo

static volatile size_t result;

template <typename Work> static void for_a_while(Work work)
{
    std::timespec now = {};

    for (int i = 0; now.tv_sec == 0 && now.tv_nsec < 700000000; i++) {
        result = result + work(i);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }
}

int main()
{
    zoo::Register<std::string, int> animals;
    std::thread keeper(
        [&] { for_a_while([&](int i) { return zoo::feed(animals, i); }); });

    for_a_while(zoo::try_to_escape);
    keeper.join();
    return 0;
}
