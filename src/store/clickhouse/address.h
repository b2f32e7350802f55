#ifndef STORE_CLICKHOUSE_ADDRESS_H
#define STORE_CLICKHOUSE_ADDRESS_H

#include "base/error.h"
#include "base/str.h"

/*
 * clickhouse://user@host:port,host:port/database
 *
 * The port is 8123, or 8443 for clickhouses://; the user and the database are
 * "default" unless given.
 */
enum { CLICKHOUSE_HOSTS = 16 };

struct clickhouse_address {
    bool is_tls;
    struct str user, database;
    struct {
        struct str name; /* an IPv6 address with its brackets */
        uint16_t port;
    } hosts[CLICKHOUSE_HOSTS];
    size_t n_hosts;
};

/* The texts are views of the URL. */
bool clickhouse_address_parse(struct str url, struct clickhouse_address *out,
                              struct error *err);

#endif
