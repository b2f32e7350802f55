#include "part.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

struct shape {
    virtual ~shape() = default;
    virtual double area() const = 0;
};

template <int Corners> struct polygon : shape {
    explicit polygon(double s) : side(s)
    {
    }
    double area() const override
    {
        return side * side * Corners / 4;
    }
    double side;
};

template <typename T, typename F> long sum_of(const std::vector<T> &all, F f)
{
    long sum = 0;

    for (const auto &x : all)
        sum += f(x);
    return sum;
}

int checked(int n)
{
    if (n > 1000)
        throw std::runtime_error("too many: " + std::to_string(n));
    return n;
}

} // namespace

extern "C" long cpp_work(int n)
{
    std::map<std::string, int> seen;
    std::vector<std::unique_ptr<shape>> shapes;
    std::vector<int> numbers;

    for (int i = 0; i < n + 10; i++) {
        seen["word" + std::to_string(i % 7)]++;
        numbers.push_back((i * 31) % 17);
        if (i % 2)
            shapes.push_back(std::make_unique<polygon<3>>(i));
        else
            shapes.push_back(std::make_unique<polygon<4>>(i));
    }
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) {
        auto weight = [](int x) { return twice(x) + x % 3; };
        return weight(a) < weight(b);
    });
    try {
        n = checked(n);
    } catch (const std::exception &e) {
        n = static_cast<int>(std::string(e.what()).size());
    }
    double area = 0;
    for (const auto &s : shapes)
        area += s->area();
    return sum_of(numbers, [&](int x) { return quarter(x) + n; }) +
           static_cast<long>(seen.size()) + static_cast<long>(area);
}
