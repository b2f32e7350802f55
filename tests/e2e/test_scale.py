"""docs/scale.md has the table that bench/scale.py prints, and the script does
the sums that the page describes."""

import json
import os
import re
import subprocess
import sys
import unittest

import support

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
SCRIPT = os.path.join(ROOT, 'bench', 'scale.py')
COLLECTOR = '''# 2026-01-31
ingest    posted per profile                                20000 bytes
ingest    and until it is at rest                             0.6 ms
disk      CPU alone, sealed ones, posted / day files           20 x
'''
SCRAPE = {'targets': 1000, 'interval_seconds': 60,
          'cores': {'scrape': 0.01, 'main': 0.0033333333}}
CLICKHOUSE = {'measured': '2026-01-31', 'other': {
    'profiles_per_second': 1000, 'bytes_per_profile': 500,
    'collector_ms_per_profile': 0.2, 'server_ms_per_profile': 1.8}}


def run(*words):
    return subprocess.run([sys.executable, SCRIPT, *words], check=True,
                          capture_output=True, text=True).stdout


class Scale(support.TestCase):
    def test_the_page(self):
        with open(os.path.join(ROOT, 'docs', 'scale.md'),
                  encoding='utf-8') as f:
            found = re.search(r'<!-- bench/scale.py -->\n(.*)<!-- end -->',
                              f.read(), re.S)
        self.assertEqual(found.group(1), run())

    def file(self, name, text):
        with open(self.path(name), 'w') as f:
            f.write(text)
        return self.path(name)

    def cells(self, *words):
        return [[cell.strip() for cell in line.strip('|').split('|')]
                for line in run(*words).splitlines()
                if re.match(r'\| [0-9]', line)]

    def test_the_formula(self):
        words = ['--collector', self.file('c', COLLECTOR), '--scrape',
                 self.file('s', json.dumps(SCRAPE)), '--clickhouse']
        # 2,000 profiles/s of 0.6 + 0.4 ms need 2 of 4 × 0.5 cores.
        self.assertEqual(
            self.cells(*words, self.path('none'), '--cores', '4', '60000'),
            [['60,000', '2000', '2.00', '1', '1.21 TB'] + ['not measured'] * 3])
        self.assertEqual(
            self.cells(*words, self.file('h', json.dumps(CLICKHOUSE)),
                       '--server', 'other', '--days', '1', '60000', '30'),
            [['60,000', '2000', '2.00', '2', '173 GB', '2', '4 × 2', '173 GB'],
             ['30', '1', '0.00', '1', '86.4 MB', '1', '1 × 2', '86.4 MB']])


if __name__ == '__main__':
    unittest.main()
