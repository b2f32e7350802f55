// Fills a map of strings when a line comes in, and says when it is done.
#include <iostream>
#include <map>
#include <string>

int main()
{
    std::map<int, std::string> all;
    std::string line;

    std::cout << "ready" << std::endl;
    while (std::getline(std::cin, line)) {
        for (int i = 0; i < 100000; i++)
            all[static_cast<int>(all.size())] = std::string(500, 'x');
        std::cout << all.size() << std::endl;
    }
    return 0;
}
