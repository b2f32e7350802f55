"""What the tests and measurements of heap profiles share."""
import math
import os
import re
import subprocess
import tempfile

from runtime import PROGRAMS, pprof

(ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE, PEAK_OBJECTS,
 PEAK_SPACE) = range(6)


def samples(path):
    """[(values, functions leaf first, bytes)] of a heap profile: four values,
    two of a profile of the peak, six of the file of a run."""
    text = pprof('-symbolize=none', '-raw', path)
    names = {}
    for line in text.partition('\nLocations\n')[2].splitlines():
        found = re.match(r'\s+(\d+): 0x[0-9a-f]+ M=\d+ (\S+)', line)
        if found:
            names[found.group(1)] = found.group(2)
    found = []
    for line in text.partition('\nLocations\n')[0].splitlines():
        sample = re.match(r'((?:\s*-?\d+){2,6}):(.*)', line)
        if sample:
            values = [int(n) for n in sample.group(1).split()]
            found.append((values, [names.get(n, '?').split('.')[0]
                                   for n in sample.group(2).split()], None))
        size = re.search(r'\bbytes:\[(\d+)\]', line)
        if size:
            found[-1] = (*found[-1][:2], int(size.group(1)))
    return found


def library(name):
    """Where a shared library of the system is, or None."""
    for place in ('/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu'):
        if os.path.exists(os.path.join(place, name)):
            return os.path.join(place, name)
    return None


def run_truth(rate, size, env=None,
              program=os.path.join(PROGRAMS, 'heap_truth')):
    """Runs heap_truth.  {(site, size): (total, live)} as it is, and
    {(site, size): four values} as the profile says."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'heap.pb.gz')
        done = subprocess.run(
            [program, str(size), path],
            env=dict(os.environ, PPROF_MEM_RATE=str(rate), **(env or {})),
            capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise AssertionError('heap_truth: ' + done.stderr)
        truth = {}
        for line in done.stdout.splitlines():
            site, block, total, live = line.split()
            truth[site, int(block)] = (int(total), int(live))
        said = {key: [0, 0, 0, 0] for key in truth}
        for values, functions, block in samples(path):
            if functions and (functions[0], block) in said:
                entry = said[functions[0], block]
                for i, value in enumerate(values):
                    entry[i] += value
        return truth, said


def spread(rate, size, n):
    """The standard error of an estimate of n blocks: each is sampled with
    probability p and stands for 1/p."""
    p = 1.0 if rate <= 1 else -math.expm1(-size / rate)
    return math.sqrt(n * (1 - p) / p)


def bound(rate, size, n, odds=1e-7):
    """What an estimate of n blocks is off by more than once in 1/odds times,
    at most (Bernstein's inequality: also for few samples)."""
    p = 1.0 if rate <= 1 else -math.expm1(-size / rate)
    most = max(1, (1 - p) / p)
    lots = math.log(2 / odds)
    third = most * lots / 3
    return third + math.sqrt(third ** 2 + 2 * lots * spread(rate, size, n)
                             ** 2) if p < 1 else 0
