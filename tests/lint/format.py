#!/usr/bin/env python3
"""Every C file is formatted by clang-format (`make format`)."""
import shutil
import subprocess

import tree


def main():
    tap = tree.Tap()
    name = 'the C files are formatted'
    if not shutil.which('clang-format'):
        tap.skip(name, 'no clang-format')
        tap.end()
    ran = subprocess.run(
        ['clang-format', '--dry-run', '-Werror', '--ferror-limit=3',
         *tree.files('.c', '.h', '.cc')], cwd=tree.ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wrong = sorted({line.split(':')[0] for line in ran.stdout.splitlines()
                    if ': error: ' in line})
    tap.case(name, wrong or ([ran.stdout] if ran.returncode else []))
    tap.end()


if __name__ == '__main__':
    main()
