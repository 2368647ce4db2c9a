#!/usr/bin/env python3
"""Validates JSON against a JSON Schema (2020-12), with the keywords that docs/export.schema.json uses; a keyword that
is not known here is an error, so that nothing of a schema goes unchecked.

    schema.py SCHEMA FILE...          each file is valid
    schema.py SCHEMA --test PROGRAM   what the program prints is valid, and damaged copies of it are not"""
import copy
import json
import re
import subprocess
import sys

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and v == int(v),
}
NOTES = {"$schema", "$id", "$defs", "$comment", "title", "description"}


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


class Validator:
    def __init__(self, schema):
        self.root = schema
        self.errors = []

    def fail(self, place, text):
        self.errors.append(f"{place or '(root)'}: {text}")

    def check(self, value, schema, place=""):
        for keyword, argument in schema.items():
            if keyword in NOTES:
                continue
            method = getattr(self, "check_" + keyword.strip("$"), None)
            if not method:
                raise ValueError(f"the keyword '{keyword}' is not known to this validator")
            method(value, argument, schema, place)

    def check_ref(self, value, argument, _schema, place):
        target = self.root
        for part in argument.removeprefix("#/").split("/"):
            target = target[part]
        self.check(value, target, place)

    def check_type(self, value, argument, _schema, place):
        names = [argument] if isinstance(argument, str) else argument
        if not any(TYPES[name](value) for name in names):
            self.fail(place, f"{value!r:.40} is not of type {' or '.join(names)}")

    def check_const(self, value, argument, _schema, place):
        if not same(value, argument):
            self.fail(place, f"{value!r:.40} is not {argument!r}")

    def check_enum(self, value, argument, _schema, place):
        if not any(same(value, one) for one in argument):
            self.fail(place, f"{value!r:.40} is none of {argument}")

    def check_required(self, value, argument, _schema, place):
        for name in argument:
            if isinstance(value, dict) and name not in value:
                self.fail(place, f"'{name}' is missing")

    def check_properties(self, value, argument, _schema, place):
        for name, schema in argument.items():
            if isinstance(value, dict) and name in value:
                self.check(value[name], schema, f"{place}.{name}")

    def check_additionalProperties(self, value, argument, schema, place):
        for name in value if isinstance(value, dict) else ():
            if name in schema.get("properties", {}):
                continue
            if argument is False:
                self.fail(place, f"'{name}' is not allowed")
            elif argument is not True:
                self.check(value[name], argument, f"{place}.{name}")

    def check_propertyNames(self, value, argument, _schema, place):
        for name in value if isinstance(value, dict) else ():
            self.check(name, argument, f"{place} (name '{name}')")

    def check_items(self, value, argument, _schema, place):
        for i, item in enumerate(value if isinstance(value, list) else ()):
            self.check(item, argument, f"{place}[{i}]")

    def check_maxProperties(self, value, argument, _schema, place):
        if isinstance(value, dict) and len(value) > argument:
            self.fail(place, f"more than {argument} members")

    def check_minimum(self, value, argument, _schema, place):
        if TYPES["number"](value) and value < argument:
            self.fail(place, f"{value} is below {argument}")

    def check_minLength(self, value, argument, _schema, place):
        if isinstance(value, str) and len(value) < argument:
            self.fail(place, f"'{value}' is shorter than {argument}")

    def check_pattern(self, value, argument, _schema, place):
        if isinstance(value, str) and not re.search(argument, value):
            self.fail(place, f"'{value}' does not match {argument}")


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def parse(text):
    return json.loads(text, parse_constant=refuse)


def errors_of(document, schema):
    validator = Validator(schema)
    validator.check(document, schema)
    return validator.errors


def paths(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*path, key))


def damaged(document):
    """Copies with one thing wrong each: a member of another type, one missing, one too many."""
    free = ("provenance", "devices", "detail", "axes")  # may hold anything
    for path in paths(document):
        if not path or any(part in free for part in path[:-1]):
            continue
        if any(isinstance(part, int) and part > 1 for part in path):
            continue  # the first two items of an array stand for all
        for what in ("type", "missing", "more"):
            changed = copy.deepcopy(document)
            at = changed
            for part in path[:-1]:
                at = at[part]
            if what == "type":
                at[path[-1]] = [{}] if not isinstance(at[path[-1]], list) else {"a": 1}
            elif what == "missing" and isinstance(at, dict):
                del at[path[-1]]
            elif what == "more" and isinstance(at[path[-1]], dict) and path[-1] not in free:
                at[path[-1]]["unheard_of"] = 1
            else:
                continue
            yield f"{'.'.join(map(str, path))}: {what}", changed


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = parse(f.read())
    failed = 0
    if sys.argv[2] == "--test":
        out = subprocess.run(sys.argv[3:], check=True, stdout=subprocess.PIPE).stdout.decode()
        documents = {"export": out}
    else:
        documents = {}
        for name in sys.argv[2:]:
            with open(name, encoding="utf-8") as f:
                documents[name] = f.read()
    for name, text in documents.items():
        for error in errors_of(parse(text), schema)[:20]:
            print(f"{name}: {error}")
            failed = 1
    if sys.argv[2] == "--test":
        seen = 0
        for what, document in damaged(parse(out)):
            seen += 1
            if not errors_of(document, schema):
                print(f"the schema lets through: {what}")
                failed = 1
        print(f"{seen} damaged copies")
        failed |= seen < 100
    return failed


if __name__ == "__main__":
    sys.exit(main())
