#!/usr/bin/env python3
"""Lists what a header declares, as macros for abi_rows.c: abi.py HEADER OUTPUT [how names begin, how many there are]"""
import re
import sys

text = re.sub(r'/\*.*?\*/', '', open(sys.argv[1], encoding='utf-8').read(), flags=re.S)
text = re.sub(r'enum \{ (hipDeviceAttributeWallClockRate|HIP_R_8F)[^}]*\};', '', text)
begin, least = (sys.argv[3], int(sys.argv[4])) if len(sys.argv) > 3 else ('hip|HIP', 65)
constants = re.findall(r'\b((?:%s)\w+) =' % begin, text) + re.findall(r'#define (hip\w+) ', text)
types = re.findall(r'typedef [\w ]+?\**(\w+);', text) + re.findall(r'^\} (\w+);', text, flags=re.M)
types = [name for name in types if re.match(begin, name)]
if len(constants) + len(types) < least:
    sys.exit('%s is not written as abi.py expects' % sys.argv[1])
with open(sys.argv[2], 'w', encoding='utf-8') as out:
    for macro, names in (('CONSTANTS', constants), ('TYPES', types)):
        out.write('#define %s(X) %s\n' % (macro, ' '.join('X(%s)' % name for name in names)))
