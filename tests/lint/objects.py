#!/usr/bin/env python3
"""What the built libraries call and export.

usage: tests/lint/objects.py BUILD

- Code that runs in signal handlers calls only the functions listed here.
- libpprof exports the functions of its header and no other name, and needs
  only libc and zlib; the libraries with hooks also export names of libc.
"""
import glob
import os
import re
import subprocess
import sys

import tree

# What the compiler adds by itself.
COMPILER = ['__stack_chk_fail', '_GLOBAL_OFFSET_TABLE_', '__stack_chk_guard']

# object of libpprof: what it may call.
SIGNAL_CONTEXT = {
    'unwind_unwind': ['cfi_find'],
    'cfi': ['cfi_cie_init', 'cfi_run', 'elf_view_rest', 'memcpy', 'memset'],
    'cfi_program': ['memcpy', 'memset'],
    # sigaction: its address is taken, for the preload library to replace.
    'cpu_sigprof': ['labels_push_thread', 'stack_table_add', 'unwind_regs_from',
                'unwind_walk', 'sigaction'],
    # The rest is of init and release, which no handler calls.
    'heap_heap': ['clock_gettime', 'heap_distance', 'heap_live_add',
             'heap_live_remove', 'heap_peak_grow', 'heap_peak_shrink',
             'sigprof_stack_from', 'stack_table_add', 'pprof_thread',
             '__errno_location'],
    'heap_heap_peak': ['clock_gettime', 'heap', 'heap_probability'],
    'heap_heap_live': ['pages_alloc', 'pages_free'],
    'heap_heap_math': [],
    # The range of signals: when it is installed.
    'hook_end_signals': ['sampler', '__libc_current_sigrtmin',
                         '__libc_current_sigrtmax', '__errno_location'],
    # The first push of a process gets the memory; labels_prepare() does it
    # before any handler may run.
    'thread_thread_labels': ['memcmp', 'memcpy', '__memcpy_chk', 'pages_alloc',
                             'pages_free', 'stack_table_add',
                             'stack_table_find', 'stack_table_init',
                             'stack_table_release', 'str_cmp', 'str_first'],
    'unwind_stack_table': ['pages_alloc', 'pages_free', 'madvise'],
}


def nm(*arguments):
    """Names that nm prints, without versions."""
    ran = subprocess.run(['nm', *arguments], check=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    names = [line.split()[-1] for line in ran.stdout.splitlines()
             if re.search(r' [A-Za-z] \S+$', line)]
    return {name.split('@')[0] for name in names}


def exported(library):
    """Functions and data that others can bind to.  Absolute symbols are names
    of versions; the linker lists the edges of sections, too, as hidden."""
    ran = subprocess.run(['readelf', '-W', '--dyn-syms', library], check=True,
                         text=True, stdout=subprocess.PIPE)
    rows = [line.split() for line in ran.stdout.splitlines()]
    return {row[7].split('@')[0] for row in rows
            if len(row) >= 8 and row[0][:-1].isdigit()
            and row[5] in ('DEFAULT', 'PROTECTED')
            and row[6] not in ('UND', 'ABS') and row[4] != 'LOCAL'}


def needed(library):
    ran = subprocess.run(['objdump', '-p', library], check=True, text=True,
                         stdout=subprocess.PIPE)
    return set(re.findall(r'NEEDED +(\S+)', ran.stdout))


def libc_path(program):
    ran = subprocess.run(['ldd', program], check=True, text=True,
                         stdout=subprocess.PIPE)
    return re.search(r'libc\.so\.6 => (\S+)', ran.stdout).group(1)


def check_signal_context(tap, build):
    for name, allowed in SIGNAL_CONTEXT.items():
        case = '%s.c calls only what a handler may' % name
        found = [path for library in ('libruntime', 'libruntime-hooks')
                 for start in ('', '.._elf_')
                 for path in glob.glob(os.path.join(
                     build, 'src', 'runtime', library + '.a.p',
                     start + name + '.c.o'))]
        if not found:
            tap.case(case, ['no such object in ' + build])
            continue
        calls = nm('-u', found[0])
        wrong = [call for call in sorted(calls)
                 if call not in allowed + COMPILER
                 and not call.startswith('__aarch64_')]
        tap.case(case, ['it calls ' + call for call in wrong])


def check_library(tap, build):
    declared = set(re.findall(r'\b(pprof_\w+)\s*\(',
                              tree.without_comments_and_strings(
                                  tree.read('include/pprof/pprof.h'))))
    library = os.path.join(build, 'libpprof.so')
    preload = os.path.join(build, 'libpprof-preload.so')

    for name, shown in (('libpprof.so', exported(library)),
                        ('libpprof.a', nm('-g', '--defined-only',
                                          os.path.join(build,
                                                       'libpprof.a')))):
        tap.case(name + ' shows what its header declares, and no more',
                 ['%s: not in the header' % n
                  for n in sorted(shown - declared)]
                 + ['%s: not in the library' % n
                    for n in sorted(declared - shown)])
    hooks = os.path.join(build, 'libpprof-hooks.so')
    libc = exported(libc_path(preload))
    for name, shown in (('libpprof-preload.so', exported(preload)),
                        ('libpprof-hooks.so', exported(hooks)),
                        ('libpprof-hooks.a',
                         nm('-g', '--defined-only',
                            os.path.join(build, 'libpprof-hooks.a')))):
        operators = {n for n in shown if re.match(r'_Z(n[aw]m|d[al]Pv)', n)}
        wrapped = {n for n in shown if n.startswith('__wrap_')
                   and name.endswith('.a')}
        tap.case(name + ' shows these, names of libc, new and delete',
                 sorted(shown - declared - libc - operators - wrapped))
    for path in (library, hooks, preload):
        tap.case(os.path.basename(path) + ' needs libc and zlib alone',
                 sorted(needed(path) - {'libc.so.6', 'libz.so.1',
                                        'ld-linux-aarch64.so.1'}))


def check_map(tap):
    """Where it is used, the linker's map hides every name that it lacks."""
    listed = set(re.findall(r'(\w+);', tree.read('src/runtime/hooks.map')))
    wrapped = set()
    for path in glob.glob(os.path.join(tree.ROOT, 'src/runtime/hook/*.c')):
        if os.path.basename(path) == 'archive_names.c':
            continue
        wrapped |= set(re.findall(
            r'PPROF_API\s+OWN_WRAPPER\s[^;{()]*?\b(\w+)\s*\(',
            tree.without_comments_and_strings(tree.read(path))))
    wrapped -= {'__asm__', 'symbol'}  # syscall, and a macro's parameter
    tap.case('hooks.map has every name that is wrapped',
             sorted(wrapped - listed) if len(wrapped) > 60
             else ['found only %d' % len(wrapped)])


def main():
    build = sys.argv[1]
    tap = tree.Tap()
    check_map(tap)
    check_signal_context(tap, build)
    check_library(tap, build)
    tap.end()


if __name__ == '__main__':
    main()
