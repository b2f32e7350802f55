"""Programs with known symbols, and queries to both symbolisers."""

import os
import random
import struct
import subprocess

import support

SYMBOLIZE = os.path.abspath(
    os.path.join(support.BUILD, 'tests', 'tools', 'symbolize'))
ORACLE = 'llvm-symbolizer-14'
ADDRESSES = int(os.environ.get('PPROF_SYMBOL_ADDRESSES', '1500'))
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, 'programs', 'symbols')
UNKNOWN = ['??', '??:0:0']


def run(*command, **kwargs):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, **kwargs)


def section(path, name):
    """Address and size of a section."""
    with open(path, 'rb') as f:
        data = f.read()
    offset, = struct.unpack_from('<Q', data, 0x28)
    size, count, names = struct.unpack_from('<HHH', data, 0x3a)
    headers = [struct.unpack_from('<IIQQQQ', data, offset + i * size)
               for i in range(count)]
    texts = headers[names][4]
    for h in headers:
        start = texts + h[0]
        if data[start:data.index(b'\0', start)].decode() == name:
            return h[3], h[5]
    raise AssertionError('%s has no %s' % (path, name))


def addresses_in(path, n=ADDRESSES, seed=6):
    """Random code addresses, rising."""
    start, size = section(path, '.text')
    picked = random.Random(seed).sample(range(start, start + size),
                                        min(n, size))
    return sorted(picked)


def ask(command, addresses):
    """The frames of each address: lists of function, place, function …"""
    text = ''.join('0x%x\n' % a for a in addresses)
    out = subprocess.run(command, input=text, capture_output=True, text=True,
                         check=True).stdout
    blocks = out.strip('\n').split('\n\n')
    assert len(blocks) == len(addresses), (len(blocks), len(addresses))
    return [b.split('\n') for b in blocks]


def ours(path, addresses):
    return ask([SYMBOLIZE, path], addresses)


def oracle(path, addresses):
    return ask([ORACLE, '--obj=' + path, '--no-demangle'], addresses)


def knows_more(ours, oracle):
    """A name where the oracle has none; or, of a stripped file, the name of
    a clone, which the oracle does not look up in the debug file."""
    if oracle == UNKNOWN:
        return ours[0] != '??'
    return (ours[:-2] + ours[-1:] == oracle[:-2] + oracle[-1:] and
            ours[-2].startswith(oracle[-2] + '.'))


def differences(path, addresses, oracles_path=None):
    """Addresses at which the two disagree, and how often we know more."""
    different, more = [], 0
    for address, a, b in zip(addresses, ours(path, addresses),
                             oracle(oracles_path or path, addresses)):
        if a == b:
            continue
        if knows_more(a, b):
            more += 1
        else:
            different.append('0x%x:\n  ours   %s\n  oracle %s' % (
                address, a, b))
    return different, more
