/*
 * A program as linked before 2003: condition variables in their first
 * version, of which only the first word is used.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

__asm__(".symver pthread_cond_init, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver pthread_cond_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver pthread_cond_signal, pthread_cond_signal@GLIBC_2.2.5");

static struct {
    pthread_cond_t cond;
    char beyond[64];
} it;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int is_set;

static void *set(void *arg)
{
    usleep(50000);
    pthread_mutex_lock(&mutex);
    is_set = 1;
    pthread_cond_signal(&it.cond);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    pthread_t thread;

    pthread_cond_init(&it.cond, NULL);
    if (pthread_create(&thread, NULL, set, NULL) != 0)
        return 1;
    pthread_mutex_lock(&mutex);
    while (!is_set)
        pthread_cond_wait(&it.cond, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    for (size_t i = sizeof(void *); i < sizeof(it); i++)
        if (((char *)&it)[i] != 0) {
            puts("not ok: more than the first word was written");
            return 1;
        }
    puts("ok");
    return 0;
}
