#ifndef CMD_PPROF_SYMBOL_SERVICE_H
#define CMD_PPROF_SYMBOL_SERVICE_H

#include "symbol/symbolize.h"

/*
 * Asks the server that a profile came from for the names of its addresses, with
 * the same credentials and certificates: the `ask` of a symbolize_request.  Its
 * arg is the struct http_options of the fetch; the login is the source's.
 */
bool symbol_service_ask(void *arg, const struct symbolize_source *source,
                        struct str url, struct str addresses, struct buf *reply,
                        struct error *err);

#endif
