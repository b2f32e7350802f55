"""What Linux' perf records is read as it is: its file, written with frame
pointers, copied stacks or into a pipe, and what `perf script` prints."""

import collections
import re
import subprocess
import unittest

import support

PROGRAM = r'''
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long sink;
static char buffer[65536];
__attribute__((noinline)) static void leaf(long n)
{
    for (long i = 0; i < n; i++)
        sink += i * i;
}
__attribute__((noinline)) static void middle(long n) { leaf(n); sink++; }
__attribute__((noinline)) static void outer(long n) { middle(n); sink++; }
static void *thread(void *arg)
{
    for (int i = 0; i < 1000; i++)
        outer(200000);
    return arg;
}
int main(void)
{
    pthread_t t;
    pid_t child = fork();
    pthread_create(&t, NULL, thread, NULL);
    int zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 1000; i++) {
        middle(200000);
        for (int k = 0; k < 20; k++)
            sink += read(zero, buffer, sizeof(buffer));
    }
    pthread_join(t, NULL);
    if (child)
        waitpid(child, NULL, 0);
    return 0;
}
'''


def can_record():
    ran = subprocess.run(['perf', 'record', '-e', 'cpu-clock', '-o',
                          '/dev/null', 'true'], capture_output=True)
    return ran.returncode == 0


@support.needs('perf', 'gcc')
class PerfData(support.TestCase):

    def setUp(self):
        super().setUp()
        if not can_record():
            self.skipTest('perf may not record here')
        source = self.path('spin.c')
        with open(source, 'w') as f:
            f.write(PROGRAM)
        self.program = self.path('spin')
        subprocess.run(['gcc', '-g', '-O1', '-pthread',
                        '-fno-omit-frame-pointer',
                        '-fno-optimize-sibling-calls', source, '-o',
                        self.program], check=True)

    def record(self, *flags, to='perf.data'):
        subprocess.run(['perf', 'record', '-F', '499', '-o', self.path(to),
                        *flags, self.program], check=True,
                       capture_output=True)
        return self.path(to)

    def script(self, data):
        """(period, names innermost first) of every sample."""
        text = subprocess.run(['perf', 'script', '--no-inline', '-i', data],
                              capture_output=True, text=True).stdout
        samples = []
        blocks = [b.split('\n') for b in text.strip().split('\n\n')]
        if len(blocks) == 1:  # no stacks: a line a sample
            blocks = [[line, line.rsplit(': ', 1)[1]] for line in blocks[0]]
        for lines in blocks:
            period = int(re.search(r'\d+\.\d+: +(\d+) ', lines[0]).group(1))
            names = [re.sub(r'\+0x[0-9a-f]+$', '',
                            line.split(None, 1)[1].rsplit(' (', 1)[0])
                     for line in lines[1:]]
            samples.append((period, names))
        return text, samples

    def flat(self, *args):
        """Samples in each function, by where they were taken."""
        result = self.pprof('-top', '-nodecount=1000', '-nodefraction=0',
                            '-sample_index=samples', *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = {}
        for line in result.stdout.split('\n'):
            m = re.match(r' *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+% +(.*)',
                         line)
            if m:
                found[m.group(3)] = (int(m.group(1)), int(m.group(2)))
        return found

    def check(self, data):
        text, samples = self.script(data)
        self.assertGreater(len(samples), 50)
        found = self.flat(data)
        self.assertEqual(sum(f for f, _ in found.values()), len(samples))
        cumulative = collections.Counter()
        flat = collections.Counter()
        for _, names in samples:
            flat[names[0]] += 1
            cumulative.update(set(names))
        for name in ('leaf', 'middle', 'outer', 'main', 'thread'):
            self.assertEqual(found.get(name, (0, 0)),
                             (flat[name], cumulative[name]), name)
        total = sum(period for period, _ in samples)
        result = self.pprof('-top', '-unit=ns', data)
        self.assertIn('%dns' % total, result.stdout)
        return text, samples

    def test_frame_pointers(self):
        text, samples = self.check(self.record('-e', 'cpu-clock', '-g'))
        # The same from the text of perf script.
        with open(self.path('script.txt'), 'w') as f:
            f.write(text)
        from_file = self.flat(self.path('perf.data'))
        from_text = self.flat(self.path('script.txt'))
        for name in ('leaf', 'middle', 'outer', 'main', 'thread'):
            self.assertEqual(from_file.get(name), from_text.get(name), name)

    def test_copied_stacks(self):
        self.check(self.record('-e', 'cpu-clock', '--call-graph', 'dwarf'))

    def test_without_stacks(self):
        text, _ = self.check(self.record('-e', 'cpu-clock'))
        with open(self.path('script.txt'), 'w') as f:
            f.write(text)
        self.assertEqual(self.flat(self.path('script.txt'))['leaf'],
                         self.flat(self.path('perf.data'))['leaf'])

    def test_into_a_pipe(self):
        with open(self.path('piped'), 'wb') as f:
            subprocess.run(['perf', 'record', '-F', '499', '-e', 'cpu-clock',
                            '-g', '-o', '-', self.program], check=True,
                           stdout=f, stderr=subprocess.DEVNULL)
        self.check(self.path('piped'))

    def test_two_events(self):
        data = self.record('-e', 'cpu-clock', '-e', 'page-faults', '-g')
        raw = self.pprof('-raw', data).stdout
        self.assertIn('samples/count cpu-clock/nanoseconds page-faults/count',
                      re.sub(r'\[dflt\]', '', raw))
        _, samples = self.script(data)
        found = self.flat(data)
        self.assertEqual(sum(f for f, _ in found.values()), len(samples))

    def test_kernel_functions(self):
        data = self.record('-e', 'cpu-clock', '-g')
        _, samples = self.script(data)
        kernel = collections.Counter(
            names[0] for _, names in samples
            if len(names) > 1 and 'do_syscall_64' in names)
        if not kernel or '[unknown]' in kernel:
            self.skipTest('no kernel symbols are to be seen')
        found = self.flat(data)
        for name, count in kernel.most_common(3):
            self.assertEqual(found[name][0], sum(
                names[0] == name for _, names in samples), name)

    def test_labels_tell_threads_and_processes(self):
        data = self.record('-e', 'cpu-clock', '-g')
        tags = self.pprof('-tags', data).stdout
        self.assertRegex(tags, r'comm: Total')
        self.assertIn('spin', tags)
        pids = re.search(r' pid: Total.*?\n\n', tags, re.S).group(0)
        tids = re.search(r' tid: Total.*?(\n\n|$)', tags, re.S).group(0)
        self.assertEqual(len(re.findall(r'%\): \d+', pids)), 2)
        self.assertEqual(len(re.findall(r'%\): \d+', tids)), 4)

    def test_a_file_cut_short_gives_what_is_there(self):
        data = self.record('-e', 'cpu-clock', '-g')
        with open(data, 'rb') as f:
            content = f.read()
        for size in (10, 50, 104, 200, len(content) // 2, len(content) - 7):
            with open(self.path('cut'), 'wb') as f:
                f.write(content[:size])
            result = self.pprof('-top', self.path('cut'))
            self.assertIn(result.returncode, (0, 2), result.stderr)


class FoldedStacks(support.TestCase):

    def test_they_are_a_source(self):
        with open(self.path('stacks'), 'w') as f:
            f.write('main;work;leaf 40\nmain;work 2\nmain;work;leaf 8\n')
        result = self.pprof('-top', self.path('stacks'))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r'48 96.00% .* 48 96.00%  leaf')
        self.assertRegex(result.stdout, r'2  4.00% .* 50   100%  work')

    def test_what_we_write_we_read(self):
        with open(self.path('stacks'), 'w') as f:
            f.write('a;b c;d 40\na;e 2\n')
        again = self.path('again')
        with open(again, 'w') as f:
            f.write(self.pprof('-folded', self.path('stacks')).stdout)
        with open(again) as f:
            self.assertEqual(sorted(f.read().split('\n')),
                             ['', 'a;b c;d 40', 'a;e 2'])

    def test_other_text_is_not_taken(self):
        with open(self.path('text'), 'w') as f:
            f.write('main;work 40\nand some words\n')
        self.assert_fails(self.pprof('-top', self.path('text')),
                          'unrecognized profile format')


if __name__ == '__main__':
    unittest.main()
