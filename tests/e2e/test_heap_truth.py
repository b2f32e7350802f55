"""Compares the heap profile with a program whose allocations are known in
advance. The bounds come from the theory of sampling errors;
bench/heap_truth.py takes more runs."""
import os
import unittest

from heap import (ALLOC_OBJECTS, ALLOC_SPACE, INUSE_OBJECTS, INUSE_SPACE,
                  bound, library, run_truth)
from runtime import BUILD


class Truth(unittest.TestCase):
    def test_every_block_is_there_at_rate_1(self):
        truth, said = run_truth(1, 1 << 20)
        for (site, size), (total, live) in truth.items():
            with self.subTest('%s %d' % (site, size)):
                self.assertEqual(said[site, size],
                                 [total, total * size, live, live * size])

    def check(self, rate, runs, env=None):
        sums = {}
        for _ in range(runs):
            truth, said = run_truth(rate, 400 * rate, env)
            for (site, size), (total, live) in truth.items():
                for n, objects, space in (
                        (total, ALLOC_OBJECTS, ALLOC_SPACE),
                        (live, INUSE_OBJECTS, INUSE_SPACE)):
                    values = said[site, size]
                    blocks = values[space] / size
                    self.assertLessEqual(abs(blocks - n),
                                         bound(rate, size, n) + 0.01,
                                         (site, size, objects))
                    self.assertLess(abs(blocks - values[objects]), 2)
                    key = (site, size, n, objects)
                    sums[key] = sums.get(key, 0) + blocks
        # As many runs are as good as one with so many more blocks.
        for (site, size, n, objects), blocks in sums.items():
            self.assertLessEqual(abs(blocks - runs * n),
                                 bound(rate, size, runs * n) + 0.01 * runs,
                                 (site, size, objects))

    def test_sites_are_within_the_error_of_sampling(self):
        self.check(65536, 4)

    def test_sites_are_right_where_samples_cannot_be_aligned(self):
        self.check(16384, 4)

    def test_sites_are_right_above_another_allocator(self):
        below = library('libjemalloc.so.2')
        if not below:
            self.skipTest('no jemalloc')
        self.check(65536, 2, {'LD_PRELOAD': '%s %s' % (
            os.path.join(BUILD, 'libpprof-preload.so'), below)})


if __name__ == '__main__':
    unittest.main()
