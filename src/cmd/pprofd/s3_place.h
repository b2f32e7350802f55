#ifndef CMD_PPROFD_S3_PLACE_H
#define CMD_PPROFD_S3_PLACE_H

#include "base/arena.h"
#include "store/archive/s3_client.h"

/*
 * s3://BUCKET/PREFIX, as commands and settings name a place in a bucket.
 */
struct s3_place {
    struct str bucket;
    struct str prefix; /* "" or "a/b/" */
};

/* Returns true if the word begins with s3://. */
bool s3_is_place(struct str word);

bool s3_place_parse(struct arena *a, struct str word, struct s3_place *out,
                    struct error *err);

/* How to reach the server: the endpoint of the settings, or "", and the usual
 * variables of the environment.  The error begins with `word`. */
bool s3_settings_read(struct str word, struct str endpoint,
                      struct s3_settings *out, struct error *err);

#endif
