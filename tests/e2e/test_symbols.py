"""Names, files, lines and inlined calls are those of llvm-symbolizer, at
random code addresses of programs of every kind."""

import os
import shutil
import subprocess
import unittest

import support
import symbols
from symbols import SOURCES, run


@support.needs('gcc', 'g++', symbols.ORACLE)
class NativePrograms(support.TestCase):

    def build(self, *flags, c='gcc', cxx='g++', link=(), to='program'):
        """A program of C and C++ with these flags."""
        program = self.path(to)
        objects = []
        for name in ('main.c', 'part.c', 'part.cc'):
            objects.append(self.path(name.replace('.', '_') + '.o'))
            run(cxx if name.endswith('.cc') else c, *flags, '-c',
                os.path.join(SOURCES, name), '-o', objects[-1], cwd=self.dir)
        run(cxx, *flags, *link, *objects, '-o', program, cwd=self.dir)
        return program

    def check(self, program, oracles=None, more=2):
        """`more`: at how many of a thousand addresses we may have a name
        where the oracle has none.  `oracles` is the same code in a file that
        the oracle can read."""
        addresses = symbols.addresses_in(program)
        different, known = symbols.differences(program, addresses, oracles)
        self.assertFalse(different, '%d of %d differ:\n%s' % (
            len(different), len(addresses), '\n'.join(different[:3])))
        self.assertLessEqual(known, len(addresses) * more / 1000 + 3)

    def test_not_optimised(self):
        self.check(self.build('-g', '-O0'))

    def test_optimised(self):
        self.check(self.build('-g', '-O2'))

    def test_at_a_fixed_address(self):
        self.check(self.build('-g', '-O2', '-no-pie', '-fno-pie'))

    def test_link_time_optimisation(self):
        self.check(self.build('-g', '-O2', '-flto'))

    def test_dwarf_4(self):
        self.check(self.build('-gdwarf-4', '-O2'))

    def test_compressed_sections(self):
        self.check(self.build('-g', '-O2', '-gz=zlib'))

    # LLVM 14 does not look into split units for an address: it is asked about
    # the same code with everything in one file.

    def build_both(self, *flags, **compilers):
        whole = self.build(*flags, to='whole', **compilers)
        return self.build(*flags, '-gsplit-dwarf', **compilers), whole

    def remove_split_files(self):
        for name in os.listdir(self.dir):
            if name.endswith('.dwo'):
                os.unlink(self.path(name))

    def test_split_units(self):
        self.check(*self.build_both('-g', '-O2'))

    def test_split_units_of_dwarf_4(self):
        self.check(*self.build_both('-gdwarf-4', '-O2'))

    @support.needs('dwp')
    def test_a_package_of_split_units(self):
        program, whole = self.build_both('-gdwarf-4', '-O2')
        run('dwp', '-e', program, '-o', program + '.dwp', cwd=self.dir)
        self.remove_split_files()
        self.check(program, whole)

    @support.needs('llvm-dwp-14', 'clang-14', 'clang++-14')
    def test_a_package_of_dwarf_5(self):
        program, whole = self.build_both('-gdwarf-5', '-O2', c='clang-14',
                                         cxx='clang++-14')
        run('llvm-dwp-14', '-e', program, '-o', program + '.dwp',
            cwd=self.dir)
        self.remove_split_files()
        self.check(program, whole)

    def test_split_files_that_are_gone(self):
        """Lines are left, and the names of the symbol table."""
        program = self.build('-g', '-O2', '-gsplit-dwarf')
        self.remove_split_files()
        found = symbols.ours(program, symbols.addresses_in(program))
        self.assertTrue(any(b[0] == 'tree_add' and 'part.c' in b[1]
                            for b in found))

    @support.needs('clang-14', 'clang++-14')
    def test_clang(self):
        self.check(self.build('-gdwarf-5', '-O2', c='clang-14',
                              cxx='clang++-14'))

    @support.needs('clang-14', 'clang++-14', 'ld.lld')
    def test_unused_functions_removed_by_lld(self):
        self.check(self.build('-gdwarf-4', '-O2', '-ffunction-sections',
                              c='clang-14', cxx='clang++-14',
                              link=('-fuse-ld=lld', '-Wl,--gc-sections')))

    @support.needs('dwz')
    def test_shrunk_by_dwz(self):
        program = self.build('-g', '-O2')
        run('dwz', program)
        self.check(program)

    @support.needs('dwz')
    def test_a_common_file_of_dwz(self):
        """The oracle of LLVM 14 cannot read these: before and after must be
        the same."""
        program = self.build('-g', '-O2')
        other = self.path('other')
        shutil.copy(program, other)
        addresses = symbols.addresses_in(program)
        expected = symbols.ours(program, addresses)
        run('dwz', '-m', self.path('common'), '-M', 'common', program, other)
        self.assertEqual(symbols.ours(program, addresses), expected)
        os.unlink(self.path('common'))
        self.assertNotEqual(symbols.ours(program, addresses), expected)

    def test_a_debug_file_beside_it(self):
        program = self.build('-g', '-O2')
        run('objcopy', '--only-keep-debug', program, self.path('p.debug'))
        run('objcopy', '--strip-debug', '--add-gnu-debuglink=p.debug',
            program, cwd=self.dir)
        self.check(program)

    def test_a_debug_file_of_a_stripped_program(self):
        """Stripped of symbols too, we take these from the debug file."""
        program = self.build('-g', '-O2')
        addresses = symbols.addresses_in(program)
        expected = symbols.ours(program, addresses)
        run('objcopy', '--only-keep-debug', program, self.path('p.debug'))
        run('objcopy', '--strip-all', '--add-gnu-debuglink=p.debug',
            program, cwd=self.dir)
        self.assertEqual(symbols.ours(program, addresses), expected)

    def test_a_debug_file_of_another_program_is_not_taken(self):
        program = self.build('-g', '-O2', '-Wl,--build-id=none')
        run('objcopy', '--only-keep-debug', program, self.path('p.debug'))
        run('objcopy', '--strip-all', '--add-gnu-debuglink=p.debug',
            program, cwd=self.dir)
        addresses = symbols.addresses_in(program)
        with_lines = symbols.ours(program, addresses)
        self.assertTrue(any('part.c' in b[1] for b in with_lines))
        with open(self.path('p.debug'), 'ab') as f:
            f.write(b'changed')
        self.assertFalse(any('part.c' in b[1] for b in
                             symbols.ours(program, addresses)))

    def test_packed_symbols(self):
        """.gnu_debugdata, made as Fedora's rpmbuild makes it."""
        program = self.build('-g', '-O0')
        addresses = symbols.addresses_in(program)
        names = [b[-2] for b in symbols.ours(program, addresses)]
        mini = self.path('mini')
        run('objcopy', '--only-keep-debug', program, mini)
        run('objcopy', '-S', '--remove-section=.gdb_index',
            '--remove-section=.comment', '--wildcard', '--keep-symbol=*',
            mini)
        run('xz', '-f', mini)
        run('objcopy', '--strip-all', program)
        bare = symbols.ours(program, addresses)
        run('objcopy', '--add-section', '.gnu_debugdata=' + mini + '.xz',
            program)
        found = symbols.ours(program, addresses)
        self.assertEqual([b[-2] for b in found], names)
        self.assertNotEqual(bare, found)


class SystemLibraries(support.TestCase):

    @support.needs(symbols.ORACLE)
    def test_libc_with_its_debug_file(self):
        libc = '/lib/%s-linux-gnu/libc.so.6' % os.uname().machine
        if not os.path.isdir('/usr/lib/debug/.build-id'):
            self.skipTest('not installed: libc6-dbg')
        addresses = symbols.addresses_in(libc)
        different, _ = symbols.differences(libc, addresses)
        self.assertFalse(different, different[:3])


@support.needs('go')
class GoPrograms(support.TestCase):

    def build(self, *flags):
        program = self.path('program')
        env = dict(os.environ, GOCACHE=self.path('cache'), GO111MODULE='off',
                   GOFLAGS='', HOME=self.dir)
        run('go', 'build', *flags, '-o', program,
            os.path.join(SOURCES, 'main.go'), env=env, cwd=self.dir)
        return program

    @support.needs(symbols.ORACLE)
    def test_with_dwarf(self):
        program = self.build()
        different, _ = symbols.differences(program,
                                           symbols.addresses_in(program))
        self.assertFalse(different, different[:3])

    def check_table(self, *flags):
        """Functions and lines are those of Go's own addr2line, which reads
        the same table."""
        program = self.build(*flags)
        addresses = symbols.addresses_in(program)
        text = ''.join('0x%x\n' % a for a in addresses)
        out = subprocess.run(['go', 'tool', 'addr2line', program], input=text,
                             capture_output=True, text=True, check=True,
                             env=dict(os.environ, HOME=self.dir)).stdout
        lines = out.split('\n')
        different = []
        known = 0
        for i, (address, b) in enumerate(zip(addresses,
                                             symbols.ours(program,
                                                          addresses))):
            function, place = lines[2 * i], lines[2 * i + 1]
            if function == '?':
                continue
            known += 1
            if place == ':-1':  # padding behind a function has no line
                place = '??:0'
            if [function, place] != [b[0], b[1].rsplit(':', 1)[0]]:
                different.append((hex(address), function, place, b))
        self.assertFalse(different, different[:3])
        self.assertGreater(known, len(addresses) / 2)

    def test_without_dwarf_and_symbols(self):
        self.check_table('-ldflags=-s -w')

    def test_without_dwarf(self):
        self.check_table('-ldflags=-w')


@support.needs('rustc', symbols.ORACLE)
class RustPrograms(support.TestCase):

    def check(self, *flags):
        program = self.path('program')
        run('rustc', *flags, '-o', program, os.path.join(SOURCES, 'main.rs'),
            cwd=self.dir)
        different, _ = symbols.differences(program,
                                           symbols.addresses_in(program))
        self.assertFalse(different, different[:3])

    def test_optimised(self):
        self.check('-g', '-O', '-C', 'symbol-mangling-version=v0')

    def test_not_optimised(self):
        self.check('-g')


if __name__ == '__main__':
    unittest.main()
