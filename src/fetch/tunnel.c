/*
 * ssh forwards a Unix socket, not a port: no other user of the machine can
 * connect to it, and no free port has to be guessed.  The tunnel stands when
 * the socket appears in its directory.
 */
#include "fetch/tunnel.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define POLL_US 20000

static bool start_ssh(struct tunnel *t, const char *forward, const char *login,
                      const char *port, struct error *err)
{
    const char *argv[12];
    int n = 0, rc;

    argv[n++] = "ssh";
    argv[n++] = "-N"; /* no command over there */
    argv[n++] = "-o";
    argv[n++] = "ExitOnForwardFailure=yes";
    if (port) {
        argv[n++] = "-p";
        argv[n++] = port;
    }
    argv[n++] = "-L";
    argv[n++] = forward;
    argv[n++] = "--"; /* a host that starts with a dash is no option */
    argv[n++] = login;
    argv[n] = NULL;
    rc = posix_spawnp(&t->ssh, "ssh", NULL, NULL, (char **)argv, environ);
    if (rc != 0) {
        t->ssh = 0;
        return error_set_os(err, "run", "ssh", rc);
    }
    return true;
}

static bool wait_for_socket(struct tunnel *t, const char *login,
                            struct error *err)
{
    int status;

    while (access(t->socket, F_OK) != 0) {
        if (waitpid(t->ssh, &status, WNOHANG) == t->ssh) {
            t->ssh = 0;
            return error_set(err, "ssh %s ended with exit code %d", login,
                             WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        }
        usleep(POLL_US);
    }
    return true;
}

bool tunnel_open(struct tunnel *t, struct arena *a, struct str login,
                 unsigned port, struct error *err)
{
    ptrdiff_t colon = str_rfind_char(login, ':');
    const char *tmp = getenv("TMPDIR");
    const char *host =
        arena_cstr(a, colon < 0 ? login : str_first(login, (size_t)colon));
    char *dir = arena_printf(a, "%s/pprof-ssh-XXXXXX", tmp ? tmp : "/tmp");

    if (!mkdtemp(dir))
        return error_set_os(err, "mkdir", dir, errno);
    t->dir = dir;
    t->socket = arena_printf(a, "%s/s", dir);
    return start_ssh(
               t, arena_printf(a, "%s:127.0.0.1:%u", t->socket, port), host,
               colon < 0 ? NULL
                         : arena_cstr(a, str_skip(login, (size_t)colon + 1)),
               err) &&
           wait_for_socket(t, host, err);
}

void tunnel_close(struct tunnel *t)
{
    if (t->ssh > 0) {
        kill(t->ssh, SIGTERM);
        waitpid(t->ssh, NULL, 0);
    }
    if (t->dir) {
        unlink(t->socket);
        rmdir(t->dir);
    }
}
