// The same from C++: names come out demangled, exceptions and templates are
// in the stacks.
#include <pprof/pprof.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop
{

class Catalogue
{
  public:
    void add(const std::string &name, int price)
    {
        prices[name] = price;
    }

    int price(const std::string &name) const
    {
        auto found = prices.find(name);
        if (found == prices.end())
            throw std::out_of_range(name);
        return found->second;
    }

  private:
    std::map<std::string, int> prices;
};

template <typename T> T total(const std::vector<T> &values)
{
    T sum = 0;
    for (const T &v : values)
        sum += v;
    return sum;
}

[[gnu::noinline]] static int serve_customer(const Catalogue &c, int seed)
{
    std::vector<int> basket;
    for (int i = 0; i < 200; i++) {
        try {
            basket.push_back(
                c.price("item" + std::to_string((seed * 31 + i) % 110)));
        } catch (const std::out_of_range &) {
            basket.push_back(0);
        }
    }
    std::sort(basket.begin(), basket.end());
    return total(basket);
}

} // namespace shop

int main(int argc, char **argv)
{
    shop::Catalogue catalogue;
    auto end = std::chrono::steady_clock::now() +
               std::chrono::seconds(argc > 1 ? std::stoi(argv[1]) : 1000000);
    int sales = 0;

    if (pprof_serve(nullptr) != 0) { // PPROF_ADDR, or 127.0.0.1:6060
        std::cerr << "service: " << pprof_last_error() << "\n";
        return 1;
    }
    for (int i = 0; i < 100; i++)
        catalogue.add("item" + std::to_string(i), i);
    for (int i = 0; std::chrono::steady_clock::now() < end; i++)
        sales += shop::serve_customer(catalogue, i);
    return sales == 42;
}
