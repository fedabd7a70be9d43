package import Foundation

/// Each kind of JSON and of other text, of about so many bytes.
package let costTexts: [String: @Sendable (Int) -> String] = [
    "deep arrays": { String(repeating: "[", count: $0 / 2) + String(repeating: "]", count: $0 / 2) },
    "deep objects": { String(repeating: #"{"a":"#, count: $0 / 6) + "1" + String(repeating: "}", count: $0 / 6) },
    "open braces": { String(repeating: #"{"a":"#, count: $0 / 5) },
    "a long string": { "[\"\(String(repeating: "a1", count: $0 / 2))\"]" },
    "letters before a URL": { String(repeating: "a1", count: $0 / 2) + "://b.example/" },
    "words": { #"{"message":"\#(String(repeating: "word a1b2c3 ", count: $0 / 12))"}"# },
    "many keys": { "{\((0..<$0 / 15).map { #""key\#($0)":\#($0)"# }.joined(separator: ","))}" },
    "secret keys": { "[\(Array(repeating: #"{"access_token":"a"}"#, count: $0 / 21).joined(separator: ","))]" },
    "escapes": { "[\"\(String(repeating: #"\""#, count: $0 / 4))\(String(repeating: #"\u0041"#, count: $0 / 12))\"]" },
    "escaped keys": { "{\((0..<$0 / 13).map { _ in #""\u0061\n":1"# }.joined(separator: ","))}" },
    "numbers": { "[\((0..<$0 / 7).map { "\($0)" }.joined(separator: ","))]" },
    "JSON in JSON": { "[\(Array(repeating: #""{\"a\":[1]}""#, count: $0 / 15).joined(separator: ","))]" },
    "URLs": { "[\(Array(repeating: #""https://h/a?b=1""#, count: $0 / 18).joined(separator: ","))]" },
    "a form": { Array(repeating: "a=1&token=2", count: $0 / 12).joined(separator: "&") },
    "one line": { String(repeating: "a/b://c?d=e#f ", count: $0 / 14) },
]

/// The processor time of `work` on text of a kind, of about `count` bytes: the least of three runs.
package func cpuSeconds(_ text: (Int) -> String, _ count: Int, _ work: (Data) -> Void) -> Double {
    let body = Data(text(count).utf8)
    return (0..<3).map { _ in cpuSeconds { work(body) } }.min() ?? 0
}
