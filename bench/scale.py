#!/usr/bin/env python3
"""How many collectors and ClickHouse servers a fleet needs, from figures that
the benchmarks measured.

usage: bench/scale.py [--collector FILE] [--scrape FILE] [--clickhouse FILE]
                      [--server NAME] [--cores N] [--busy SHARE] [--days N]
                      [PODS ...]

Each pod sends, or is scraped for, a CPU profile of 10 s and a heap profile per
minute.  The files are what `bench/collector --case ingest,disk` and
`bench/scrape.py` print, below lines of comments that begin with the date;
those in bench/figures are the default.  The file of ClickHouse is what
`bench/clickhouse --json FILE` writes; --server (debian) says for which of the
servers in it.  Without the file, the columns of ClickHouse are "not measured".
A machine has --cores (2) cores, of which --busy (0.5) may be used, and keeps
profiles for --days (7).

Prints the table of docs/scale.md.
"""
import argparse
import json
import math
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
FIGURES = os.path.join(HERE, 'figures')
PROFILES_PER_MINUTE = 2  # of a pod
REPLICAS = 2             # of each ClickHouse server
NOT_MEASURED = 'not measured'


def read(path):
    """(date, text without comments); (None, '') without the file."""
    if not os.path.exists(path):
        return None, ''
    with open(path) as f:
        lines = f.read().splitlines()
    date = next((found.group() for line in lines if line.startswith('#')
                 for found in [re.search(r'\d{4}-\d\d-\d\d', line)] if found),
                None)
    return date, '\n'.join(l for l in lines if not l.startswith('#'))


def figure(text, case, name):
    found = re.search(r'^%s +%s +([0-9.e+-]+) ' % (case, re.escape(name)),
                      text, re.M)
    if not found:
        raise SystemExit('bench/scale.py: no line "%s %s" in the output of '
                         'bench/collector' % (case, name))
    return float(found.group(1))


class Figures:
    def __init__(self, options):
        self.collector_date, text = read(options.collector)
        self.ingest_ms = figure(text, 'ingest', 'and until it is at rest')
        posted = figure(text, 'ingest', 'posted per profile')
        self.bytes = posted / figure(
            text, 'disk', 'CPU alone, sealed ones, posted / day files')
        self.scrape_date, text = read(options.scrape)
        self.scrape_ms = self.targets = None
        if text:
            scrape = json.loads(text)
            self.targets = scrape['targets']
            self.scrape_ms = 1e3 * sum(scrape['cores'].values()) / (
                self.targets * PROFILES_PER_MINUTE /
                scrape['interval_seconds'])
        _, text = read(options.clickhouse)
        self.clickhouse = None
        if text:
            found = json.loads(text)
            self.clickhouse = found[options.server]
            self.clickhouse_date = found['measured']


def size(number):
    for unit in ('B', 'KB', 'MB', 'GB', 'TB'):
        if number < 1000 or unit == 'TB':
            return '%.3g %s' % (number, unit)
        number /= 1000


def machines(rate, ms, options):
    """That one needs for `rate` pieces of work of `ms` each."""
    return max(1, math.ceil(rate * ms / 1e3 / (options.cores * options.busy)))


def row(pods, figures, options):
    rate = pods * PROFILES_PER_MINUTE / 60
    day = rate * 86400
    # What is scraped is also stored; scrape_ms has its own ingest in it.
    ms = figures.ingest_ms + (figures.scrape_ms or 0)
    cells = [format(pods, ','), '%.0f' % rate, '%.2f' % (rate * ms / 1e3),
             str(machines(rate, ms, options)),
             size(day * figures.bytes * options.days)]
    click = figures.clickhouse
    if not click:
        return cells + [NOT_MEASURED] * 3
    sending = click['collector_ms_per_profile'] + (figures.scrape_ms or 0)
    servers = machines(rate, click['server_ms_per_profile'], options)
    return cells + [str(machines(rate, sending, options)),
                    '%d × %d' % (servers, REPLICAS),
                    size(day * click['bytes_per_profile'] * options.days *
                         REPLICAS)]


def table(pods, figures, options):
    head = ['pods', 'profiles/s', 'cores', 'collectors',
            'disk, %d days' % options.days, 'collectors with ClickHouse',
            'ClickHouse servers', 'their disk, %d days' % options.days]
    lines = [head, ['---:'] * len(head)]
    lines += [row(n, figures, options) for n in pods]
    return '\n'.join('| %s |' % ' | '.join(line) for line in lines)


def sources(figures):
    lines = ['- Storing a profile costs %.3g ms of CPU time and %.0f bytes of '
             'disk (`bench/collector`, %s).'
             % (figures.ingest_ms, figures.bytes, figures.collector_date)]
    if figures.scrape_ms:
        lines.append(
            '- Scraping one costs %.3g ms, storing the small profiles of that '
            'benchmark included; %s targets were scraped by one process '
            '(`bench/scrape.py`, %s).'
            % (figures.scrape_ms, format(figures.targets, ','),
               figures.scrape_date))
    else:
        lines.append('- Scraping is not measured.')
    click = figures.clickhouse
    lines.append(
        '- With ClickHouse, storing a profile costs %.3g ms of CPU time in the '
        'collector and %.3g ms in the server, and %.0f bytes of its disk; one '
        'server took %.0f profiles per second, with everything on one machine '
        '(`bench/clickhouse`, %s).'
        % (click['collector_ms_per_profile'], click['server_ms_per_profile'],
           click['bytes_per_profile'], click['profiles_per_second'],
           figures.clickhouse_date)
        if click else '- ClickHouse is not measured.')
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--collector',
                        default=os.path.join(FIGURES, 'collector.txt'))
    parser.add_argument('--scrape',
                        default=os.path.join(FIGURES, 'scrape.json'))
    parser.add_argument('--clickhouse',
                        default=os.path.join(FIGURES, 'clickhouse.json'))
    parser.add_argument('--server', default='debian')
    parser.add_argument('--cores', type=float, default=2)
    parser.add_argument('--busy', type=float, default=0.5)
    parser.add_argument('--days', type=int, default=7)
    parser.add_argument('pods', type=int, nargs='*')
    options = parser.parse_args()
    figures = Figures(options)
    print(table(options.pods or [1000, 10000, 100000], figures, options))
    print()
    print(sources(figures))


if __name__ == '__main__':
    main()
