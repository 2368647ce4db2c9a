#!/usr/bin/env python3
"""Lists what headers declare, as macros for abi.c: abi.py driver_types.h cublaslt_types.h OUTPUT"""
import re
import sys

text = re.sub(r'/\*.*?\*/', '', ''.join(open(name, encoding='utf-8').read() for name in sys.argv[1:-1]), flags=re.S)
constants = re.findall(r'\b((?:CU|NVRTC)\w*) =', text)
types = re.findall(r'typedef [\w ]+?\**(\w+);', text) + re.findall(r'^\} (\w+);', text, flags=re.M)
if len(constants) < 50 or len(types) < 20:
    sys.exit('the headers are not written as abi.py expects')
with open(sys.argv[-1], 'w', encoding='utf-8') as out:
    for macro, names in (('CONSTANTS', constants), ('TYPES', types)):
        out.write('#define %s(X) %s\n' % (macro, ' '.join('X(%s)' % name for name in names)))
