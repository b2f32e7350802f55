#!/usr/bin/env python3
"""Runs a unittest module and prints TAP.

usage: tests/e2e/tap.py MODULE.py [CASE-SUBSTRING]
"""
import importlib.util
import os
import signal
import sys
import traceback
import unittest


class TapResult(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.cases = 0

    def report(self, fine, test, said='', skip=None):
        self.cases += 1
        for line in said.splitlines():
            print('# ' + line)
        print('%sok %d - %s%s' % ('' if fine else 'not ', self.cases,
                                  test.id(),
                                  ' # SKIP ' + skip if skip else ''),
              flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.report(True, test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.report(True, test, skip=reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.report(False, test, ''.join(traceback.format_exception(*err)))

    def addError(self, test, err):
        super().addError(test, err)
        self.report(False, test, ''.join(traceback.format_exception(*err)))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.report(False, subtest,
                        ''.join(traceback.format_exception(*err)))


def keep(suite, word):
    """The cases of the suite whose name has the word."""
    kept = unittest.TestSuite()
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            kept.addTest(keep(test, word))
        elif word in test.id():
            kept.addTest(test)
    return kept


def main():
    # Programs inherit ignored signals: under nohup, SIGHUP would be one.
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(ignored) is signal.SIG_IGN:
            signal.signal(ignored, signal.SIG_DFL)
    path = os.path.abspath(sys.argv[1])
    name = os.path.splitext(os.path.basename(path))[0]
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    if len(sys.argv) > 2:
        suite = keep(suite, sys.argv[2])
    result = TapResult()
    suite.run(result)
    print('1..%d' % result.cases)
    return 0 if result.wasSuccessful() else 1


if __name__ == '__main__':
    sys.exit(main())
