#include "fetch/tunnel.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"

extern char **environ;

static bool spawn_ssh(struct tunnel *t, int child_end, const char *target,
                      const char *login, const char *port, struct error *err)
{
    const char *argv[12];
    posix_spawn_file_actions_t actions;
    int n = 0, rc;

    argv[n++] = "ssh";
    argv[n++] = "-o";
    argv[n++] = "ExitOnForwardFailure=yes";
    if (port) {
        argv[n++] = "-p";
        argv[n++] = port;
    }
    argv[n++] = "-W";
    argv[n++] = target;
    argv[n++] = "--"; /* a host that starts with a dash is no option */
    argv[n++] = login;
    argv[n] = NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child_end, 0);
    posix_spawn_file_actions_adddup2(&actions, child_end, 1);
    rc = posix_spawnp(&t->ssh, "ssh", &actions, NULL, (char **)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        return error_set_os(err, "run", "ssh", rc);
    return true;
}

bool tunnel_open(struct tunnel *t, struct str login, unsigned port,
                 struct error *err)
{
    ptrdiff_t colon = str_rfind_char(login, ':');
    struct buf host = BUF_INIT(4096), ssh_port = BUF_INIT(64);
    char target[64];
    int pair[2];
    bool ok;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return error_set_os(err, "socketpair", "for ssh", errno);
    snprintf(target, sizeof(target), "127.0.0.1:%u", port);
    buf_add(&host, colon < 0 ? login : str_first(login, (size_t)colon));
    if (colon >= 0)
        buf_add(&ssh_port, str_skip(login, (size_t)colon + 1));
    ok = spawn_ssh(t, pair[1], target, buf_cstr(&host),
                   colon < 0 ? NULL : buf_cstr(&ssh_port), err);
    close(pair[1]);
    if (ok)
        t->fd = pair[0];
    else
        close(pair[0]);
    buf_release(&host);
    buf_release(&ssh_port);
    return ok;
}

int tunnel_close(struct tunnel *t)
{
    int status;

    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    /* Its stream is closed, so it ends by itself; not so while it asks for
     * a password. */
    for (int tries = 0; tries < 20; tries++) {
        if (waitpid(t->ssh, &status, WNOHANG) == t->ssh)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        usleep(10000);
    }
    kill(t->ssh, SIGTERM);
    waitpid(t->ssh, &status, 0);
    return -1;
}
