#!/usr/bin/env python3
"""Lists what driver_types.h declares, as macros for abi.c: abi.py driver_types.h OUTPUT"""
import re
import sys

text = re.sub(r'/\*.*?\*/', '', open(sys.argv[1], encoding='utf-8').read(), flags=re.S)
constants = re.findall(r'\b((?:CU|NVRTC)\w*) =', text)
types = re.findall(r'typedef [\w ]+?\**(\w+);', text) + re.findall(r'^\} (\w+);', text, flags=re.M)
if len(constants) < 50 or len(types) < 20:
    sys.exit('driver_types.h is not written as abi.py expects')
with open(sys.argv[2], 'w', encoding='utf-8') as out:
    for macro, names in (('CONSTANTS', constants), ('TYPES', types)):
        out.write('#define %s(X) %s\n' % (macro, ' '.join('X(%s)' % name for name in names)))
