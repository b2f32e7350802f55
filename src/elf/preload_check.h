#ifndef ELF_PRELOAD_CHECK_H
#define ELF_PRELOAD_CHECK_H

/*
 * Checks whether LD_PRELOAD works for a program.  It does not if no loader
 * reads it (a statically linked program), if the loader must ignore it (set-uid
 * programs and those with file capabilities), or if the library does not match
 * the program (32 bits, another processor, another C library).
 *
 * Returns the reason as words that complete "the program cannot be profiled:
 * …", or NULL if it can be, or if the file cannot be read.  A script is
 * followed to its interpreter.  Async-signal-safe.
 */
const char *preload_obstacle(const char *path);

/* This answer is different from the others: with our library in LD_PRELOAD
 * the program would not even start. */
extern const char preload_other_libc[];

#endif
