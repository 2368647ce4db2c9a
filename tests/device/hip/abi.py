#!/usr/bin/env python3
"""Lists what hip_types.h declares, as macros for abi_rows.c: abi.py hip_types.h OUTPUT"""
import re
import sys

text = re.sub(r'/\*.*?\*/', '', open(sys.argv[1], encoding='utf-8').read(), flags=re.S)
text = text.replace('enum { hipDeviceAttributeWallClockRate = 10017 };', '')
constants = re.findall(r'\b((?:hip|HIP)\w+) =', text) + re.findall(r'#define (hip\w+) ', text)
types = re.findall(r'typedef [\w ]+?\**(\w+);', text) + re.findall(r'^\} (\w+);', text, flags=re.M)
if len(constants) < 50 or len(types) < 15:
    sys.exit('hip_types.h is not written as abi.py expects')
with open(sys.argv[2], 'w', encoding='utf-8') as out:
    for macro, names in (('CONSTANTS', constants), ('TYPES', types)):
        out.write('#define %s(X) %s\n' % (macro, ' '.join('X(%s)' % name for name in names)))
