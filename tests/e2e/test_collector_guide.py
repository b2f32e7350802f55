"""docs/collector.md lists the settings of pprofd as `pprofd config` does."""

import os
import re
import subprocess
import unittest

import collector

GUIDE = os.path.join(os.path.dirname(__file__), '..', '..', 'docs',
                     'collector.md')
ROW = re.compile(r'^\| `(\w+\.\w+)` \| .* \| (?:`(.*)`)? *\| (.*) \|$', re.M)


def settings():
    """(name, value, meaning) of each setting that the program prints."""
    said = subprocess.run([collector.PPROFD, 'config', '--data', 'DIR'],
                          capture_output=True, text=True, check=True).stdout
    section = meaning = ''
    for line in said.splitlines():
        if line.startswith('  # '):
            meaning = line[4:]
        elif line.startswith('  '):
            key, value = line.strip().split(': ', 1)
            yield section + '.' + key, value.strip('"'), meaning
        else:
            section = line.rstrip(':')


class Guide(unittest.TestCase):
    def test_table_of_settings(self):
        with open(GUIDE, encoding='utf-8') as f:
            rows = ROW.findall(f.read())
        # These two depend on the machine and on other settings.
        made = [(name, '' if name in ('listen.address', 'storage.data')
                 else value, meaning) for name, value, meaning in settings()]
        self.assertEqual(rows, made)


if __name__ == '__main__':
    unittest.main()
