import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

@Suite("The check of a file for secrets", tenMinutes, .longComputing)
struct SecretCheckTests {
    private static let notations: [(String, @Sendable (String) -> [UInt8])] = [
        ("as it is", { Array($0.utf8) }),
        ("percent", { Array($0.escapedAsValue.utf8) }),
        (
            "percent in lower case",
            { text in Array(Expression("%[0-9A-F]{2}").replacing(in: text.escapedAsValue) { $0[0]?.lowercased() }.utf8) }
        ),
        ("form", { Array($0.escapedAsValue.replacingOccurrences(of: "%20", with: "+").utf8) }),
        ("JSON", { text in (try? JSONEncoder().encode([text])).map { Array($0) } ?? [] }),
        ("JSON in ASCII", { text in text.utf16.flatMap { Array("\\u\(String(UInt32($0) + 0x10000, radix: 16).dropFirst())".utf8) } }),
        (
            "JavaScript",
            { text in
                text.unicodeScalars.flatMap {
                    $0.value < 0x80 ? Array("\\x\(String($0.value + 0x100, radix: 16).dropFirst())".utf8) : Array("\($0)".utf8)
                }
            }
        ),
        ("decimal entities", { text in text.unicodeScalars.flatMap { Array("&#\($0.value);".utf8) } }),
        ("hexadecimal entities", { text in text.unicodeScalars.flatMap { Array("&#X\(String($0.value, radix: 16));".utf8) } }),
        (
            "named entities",
            { text in
                let names = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "+": "&plus;", "/": "&sol;", "=": "&equals;"]
                return text.flatMap { Array((names["\($0)"] ?? "\($0)").utf8) }
            }
        ),
        ("Base64", { Array("x=\(Data("user:\($0)".utf8).base64EncodedString())".utf8) }),
        ("Base64 for URLs", { Array("/a/\(Data("{\"k\":\"\($0)\"}".utf8).base64URL)/b".utf8) }),
        ("UTF-16", { $0.data(using: .utf16LittleEndian).map { Array($0) } ?? [] }),
        ("Latin-1", { $0.data(using: .isoLatin1).map { Array($0) } ?? Array($0.utf8) }),
    ]

    private static let secrets = [
        "Qx7+k/9ZpT2mWv3b+Yc4A==", "c0rrect horse 99", "pä/\"s <w0rd>&1", "Zq9xYwVuTsR&b=c%41", "back\\slash\\n9x", "482913482913",
        "6F9619FF-8B86-4011-B42D-00CF4FC964FF",
    ]

    @Test("A secret is found in each notation, and in each within another", arguments: secrets)
    func notations(secret: String) {
        let check = SecretCheck(["another-secret-1", secret])
        for (name, write) in Self.notations {
            let once = write(secret)
            #expect(check.secrets(in: Array("before ".utf8) + once + Array(" after".utf8)).contains(1), "\(name)")
            guard let text = String(bytes: once, encoding: .utf8) else { continue }
            for (outer, write) in Self.notations { #expect(check.secrets(in: write(text)).contains(1), "\(name) within \(outer)") }
        }
    }

    @Test(
        "A secret is found in Base64 with line breaks, behind other characters, and wherever it stands in the encoded text",
        arguments: secrets)
    func base64(secret: String) {
        let check = SecretCheck([secret])
        for count in 40..<46 {
            let encoded = Data((String(repeating: "x", count: count) + secret + "yz").utf8).base64EncodedString()
            for lineBreak in ["", "\n", "\r\n", "\r\n    ", "\\r\\n"] {
                let lines = stride(from: 0, to: encoded.count, by: 20).map { encoded.dropFirst($0).prefix(20) }
                for start in ["", "a", "id_", "v1/x", "sk_live-", "=\n"] {
                    let text = "\"\(start)\(lines.joined(separator: lineBreak))\" and more"
                    #expect(check.secrets(in: Array(text.utf8)) == [0], "\(text)")
                }
            }
        }
    }

    @Test("A secret is found with each é of one scalar and of two, in each notation", arguments: ["Café-s3cret", "Cafe\u{301}-s3cret"])
    func compositions(secret: String) {
        let check = SecretCheck([secret])
        for text in ["Café-s3cret", "Cafe\u{301}-s3cret"] {
            for (name, write) in Self.notations { #expect(check.secrets(in: write(text)) == [0], "\(name)") }
        }
    }

    @Test(
        "What has no secret has none, and a number is not found in a longer number",
        arguments: ["", "c0rrect", "c0rrect-horse-98", "1482913482913", "4829134829130", "%", "\\", "&#", "&#x;", "&#99999999999;", "%4"])
    func others(text: String) {
        let check = SecretCheck(["c0rrect-horse-99", "482913482913", "short"])
        #expect(check.secrets(in: Array(text.utf8)).isEmpty)
    }

    @Test("A UUID is found in both cases")
    func cases() {
        let check = SecretCheck([Self.secrets[6]])
        #expect(check.secrets(in: Array("a/6f9619ff-8b86-4011-b42d-00cf4fc964ff/b".utf8)) == [0])
    }

    @Test("Of 10,000 secrets that begin and end alike, those that stand in a text are found, in time", .longComputing)
    func many() {
        let secrets = (0..<10_000).map { "eyJhbGciOiJIUzI1NiJ9.\($0)kkkkkkkk\($0).c2ln%3D%3D" }
        let text = Array(secrets[..<5_000].joined(separator: "\n").utf8)
        let seconds = cpuSeconds { #expect(SecretCheck(secrets).secrets(in: text) == Set(0..<5_000)) }
        #expect(seconds < 5)
    }

    @Test("Time is linear in the bytes, whatever they are", .longComputing, arguments: ["%25", "\\\\", "&amp;", "aB3d", "secret-of-mine-"])
    func linear(text: String) {
        let check = SecretCheck(["secret-of-mine-9"])
        let isInTime = isLinear(2_000) { count in
            let bytes = Array(String(repeating: text, count: count).utf8)
            return cpuSeconds { _ = check.secrets(in: bytes) }
        }
        #expect(isInTime)
    }
}
