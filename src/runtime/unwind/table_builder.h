#ifndef RUNTIME_UNWIND_TABLE_BUILDER_H
#define RUNTIME_UNWIND_TABLE_BUILDER_H

/*
 * The thread that makes unwind tables and looks for new code.
 *
 * It starts before many stacks are walked, builds large tables with low
 * priority, and then sleeps until a walk ends in unknown code
 * (sampler.new_code): a library that has just been loaded is known after the
 * first sample in it.  Where nothing new is found, as with generated code, it
 * looks less and less often.
 */

/* Brings the modules up to date and has the tables of what is new made in
 * the background; walks do without them until then.  Not with the lock. */
void table_builder_refresh(void);

/* Something was loaded or unloaded: look soon, if the thread is there. */
void table_builder_notice(void);

void table_builder_after_fork(void);

#endif
