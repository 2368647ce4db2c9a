#!/usr/bin/env python3
"""Lists what our headers declare, as macros for rows of abi.h: list.py OUTPUT HOW-NAMES-BEGIN LEAST HEADER..., where
LEAST is how many constants and types there are to be. What a comment says is not in all headers is left out."""
import re
import sys

output, begin, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = ''.join(open(name, encoding='utf-8').read() for name in sys.argv[4:])
text = re.sub(r'/\* Not in (the|all) headers that the test compares with[^*]*\*/\s*enum \{[^}]*\};', '', text)
text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
constants = re.findall(r'\b((?:%s)\w*) =' % begin, text) + re.findall(r'#define ((?:%s)\w*) ' % begin, text)
types = re.findall(r'typedef [\w ]+?\**(\w+);', text) + re.findall(r'^\} (\w+);', text, flags=re.M)
types = [name for name in types if re.match(begin, name)]
if len(constants) + len(types) < least:
    sys.exit('%s: the headers are not written as list.py expects' % ' '.join(sys.argv[4:]))
with open(output, 'w', encoding='utf-8') as out:
    for macro, names in (('CONSTANTS', constants), ('TYPES', types)):
        out.write('#define %s(X) %s\n' % (macro, ' '.join('X(%s)' % name for name in names)))
