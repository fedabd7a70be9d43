"""Finds the places of a Swift file where people make mistakes, and puts the mistakes behind a switch. It reads text: there is no parser."""
import bisect, os, re

# A pattern in the code, and what replaces it. `\1` is the text of a group.
CHANGES = [
    # Bounds and comparisons.
    (r" == ", [" != "]), (r" != ", [" == "]), (r" < ", [" <= "]), (r" <= ", [" < "]), (r" > ", [" >= "]), (r" >= ", [" > "]),
    (r"\.\.<", ["..."]), (r"(?<![\w.$])(\d[\d_]*)(?![\w.])", ["NEXT"]), (r"\bmax\(", ["min("]), (r"\bmin\(", ["max("]),
    # Conditions.
    (r" && ", [" || "]), (r" \|\| ", [" && "]), (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]), (r"(?<=[\s(])!(?=[\w(])", [""]),
    (r"\.isEmpty\b", [".isEmpty == false"]), (r"\bcontains\b(?=[ ({])", ["allSatisfy"]), (r"\ballSatisfy\b", ["contains"]),
    # Orders.
    (r"\.first\b", [".last"]), (r"\.last\b", [".first"]), (r"\.reversed\(\)", [""]), (r"\.sorted\(\)", [""]), (r"\bprefix\(", ["suffix("]),
    (r"\bsuffix\(", ["prefix("]), (r"(?<!swapAt)(?<!swap)(?<!min)(?<!max)\(([\w.]+), ([\w.]+)\)(?! = )", [r"(\2, \1)"]),
    # Defaults, units, cases, references.
    (r" \?\? ([\w.\"]+)$", [""]), (r"(?<=[ (\[])\.seconds\b(?=\()", [".milliseconds"]), (r"\.lowercased\(\)", [""]),
    (r"\.trimmingCharacters\(in: [^)]*\)", [""]), (r"\bweak (?=var)", [""]), (r"\[weak (\w+)\]", [r"[\1]"]),
]
DECLARATION = re.compile(
    r"(@\w+(\([^)]*\))?\s+)*((public|package|private|fileprivate|internal|static|final|nonisolated|mutating|consuming|override|convenience"
    r"|indirect|lazy|weak|internal\(set\)|private\(set\))\s+)*")
# The names of what is no statement of its own.
NO_STATEMENT = re.compile(r"(func|init|deinit|subscript|struct|class|enum|protocol|extension|typealias|import|case|operator"
                          r"|associatedtype|actor|get|set|macro)\b")
HEADER = re.compile(r"(@\w+ )*(\[[^\]\n]*\] ?)?(\([^(){}\n]*\)|\w+(, \w+)*)?( async)?( throws)?( -> [^{}\n]*?)? ?\bin(?=\s)")
NEXT_CODE = re.compile(r"\s*")
CONTINUES = re.compile(r"[.?:]|&&|\|\||[+*/%<>=!&|^-]+\s|else\b|->|where\b|catch\b|\{|\bas\b")
IS_OPEN = re.compile(r"(&&|\|\||[-+*/%=<>?:,(\[{]|->|\b(guard|if|while|return|in|throws|try|await|where))$")
# Conditions of `#if` that are false on Linux. What they enclose is not compiled, so no test can look at it.
ELSEWHERE = re.compile(r"!canImport\(FoundationNetworking\)|canImport\((?!FoundationNetworking|Glibc)\w+\)|os\((?!Linux)\w+\)")


class Mutant:
    """One change. `place` is the code that is doubled behind the switch: (start, end, "statement" or "expression"), or None."""
    number = 0

    def __init__(self, path, text, start, end, new, place):
        self.path, self.start, self.end, self.new, self.place = path, start, end, new, place
        self.line = text.count("\n", 0, start) + 1
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        self.old_line = text[first:last].strip()
        self.new_line = (text[first:start] + new + text[end:last]).strip() or "removed"

    def describe(self, folder):
        return f"{os.path.relpath(self.path, folder)}:{self.line}\n   - {self.old_line}\n   + {self.new_line}"


class Code:
    """The text of a file, in which comments, literals of text, and what is not compiled here are blank."""

    def __init__(self, text):
        self.text = text
        self.code = without_other_platforms(without_literals(text))
        self.parents, self.ends = brackets(self.code)
        self.blocks = {}

    def opening(self, position):
        """The innermost bracket around a position, or -1."""
        return self.parents[position]

    def at_depth_of(self, position, opening): return self.parents[position] == opening

    def place(self, start, end):
        """The smallest argument, condition or statement that contains all of this."""
        position = start
        while (opening := self.opening(position)) >= 0:
            if self.code[opening] in "([": place = self.argument(position, opening)
            else: place = self.place_in_statement(position, opening, *self.statement(position, opening))
            if place and place[0] <= start and end <= place[1]: return place
            position = opening
        return None

    def argument(self, position, opening):
        """The argument or member around a position, without its label."""
        start, end = self.split(position, opening, ",", opening + 1, self.ends[opening])
        label = re.match(r"\s*(\w+ )?\w+:\s" if self.code[opening] == "(" else r"\s*\S+:\s", self.code[start:end])
        equals = self.find(r"\s=\s", start, end, opening)
        if equals is not None: start = equals
        elif label: start += label.end()
        return self.trimmed(start, end, "expression") if start <= position else None

    def split(self, position, opening, separator, low, high):
        start, end = low, high
        for index in range(low, high):
            if self.code[index] == separator and self.at_depth_of(index, opening):
                if index < position: start = index + 1
                elif index >= position:
                    end = index
                    break
        return start, end

    def find(self, pattern, start, end, opening):
        """The end of the first match in a block itself, not in an inner one."""
        matches = re.compile(pattern).finditer(self.code, start, end)
        return next((match.end() for match in matches if self.at_depth_of(match.start(), opening)), None)

    def statement(self, position, opening):
        """The statement around a position in a block."""
        if opening not in self.blocks: self.blocks[opening] = list(self.statements_of_block(opening))
        ranges = self.blocks[opening]
        return ranges[max(bisect.bisect_right([start for start, _ in ranges], position) - 1, 0)]

    def statements_of_block(self, opening):
        low, high = opening + 1, self.ends[opening]
        header = HEADER.match(self.code, NEXT_CODE.match(self.code, low).end(), high)
        if header and not header.group().startswith("for "): low = header.end()
        start = low
        for index in range(low, high):
            if self.code[index] not in "\n;" or not self.at_depth_of(index, opening): continue
            line = self.code[max(start, self.code.rfind("\n", 0, index) + 1):index].rstrip()
            next_code = NEXT_CODE.match(self.code, index + 1).end()
            is_blank = not self.code[start:index].strip()
            if self.code[index] == "\n" and (CONTINUES.match(self.code, next_code, high) or is_blank or IS_OPEN.search(line)): continue
            yield start, index
            start = index + 1
        yield start, high

    def place_in_statement(self, position, opening, start, end):
        # A case of a switch stands before its statement.
        case = re.match(r"\s*(case\b|default:|@unknown default:)", self.code[start:end])
        if case:
            colon = self.find(r":(?=\s)", start, end, opening)
            if colon is None: return None
            if position <= colon: return self.where(position, opening, start, colon - 1)
            start = colon
        start += len(self.code[start:end]) - len(self.code[start:end].lstrip())
        statement = self.code[start:end]
        if re.match(r"(\} )?(else )?(guard|if|while)\b", statement): return self.clause(position, opening, start, end)
        if statement.startswith("for "):
            place = self.where(position, opening, start, (self.find(r"\{", start, end, opening) or end) - 1)
            if place: return place
        modifiers = DECLARATION.match(statement).end()
        if re.match(r"(let|var)\b", statement[modifiers:]):
            equals = self.find(r"\s=\s", start, end, opening)
            return self.trimmed(equals, end, "expression") if equals is not None and equals <= position else None
        if NO_STATEMENT.match(statement[modifiers:]) or modifiers or re.match(r"[#@}]", statement): return None
        return self.trimmed(start, end, "statement")

    def where(self, position, opening, start, end):
        """The condition of a case or a loop."""
        where = self.find(r"\bwhere\s", start, end, opening)
        return self.trimmed(where, end, "expression") if where is not None and where <= position else None

    def clause(self, position, opening, start, end):
        """The condition around a position, of an `if`, `guard` or `while`."""
        words = [match.end() + start for match in re.finditer(r"\b(guard|if|while)\b", self.code[start:position])
                 if self.at_depth_of(start + match.start(), opening)]
        if not words: return None
        stops = [match.start() + words[-1] for match in re.finditer(r"\{|\belse\b", self.code[words[-1]:end])
                 if self.at_depth_of(words[-1] + match.start(), opening)]
        if not stops or stops[0] <= position: return None
        start, end = self.split(position, opening, ",", words[-1], stops[0])
        binding = re.match(r"\s*(let|var|case)\b", self.code[start:end])
        if binding or re.match(r"\s*#", self.code[start:end]):
            equals = self.find(r"\s=\s", start, end, opening)
            if equals is None or equals > position: return None
            start = equals
        return self.trimmed(start, end, "expression")

    def trimmed(self, start, end, kind):
        part = self.text[start:end]
        start, end = start + len(part) - len(part.lstrip()), start + len(part.rstrip())
        return (start, end, kind) if start < end else None

    def clauses(self):
        """Every condition, as a place."""
        for match in re.finditer(r"\b(guard|if|while)\b\s", self.code):
            opening = self.opening(match.start())
            if opening < 0: continue
            position = match.end()
            end = self.ends[opening]
            while True:
                position += len(self.code[position:end]) - len(self.code[position:end].lstrip())
                start, _ = self.statement(position, opening)
                place = self.clause(position, opening, start, end)
                stop = place[1] if place else self.split(position, opening, ",", position, end)[1]
                if place and place[0] == position: yield place
                rest = self.code[stop:end]
                if not rest.lstrip().startswith(","): break
                position = stop + rest.index(",") + 1

    def statements(self):
        """Every statement that may be left out, and is not the only one of its block: calls and assignments. In order, with its block."""
        for match in re.finditer(r"(?<=\n)[ ]*(?=\S)|(?<=\bdefer \{) (?=\S)", self.code):
            position = match.end()
            opening = self.opening(position)
            if opening < 0 or self.code[opening] != "{": continue
            start, end = self.statement(position, opening)
            place = self.place_in_statement(position, opening, start, end)
            if not place or place[2] != "statement" or place[0] != position: continue
            code = self.code[place[0]:place[1]]
            if re.match(r"(return|throw|break|continue|fallthrough|defer|fatalError|preconditionFailure)\b", code): continue
            # Without the only statement of a closure or a function that returns a value, it does not compile.
            is_only = not any(self.code[first:last].strip() and (first, last) != (start, end) for first, last in self.blocks[opening])
            header = self.code[self.code.rfind("\n", 0, opening) + 1:opening]
            if is_only and not re.match(r"\s*(\} )?(if|else|for|while|defer)\b|(?!.*->).*\b(func|init|deinit)\b", header): continue
            if re.match(r"((try[?!]? |await |_ = )*[\w.!?$]+(\(|\.|\[| \{)|\(?[\w.$, ]+\)? [-+]?= |[\w.]+\?? = )", code): yield place, opening


def without_literals(text):
    """Comments and literals of text become blanks, and line breaks stay."""
    result, index, end = list(text), 0, len(text)

    def blank(start, stop):
        for at in range(start, stop):
            if result[at] != "\n": result[at] = "\0" if text[at] not in " \n" else " "

    def skip_string(start):
        """The end of the literal that starts here."""
        hashes = re.match(r"#*", text[start:]).group()
        at = start + len(hashes)
        quote = '"""' if text.startswith('"""', at) else '"'
        at += len(quote)
        while at < end:
            if text.startswith(quote + hashes, at): return at + len(quote) + len(hashes)
            if text.startswith("\\" + hashes + "(", at):
                depth, at = 1, at + 2 + len(hashes)
                while depth and at < end:
                    if text[at] == '"': at = skip_string(at)
                    else:
                        depth += {"(": 1, ")": -1}.get(text[at], 0)
                        at += 1
            else: at += 2 if text[at] == "\\" and not hashes else 1
        return end

    while index < end:
        if text.startswith("//", index):
            stop = text.find("\n", index)
            for at in range(index, stop): result[at] = " "
            index = stop
        elif text.startswith("/*", index):
            stop = text.find("*/", index) + 2
            blank(index, stop)
            index = stop
        elif re.match(r'#*"', text[index:index + 8]):
            stop = skip_string(index)
            blank(index, stop)
            index = stop
        else: index += 1
    return "".join(result)


def without_other_platforms(code):
    branches, taken, lines = [], [], []
    for line in code.split("\n"):
        word, _, condition = line.strip().partition(" ")
        if word == "#if":
            branches.append(not ELSEWHERE.match(condition))
            taken.append(branches[-1])
        elif word in ("#elseif", "#else"):
            branches[-1] = not taken[-1] and not ELSEWHERE.match(condition)
            taken[-1] = taken[-1] or branches[-1]
        elif word == "#endif":
            branches.pop(), taken.pop()
        # A constraint is no condition.
        line = re.sub(r"(?<=[>\w\]]) where \w+(\.\w+)? (==|:) [^{]*", lambda match: " " * len(match.group()), line)
        hidden = not all(branches) or re.match(r"\s*(#(if|else|endif)|@available|(public |package |private |@\S+ )*import\b)", line)
        lines.append(" " * len(line) if hidden else line)
    return "\n".join(lines)


def brackets(code):
    """For each position the innermost bracket around it, and for each opening bracket its end."""
    parents, ends, stack = [], {}, []
    for index, character in enumerate(code):
        if character in ")]}" and stack: ends[stack.pop()] = index
        parents.append(stack[-1] if stack else -1)
        if character in "([{": stack.append(index)
    for opening in stack: ends[opening] = len(code)
    return parents + [-1], ends


def mutants_of(path, text):
    code = Code(text)
    for pattern, changes in CHANGES:
        for match in re.finditer(pattern, code.code, flags=re.M):
            for change in changes:
                line = code.code[code.code.rfind("\n", 0, match.start()) + 1:match.end() + 30]
                # A pair in order is the order of a sort, which hardly ever meets two equal ones.
                if change.strip() in ("<=", ">=") and re.search(r"\$0[\w.]* [<>] \$1|static func [<>]", line): change = f" {'<>'[' < ' in line]} "
                if change == "NEXT": new = str(int(match[1].replace("_", "")) * 2 or 1) if len(match[1]) > 3 else str(int(match[1]) + 1)
                else: new = re.sub(r"\\(\d)", lambda group: text[slice(*match.span(int(group[1])))], change)
                if new != text[match.start():match.end()]:
                    yield Mutant(path, text, match.start(), match.end(), new, code.place(*match.span()))
    for place in code.clauses():
        for new in [new for new in ("true", "false") if new != text[place[0]:place[1]]]: yield Mutant(path, text, place[0], place[1], new, place)
    previous = None
    for place, opening in code.statements():
        yield Mutant(path, text, place[0], place[1], "", place)
        is_assignment = re.search(r" [-+]?= ", code.code[place[0]:place[1]])
        # The order of two assignments hardly ever matters.
        if previous and previous[1] == opening and not (is_assignment and previous[2]) and not code.code[previous[0][1]:place[0]].strip():
            (first, first_end, _), (second, second_end, _) = previous[0], place
            swapped = text[second:second_end] + text[first_end:second] + text[first:first_end]
            yield Mutant(path, text, first, second_end, swapped, (first, second_end, "statement"))
        previous = (place, opening, is_assignment)


def with_switches(text, mutants):
    """The text with each mutant behind a switch, and (mutant, first line, last line, is its branch) for the places of each."""
    places = {}
    for mutant in mutants:
        if mutant.place: places.setdefault(mutant.place, []).append(mutant)
    kept = []
    for place in sorted(places, key=lambda place: (place[0], -place[1])):
        # Two swaps may overlap. The second one is built alone.
        if not any(other[0] < place[0] < other[1] < place[1] for other in kept): kept.append(place)

    def changed(place, mutant):
        return text[place[0]:mutant.start] + mutant.new + text[mutant.end:place[1]]

    def render(start, end, inner):
        result, at = "", start
        while inner:
            place, rest = inner[0], inner[1:]
            result += text[at:place[0]]
            nested = [other for other in rest if other[0] < place[1]]
            result += switch(place, render(place[0], place[1], nested))
            at, inner = place[1], rest[len(nested):]
        return result + text[at:end]

    def switch(place, base):
        if place[2] == "statement":
            branches = "".join(f"if activeMutant == {mutant.number} {{ //<{mutant.number}\n{changed(place, mutant)}\n}} else //{mutant.number}>\n"
                               for mutant in places[place])
            return f"{branches}{{\n{base}\n}} /*end {places[place][0].number}*/"
        prefix = re.match(r"((try[?!]?|await)\s+)*", base).group()
        branches = "".join(
            f"activeMutant == {mutant.number} ? ( //<{mutant.number}\n{changed(place, mutant)[len(prefix):]}\n) : //{mutant.number}>\n"
            for mutant in places[place])
        return f"{prefix}({branches}(\n{base[len(prefix):]}\n) /*end {places[place][0].number}*/)"

    result = render(0, len(text), kept)
    breaks = [match.start() for match in re.finditer("\n", result)]
    line = lambda position: bisect.bisect_left(breaks, position) + 1
    lines = []
    for place in kept:
        numbers = [mutant.number for mutant in places[place]]
        end = line(result.index(f"/*end {numbers[0]}*/"))
        for mutant in places[place]:
            start, branch_end = (line(result.index(marker)) for marker in (f"//<{mutant.number}\n", f"//{mutant.number}>\n"))
            # The branch itself, and then all branches, because an error in the last one may be due to any of them.
            lines += [(mutant, start, branch_end, True), (mutant, line(result.index(f"//<{numbers[0]}\n")), end, False)]
    return result, lines
