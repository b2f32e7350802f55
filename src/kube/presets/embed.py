#!/usr/bin/env python3
"""embed.py OUT FILE...: preset files as C, for src/kube/preset.h."""
import os
import sys


def literal(line):
    return '"%s"' % line.replace('\\', '\\\\').replace('"', '\\"').replace(
        '\n', '\\n')


def main():
    out, files = sys.argv[1], sorted(sys.argv[2:])
    with open(out, 'w') as f:
        f.write('#include "kube/preset.h"\n\n'
                'const struct preset_text preset_texts[] = {\n')
        for path in files:
            name = os.path.splitext(os.path.basename(path))[0]
            with open(path) as preset:
                lines = [literal(line) for line in preset]
            f.write('    {"%s",\n     %s},\n' % (name, '\n     '.join(lines)))
        f.write('};\n\nconst size_t n_preset_texts = %d;\n' % len(files))


main()
