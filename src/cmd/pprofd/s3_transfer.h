#ifndef CMD_PPROFD_S3_TRANSFER_H
#define CMD_PPROFD_S3_TRANSFER_H

#include "cmd/pprofd/import_sink.h"

/*
 * export to and import from a bucket.  Credentials and region come from the
 * environment, with the names that Amazon's tools use; so does the endpoint
 * if it is "".
 */
bool s3_is_place(const char *word); /* "s3://BUCKET/PREFIX" */

bool s3_export(struct store *store, const char *place, struct str endpoint,
               struct error *err);
bool s3_import(struct import *m, const char *place, struct str endpoint,
               struct error *err);

#endif
