/*
 * Workers: a job does not wait for another one while there may be more of
 * them.
 */
#include "http_support.h"

#include "http/server/pool.h"

static atomic_int quick_ended, patient_ended;

/* The patient job ends after the quick one. */
static void handle(struct http_exchange *x, void *arg)
{
    (void)arg;
    if (str_eq(x->request->path, STR("/patient"))) {
        EXPECT(becomes_true(&quick_ended));
        atomic_store(&patient_ended, 1);
    } else {
        atomic_store(&quick_ended, 1);
    }
}

static struct job *add(struct pool *p, struct str path)
{
    struct http_request request = {.path = path};
    struct job *job = job_new(NULL, NULL, &request, &http_default_limits);

    job->task = JOB_HANDLE;
    EXPECT(pool_add(p, job));
    return job;
}

static void wait_for_idle_workers(struct pool *p, unsigned n)
{
    unsigned idle = 0;

    for (int i = 0; i < 30000 && idle != n; i++) {
        usleep(1000);
        pthread_mutex_lock(&p->lock);
        idle = p->idle_workers;
        pthread_mutex_unlock(&p->lock);
    }
    EXPECT(idle == n);
}

TEST(an_idle_worker_is_for_one_job)
{
    struct pool p;
    struct job *jobs[3];

    pool_init(&p, &(struct pool_options){.handler = handle, .max_workers = 2});
    jobs[0] = add(&p, STR("/quick"));
    wait_for_idle_workers(&p, 1);
    atomic_store(&quick_ended, 0);
    /* It has hardly woken up when the next one comes. */
    jobs[1] = add(&p, STR("/patient"));
    jobs[2] = add(&p, STR("/quick"));
    EXPECT(becomes_true(&patient_ended));
    pool_stop(&p);
    pool_join(&p);
    pool_release(&p);
    for (size_t i = 0; i < 3; i++)
        job_free(jobs[i]);
}

TEST_MAIN
