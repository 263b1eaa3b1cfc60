# SPDX-License-Identifier: MIT
"""OTLP's profiles as protoc decodes them, and what receivers demand of them (the rules of sig-profiling's profcheck).  For golden/otlp.sh."""
import collections, os, re, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ("mapping_table", "location_table", "function_table", "link_table", "string_table", "attribute_table", "stack_table")


def decode(data):
    """The request: messages are dictionaries of lists.  A field that the pinned version has not is a KeyError of its number."""
    text = subprocess.run(["protoc", f"-I{HERE}", "--decode=otlp.ExportProfilesServiceRequest", "otlp.proto"], input=data, check=True,
                          capture_output=True).stdout.decode()
    stack = [collections.defaultdict(list)]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            name, message = line[:-1].strip(), collections.defaultdict(list)
            if name.isdigit():
                raise KeyError(name)
            stack[-1][name].append(message)
            stack.append(message)
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            if name.isdigit():
                raise KeyError(name)
            stack[-1][name].append(eval(value) if value[0] == '"' else int(value))
    return stack[0]


def unescape(text): # protoc writes bytes above 0x7f as octal escapes, one by one
    return text.encode("latin-1").decode("utf-8")


def number(message, field):
    return message[field][0] if message.get(field) else 0


class Profiles:
    def __init__(self, data):
        self.request = decode(data)
        self.bad = []
        self.dictionary = self.request["dictionary"][0]
        self.texts = [unescape(t) for t in self.dictionary["string_table"]]
        self.referred = {t: {0} for t in TABLES}
        self.samples = [] # (process, type, unit, [names, innermost first], [kinds], value)
        self.ids = []
        self.check()

    def expect(self, holds, sentence):
        if not holds:
            self.bad.append(sentence)

    def entry(self, table, index, whose):
        self.expect(0 <= index < len(self.dictionary[table]), f"{whose}: {index} is not in {table}, of {len(self.dictionary[table])}")
        self.referred[table].add(index)
        return self.dictionary[table][index] if 0 <= index < len(self.dictionary[table]) else {}

    def text(self, index, whose):
        self.entry("string_table", index, whose)
        return self.texts[index]

    def attributes(self, message, whose):
        return {self.text(number(a, "key_strindex"), whose): list(a["value"][0].values())[0][0]
                for i in message["attribute_indices"] if (a := self.entry("attribute_table", i, whose))}

    def type(self, message, whose):
        return (self.text(number(message, "type_strindex"), whose), self.text(number(message, "unit_strindex"), whose))

    def check_dictionary(self):
        d = self.dictionary
        for table in TABLES:
            self.expect(d[table] and not any((d[table][0] or {}).values() if table != "string_table" else d[table][0]), f"{table}: its first entry is {d[table][:1]}")
            entries = [re.sub(r"'\w+': \[\](, )?", "", repr(e)) for e in d[table]] # what was asked for, and is not there
            self.expect(len(set(entries)) == len(entries), f"{table} has entries twice: {[e for e in entries if entries.count(e) > 1][:2]}")
            unused = set(range(len(d[table]))) - self.referred[table]
            self.expect(not unused, f"{table}: nothing refers to {sorted(unused)[:5]}")
        for m in d["mapping_table"][1:]:
            start, limit = number(m, "memory_start"), number(m, "memory_limit")
            self.expect((start, limit) == (0, 0) or start < limit, f"a mapping from {start} to {limit}")

    def frames(self, sample, whose):
        for i in self.entry("stack_table", number(sample, "stack_index"), whose)["location_indices"]:
            location = self.entry("location_table", i, whose)
            mapping = self.entry("mapping_table", number(location, "mapping_index"), whose)
            self.text(number(mapping, "filename_strindex"), whose)
            self.expect(len(location["lines"]) == 1, f"{whose}: a location of {len(location['lines'])} lines")
            function = self.entry("function_table", number(location["lines"][0], "function_index"), whose)
            self.text(number(function, "system_name_strindex"), whose)
            self.text(number(function, "filename_strindex"), whose)
            self.expect(number(location["lines"][0], "line") >= 0, f"{whose}: a negative line")
            yield self.text(number(function, "name_strindex"), whose), self.attributes(location, whose)["profile.frame.type"]

    def check_profile(self, process, profile):
        whose = f"{process['service.name']}'s profile"
        kind, unit = self.type(profile["sample_type"][0], whose)
        if profile["period_type"]:
            self.type(profile["period_type"][0], whose)
            self.expect(number(profile, "period") > 0, f"{whose}: period {profile['period']}")
        self.expect(number(profile, "time_unix_nano") > 10**18, f"{whose} begins at {profile['time_unix_nano']}")
        self.expect(number(profile, "duration_nano") > 0, f"{whose} takes no time")
        self.expect(len(profile["profile_id"][0]) == 16, f"{whose}: its id has {len(profile['profile_id'][0])} bytes")
        self.ids.append(profile["profile_id"][0])
        identities = set()
        for s in profile["samples"]:
            frames = list(self.frames(s, whose))
            identity = (number(s, "stack_index"), frozenset(s["attribute_indices"]))
            self.expect(identity not in identities, f"{whose}: two samples of stack and attributes {identity}")
            identities.add(identity)
            self.attributes(s, whose)
            self.expect(len(s["values"]) == 1 and not s["timestamps_unix_nano"] and s["values"][0] > 0, f"{whose}: values {s['values']}")
            self.samples.append((process, kind, unit, [f[0] for f in frames], [f[1] for f in frames], sum(s["values"])))

    def check(self):
        for r in self.request["resource_profiles"]:
            process = {a["key"][0]: list(a["value"][0].values())[0][0] for a in r["resource"][0]["attributes"]}
            self.expect("service.name" in process, f"a resource of {list(process)}")
            self.expect(r["scope_profiles"] and r["scope_profiles"][0]["profiles"], "a resource without profiles")
            self.expect(r["scope_profiles"][0]["scope"][0]["name"] == ["tailor"], "a scope that is not called tailor")
            for profile in r["scope_profiles"][0]["profiles"]:
                self.check_profile(process, profile)
        self.expect(self.request["resource_profiles"], "no resource")
        self.expect(len(set(self.ids)) == len(self.ids), "two profiles have one id")
        self.check_dictionary()

    def sums(self, key=lambda s: s[1:3]):
        sums = collections.Counter()
        for s in self.samples:
            sums[key(s)] += s[5]
        return sums
