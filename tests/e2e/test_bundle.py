"""The page's modules as one script."""
import os
import subprocess
import sys
import tempfile
import unittest

import support

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                '..', '..', 'src', 'page'))
sys.dont_write_bytecode = True
import bundle  # noqa: E402


class TestBundle(unittest.TestCase):
    def bundle(self, **files):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                with open(os.path.join(directory, name + '.js'), 'w',
                          encoding='utf-8') as f:
                    f.write(text)
            return bundle.bundle(directory, 'main.js')

    def run_bundle(self, **files):
        return subprocess.run(
            ['node', '--input-type=module', '-e', self.bundle(**files)],
            stdout=subprocess.PIPE, text=True, check=True).stdout

    def assert_refused(self, words, **files):
        with self.assertRaisesRegex(SystemExit, words):
            self.bundle(**files)

    @support.needs('node')
    def test_modules_run_once_in_the_order_of_their_imports(self):
        self.assertEqual(self.run_bundle(
            main="import { b } from './b.js';\n"
                 "import { a as other } from './a.js';\n"
                 "console.log('main', b(), other);\n",
            b="import { a } from './a.js';\nconsole.log('b');\n"
              "export function b() {\n  return a + 1;\n}\n",
            a="console.log('a');\nexport const a = 1;\n"),
            'a\nb\nmain 2 1\n')

    @support.needs('node')
    def test_names_of_modules_do_not_meet(self):
        self.assertEqual(self.run_bundle(
            main="import { say } from './a.js';\nconst x = 'main';\n"
                 "say();\nconsole.log(x);\n",
            a="const x = 'a';\nexport function say() {\n"
              "  console.log(x);\n}\n"),
            'a\nmain\n')

    @support.needs('node')
    def test_two_that_import_each_other_can_call_later(self):
        self.assertEqual(self.run_bundle(
            main="import { a } from './a.js';\nconsole.log(a(3));\n",
            a="import { b } from './b.js';\n"
              "export function a(n) {\n  return n > 0 ? b(n) : 'end';\n}\n",
            b="import { a } from './a.js';\n"
              "export function b(n) {\n  return n + a(n - 1);\n}\n"),
            '321end\n')

    def test_what_cannot_be_put_in_one_file_ends_the_build(self):
        self.assert_refused('import each other: A is no function',
                            main="import { a } from './a.js';\n",
                            a="import { B } from './b.js';\n"
                              "export const A = 1;\nexport const a = B;\n",
                            b="import { A } from './a.js';\n"
                              "export const B = A;\n")
        self.assert_refused('a.js exports no x',
                            main="import { x } from './a.js';\n", a='\n')
        self.assert_refused('cannot be put in one file: export default',
                            main="export default 1;\n")
        self.assert_refused('cannot be put in one file: import',
                            main="import * as x from './a.js';\n", a='\n')


if __name__ == '__main__':
    unittest.main()
