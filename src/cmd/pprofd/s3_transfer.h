#ifndef CMD_PPROFD_S3_TRANSFER_H
#define CMD_PPROFD_S3_TRANSFER_H

#include "cmd/pprofd/import_sink.h"

/*
 * export to and import from a place in a bucket (cmd/pprofd/s3_place.h).
 * import also reads profefe's objects.
 */
bool s3_export(struct store *store, const char *place, struct str endpoint,
               struct error *err);
bool s3_import(struct import *m, const char *place, struct str endpoint,
               struct error *err);

#endif
