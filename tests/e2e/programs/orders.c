/*
 * A native service without an endpoint, and without a library but libc.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

volatile uint64_t result;

__attribute__((noinline)) void handle_orders(void)
{
    for (uint64_t i = 0; i < 2000000; i++)
        result += i ^ result;
}

__attribute__((noinline)) void *keep_orders(void)
{
    return calloc(64, 1 << 20);
}

int main(void)
{
    void *kept = keep_orders();

    for (;;) {
        handle_orders();
        usleep(30000);
    }
    free(kept);
    return 0;
}
