# Writes the Swift code of a page as a source of the documentation's tests: awk -v frame=FILE -v out=FILE -f code.awk PAGE
#
# A page is a Markdown file, or a Swift file with doc comments. Its declarations are private to it. The statements of a snippet stand in a
# function. Names that a snippet uses and does not show are in Names.swift, or in the frame, a file with more code for this page. Where a
# frame says "// The page", the snippets stand as they are. The compiler names the page and the line of what it finds.

function say(text) { print text > out }

function location(number) { return "#sourceLocation(file: \"" FILENAME "\", line: " number ")\n" }

function without_attributes(line) {
    sub(/^(@[A-Za-z]+(\(([^()]|\(([^()]|\([^()]*\))*\))*\))? *)+/, "", line)
    return line
}

# Writes the declaration, or keeps the statement, that lines first...last are. What follows attributes and comments begins at the line head.
function part(first, head, last,    line, text, i, wrapper) {
    # A page has no recordings beside it, and runs beside the whole suite.
    for (i = first; i <= head; i++) {
        sub(/@Test\(\.mockNetwork\(recording/, "@Test(.disabled(), .mockNetwork(recording", lines[i])
        sub(/\.minutes\(1\)/, ".minutes(10)", lines[i])
    }
    line = without_attributes(lines[head])
    for (i = first; i <= last; i++) text = text lines[i] "\n"
    if (line ~ /^import /) return
    if (line !~ /^((private|final|nonisolated|override) )*(actor|class|enum|extension|func|protocol|struct|typealias) |^nonisolated let /) {
        if (match(line, /^(let|var) [A-Za-z]+/)) uses = uses "_ = " substr(line, 5, RLENGTH - 4) "\n"
        # An expression has the type of its file, or its value is not used.
        if (line ~ /^[."]/) lines[head] = "let _: " name " = " line
        else if (line ~ /^(Endpoint|Single|provider|single|endpoint|[A-Z][A-Za-z]*(Middleware|Provider))[.<(]/ && text !~ /subscribe/)
            lines[head] = "_ = " lines[head]
        statements = statements location(start + first)
        for (i = first; i <= last; i++) statements = statements lines[i] "\n"
        return
    }
    if (line ~ /^override /) wrapper = "nonisolated private class Line" start ": XCTestCase {"
    else if (line ~ /^func / && text ~ own) wrapper = "extension Reader {"
    else if (line !~ /^(nonisolated )?private |: XCTestCase /)
        lines[head] = substr(lines[head], 1, length(lines[head]) - length(line)) "private " line
    if (text ~ /[.]timeLimit/) lines[first] = "@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *) " lines[first]
    if (text ~ /@Observable|: View [{]/) lines[first] = "@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) " lines[first]
    if (wrapper) say(wrapper)
    printf "%s", location(start + first) > out
    for (i = first; i <= last; i++) say(lines[i] == "@main" ? "" : lines[i])
    if (wrapper) say("}")
}

function snippet(    i, first, head) {
    statements = uses = ""
    first = 1
    for (i = 1; i <= count; i++) {
        if (lines[i] ~ /^($|[] )}{]|where )/) continue
        if (head) { part(first, head, i - 1); first = i; head = 0 }
        if (without_attributes(lines[i]) !~ /^$|^\/\//) head = i
    }
    if (head) part(first, head, count)
    if (statements) run(statements uses)
}

# Writes the function that has these statements.
function run(statements,    function_head) {
    function_head = "@MainActor private func line" start "()" (statements ~ /await/ ? " async" : "") " throws {\n"
    if (statements ~ own) say("extension Reader {\n" function_head statements "}\n}")
    else say(function_head statements "}")
}

BEGIN {
    own = "(^|[^A-Za-z.])self[^A-Za-z]"
    page = ARGV[1]
    name = page
    sub(/.*\//, "", name)
    sub(/\.[a-z]+$/, "", name)
    say("import APIProvider\nimport APIProviderMocks\nimport APIProviderRecordingTesting\nimport APIProviderTesting\nimport Fixtures\nimport Foundation\nimport GitHubAPI\nimport APIProviderRecordings")
    say("import Observation\nimport APIProviderCache\nimport TestSupport\n@testable import PageNames\n")
    while (!whole && (getline line < frame) > 0) if (line ~ /^ *\/\/ The page$/) whole = 1; else say(line)
}

# A table of a moving guide has code in its last column.
/^\| / && name ~ /^MovingFrom/ && !/``/ {
    start = FNR
    statements = ""
    i = split($0, cells, " [|] ")
    count = split(cells[i], spans, "`")
    for (i = 2; i <= count; i += 2)
        if (spans[i] ~ /^(try )?(await )?([(]error |[A-Za-z]+[.<(]).*[)}a-z]$/ && spans[i] !~ /…/)
            statements = statements location(FNR) (spans[i] ~ /^[A-Za-z.]+ = / ? spans[i] : "use(" spans[i] ")") "\n"
    if (statements) run(statements)
}

FILENAME ~ /\.swift$/ && !sub(/^ *\/\/\/ ?/, "") { inside = 0; next }

/^```$/ && inside {
    inside = 0
    if (text ~ /\.package\(/) next  # Tests/FromOutside compiles manifests.
    if (!whole) {
        if (text ~ /[@#](Test|expect|require)/) say("import Testing")
        if (text ~ /XCT/) say("import XCTest")
        if (text ~ /SecTrust/) say("#if canImport(Security)\nimport Security")
        # Its readers are those who write a transport.
        if (FILENAME ~ /ExchangeTransport/) say("@_spi(Transports) import APIProvider")
        snippet()
        if (text ~ /SecTrust/) say("#endif")
    } else {
        printf "%s", location(start + 1) > out
        for (i = 1; i <= count; i++) say(lines[i])
    }
    next
}

inside {
    lines[++count] = $0
    text = text $0 "\n"
    if (length($0) > 84) wide = wide location(FNR) "#error(\"The site shows 84 columns.\")\n"
}

/^```swift$/ && !inside { inside = 1; start = FNR; count = 0; text = "" }

END {
    say(wide "#sourceLocation()")
    while ((getline line < frame) > 0) say(line)
}
