#ifndef STORE_ARCHIVE_S3_XML_H
#define STORE_ARCHIVE_S3_XML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/*
 * The few XML documents that an S3 server sends: listings, the id of a
 * multipart upload, errors.  Elements are known by name; attributes, comments
 * and processing instructions are skipped; there are no entities but the
 * predefined and numeric ones.  The documents come from a server and are not
 * trusted.
 */
#define S3_TEXT_MAX ((size_t)64 << 10) /* of one element */

/* Text of the first element with this name, appended to `out`; false if there
 * is none. */
bool s3_xml_find(struct str xml, struct str name, struct buf *out);

/* One object of a listing.  Returns false to end it, with err set. */
typedef bool s3_each_object(void *arg, struct str key, uint64_t size,
                            struct error *err);

/* Calls `each` for each object of a page of ListObjectsV2.  `next` gets the
 * token of the next page; it stays empty on the last one. */
bool s3_xml_list(struct str xml, s3_each_object *each, void *arg,
                 struct buf *next, struct error *err);

#endif
