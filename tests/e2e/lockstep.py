"""What the test and the benchmark of loops in step with the sampling interval
share."""
import os
import subprocess
import tempfile

from runtime import PROGRAMS, top

PARTS = ('part_50', 'part_30', 'part_15', 'part_5')

# Of the loop, in sampling intervals.
PERIODS = (1 / 3, 1 / 2, 1, 2, 3, 5)


def standard_error(share, samples):
    """Of a share, if each sample is taken at a moment of its own."""
    return (share * (1 - share) / samples) ** 0.5


def measure(source, hz, ratio, seconds, library=None, how=''):
    """Shares that the profile has seen, and the true ones."""
    env = dict(os.environ, PPROF_CPU_SOURCE=source)
    if library:
        env['LD_LIBRARY_PATH'] = library
    with tempfile.NamedTemporaryFile() as out:
        done = subprocess.run(
            [os.path.join(PROGRAMS, 'lockstep'), str(seconds), str(hz),
             '%.3f' % (ratio * 1e6 / hz), out.name, how],
            capture_output=True, text=True, timeout=280, check=True, env=env)
        rows = top(out.name)
    cpu, *used = (int(n) for n in done.stdout.split())
    flat = [rows.get(name, (0, 0))[1] for name in PARTS]
    return {'seen': [n / sum(flat) for n in flat],
            'true': [n / sum(used) for n in used],
            'accounted': sum(n for n, _ in rows.values()) / cpu,
            'samples': sum(flat) * hz / 1e9}
