#!/usr/bin/env python3
"""What names, lines and inlined calls cost, compared with other tools.

usage: bench/symbol.py [--addresses N] [--times N] [--peers LIST] [DIRECTORY]

Symbolises a profile with N (20000) distinct addresses in the functions of a
big C++ program with debug information: ceph-mds of Debian, 7 MB of code and
266 MB of debug information (102 MB compressed).  The packages are downloaded
into DIRECTORY (build/bench/ceph) when they are not there.  Prints CPU
seconds and peak memory of `pprof -proto` and of addr2line, llvm-symbolizer
and `go tool pprof` for the same addresses, the best of --times runs, how many
addresses got a name, and how many times less ours needs; as JSON lines.  There
is no such ratio to a tool that names less than nine tenths of what ours does:
`go tool pprof` follows no link to debug information and names nothing here.
"""
import argparse
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, 'build')

sys.path.insert(0, os.path.join(ROOT, 'tests'))
from profilepb import Profile  # noqa: E402

PACKAGES = ['ceph-mds', 'ceph-mds-dbg']


def prepare(directory):
    """(program, its debug file, uncompressed) side by side."""
    program = os.path.join(directory, 'ceph-mds')
    debug = program + '.debug'
    if os.path.exists(program):
        return program, debug
    os.makedirs(directory, exist_ok=True)
    subprocess.run(['apt-get', 'download', '-q', *PACKAGES], check=True,
                   cwd=directory, stdout=subprocess.DEVNULL)
    for package in glob.glob(os.path.join(directory, '*.deb')):
        subprocess.run(['dpkg', '-x', package, directory], check=True)
    packed, = glob.glob(os.path.join(directory, 'usr/lib/debug/.build-id/*/*'))
    subprocess.run(['objcopy', '--decompress-debug-sections', packed, debug],
                   check=True)
    bare = os.path.join(directory, 'usr/bin/ceph-mds')
    subprocess.run(['objcopy', '--remove-section=.gnu_debuglink', bare,
                    program + '.bare'], check=True)
    subprocess.run(['objcopy', '--add-gnu-debuglink=' + debug,
                    program + '.bare', program], check=True)
    return program, debug


def pick(debug, n):
    """Addresses in functions, as samples have them."""
    listed = subprocess.run(['nm', '-S', '--defined-only', debug], check=True,
                            capture_output=True, text=True).stdout
    functions = [(int(m.group(1), 16), int(m.group(2), 16)) for m in
                 re.finditer(r'^(\w+) (\w+) [tTwW] ', listed, re.M)]
    chance = random.Random(20)
    found = set()
    weights = [size for _, size in functions]
    while len(found) < n:
        for start, size in chance.choices(functions, weights, k=n):
            found.add(start + chance.randrange(size))
    return sorted(found)[:n]


def write_profile(path, program, addresses):
    """As a PIE loaded at 0x555500000000 has them."""
    headers = subprocess.run(['readelf', '-lW', program], text=True,
                             capture_output=True).stdout
    offset, vaddr, size = (int(x, 16) for x in re.search(
        r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E', headers).groups())
    base = 0x555500000000
    p = Profile([('samples', 'count')])
    mapping = p.mapping(base + vaddr, base + vaddr + (size + 4095 & ~4095),
                        offset, program, symbolized=False)
    for address in addresses:
        if vaddr <= address < vaddr + size:
            p.sample([p.location(address=base + address, mapping=mapping)],
                     [1])
    p.write(path)


def measure(command, stdin):
    with tempfile.NamedTemporaryFile('r') as result, open(stdin) as text:
        subprocess.run([os.path.join(BUILD, 'bench', 'measure'), result.name,
                        *command], stdin=text, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
        used = json.loads(result.read())
    return used


def count_names(name, command, stdin, profile):
    """How many of the addresses the tool finds a function for."""
    if os.path.exists(profile):
        os.unlink(profile)  # another tool's
    with open(stdin) as text:
        said = subprocess.run(command, stdin=text, text=True,
                              capture_output=True).stdout
    if name == 'llvm-symbolizer':  # function, place, ..., empty line
        firsts = [block.lstrip().split('\n')[0]
                  for block in said.split('\n\n') if block.strip()]
    elif name == 'addr2line':  # address, function, place, ...
        firsts = re.findall(r'^0x\w+\n(.*)$', said, re.M)
    else:
        raw = subprocess.run([os.path.join(BUILD, 'pprof'), '-raw',
                              '-symbolize=none', profile], text=True,
                             capture_output=True).stdout
        firsts = re.findall(r'^ *\d+: 0x\w+ M=\d+ +(\S+)', raw, re.M)
    return sum(first != '??' for first in firsts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--addresses', type=int, default=20000)
    parser.add_argument('--times', type=int, default=3)
    parser.add_argument('--peers',
                        default='llvm-symbolizer,addr2line,go tool pprof')
    parser.add_argument('directory', nargs='?',
                        default=os.path.join(BUILD, 'bench', 'ceph'))
    arguments = parser.parse_args()
    program, debug = prepare(os.path.abspath(arguments.directory))
    addresses = pick(debug, arguments.addresses)
    with tempfile.TemporaryDirectory() as directory:
        text = os.path.join(directory, 'addresses')
        profile = os.path.join(directory, 'profile.pb.gz')
        made = os.path.join(directory, 'made.pb.gz')
        with open(text, 'w') as f:
            f.writelines('0x%x\n' % a for a in addresses)
        write_profile(profile, program, addresses)
        commands = {
            'pprof': [os.path.join(BUILD, 'pprof'), '-proto',
                      '-output=' + made, profile],
            'llvm-symbolizer': ['llvm-symbolizer-14', '--obj=' + program,
                                '--no-demangle'],
            'addr2line': ['addr2line', '-aif', '-e', debug],
            'go tool pprof': ['go', 'tool', 'pprof', '-proto',
                              '-output=' + made, profile],
        }
        ours = None
        for name in ['pprof'] + [p for p in arguments.peers.split(',') if p]:
            runs = [measure(commands[name], text)
                    for _ in range(arguments.times)]
            best = {key: min(run[key] for run in runs) for key in runs[0]}
            named = count_names(name, commands[name], text, made)
            line = dict(tool=name, addresses=len(addresses), named=named,
                        **best)
            if ours is None:
                ours, ours_named = best, named
            elif named >= 0.9 * ours_named:
                for key in best:
                    if ours[key]:
                        line['times ' + key] = round(best[key] / ours[key], 1)
            print(json.dumps(line), flush=True)


if __name__ == '__main__':
    main()
