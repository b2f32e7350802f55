/*
 * How far the frame pointer is above the stack pointer, from the instructions
 * that a compiler begins functions with.
 */
#include "test.h"

#include "runtime/unwind/prologue.h"

#if defined(__x86_64__)

#define CODE(...)                                                              \
    (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})

/* The code begins behind `mov %rsp, %rbp`. */
static int64_t above(const uint8_t *code, size_t n, size_t pc)
{
    uint64_t out;

    return prologue_read(code, n, pc, &out) ? (int64_t)out : -1;
}

TEST(pushes_and_a_small_frame)
{
    /* push %r15; push %rbx; sub $0x18, %rsp; call */
    EXPECT(
        above(CODE(0x41, 0x57, 0x53, 0x48, 0x83, 0xec, 0x18, 0xe8, 0, 0, 0, 0),
              12) == 16 + 0x18);
}

TEST(a_frame_with_a_long_number)
{
    /* sub $0x1234, %rsp; call */
    EXPECT(above(CODE(0x48, 0x81, 0xec, 0x34, 0x12, 0, 0, 0xe8, 0, 0, 0, 0),
                 12) == 0x1234);
}

TEST(other_instructions_between_them_are_passed)
{
    /* push %r12; mov %rdi, %r12; push %rbx; lea 8(%rdi), %rbx;
     * mov %fs:0x28, %rax; sub $0x20, %rsp; call */
    EXPECT(above(CODE(0x41, 0x54, 0x49, 0x89, 0xfc, 0x53, 0x48, 0x8d, 0x5f,
                      0x08, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, 0x48,
                      0x83, 0xec, 0x20, 0xe8, 0, 0, 0, 0),
                 28) == 16 + 0x20);
}

TEST(what_has_not_been_done_yet_does_not_count)
{
    /* push %rbx; call; sub $0x18, %rsp */
    EXPECT(above(CODE(0x53, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xec, 0x18), 6) == 8);
    /* sub $0x18, %rsp, at its beginning */
    EXPECT(above(CODE(0x48, 0x83, 0xec, 0x18), 0) == 0);
}

TEST(a_big_frame_that_is_touched_page_by_page)
{
    /* sub $0x1000, %rsp; orq $0, (%rsp); sub $0x40, %rsp; call */
    EXPECT(above(CODE(0x48, 0x81, 0xec, 0, 0x10, 0, 0, 0x48, 0x83, 0x0c, 0x24,
                      0, 0x48, 0x83, 0xec, 0x40, 0xe8, 0, 0, 0, 0),
                 21) == 0x1040);
}

TEST(a_stack_pointer_that_moves_is_given_up)
{
    /* sub $0x10, %rsp; sub %rax, %rsp; call: alloca */
    EXPECT(
        above(CODE(0x48, 0x83, 0xec, 0x10, 0x48, 0x29, 0xc4, 0xe8, 0, 0, 0, 0),
              12) == -1);
    /* and $-32, %rsp; call */
    EXPECT(above(CODE(0x48, 0x83, 0xe4, 0xe0, 0xe8, 0, 0, 0, 0), 9) == -1);
    /* the same behind pc, in a loop */
    EXPECT(above(CODE(0xe8, 0, 0, 0, 0, 0x48, 0x29, 0xc4), 5) == -1);
}

TEST(an_unknown_instruction_is_given_up)
{
    /* push %rbx; (no instruction); call */
    EXPECT(above(CODE(0x53, 0x0f, 0x0b, 0xe8, 0, 0, 0, 0), 8) == -1);
    EXPECT(above(CODE(0x48, 0x81, 0xec), 3) == -1); /* cut off */
}

TEST(return_addresses_are_behind_calls)
{
    static const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
                                   0x90, 0xe8, 1,    2,    3,    4,    0xff,
                                   0xd0, 0xff, 0x55, 0x10, 0x90, 0x90};
    uint64_t at = (uint64_t)(uintptr_t)code;

    EXPECT(!prologue_is_return(at + 8));
    EXPECT(prologue_is_return(at + 13)); /* call rel32 */
    EXPECT(prologue_is_return(at + 15)); /* call *%rax */
    EXPECT(prologue_is_return(at + 18)); /* call *0x10(%rbp) */
    EXPECT(!prologue_is_return(at + 19));
    EXPECT(!prologue_is_return(64)); /* no memory there */
}

#endif

TEST_MAIN
