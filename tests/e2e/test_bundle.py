"""The page's modules as a few scripts, without what nobody reads."""
import json
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
import shrink  # noqa: E402

# As much of a browser as later scripts need: they run when they are inserted.
BROWSER = '''
import vm from 'node:vm';
const texts = %s;
globalThis.document = { querySelector: () => ({ textContent: texts.shift(),
    replaceWith(script) {
      console.log('(rest)');
      document.currentScript = script;
      vm.runInThisContext(script.textContent);
    } }),
  createElement: () => ({}) };
'''


class TestBundle(unittest.TestCase):
    def bundle(self, count=2, **files):
        """The files by their names; "__" stands for a slash."""
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                path = os.path.join(directory, name.replace('__', '/') + '.js')
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'w', encoding='utf-8') as f:
                    f.write(text)
            return bundle.bundle(directory, 'main.js', count)

    def whole(self, **files):
        first, *rest = self.bundle(**files)
        return BROWSER % json.dumps(rest) + first

    def run_bundle(self, **files):
        return subprocess.run(
            ['node', '--input-type=module', '-e', self.whole(**files)],
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
    def test_folders_find_each_other_and_names_repeat(self):
        self.assertEqual(self.run_bundle(
            main="import { one } from './a/view.js';\nconsole.log(one());\n",
            a__view="import { two } from '../b/view.js';\n"
                    "import { three } from './part.js';\n"
                    "export function one() {\n  return two + three;\n}\n",
            a__part="import { two } from '../b/view.js';\n"
                    "export const three = two + 1;\n",
            b__view="export const two = 2;\n"),
            '5\n')

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
        self.assert_refused('is outside of the page',
                            main="import { a } from '../a.js';\n")
        self.assert_refused('a.js exports no x',
                            main="import { x } from './a.js';\n", a='\n')
        self.assert_refused('cannot be put in one file: export default',
                            main="export default 1;\n")
        self.assert_refused('cannot be put in one file: import',
                            main="import * as x from './a.js';\n", a='\n')

    @support.needs('node')
    def test_what_is_marked_runs_at_the_first_call(self):
        self.assertEqual(self.run_bundle(
            main="import { f } from './f.js'; // later\n"
                 "import { C } from './c.js'; // later\n"
                 "import { one } from './both.js';\n"
                 "console.log('main', one);\n"
                 "console.log(f(2), new C(3).n);\n",
            f="import { one } from './both.js';\n"
              "import { g } from './g.js'; // later\nconsole.log('f');\n"
              "export function f(n) {\n  return g(n + one);\n}\n",
            g="export function g(n) {\n  return n * 10;\n}\n",
            c="export class C {\n  constructor(n) {\n    this.n = n;\n"
              "  }\n}\n",
            both="console.log('both');\nexport const one = 1;\n"),
            'both\nmain 1\n(rest)\nf\n30 3\n')

    @support.needs('node')
    def test_each_script_can_have_another_behind_it(self):
        self.assertEqual(self.run_bundle(
            count=3,
            main="import { f } from './f.js'; // later\n"
                 "import { h } from './h.js'; // later\n"
                 "console.log('main');\nconsole.log(f(1));\n"
                 "console.log(f(2), h());\n",
            f="import { g } from './g.js'; // later\n"
              "export function f(n) {\n  return n > 1 ? g(n) : n;\n}\n",
            g="import { h } from './h.js';\n"
              "import { end } from './end.js'; // later\n"
              "export function g(n) {\n  return n * h() * end();\n}\n",
            h="export function h() {\n  return 10;\n}\n",
            end="export function end() {\n  return 3;\n}\n"),
            'main\n(rest)\n1\n(rest)\n60 10\n')

    @support.needs('node')
    def test_what_is_needed_at_once_is_in_the_first_script(self):
        self.assertEqual(self.run_bundle(
            main="import { a } from './a.js'; // later\n"
                 "import { b } from './b.js';\nconsole.log(a() + b());\n",
            a="export function a() {\n  return 1;\n}\n",
            b="import { a } from './a.js';\n"
              "export function b() {\n  return a() + 1;\n}\n"),
            '3\n')

    def test_what_is_neither_called_nor_made_cannot_come_later(self):
        for kind, use in (('const a = 1', 'a'),
                          ('class a {}', 'x instanceof a')):
            self.assert_refused('a cannot come later',
                                main="import { a } from './a.js'; // later\n"
                                     "console.log(%s);\n" % use,
                                a='export %s;\n' % kind)


class TestShrink(unittest.TestCase):
    def assert_shrunk(self, text, expected):
        self.assertEqual(shrink.script(text), expected)

    def test_comments_and_white_space_go(self):
        self.assert_shrunk('// a\nconst x = 1; // b\n\n/* c\n */\n'
                           'if (x) {\n  f(x, 2);\n}\ng();\n',
                           'const x=1;if(x){f(x,2);}\ng();')

    def test_the_end_of_a_statement_stays(self):
        self.assert_shrunk('let a\nlet b = a\n\n(c)\n',
                           'let a\nlet b=a\n(c)')
        self.assert_shrunk('return /* a\n */ x', 'return\nx')
        self.assert_shrunk('a + +b - -c', 'a + +b - -c')

    def test_strings_templates_and_regexps_stay_as_they_are(self):
        for text in ("' // a  b'", '" /* \\" */ "', '/[/"]  \\/ /g'):
            self.assert_shrunk('x = %s;' % text, 'x=%s;' % text)
        self.assert_shrunk('x = `  // ${ { a : `  ${ b }  ` } }  /* \n  `;',
                           'x=`  // ${{a:`  ${b}  `}}  /* \n  `;')
        self.assert_shrunk("a = b / c; d = e.split(/ '/); f / 'g  /'",
                           "a=b / c;d=e.split(/ '/);f / 'g  /'")

    def test_a_template_without_an_end_ends_the_build(self):
        with self.assertRaisesRegex(SystemExit, 'a template has no end'):
            shrink.script('x = `a ${b} c')

    def test_styles(self):
        self.assertEqual(
            shrink.style('/* a */\na > b,\nc :hover {\n  content: "{  /*";\n'
                         '  margin: 0 1px;\n}\n'),
            'a > b,c :hover{content: "{  /*";margin: 0 1px;}')


if __name__ == '__main__':
    unittest.main()
