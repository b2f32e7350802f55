#ifndef RUNTIME_API_H
#define RUNTIME_API_H

/* In the child: what the parent's threads had begun is not ours. */
void api_after_fork(void);

#endif
