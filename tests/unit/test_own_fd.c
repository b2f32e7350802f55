#include "test.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/own_fd.h"

static int open_null(void)
{
    return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

TEST(a_kept_descriptor_is_listed_until_it_is_closed)
{
    int fd;

    own_fd_begin();
    fd = own_fd_note(open_null());
    EXPECT(own_fd_is_kept(fd) && own_fd_next(0) == fd);
    EXPECT(!own_fd_is_kept(0) && !own_fd_is_kept(-1) &&
           !own_fd_is_kept(1 << 30));
    own_fd_close(fd);
    EXPECT(!own_fd_is_kept(fd) && !is_open(fd) && own_fd_next(0) == -1);
}

TEST(numbers_are_high_once_they_are_reserved)
{
    int low = open_null(), first, second;

    close(low);
    own_fds_reserve();
    own_fd_begin();
    first = own_fd_keep(open_null());
    own_fd_begin();
    second = own_fd_keep(open_null());
    EXPECT(first >= 512 && second > first && !is_open(low));
    EXPECT(fcntl(first, F_GETFD) == FD_CLOEXEC);
    EXPECT(own_fd_next(0) == first && own_fd_next(first + 1) == second &&
           own_fd_next(second + 1) == -1);
    own_fd_close(first);
    own_fd_close(second);
}

TEST(what_failed_to_open_is_not_listed)
{
    own_fd_begin();
    EXPECT(own_fd_keep(-1) == -1 && own_fd_next(0) == -1);
    own_fd_close(-1);
}

TEST(what_somebody_else_has_closed_is_taken_off)
{
    int fd;

    own_fd_begin();
    fd = own_fd_keep(open_null());
    close(fd);
    EXPECT(own_fd_lose(fd) == -1 && !own_fd_is_kept(fd));
}

/* Its descriptors are its own, as are those of a child after vfork. */
TEST(a_forked_child_has_none)
{
    int fd, status = 1;
    pid_t pid;

    own_fd_begin();
    fd = own_fd_keep(open_null());
    pid = fork();
    if (pid == 0) {
        bool ok = !own_fd_is_kept(fd) && own_fd_next(0) == -1;

        own_fd_close(fd);
        own_fds_after_fork();
        own_fd_begin();
        fd = own_fd_keep(open_null());
        _exit(!(ok && own_fd_is_kept(fd)));
    }
    waitpid(pid, &status, 0);
    EXPECT(status == 0 && own_fd_is_kept(fd));
    own_fd_close(fd);
}

/* Both end: waiting is bounded. */
TEST(who_closes_all_waits_for_who_opens)
{
    own_fd_begin();
    own_fds_settle(false);
    own_fds_settle(true);
    own_fd_note(-1);
    own_fd_begin(); /* waits in vain: it is held */
    own_fd_note(-1);
    own_fds_release();
    own_fds_settle(true);
    own_fds_release();
    EXPECT(own_fd_next(0) == -1);
}

TEST_MAIN
